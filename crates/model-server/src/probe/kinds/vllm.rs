//! vLLM.
//!
//! It refuses connections until it is ready, so a 503 of `/health` means that the engine died.
//! `/health` stays 200 while the engine hangs; only its counters show that. It does not publish
//! `max-num-seqs`.

use std::collections::BTreeMap;

use baton_protocol::{Model, ModelState, ServerKind, Slots};

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness};
use super::super::list;
use super::super::prometheus::Metrics;
use super::{Health, health};
use crate::stream::number;

pub(super) fn read(answers: &Answers) -> Finding {
    let metrics = Metrics::parse(&answers.text("/metrics").unwrap_or_default());
    let mut finding = Finding::new(ServerKind::Vllm, readiness(answers, &metrics));
    finding.version = answers
        .json("/version")
        .and_then(|v| Some(v.get("version")?.as_str()?.to_owned()));
    let state = match &finding.readiness {
        Readiness::Ready(_) => ModelState::Loaded,
        Readiness::Sleeping(_) | Readiness::Dormant(_) => ModelState::Sleeping,
        Readiness::Loading(_) => ModelState::Loading,
        Readiness::Failed(_) => ModelState::Failed,
        Readiness::Unknown(_) => ModelState::Unknown,
    };
    let pool = pool(&metrics);
    finding.models = answers
        .json("/v1/models")
        .map(|body| list::models(&body))
        .unwrap_or_default()
        .into_iter()
        .map(|model| with_pool(model, state, pool))
        .collect();
    let running = metrics.count(&["vllm:num_requests_running"]);
    let waiting = metrics.count(&["vllm:num_requests_waiting"]);
    let load = answers
        .json("/load")
        .and_then(|body| number(body.get("server_load")?))
        .and_then(|n| u32::try_from(n).ok());
    let in_flight = in_flight(running, waiting, load);
    finding.slots = Slots {
        in_flight,
        waiting,
        ..Slots::default()
    };
    finding.speed.prefill_tokens_per_s = metrics.ratio(
        &["vllm:request_prefill_kv_computed_tokens_sum"],
        &["vllm:request_prefill_time_seconds_sum"],
    );
    finding.speed.decode_tokens_per_s = metrics.ratio(
        &["vllm:request_generation_tokens_sum"],
        &["vllm:request_decode_time_seconds_sum"],
    );
    finding.progress = progress(&metrics);
    finding.number("vllm:num_requests_running", running);
    finding.number("vllm:num_requests_waiting", waiting);
    finding.number("server_load", load);
    finding.number(
        "vllm:generation_tokens_total",
        metrics.sum("vllm:generation_tokens_total"),
    );
    finding.number(
        "vllm:kv_cache_usage_perc",
        metrics.first(&["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"]),
    );
    finding
}

/// Requests in work. The gauges are the engine's last word: while it makes a long step, or hangs,
/// they know nothing of what came since. `/load` counts at the door (running and queued); where that
/// is not switched on it says 0.
fn in_flight(running: Option<u32>, waiting: Option<u32>, load: Option<u32>) -> Option<u32> {
    let at_the_door = load.map(|load| load.saturating_sub(waiting.unwrap_or(0)));
    running.map(|running| running.max(at_the_door.unwrap_or(0)))
}

fn readiness(answers: &Answers, metrics: &Metrics) -> Readiness {
    let asleep = metrics
        .labels("vllm:engine_sleep_state")
        .any(|(labels, value)| {
            value > 0.0 && labels.get("sleep_state").is_some_and(|s| s != "awake")
        });
    let health = health(answers);
    match &health {
        Health::Ok if asleep => Readiness::Dormant(
            "the engine is asleep and a request does not wake it: POST /wake_up does".to_owned(),
        ),
        Health::Down(503) if answers.status("/v1/models") == Some(200) => Readiness::Failed(
            "the engine is dead although the server answers (/health says 503): restart it"
                .to_owned(),
        ),
        Health::Down(status) => {
            Readiness::Failed(format!("/health says {status}: the engine does not run"))
        }
        other => other
            .settled()
            .unwrap_or_else(|| Readiness::Ready("/health says ok".to_owned())),
    }
}

/// The key-value pool: what all requests together may hold, in tokens. Of several engines one
/// serves the request, and nobody knows which.
fn pool(metrics: &Metrics) -> Option<u64> {
    let of = |labels: &BTreeMap<String, String>| {
        let label = |name: &str| number(&labels.get(name)?.as_str().into());
        label("kv_cache_size_tokens")
            .or_else(|| label("num_gpu_blocks")?.checked_mul(label("block_size")?))
            .filter(|tokens| *tokens > 0)
    };
    metrics
        .labels("vllm:cache_config_info")
        .filter_map(|(labels, _)| of(labels))
        .min()
}

fn with_pool(mut model: Model, state: ModelState, pool: Option<u64>) -> Model {
    model.state = state;
    model.pool_tokens = pool;
    model
}

/// Everything that moves while the engine works, prefill included.
fn progress(metrics: &Metrics) -> Option<f64> {
    let counters: Vec<f64> = [
        "vllm:generation_tokens_total",
        "vllm:prompt_tokens_total",
        "vllm:iteration_tokens_total_sum",
        "vllm:iteration_tokens_total_count",
    ]
    .iter()
    .filter_map(|name| metrics.sum(name))
    .collect();
    (!counters.is_empty()).then(|| counters.iter().sum())
}
