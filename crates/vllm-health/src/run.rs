//! The shell: environment, configuration, clock, output, and becoming the command.

use std::time::{Duration, Instant};

use baton_cli::config::{ConfigFlags, Loaded, ProviderConfig, load};
use baton_cli::{Environment, Failure, Format, Output};
use baton_model_server::Endpoint;
use baton_model_server::probe::ProbeOptions;
use baton_process::{Cancel, Command, exec};
use baton_protocol::{Exit, Health, Provider, SchemaTag, Secret, ServerKind, Timestamp};
use serde_json::Value;

use crate::ask::{How, Target, ask};
use crate::choice;
use crate::cli::Cli;
use crate::notes::notes;
use crate::plan::{Plan, plan};
use crate::table::table;
use crate::verdict::{Verdict, exit, judge, overall};
use crate::wait::until_ready;

/// Goes to the upper left corner and clears what is below.
const CLEAR: &[u8] = b"\x1b[H\x1b[J";

/// Runs the tool.
pub(crate) fn run(cli: &Cli, output: &Output) -> Result<Exit, Failure> {
    // The limit is the user's: what we need to begin is part of it.
    let begun = Instant::now();
    let plan = plan(cli)?;
    let env = Environment::from_process();
    let here = std::env::current_dir()
        .map_err(|e| Failure::internal(format!("the current folder is not readable: {e}")))?;
    let flags = ConfigFlags {
        config_file: cli.config.clone(),
        urls: plan.urls.clone(),
    };
    let loaded = load(&env, &here, &flags)?;
    for note in &loaded.notes {
        output.note(note);
    }
    let targets = targets(cli, &loaded, &env)?;
    let keys: Vec<Secret> = targets
        .iter()
        .filter_map(|t| t.endpoint.key.clone())
        .collect();
    let redacting =
        Output::new(crate::TOOL.name, &cli.common).with_redactor(baton_cli::Redactor::new(keys));
    let output = &redacting;
    let cancel =
        Cancel::install().map_err(|e| Failure::internal(format!("cannot handle signals: {e}")))?;
    let how = How {
        active: plan.active,
        model: plan.wants.model.clone(),
    };
    if let Some(pause) = cli.watch {
        return watch(&targets, &how, &plan, pause, output, &cancel);
    }
    let providers = match plan.wait {
        Some(limit) => until_ready(&targets, &how, &plan.wants, limit, output, &cancel)?,
        None => ask(&targets, &how, begun, &cancel)?,
    };
    interrupted(&cancel)?;
    let verdicts = verdicts(&providers, &plan);
    let ready = overall(&verdicts, plan.wants.all);
    for note in notes(&providers) {
        output.note(&note);
    }
    if plan.active.is_some() {
        for text in targets
            .iter()
            .zip(&providers)
            .filter_map(|(t, p)| probe_note(&t.config, p))
        {
            output.note(&text);
        }
    }
    if !cli.command.is_empty() {
        return become_command(cli, &plan, &targets, &providers, &verdicts);
    }
    let text = || table(&providers, &verdicts);
    output.document(&health(ready, &providers), text)?;
    if plan.wants.model.is_some() || plan.wants.min_context.is_some() || plan.active.is_some() {
        for (provider, verdict) in providers.iter().zip(&verdicts) {
            if verdict.ready != Some(true) {
                output.note(&format!("{}: {}", provider.id, verdict.reason));
            }
        }
    }
    Ok(exit(ready, &providers))
}

/// A failure with the signal's code, if one came.
pub(crate) fn interrupted(cancel: &Cancel) -> Result<(), Failure> {
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(cancel.signal().unwrap_or(2)));
    }
    Ok(())
}

fn targets(cli: &Cli, loaded: &Loaded, env: &Environment) -> Result<Vec<Target>, Failure> {
    let mut options = ProbeOptions::new("", "");
    options.asked.kind = cli.kind;
    options.asked.slots = cli.slots;
    options.timeout = cli.timeout;
    options.samples = cli.samples;
    options.interval = cli.interval;
    // A key without an address of its own is meant for the address on the command line.
    let spare_key = (cli.addresses().next().is_some()
        && env.get("OPENCODE_VLLM_BASE_URL").is_none())
    .then_some("OPENCODE_VLLM_API_KEY")
    .filter(|name| env.get(name).is_some());
    loaded
        .providers()?
        .iter()
        .map(|provider| {
            let mut provider = provider.clone();
            if provider.api_key_env.is_none() && provider.api_key_file.is_none() {
                provider.api_key_env = spare_key.map(ToOwned::to_owned);
            }
            let mut endpoint = Endpoint::new(provider.base_url.clone());
            endpoint.key = provider.api_key(env)?;
            endpoint.ca_file = cli.cacert.clone().or_else(|| provider.ca_file.clone());
            endpoint.insecure = cli.insecure || provider.insecure;
            endpoint.check().map_err(Failure::config)?;
            Ok(Target::new(provider, endpoint, options.clone()))
        })
        .collect()
}

fn verdicts(providers: &[Provider], plan: &Plan) -> Vec<Verdict> {
    providers.iter().map(|p| judge(p, &plan.wants)).collect()
}

fn health(ready: Option<bool>, providers: &[Provider]) -> Health {
    Health {
        schema: SchemaTag::new(),
        ready,
        checked_at: Timestamp::now(),
        providers: providers.to_vec(),
    }
}

/// What someone who probes should know besides: the probe was skipped, or a limit on thinking is
/// configured in a place this server ignores.
fn probe_note(config: &ProviderConfig, provider: &Provider) -> Option<String> {
    let probe = provider.other.get("probe")?;
    if probe.get("skipped") == Some(&Value::Bool(true)) {
        let why = probe.get("message")?.as_str()?;
        return Some(format!("{}: {why}", provider.id));
    }
    let kwargs = config.request.get("chat_template_kwargs")?;
    kwargs.get("thinking_budget")?;
    let ignored = provider.server.kind == ServerKind::Vllm
        && !config.request.contains_key("thinking_token_budget");
    ignored.then(|| {
        format!(
            "{}: vLLM ignores chat_template_kwargs.thinking_budget; put thinking_token_budget into \
             `request` (it needs --reasoning-parser)",
            provider.id
        )
    })
}

fn watch(
    targets: &[Target],
    how: &How,
    plan: &Plan,
    pause: Duration,
    output: &Output,
    cancel: &Cancel,
) -> Result<Exit, Failure> {
    loop {
        let providers = ask(targets, how, Instant::now(), cancel)?;
        interrupted(cancel)?;
        let verdicts = verdicts(&providers, plan);
        let ready = overall(&verdicts, plan.wants.all);
        match output.format() {
            Format::Json => output.json_line(&health(ready, &providers))?,
            Format::Text => {
                if output.is_colour_welcome() && !output.is_quiet() {
                    output.raw(CLEAR)?;
                }
                output.document(&health(ready, &providers), || table(&providers, &verdicts))?;
            }
        }
        if output.is_closed() {
            return Ok(Exit::Yes);
        }
        if cancel.wait(pause) {
            interrupted(cancel)?;
        }
    }
}

/// Becomes the command; returns only if it cannot.
fn become_command(
    cli: &Cli,
    plan: &Plan,
    targets: &[Target],
    providers: &[Provider],
    verdicts: &[Verdict],
) -> Result<Exit, Failure> {
    let everyone = overall(verdicts, plan.wants.all) == Some(true);
    let chosen = choice::provider(providers, verdicts)
        .filter(|_| everyone)
        .and_then(|index| Some((providers.get(index)?, targets.get(index)?)));
    let Some((provider, target)) = chosen else {
        let reasons: Vec<String> = providers
            .iter()
            .zip(verdicts)
            .filter(|(_, v)| v.ready != Some(true))
            .map(|(p, v)| format!("{}: {}", p.id, v.reason))
            .collect();
        return Err(Failure::unavailable(format!(
            "not ready, so nothing was run: {}",
            reasons.join("; ")
        )));
    };
    let named = plan.wants.model.as_deref();
    let (model, context) = match choice::model(provider, named, &target.config.models) {
        Ok(model) => (model.id.clone(), model.usable_context),
        // Ready although not listed: it was probed.
        Err(why) => match named {
            Some(name) => (name.to_owned(), target.config.context),
            None => return Err(Failure::usage(why)),
        },
    };
    let mut words = cli.command.iter();
    let program = words
        .next()
        .ok_or_else(|| Failure::usage("no command after --"))?;
    let mut command = Command::new(program).args(words);
    let key = target.endpoint.key.as_ref();
    for (name, value) in choice::variables(provider, &model, context, key) {
        command = match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let error = exec(&command);
    let code = match error.exit_code() {
        127 => Exit::NotFound,
        126 => Exit::CannotExecute,
        _ => Exit::Internal,
    };
    Err(Failure::internal(error.to_string()).with_exit(code))
}
