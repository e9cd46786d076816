//! Asks all providers side by side, each on a thread of its own.

use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_cli::config::ProviderConfig;
use baton_model_server::probe::{
    Active, ActiveResult, Asked, ProbeOptions, find_model, probe, run_active,
};
use baton_model_server::{Client, Endpoint};
use baton_process::Cancel;
use baton_protocol::{Provider, ServerState, Signal};
use serde_json::{Value, json};

use crate::choice;

/// Little, because there may be hundreds of them.
const STACK_SIZE: usize = 512 << 10;

/// A provider to ask, with everything that is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) config: ProviderConfig,
    pub(crate) endpoint: Endpoint,
    pub(crate) options: ProbeOptions,
}

/// How to ask.
#[derive(Debug, Clone)]
pub(crate) struct How {
    pub(crate) active: Option<Active>,
    pub(crate) model: Option<String>,
}

impl Target {
    /// The target for a configured provider.
    pub(crate) fn new(config: ProviderConfig, endpoint: Endpoint, options: ProbeOptions) -> Self {
        let mut options = options;
        options.asked = Asked {
            id: config.id.clone(),
            base_url: config.base_url.to_string(),
            api_key_env: config.api_key_env.clone(),
            kind: options.asked.kind,
            context: config.context,
            slots: config.slots.or(options.asked.slots),
        };
        Self {
            config,
            endpoint,
            options,
        }
    }
}

/// Asks all targets; the answers are in their order. The limit counts from `begun`.
pub(crate) fn ask(
    targets: &[Target],
    how: &How,
    begun: Instant,
    cancel: &Cancel,
) -> Result<Vec<Provider>, Failure> {
    if let [only] = targets {
        return Ok(vec![ask_one(only, how, begun, cancel)]);
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = targets
            .iter()
            .map(|target| {
                std::thread::Builder::new()
                    .stack_size(STACK_SIZE)
                    .spawn_scoped(scope, move || ask_one(target, how, begun, cancel))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .map_err(|e| Failure::internal(format!("cannot start a thread: {e}")))?
                    .join()
                    .map_err(|_| Failure::internal("a probe ended with a bug"))
            })
            .collect()
    })
}

/// The limit counts from when all were asked, not from when this one's thread got its turn.
fn ask_one(target: &Target, how: &How, begun: Instant, cancel: &Cancel) -> Provider {
    let mut options = target.options.clone();
    options.timeout = options.timeout.saturating_sub(begun.elapsed());
    let mut provider = probe(&target.endpoint, &options, cancel);
    if let Some(what) = how.active {
        let pauses = target.options.interval * target.options.samples.saturating_sub(1);
        let left = (target.options.timeout + pauses).saturating_sub(begun.elapsed());
        try_it(target, how, what, left, &mut provider, cancel);
    }
    provider
}

/// Sends the one small request, if that can queue behind nobody.
fn try_it(
    target: &Target,
    how: &How,
    what: Active,
    left: Duration,
    provider: &mut Provider,
    cancel: &Cancel,
) {
    let may_answer = provider.state.is_ready() || provider.state == ServerState::Unknown;
    if !may_answer || cancel.is_cancelled() {
        return;
    }
    let skip = |provider: &mut Provider, why: &str| {
        let probe =
            json!({"kind": word(what), "ok": null, "skipped": true, "message": why, "took_ms": 0});
        provider.other.insert("probe".to_owned(), probe);
    };
    if provider.slots.free == Some(0) {
        return skip(
            provider,
            "not probed: no slot is free, and a probe queues behind nobody",
        );
    }
    let chosen = choice::model(provider, how.model.as_deref(), &target.config.models);
    let (model, names) = match (chosen, &how.model) {
        (Ok(model), _) => (model.id.clone(), names_of(model)),
        // Not listed; only the server can tell (LoRA adapters loaded at run time).
        (Err(_), Some(name)) => (name.clone(), vec![name.clone()]),
        // A proof was asked for and there is none: not to be judged.
        (Err(why), None) => {
            let message = format!("not probed: {why}");
            let probe = json!({"kind": word(what), "ok": null, "skipped": false, "message": message, "took_ms": 0});
            provider.other.insert("probe".to_owned(), probe);
            return;
        }
    };
    let client = Client::new(target.endpoint.clone());
    let result = run_active(
        &client,
        provider.server.kind,
        &model,
        &names,
        what,
        left,
        cancel,
    );
    note(provider, &model, &result);
}

/// All names of a model.
fn names_of(model: &baton_protocol::Model) -> Vec<String> {
    let mut names = vec![model.id.clone()];
    if let Some(Value::Array(aliases)) = model.other.get("aliases") {
        names.extend(
            aliases
                .iter()
                .filter_map(Value::as_str)
                .map(ToOwned::to_owned),
        );
    }
    names
}

/// Writes a probe's result into the entry, and changes the state where it proves something.
fn note(provider: &mut Provider, model: &str, result: &ActiveResult) {
    let took = u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX);
    let retryable = result.error.as_ref().is_some_and(|e| e.retryable);
    provider.other.insert(
        "probe".to_owned(),
        json!({
            "kind": word(result.what),
            "model": model,
            "ok": result.ok,
            "skipped": false,
            "message": format!("{} ({took} ms)", result.message),
            "took_ms": took,
            "may_change": retryable,
        }),
    );
    provider.signals.push(Signal {
        name: format!("probe {}", word(result.what)),
        value: json!(result.ok),
        age_ms: 0,
    });
    if result.is_rejected() {
        provider.state = ServerState::Rejected;
        provider.key_ok = Some(false);
        provider.state_reason = format!("it is up and rejects the key: {}", result.message);
    } else if result.is_silence() {
        provider.state = ServerState::Stalled;
        provider.state_reason = format!(
            "it says that it is ready, and a request of one token was not answered within {took} ms"
        );
    } else if result.is_loading() {
        provider.state = ServerState::Loading;
        provider.state_reason.clone_from(&result.message);
    } else if result.ok == Some(true) && provider.state != ServerState::Unknown {
        // The reason was given before the proof came.
        provider.state_reason = provider.state_reason.replace("(not probed)", "(probed)");
    } else if result.ok == Some(false) {
        provider.state_reason = provider
            .state_reason
            .replace("(not probed)", "(the probe failed)");
    } else if result.ok == Some(true) {
        provider.state = ServerState::Busy;
        provider.state_reason = format!("{}; how busy it is cannot be seen", result.message);
    }
    if result.ok == Some(true) && find_model(provider, model).is_none() {
        provider
            .other
            .insert("answers_unlisted_model".to_owned(), json!(model));
    }
}

fn word(what: Active) -> &'static str {
    match what {
        Active::Token => "token",
        Active::Tools => "tools",
        Active::Json => "json",
    }
}
