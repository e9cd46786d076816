//! From answers to a provider entry: the state, in words, with the signals it rests on.

use std::time::Duration;

use baton_protocol::{
    ContextSource, Provider, ProviderError, Server, ServerKind, ServerState, Signal, SignalSource,
    Slots, Speed,
};
use serde_json::{Map, Value, json};

use super::answers::Answers;
use super::detect::detect;
use super::finding::{Finding, Readiness, cap, free, limit};
use super::kinds;
use super::trouble::{Trouble, list_error, trouble};

/// The longest a batch of a prompt is believed to take.
const LONGEST_BATCH: Duration = Duration::from_secs(120);

/// What is known of a provider before it is asked.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The configured name.
    pub id: String,
    /// The normalised base URL.
    pub base_url: String,
    /// The variable that holds the key.
    pub api_key_env: Option<String>,
    /// The kind, where a person says it.
    pub kind: Option<ServerKind>,
    /// A configured window: lowers the server's, or stands in for it.
    pub context: Option<u64>,
    /// Configured slots: never above the server's own.
    pub slots: Option<u32>,
}

/// Judges a provider by one or more samples, oldest first, taken over a span of time.
pub fn judge(asked: &Asked, samples: &[Answers], span: Duration) -> Provider {
    let empty = Answers::default();
    let last = samples.last().unwrap_or(&empty);
    let kind = asked.kind.or_else(|| detect(last));
    let mut provider = blank(asked, last);
    if let Some(kind) = kind {
        provider.server.kind = kind;
    }
    let list_url = match asked.base_url.trim_end_matches('/') {
        "" => "/v1/models".to_owned(),
        base => format!("{base}/models"),
    };
    if let Some(trouble) = trouble(last, kind, &list_url) {
        apply(&mut provider, trouble);
        return provider;
    }
    let kind = kind.unwrap_or(ServerKind::OpenAi);
    let findings: Vec<Finding> = samples.iter().map(|a| kinds::read(kind, a)).collect();
    let stall = stalled(&findings, span);
    let Some(mut finding) = findings.into_iter().next_back() else {
        return provider;
    };
    for model in &mut finding.models {
        limit(model, asked.context, ContextSource::Configured);
        cap(model);
    }
    settle_slots(&mut finding, asked.slots);
    let error = list_error(last, kind);
    let (state, reason) = match stall {
        Some(reason) => (ServerState::Stalled, reason),
        None => state(&finding, last, error.as_ref()),
    };
    let age = last.get("/metrics").map_or(0, |a| millis(a.age));
    provider
        .signals
        .extend(finding.numbers.iter().map(|(name, value)| Signal {
            name: (*name).to_owned(),
            value: value.clone(),
            age_ms: age,
        }));
    if matches!(finding.readiness, Readiness::Dormant(_)) {
        provider
            .other
            .insert("wakes_on_request".to_owned(), json!(false));
    }
    provider.server = Server {
        kind: finding.kind,
        version: finding.version,
    };
    provider.state = state;
    provider.state_reason = reason;
    provider.key_ok = (last.status("/v1/models") == Some(200)).then_some(true);
    provider.models = finding.models;
    provider.slots = finding.slots;
    provider.speed = finding.speed;
    provider.error = error;
    provider
}

/// Whether a second look is needed before anything is said: requests wait while none runs.
pub(crate) fn is_suspicious(provider: &Provider) -> bool {
    provider.slots.in_flight == Some(0) && provider.slots.waiting.is_some_and(|n| n > 0)
}

fn blank(asked: &Asked, answers: &Answers) -> Provider {
    let signals = answers
        .iter()
        .map(|(route, answer)| Signal {
            name: format!("GET {route}"),
            value: match &answer.result {
                Ok(reply) => json!(reply.status),
                Err(_) => Value::Null,
            },
            age_ms: millis(answer.age),
        })
        .collect();
    let latency = ["/health", "/v1/models"]
        .iter()
        .filter_map(|route| answers.get(route))
        .find(|answer| answer.result.is_ok())
        .map(|answer| millis(answer.took));
    Provider {
        id: asked.id.clone(),
        base_url: asked.base_url.clone(),
        api_key_env: asked.api_key_env.clone(),
        server: Server {
            kind: ServerKind::Unknown,
            version: None,
        },
        state: ServerState::Unknown,
        state_reason: "nothing was asked".to_owned(),
        signals,
        latency_ms: latency,
        key_ok: None,
        models: Vec::new(),
        slots: Slots::default(),
        speed: Speed::default(),
        error: None,
        fit: None,
        other: Map::new(),
    }
}

fn apply(provider: &mut Provider, trouble: Trouble) {
    provider.state = trouble.state;
    provider.state_reason.clone_from(&trouble.message);
    if trouble.state == ServerState::Rejected {
        provider.key_ok = Some(false);
    }
    provider.error = Some(ProviderError {
        kind: trouble.kind.to_owned(),
        message: trouble.message,
    });
}

/// Two signs of an engine that does not move although its server answers.
fn stalled(findings: &[Finding], span: Duration) -> Option<String> {
    if findings.len() < 2 {
        return None;
    }
    let seconds = span.as_secs_f64();
    let all = |test: &dyn Fn(&Finding) -> bool| findings.iter().all(test);
    let waits =
        |f: &Finding| f.slots.in_flight == Some(0) && f.slots.waiting.is_some_and(|n| n > 0);
    if all(&waits) {
        return Some(format!(
            "requests wait and none is being worked on, over {} samples in {seconds:.1} s",
            findings.len()
        ));
    }
    // One batch of a long prompt may take half a minute on a CPU, and stalls every slot.
    if findings.iter().any(|f| f.is_reading) && span < LONGEST_BATCH {
        return None;
    }
    let runs = |f: &Finding| f.slots.in_flight.is_some_and(|n| n > 0);
    let first = findings.first()?.progress?;
    let frozen = |f: &Finding| f.progress.is_some_and(|p| (p - first).abs() < f64::EPSILON);
    (all(&runs) && all(&frozen)).then(|| {
        format!("a request is being worked on and no token counter moved in {seconds:.1} s")
    })
}

/// Untold slots are two on vLLM, which does not publish their number, and one elsewhere.
fn settle_slots(finding: &mut Finding, configured: Option<u32>) {
    let slots = &mut finding.slots;
    let configured = configured.filter(|n| *n > 0);
    (slots.total, slots.source) = match (slots.total.filter(|n| *n > 0), configured) {
        (Some(told), Some(wish)) if wish < told => (Some(wish), SignalSource::Configured),
        (Some(told), _) => (Some(told), slots.source),
        (None, Some(wish)) => (Some(wish), SignalSource::Configured),
        (None, None) if finding.kind == ServerKind::Vllm => (Some(2), SignalSource::Assumed),
        (None, None) => (Some(1), SignalSource::Assumed),
    };
    slots.free = match (slots.total, slots.in_flight) {
        (Some(total), Some(used)) => Some(free(total, used, slots.waiting)),
        _ => None,
    };
}

/// The state in words; `list` is what was wrong with the model list.
fn state(
    finding: &Finding,
    answers: &Answers,
    list: Option<&ProviderError>,
) -> (ServerState, String) {
    let because = match &finding.readiness {
        Readiness::Ready(reason) => reason,
        Readiness::Loading(reason) => return (ServerState::Loading, reason.clone()),
        Readiness::Sleeping(reason) | Readiness::Dormant(reason) => {
            return (ServerState::Sleeping, reason.clone());
        }
        Readiness::Failed(reason) => return (ServerState::Failed, reason.clone()),
        Readiness::Unknown(reason) => return (ServerState::Unknown, reason.clone()),
    };
    if finding.models.is_empty() && answers.status("/v1/models") == Some(200) {
        return match unusable_entries(answers) {
            0 => (
                ServerState::Loading,
                "no model is loaded (yet): the model list is empty".to_owned(),
            ),
            n => (
                ServerState::Unknown,
                format!(
                    "{because}, but none of the {n} entries of the model list is a model for chat \
                     with a name; --probe --model NAME settles it"
                ),
            ),
        };
    }
    // Without the list nothing can be sent, as no name of a model is known.
    if finding.models.is_empty()
        && let Some(error) = list.filter(|e| e.kind == "http")
    {
        let message = &error.message;
        return (
            ServerState::Unknown,
            format!("{because}, but {message}; --probe settles it"),
        );
    }
    let slots = &finding.slots;
    let (Some(total), Some(in_flight)) = (slots.total, slots.in_flight) else {
        let mute = ["/slots", "/metrics", "/props"]
            .iter()
            .find(|route| answers.is_mute(route));
        let reason = match mute {
            Some(route) => format!(
                "{because}, but {route} is silent: busy with a long prompt; its slots are unknown"
            ),
            None => format!("{because} (not probed); how busy it is cannot be seen"),
        };
        return (ServerState::Busy, reason);
    };
    let assumed = if slots.source == SignalSource::Assumed {
        " (assumed)"
    } else {
        ""
    };
    let waiting = slots.waiting.unwrap_or(0);
    if waiting > 0 {
        return (
            ServerState::Saturated,
            format!("{in_flight} running, {waiting} waiting in the server's queue"),
        );
    }
    if in_flight == 0 {
        return (
            ServerState::Idle,
            format!("{because} (not probed), nothing running"),
        );
    }
    if in_flight >= total {
        return (
            ServerState::Saturated,
            format!(
                "{in_flight} running on {total} slot{}{assumed}, none waiting",
                if total == 1 { "" } else { "s" }
            ),
        );
    }
    let left = total - in_flight;
    (
        ServerState::Busy,
        format!("{in_flight} running, {left} of {total} slots{assumed} free"),
    )
}

/// How many entries a model list has that named no model we could send anything to.
fn unusable_entries(answers: &Answers) -> usize {
    let body = answers.json("/v1/models").unwrap_or_default();
    super::list::entries(&body).map_or(0, Vec::len)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
