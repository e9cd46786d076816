//! The servers a slot may be taken of, and the hard filters before any slot is looked at.

use std::time::SystemTime;

use baton_protocol::{
    BaseUrl, FitVerdict, Model, ModelState, Provider, ServerKind, ServerState, SignalSource,
};

use crate::key::Key;
use crate::store::{TokenNeed, Want};

/// One server (or just a key) a slot may be taken of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) provider: Option<String>,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) model: Option<String>,
    pub(crate) context: Option<u64>,
    /// The environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    pub(crate) want: Want,
    /// The model is in memory already.
    pub(crate) is_resident: bool,
    /// Tokens generated a second.
    pub(crate) speed: Option<f64>,
    /// When one of its slots was last taken.
    pub(crate) last_used: Option<SystemTime>,
}

/// What the flags say about all candidates.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) slots: Option<u32>,
    pub(crate) reserve_interactive: Option<u32>,
    pub(crate) tokens: Option<u64>,
    pub(crate) ignore_server: bool,
}

/// Why a provider is no candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// It is known that it must not be used.
    No(String),
    /// It cannot be told whether it may be used.
    Unknown(String),
    /// It cannot be used now: not reachable, loading, failed.
    Unavailable(String),
}

impl Rejection {
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::No(reason) | Self::Unknown(reason) | Self::Unavailable(reason) => reason,
        }
    }
}

/// Judges one provider of a document. `judged`: the document is an estimate, so each entry should
/// say whether the request fits. `go`: what is unknown is let through.
pub(crate) fn judge(
    provider: &Provider,
    judged: bool,
    go: bool,
    limits: &Limits,
) -> Result<Candidate, Rejection> {
    let id = &provider.id;
    let base_url =
        BaseUrl::parse(&provider.base_url).map_err(|e| Rejection::No(format!("{id}: {e}")))?;
    check_state(provider, go)?;
    check_fit(provider, judged, go)?;
    let model = choose_model(provider)?;
    let fit = provider.fit.as_ref();
    let context = fit
        .and_then(|f| f.usable_context)
        .or_else(|| model.and_then(|m| m.usable_context));
    let (slots, is_assumed) = slots(provider, limits);
    let pool = model.and_then(|m| m.pool_tokens);
    let tokens = match (limits.tokens, pool) {
        (Some(tokens), Some(pool)) => Some(TokenNeed { tokens, pool }),
        _ => None,
    };
    let chosen = fit
        .and_then(|f| f.model.clone())
        .or_else(|| model.map(|m| m.id.clone()));
    Ok(Candidate {
        provider: Some(id.clone()),
        model: chosen.clone(),
        context,
        api_key_env: provider.api_key_env.clone(),
        want: Want {
            key: Key::of_server(&base_url),
            slots,
            is_assumed,
            reserve_interactive: limits.reserve_interactive.unwrap_or(0),
            foreign: 0,
            tokens,
            only_model: chosen.clone().filter(|_| swaps(provider.server.kind)),
        },
        base_url: Some(base_url),
        is_resident: model.is_some_and(|m| m.state == ModelState::Loaded),
        speed: provider.speed.decode_tokens_per_s,
        last_used: None,
    })
}

fn check_state(provider: &Provider, go: bool) -> Result<(), Rejection> {
    let Provider {
        id,
        state,
        state_reason,
        ..
    } = provider;
    let name = state_name(*state);
    let reason = if state_reason.is_empty() {
        format!("{id}: {name}")
    } else {
        format!("{id}: {name} ({state_reason})")
    };
    match state {
        _ if provider.key_ok == Some(false) => Err(Rejection::Unavailable(format!(
            "{id}: the key was rejected"
        ))),
        state if state.is_ready() => Ok(()),
        ServerState::Unknown if go => Ok(()),
        ServerState::Unknown => Err(Rejection::Unknown(reason)),
        _ => Err(Rejection::Unavailable(reason)),
    }
}

fn check_fit(provider: &Provider, judged: bool, go: bool) -> Result<(), Rejection> {
    let id = &provider.id;
    match provider.fit.as_ref().map(|f| f.verdict) {
        Some(FitVerdict::Fits | FitVerdict::Tight) => Ok(()),
        Some(FitVerdict::No) => {
            let missing = provider.fit.as_ref().and_then(|f| f.headroom_tokens);
            Err(Rejection::No(match missing {
                Some(n) if n < 0 => {
                    format!("{id}: does not fit its context, {} tokens missing", -n)
                }
                _ => format!("{id}: does not fit its context"),
            }))
        }
        None if !judged => Ok(()),
        Some(FitVerdict::Unknown) | None if go => Ok(()),
        Some(FitVerdict::Unknown) | None => Err(Rejection::Unknown(format!(
            "{id}: whether the request fits its context cannot be told (set `context` of this provider in \
             the configuration)"
        ))),
    }
}

/// The model that was judged, else the first that is loaded, else the first that could be.
fn choose_model(provider: &Provider) -> Result<Option<&Model>, Rejection> {
    let id = &provider.id;
    let judged = provider.fit.as_ref().and_then(|f| f.model.as_deref());
    let model = match judged {
        Some(name) => provider.models.iter().find(|m| m.id == name),
        None => provider
            .models
            .iter()
            .find(|m| m.state == ModelState::Loaded)
            .or_else(|| {
                provider
                    .models
                    .iter()
                    .find(|m| m.state != ModelState::Failed)
            })
            .or(provider.models.first()),
    };
    match model {
        Some(m) if m.state == ModelState::Failed => {
            let why = m.last_error.as_deref().unwrap_or("no reason given");
            let name = &m.id;
            Err(Rejection::Unavailable(format!(
                "{id}: model {name} failed to load: {why}"
            )))
        }
        Some(m) if m.state == ModelState::Loading => Err(Rejection::Unavailable(format!(
            "{id}: model {} is still loading",
            m.id
        ))),
        other => Ok(other),
    }
}

/// How many slots count: what the flag says, never above what the server says; where nobody says,
/// a stated assumption. True: assumed.
fn slots(provider: &Provider, limits: &Limits) -> (u32, bool) {
    let told = provider.slots.total.filter(|n| *n > 0);
    let is_servers = matches!(
        provider.slots.source,
        SignalSource::Exact | SignalSource::Inferred
    );
    match (limits.slots, told) {
        (Some(flag), Some(told)) if is_servers && !limits.ignore_server => (flag.min(told), false),
        (Some(flag), _) => (flag, false),
        (None, Some(told)) => (told, provider.slots.source == SignalSource::Assumed),
        (None, None) if provider.server.kind == ServerKind::Vllm => (2, true),
        (None, None) => (1, true),
    }
}

/// Whether such a server drops one model from memory to answer with another.
const fn swaps(kind: ServerKind) -> bool {
    matches!(
        kind,
        ServerKind::LlamaSwap | ServerKind::LlamaCppRouter | ServerKind::Skein
    )
}

const fn state_name(state: ServerState) -> &'static str {
    match state {
        ServerState::Unreachable => "unreachable",
        ServerState::Loading => "loading",
        ServerState::Idle => "idle",
        ServerState::Busy => "busy",
        ServerState::Saturated => "saturated",
        ServerState::Sleeping => "sleeping",
        ServerState::Stalled => "stalled",
        ServerState::Failed => "failed",
        ServerState::Rejected => "rejected",
        ServerState::WrongApi => "wrong API",
        ServerState::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Provider;
    use serde_json::json;

    use super::{Limits, Rejection, judge};

    fn provider(changes: &serde_json::Value) -> Provider {
        let mut value = json!({
            "id": "a", "base_url": "http://box:1/v1", "server": {"kind": "vllm", "version": null},
            "state": "idle", "state_reason": "", "models": [
                {"id": "m", "state": "loaded", "usable_context": 4096, "pool_tokens": 8192}],
            "slots": {"total": 4, "in_flight": 0, "waiting": 0, "free": 4, "source": "exact"}
        });
        for (key, new) in changes.as_object().unwrap() {
            value[key] = new.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    fn fit(verdict: &str) -> serde_json::Value {
        json!({"fit": {"model": "m", "usable_context": 4096, "verdict": verdict,
            "headroom_tokens": -7, "largest_output_tokens": null}})
    }

    #[test]
    fn what_does_not_fit_or_is_not_ready_is_no_candidate() {
        let limits = Limits::default();
        let rejected = |changes| judge(&provider(&changes), true, false, &limits).unwrap_err();
        assert!(matches!(rejected(fit("no")), Rejection::No(r) if r.contains("7 tokens missing")));
        assert!(matches!(rejected(fit("unknown")), Rejection::Unknown(_)));
        assert!(
            matches!(rejected(json!({})), Rejection::Unknown(_)),
            "an estimate without fit"
        );
        for state in [
            "unreachable",
            "loading",
            "stalled",
            "failed",
            "rejected",
            "wrong_api",
        ] {
            let rejection = rejected(json!({"state": state}));
            assert!(
                matches!(rejection, Rejection::Unavailable(_)),
                "{state}: {rejection:?}"
            );
        }
        assert!(matches!(
            rejected(json!({"state": "unknown"})),
            Rejection::Unknown(_)
        ));
        let failed = json!({"models": [{"id": "m", "state": "failed", "last_error": "no memory",
            "usable_context": null}]});
        let rejection = judge(&provider(&failed), false, true, &limits).unwrap_err();
        assert!(rejection.reason().contains("no memory"));
    }

    #[test]
    fn q01_unknown_is_let_through_only_by_choice() {
        let limits = Limits::default();
        for changes in [fit("unknown"), json!({"state": "unknown"})] {
            assert!(judge(&provider(&changes), false, false, &limits).is_err());
            assert!(judge(&provider(&changes), false, true, &limits).is_ok());
        }
    }

    #[test]
    fn the_servers_own_number_is_never_exceeded() {
        let mut limits = Limits {
            slots: Some(9),
            ..Limits::default()
        };
        let candidate = judge(&provider(&fit("fits")), true, false, &limits).unwrap();
        assert_eq!(
            (candidate.want.slots, candidate.want.is_assumed),
            (4, false)
        );
        assert_eq!(candidate.model.as_deref(), Some("m"));
        assert_eq!(candidate.context, Some(4096));
        limits.slots = None;
        let unknown = json!({"slots": {"total": null, "in_flight": null, "waiting": null,
            "free": null, "source": "none"}});
        let candidate = judge(&provider(&unknown), false, false, &limits).unwrap();
        assert_eq!((candidate.want.slots, candidate.want.is_assumed), (2, true));
        let zero = json!({"slots": {"total": 0, "in_flight": null, "waiting": null,
            "free": null, "source": "exact"}, "server": {"kind": "openai", "version": null}});
        let candidate = judge(&provider(&zero), false, false, &limits).unwrap();
        assert_eq!((candidate.want.slots, candidate.want.is_assumed), (1, true));
    }
}
