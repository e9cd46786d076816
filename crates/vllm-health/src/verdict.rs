//! From provider entries to the answer: ready, not ready, or not to be judged. Pure.

use baton_model_server::probe::find_model;
use baton_protocol::{Exit, Model, ModelState, Provider, ServerState};
use serde_json::Value;

use crate::plan::Wants;

/// One provider's answer with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// None: could not be judged.
    pub(crate) ready: Option<bool>,
    /// Why, in words.
    pub(crate) reason: String,
    /// Whether waiting may change a no.
    pub(crate) may_change: bool,
}

impl Verdict {
    fn yes(reason: impl Into<String>) -> Self {
        Self::new(Some(true), reason, true)
    }

    fn no(reason: impl Into<String>, may_change: bool) -> Self {
        Self::new(Some(false), reason, may_change)
    }

    fn unknown(reason: impl Into<String>) -> Self {
        Self::new(None, reason, true)
    }

    fn new(ready: Option<bool>, reason: impl Into<String>, may_change: bool) -> Self {
        Self {
            ready,
            reason: reason.into(),
            may_change,
        }
    }
}

/// Judges one provider by what is wanted of it.
pub(crate) fn judge(provider: &Provider, wants: &Wants) -> Verdict {
    let server = server(provider);
    if server.ready == Some(false) {
        return server;
    }
    let probe = probe(provider);
    if let Some(verdict) = &probe
        && verdict.ready == Some(false)
    {
        return verdict.clone();
    }
    let proven = probe.as_ref().is_some_and(|v| v.ready == Some(true));
    let model = match &wants.model {
        Some(name) => match named(provider, name, proven) {
            Ok(model) => model,
            Err(verdict) => return verdict,
        },
        None => None,
    };
    if let Some(tokens) = wants.min_context {
        let candidates: Vec<&Model> = match model {
            Some(model) => vec![model],
            None => provider.models.iter().collect(),
        };
        let verdict = context(&candidates, tokens);
        if verdict.ready != Some(true) {
            return verdict;
        }
    }
    match probe {
        Some(verdict) if server.ready == Some(true) || verdict.ready.is_none() => verdict,
        _ if proven => Verdict::yes(server.reason),
        _ => server,
    }
}

fn server(provider: &Provider) -> Verdict {
    let reason = provider.state_reason.clone();
    match provider.state {
        ServerState::Sleeping
            if provider.other.get("wakes_on_request") == Some(&Value::Bool(false)) =>
        {
            Verdict::no(reason, true)
        }
        state if state.is_ready() => Verdict::yes(reason),
        ServerState::Unknown => Verdict::unknown(reason),
        ServerState::Rejected | ServerState::WrongApi => Verdict::no(reason, false),
        _ => Verdict::no(reason, true),
    }
}

/// What a probe said, where one was asked for and could be sent.
fn probe(provider: &Provider) -> Option<Verdict> {
    let probe = provider.other.get("probe")?;
    let message = probe
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if probe.get("skipped") == Some(&Value::Bool(true)) {
        return None;
    }
    Some(match probe.get("ok").and_then(Value::as_bool) {
        Some(true) => Verdict::yes(message),
        Some(false) => Verdict::no(message, probe.get("may_change") == Some(&Value::Bool(true))),
        None => Verdict::unknown(message),
    })
}

/// The wanted model; `Ok(None)` where it is not listed and yet answered.
fn named<'a>(
    provider: &'a Provider,
    name: &str,
    proven: bool,
) -> Result<Option<&'a Model>, Verdict> {
    let Some(model) = find_model(provider, name) else {
        if proven {
            return Ok(None);
        }
        if provider.models.is_empty() && provider.error.is_some() {
            return Err(Verdict::unknown(format!(
                "whether `{name}` is served cannot be told: the model list could not be read"
            )));
        }
        let served = names(&provider.models);
        return Err(Verdict::no(
            format!(
                "the model `{name}` is not listed; listed are: {served} (--probe tries it all the same)"
            ),
            false,
        ));
    };
    match model.state {
        ModelState::Failed => {
            let why = model.last_error.as_deref().unwrap_or("no reason is told");
            Err(Verdict::no(
                format!("the model `{name}` failed to load: {why}"),
                true,
            ))
        }
        ModelState::Loading => Err(Verdict::no(
            format!("the model `{name}` is being loaded"),
            true,
        )),
        _ if model.other.get("does_not_fit") == Some(&Value::Bool(true)) => Err(Verdict::no(
            format!("the model `{name}` does not fit into the server's memory"),
            false,
        )),
        _ => Ok(Some(model)),
    }
}

/// The first ten names of a list.
pub(crate) fn names(models: &[Model]) -> String {
    if models.is_empty() {
        return "none".to_owned();
    }
    let mut names: Vec<&str> = models.iter().take(10).map(|m| m.id.as_str()).collect();
    if models.len() > 10 {
        names.push("…");
    }
    names.join(", ")
}

/// Whether the models can hold so much: all, none, or it depends on which one is meant.
fn context(models: &[&Model], tokens: u64) -> Verdict {
    let known: Vec<Option<u64>> = models.iter().map(|m| m.usable_context).collect();
    let enough = |known: &Option<u64>| known.is_some_and(|n| n >= tokens);
    let short = |known: &Option<u64>| known.is_some_and(|n| n < tokens);
    if known.is_empty() || !known.iter().any(Option::is_some) {
        return Verdict::unknown(
            "the usable context is not known; set `context` in the configuration",
        );
    }
    if known.iter().all(enough) {
        return Verdict::yes("");
    }
    if known.iter().all(short) {
        let most = known.iter().flatten().max().copied().unwrap_or(0);
        return Verdict::no(
            format!("one request can use {most} tokens of context, {tokens} are wanted"),
            true,
        );
    }
    Verdict::unknown("only some of the models hold so much context, or tell; name one by --model")
}

/// The answer over all providers.
pub(crate) fn overall(verdicts: &[Verdict], all: bool) -> Option<bool> {
    let any = |wanted: Option<bool>| verdicts.iter().any(|v| v.ready == wanted);
    let order = if all {
        [Some(false), None, Some(true)]
    } else {
        [Some(true), None, Some(false)]
    };
    order.into_iter().find(|wanted| any(*wanted)).flatten()
}

/// The exit code of the answer.
pub(crate) fn exit(ready: Option<bool>, providers: &[Provider]) -> Exit {
    match ready {
        Some(true) => Exit::Yes,
        None => Exit::Unknown,
        Some(false) => {
            let nothing = providers
                .iter()
                .all(|p| p.state == ServerState::Unreachable);
            if nothing { Exit::Unavailable } else { Exit::No }
        }
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
