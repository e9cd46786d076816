//! SGLang. Its model list is there before the model is; `/health` is the sign.

use baton_protocol::{ContextSource, ModelState, ServerKind, Slots};
use serde_json::Value;

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness, exact_slots, limit};
use super::super::list;
use super::super::prometheus::Metrics;
use super::{Health, health};
use crate::stream::number;

pub(super) fn read(answers: &Answers) -> Finding {
    let info = ["/get_server_info", "/server_info"]
        .iter()
        .find_map(|route| answers.json(route))
        .unwrap_or(Value::Null);
    let metrics = Metrics::parse(&answers.text("/metrics").unwrap_or_default());
    let readiness = match health(answers) {
        Health::Down(503) => Readiness::Loading("/health says 503: warming up".to_owned()),
        Health::Down(status) => Readiness::Failed(format!("/health says {status}")),
        other => other
            .settled()
            .unwrap_or_else(|| Readiness::Ready("/health says ok".to_owned())),
    };
    let state = match &readiness {
        Readiness::Ready(_) => ModelState::Loaded,
        Readiness::Loading(_) => ModelState::Loading,
        _ => ModelState::Unknown,
    };
    let mut finding = Finding::new(ServerKind::SgLang, readiness);
    let field = |names: &[&str]| names.iter().find_map(|n| number(info.get(*n)?));
    let pool = field(&["max_total_num_tokens"]).or_else(|| {
        metrics
            .count(&["sglang:max_total_num_tokens"])
            .map(u64::from)
    });
    finding.version = info
        .get("version")
        .and_then(Value::as_str)
        .map(ToOwned::to_owned);
    finding.models = answers
        .json("/v1/models")
        .map(|body| list::models(&body))
        .unwrap_or_default();
    for model in &mut finding.models {
        model.state = state;
        limit(
            model,
            field(&["context_length"]),
            ContextSource::ServedWindow,
        );
        model.pool_tokens = pool.filter(|n| *n > 0);
    }
    let load = load(
        answers
            .json("/get_load")
            .or_else(|| answers.json("/v1/loads"))
            .as_ref(),
    );
    let running = metrics.count(&["sglang:num_running_reqs"]).or(load.0);
    let waiting = metrics.count(&["sglang:num_queue_reqs"]).or(load.1);
    let most = field(&["max_running_requests"])
        .filter(|n| *n > 0)
        .or_else(|| effective(&info))
        .and_then(|n| u32::try_from(n).ok());
    finding.slots = match most.filter(|n| *n > 0) {
        Some(most) => exact_slots(most, running, waiting),
        None => Slots {
            in_flight: running,
            waiting,
            ..Slots::default()
        },
    };
    finding.progress = metrics.first(&["sglang:generation_tokens_total"]);
    finding.number("sglang:num_running_reqs", running);
    finding.number("sglang:num_queue_reqs", waiting);
    finding
}

/// What the engine itself settled on, where no limit was given at its start: so many for each rank.
fn effective(info: &Value) -> Option<u64> {
    let ranks = info.get("internal_states")?.as_array()?;
    let each: Option<Vec<u64>> = ranks
        .iter()
        .map(|rank| number(rank.get("effective_max_running_requests_per_dp")?))
        .collect();
    let sum = each?.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
    (sum > 0).then_some(sum)
}

/// Running and waiting requests from `/get_load` (one entry a data-parallel rank), or from
/// `/v1/loads`, which has the ranks in an object and counts the running ones by themselves.
fn load(body: Option<&Value>) -> (Option<u32>, Option<u32>) {
    let ranks = body.and_then(|body| body.get("loads").unwrap_or(body).as_array());
    let Some(ranks) = ranks.filter(|ranks| !ranks.is_empty()) else {
        return (None, None);
    };
    let sum = |name: &str| {
        let values: Option<Vec<u64>> = ranks.iter().map(|r| number(r.get(name)?)).collect();
        let sum = values?.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        u32::try_from(sum).ok()
    };
    let (all, waiting) = (sum("num_reqs"), sum("num_waiting_reqs"));
    let running =
        sum("num_running_reqs").or_else(|| all.map(|all| all.saturating_sub(waiting.unwrap_or(0))));
    (running, waiting)
}
