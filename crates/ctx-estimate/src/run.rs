//! The shell: arguments, documents, servers, output.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use baton_cli::config::{ConfigFlags, Loaded, load};
use baton_cli::input::main_document;
use baton_cli::{Environment, Failure, Format, Output, state_dir};
use baton_protocol::{Estimate, Exit, Part, Provider};
use baton_tokens::{Calibration, Date, Meter, calibration_file};
use serde_json::json;

use crate::breakdown::{by_folder, largest};
use crate::cache;
use crate::cli::{Cli, MethodChoice};
use crate::inputs::{self, Counting};
use crate::judgement::{Question, document, exit, judge_providers};
use crate::plan::Plan;
use crate::server::{self, ServerCounts};
use crate::show;
use crate::subject::{Asked, Subject};
use crate::task;
use crate::tokenizers;
use crate::trim::{Keep, trim};

pub(crate) fn run(cli: &Cli, output: &Output) -> Result<Exit, Failure> {
    let env = Environment::from_process();
    if let Some(action) = cli.cache {
        return cache::run(action, &cli.paths, &env, output);
    }
    check_standard_input(cli)?;
    let named = cli.tokenizer.as_deref();
    let named = named
        .map(|name| tokenizers::named(name, &env))
        .transpose()?;
    let plan = |providers: &[Provider]| {
        let model = cli.model.as_deref();
        Plan::new(named.as_ref(), model, providers, |model| {
            let note = |text: &str| output.note(text);
            let wanted = cli.method != MethodChoice::Heuristic;
            wanted
                .then(|| tokenizers::of_model(model, &env, note))
                .flatten()
        })
    };
    if let Some(budget) = cli.trim {
        return run_trim(cli, budget, &plan(&[]).meters[0], output);
    }
    let mut providers = match &cli.candidates {
        Some(file) => inputs::candidates(file)?,
        None => Vec::new(),
    };
    // A wrong configuration only costs the server's own count, unless that is demanded.
    let config = match load(&env, Path::new("."), &ConfigFlags::default()) {
        Ok(config) => Some(config),
        Err(e) if cli.method == MethodChoice::Server => return Err(e),
        Err(e) => {
            output.note(&format!("no server is asked: {}", e.message));
            None
        }
    };
    if let Some(config) = config.as_ref().filter(|_| cli.asks_configured_servers()) {
        providers = server::probe_configured(config, &env, output);
    }
    let question = match cli.window {
        Some(window) => Question::Window(window),
        None if providers.is_empty() => Question::Count,
        None => Question::Candidates,
    };
    let plan = plan(&providers);
    let mut subject = subject(cli, &plan, question, &providers, config.as_ref(), output)?;
    let flags = Asked {
        output: cli.output,
        thinking: cli.thinking,
        checks: 0,
    };
    let judging = question != Question::Count;
    let reserve = subject.asked.reserve(flags, cli.margin, judging);

    let servers = match (&config, &subject.request) {
        (Some(config), Some(request)) if cli.asks_servers() => {
            Some(ServerCounts::new(&env, config, request))
        }
        _ => None,
    };
    let past: HashMap<String, String> = providers
        .iter()
        .map(|provider| (provider.id.clone(), past_answers(&env, &provider.id)))
        .collect();
    for provider in &providers {
        for model in &provider.models {
            let lines = past.get(&provider.id).map_or("", String::as_str);
            let past = Calibration::read(lines, &model.id);
            if let Some((expected, counted)) = past.cut {
                subject.notes.push(format!(
                    "{}: {} once counted {counted} tokens of a prompt of about {expected}: it may cut prompts silently",
                    provider.id, model.id
                ));
            }
        }
    }
    let best = judge_providers(
        &mut providers,
        cli.model.as_deref(),
        &reserve,
        subject.incomplete.is_none(),
        |provider, model| {
            let by_server = servers
                .as_ref()
                .map(|servers| servers.count(provider, &model.id));
            match by_server {
                Some(Ok(sourced)) => return Some(sourced),
                Some(Err(why)) => output.detail(&format!("{}: {why}", provider.id)),
                None => {}
            }
            let meter = plan.meter_of(&model.id);
            let mut own = plan.sourced(&subject, meter);
            // Past answers were compared with estimates for an unknown tokenizer.
            if plan.meters[meter].is_unknown() {
                let past = past.get(&provider.id).map_or("", String::as_str);
                own.count = Calibration::read(past, &model.id).apply(own.count);
            }
            cli.method.allows(own.count.method).then_some(own)
        },
    );
    let sourced = best.unwrap_or_else(|| plan.sourced(&subject, 0));
    if !cli.method.allows(sourced.count.method) {
        return Err(nothing_counted(cli.method));
    }
    let estimate = document(&subject, &sourced, reserve, question, providers);
    let code = exit(question, estimate.verdict);
    for note in &estimate.notes {
        output.note(note);
    }
    write(cli, estimate, &subject, question, output)?;
    Ok(code)
}

/// The end of a provider's calibration file; none is as good as an empty one.
fn past_answers(env: &Environment, provider: &str) -> String {
    const MOST: u64 = 1 << 20;
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(state_dir(env).join(calibration_file(provider))) {
        let start = file
            .metadata()
            .map_or(0, |facts| facts.len().saturating_sub(MOST));
        let _ = file.seek(SeekFrom::Start(start));
        // What could be read before an error is still true.
        let _ = file.take(MOST).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// A method was demanded that is not to be had.
fn nothing_counted(method: MethodChoice) -> Failure {
    match method {
        MethodChoice::Server => Failure::unavailable(
            "no server counted: none is reachable, or it does not count (-v says why); \
             leave --method out for an estimate",
        ),
        _ => Failure::input(
            "no tokenizer on this machine is known for it; name one with --tokenizer PATH, \
             or leave --method out for an estimate",
        ),
    }
}

/// Only one thing can come on standard input.
fn check_standard_input(cli: &Cli) -> Result<(), Failure> {
    let dash = |path: &&PathBuf| path.as_path() == Path::new("-");
    let named = [&cli.request, &cli.task, &cli.candidates];
    let dashes = named
        .into_iter()
        .flatten()
        .chain(&cli.paths)
        .filter(dash)
        .count();
    let implied = cli.paths.is_empty() && cli.request.is_none() && cli.task.is_none();
    if dashes + usize::from(implied) > 1 {
        return Err(Failure::usage(
            "only one thing can come on standard input; name the text (or --request, --task) as a file",
        ));
    }
    if cli.paths.len() > 1 && cli.paths.iter().any(|path| dash(&path)) {
        return Err(Failure::usage("`-` cannot be mixed with files"));
    }
    if cli.method == MethodChoice::Server && cli.offline {
        return Err(Failure::usage(
            "--method server asks a server, --offline does not",
        ));
    }
    Ok(())
}

fn subject(
    cli: &Cli,
    plan: &Plan,
    question: Question,
    providers: &[Provider],
    config: Option<&Loaded>,
    output: &Output,
) -> Result<Subject, Failure> {
    let template = cli.template.as_deref();
    let template = template.map(|file| main_document(Some(file), "a template (--template FILE)"));
    let template = template.transpose()?;
    let counting = Counting {
        meters: &plan.meters,
        template: template.as_deref(),
        today: today(),
    };
    if let Some(file) = &cli.request {
        return inputs::request(file, counting);
    }
    if let Some(file) = &cli.task {
        let task = inputs::task(file)?;
        let window = match question {
            Question::Window(window) => Some(window),
            _ => smallest_window(providers),
        };
        let role = config.and_then(|config| config.config.roles.get(&task.role));
        let request = task::first_request_of(&task, &cli.repo, window, role)?;
        let mut subject = inputs::of_request(request, counting)?;
        subject.asked = task::asked(&task, role);
        return Ok(subject);
    }
    let as_message = question != Question::Count;
    inputs::texts(&cli.paths, cli.all, as_message, &plan.meters, output)
}

/// Some templates print the date.
fn today() -> Date {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    Date::of_seconds(i64::try_from(seconds).unwrap_or(0))
}

/// The smallest known window: what is packed for it fits the others too.
fn smallest_window(providers: &[Provider]) -> Option<u64> {
    let models = providers.iter().flat_map(|provider| &provider.models);
    models.filter_map(|model| model.usable_context).min()
}

fn write(
    cli: &Cli,
    mut estimate: Estimate,
    subject: &Subject,
    question: Question,
    output: &Output,
) -> Result<(), Failure> {
    if cli.lines {
        for part in &subject.parts {
            let Some(count) = part.counts.first() else {
                continue;
            };
            output.json_line(&json!({
                "part": part.name, "bytes": part.bytes, "tokens": count.tokens,
                "upper_bound_tokens": count.upper_bound,
            }))?;
        }
        estimate.breakdown.clear();
        return output.json_line(&estimate);
    }
    let shown = shown(cli, &estimate.breakdown);
    let text = (output.format() == Format::Text).then(|| show::text(&estimate, &shown, question));
    estimate.breakdown = shown;
    output.document(&estimate, || text.unwrap_or_default())
}

fn shown(cli: &Cli, parts: &[Part]) -> Vec<Part> {
    match (cli.tree, cli.top) {
        (false, None) => parts.to_vec(),
        (false, Some(top)) => largest(parts.to_vec(), top),
        (true, None) => by_folder(parts),
        (true, Some(top)) => {
            // The whole is no offender, and the others are inside it: no sum of them.
            let mut folders = by_folder(parts);
            folders.pop();
            folders.sort_by_key(|folder| std::cmp::Reverse(folder.tokens));
            folders.truncate(top);
            folders
        }
    }
}

fn run_trim(cli: &Cli, budget: u64, meter: &Meter, output: &Output) -> Result<Exit, Failure> {
    let file = match cli.paths.as_slice() {
        [] => None,
        [one] => Some(one.as_path()),
        _ => return Err(Failure::usage("--trim takes one file, or standard input")),
    };
    let text = main_document(file, "a text (--trim TOKENS FILE)")?;
    let keep = match (cli.tail, cli.middle) {
        (true, _) => Keep::Tail,
        (_, true) => Keep::Ends,
        _ => Keep::Head,
    };
    let trimmed = trim(&text, budget, keep, meter);
    output.raw(trimmed.text.as_bytes())?;
    let (kept, all) = trimmed.lines;
    if trimmed.within_line {
        output.note(&format!(
            "no whole line fits into {budget} tokens: cut inside a line"
        ));
    } else if kept < all {
        output.note(&format!("kept {kept} of {all} lines ({})", meter.source()));
    }
    if trimmed.text.is_empty() {
        output.note(&format!("nothing fits into {budget} tokens"));
        return Ok(Exit::No);
    }
    Ok(Exit::Yes)
}
