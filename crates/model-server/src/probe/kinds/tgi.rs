//! Hugging Face text-generation-inference.
//!
//! Its `max_concurrent_requests` (128 unless told otherwise) is no number of slots: it is the limit
//! above which the router refuses (429), and requests that wait for a batch count too. How many run
//! side by side is `max_batch_size`, which is rarely set and which newer routers do not publish;
//! else the batch is bounded by `max_batch_total_tokens`, the pool.

use baton_protocol::{ContextSource, ModelState, ServerKind};
use serde_json::Value;

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness, exact_slots, limit, model};
use super::super::list;
use super::super::prometheus::Metrics;
use super::{Health, health};
use crate::stream::number;

pub(super) fn read(answers: &Answers) -> Finding {
    let info = answers.json("/info").unwrap_or(Value::Null);
    let metrics = Metrics::parse(&answers.text("/metrics").unwrap_or_default());
    let readiness = match health(answers) {
        // It generates one token to find out whether it is healthy.
        Health::Down(status) => Readiness::Failed(format!("/health says {status}")),
        other => other
            .settled()
            .unwrap_or_else(|| Readiness::Ready("/health says ok".to_owned())),
    };
    let state = match &readiness {
        Readiness::Ready(_) => ModelState::Loaded,
        _ => ModelState::Unknown,
    };
    let mut finding = Finding::new(ServerKind::Tgi, readiness);
    finding.version = info
        .get("version")
        .and_then(Value::as_str)
        .map(ToOwned::to_owned);
    finding.models = answers
        .json("/v1/models")
        .map(|body| list::models(&body))
        .unwrap_or_default();
    if finding.models.is_empty()
        && let Some(id) = info.get("model_id").and_then(Value::as_str)
    {
        finding.models.push(model(id, state));
    }
    let window = ["max_total_tokens", "max_input_tokens", "max_input_length"]
        .iter()
        .find_map(|name| number(info.get(*name)?));
    let count = |name: &str| info.get(name).and_then(number).filter(|n| *n > 0);
    for model in &mut finding.models {
        model.state = state;
        model.max_model_len = window.or(model.max_model_len);
        limit(model, window, ContextSource::ServedWindow);
        model.pool_tokens = count("max_batch_total_tokens");
    }
    let running = metrics.count(&["tgi_batch_current_size"]);
    let waiting = metrics.count(&["tgi_queue_size"]);
    if let Some(most) = count("max_batch_size").and_then(|n| u32::try_from(n).ok()) {
        finding.slots = exact_slots(most, running, waiting);
    } else {
        finding.slots.in_flight = running;
        finding.slots.waiting = waiting;
    }
    finding.number("max_concurrent_requests", count("max_concurrent_requests"));
    finding.number("tgi_batch_current_size", running);
    finding.number("tgi_queue_size", waiting);
    finding
}
