//! llama.cpp's llama-server: with one model, or as a router over several.

use baton_protocol::{ContextSource, Model, ModelState, ServerKind, SignalSource, Slots};
use serde_json::{Value, json};

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness, exact_slots, limit};
use super::super::list;
use super::super::prometheus::Metrics;
use super::{Health, health};
use crate::stream::number;

/// Without `--parallel` the server makes this many slots that share one pool.
const AUTO_SLOTS: u64 = 4;

/// What `/slots` tells.
struct SlotList {
    total: u32,
    /// None where no entry says whether it is busy.
    busy: Option<u32>,
    window: Option<u64>,
    progress: f64,
    /// A slot works and has not produced a token yet.
    is_reading: bool,
}

pub(super) fn read_single(answers: &Answers) -> Finding {
    let props = answers.json("/props");
    let metrics = Metrics::parse(&answers.text("/metrics").unwrap_or_default());
    let list = answers.json("/slots").and_then(|slots| slot_list(&slots));
    let body = answers.json("/v1/models");
    let mut finding = Finding::new(
        ServerKind::LlamaCpp,
        single_readiness(answers, props.as_ref(), body.as_ref()),
    );
    finding.version = props.as_ref().and_then(build);
    let state = match &finding.readiness {
        Readiness::Ready(_) => ModelState::Loaded,
        Readiness::Sleeping(_) => ModelState::Sleeping,
        Readiness::Loading(_) => ModelState::Loading,
        Readiness::Failed(_) => ModelState::Failed,
        _ => ModelState::Unknown,
    };
    finding.models = body
        .map(|body| list::models(&body))
        .unwrap_or_default()
        .into_iter()
        .map(|model| with_share(model, state, props.as_ref(), list.as_ref()))
        .collect();
    finding.slots = slots(props.as_ref(), list.as_ref(), &metrics);
    if finding.slots.in_flight.is_none()
        && let Some(slots) = slots_in_health(answers)
    {
        finding.slots = slots;
    }
    finding.progress = progress(&metrics, list.as_ref());
    finding.is_reading = list.as_ref().is_some_and(|l| l.is_reading);
    measured(&mut finding, &metrics);
    if let Some(list) = &list {
        finding.number("slots", Some(list.total));
        finding.number("slots processing", list.busy);
    }
    finding
}

fn single_readiness(answers: &Answers, props: Option<&Value>, models: Option<&Value>) -> Readiness {
    let asleep = props.and_then(|p| p.get("is_sleeping")?.as_bool()) == Some(true);
    // A list whose entries have no meta yet belongs to a model that is being loaded.
    let unloaded = models.and_then(list::entries).is_some_and(|e| {
        !e.is_empty() && e.iter().all(|m| m.get("meta").is_some_and(Value::is_null))
    });
    match health(answers) {
        Health::Ok if asleep => {
            Readiness::Sleeping("asleep: the first request loads the model again".to_owned())
        }
        Health::Ok if unloaded => {
            Readiness::Loading("the model list has no model data yet".to_owned())
        }
        Health::Down(503) => Readiness::Loading("/health says 503".to_owned()),
        Health::Down(status) => Readiness::Failed(format!("/health says {status}")),
        other => other
            .settled()
            .unwrap_or_else(|| Readiness::Ready("/health says ok".to_owned())),
    }
}

fn build(props: &Value) -> Option<String> {
    Some(props.get("build_info")?.as_str()?.to_owned())
}

/// The window of one slot, as `/props` says it. It is already divided by the slots.
fn share(props: &Value) -> Option<u64> {
    number(props.get("default_generation_settings")?.get("n_ctx")?).filter(|n| *n > 0)
}

/// The model's window is one slot's share, from the most direct source there is.
fn with_share(
    mut model: Model,
    state: ModelState,
    props: Option<&Value>,
    list: Option<&SlotList>,
) -> Model {
    model.state = state;
    let window = list
        .and_then(|l| l.window)
        .or_else(|| props.and_then(share))
        .or(model.max_model_len);
    model.usable_context = None;
    limit(&mut model, window, ContextSource::SlotShare);
    model.max_model_len = window.filter(|n| *n > 0);
    let total = list
        .map(|l| u64::from(l.total))
        .or_else(|| props.and_then(|p| number(p.get("total_slots")?)))
        .filter(|n| *n > 0);
    let window = window.filter(|n| *n > 0);
    if let (Some(AUTO_SLOTS), Some(window)) = (total, window) {
        // Four slots is what the server makes by itself, and then all of them claim the same pool.
        // Nothing in its answers tells this from four slots of their own, so the pool is taken to
        // be the smaller of the two; with others in flight only a part of it is guaranteed.
        model.pool_tokens = Some(window);
        let busy = list.and_then(|l| l.busy).unwrap_or(0);
        let in_use = u64::from(busy).max(1);
        model
            .other
            .insert("pool_may_be_shared".to_owned(), json!(true));
        model
            .other
            .insert("guaranteed_context".to_owned(), json!(window / in_use));
    } else if let (Some(total), Some(window)) = (total, window) {
        model.pool_tokens = Some(window.saturating_mul(total));
    }
    model
}

/// The slots a `/slots` answer alone tells.
pub(super) fn slots_of(body: &Value) -> Slots {
    slots(None, slot_list(body).as_ref(), &Metrics::default())
}

fn slot_list(slots: &Value) -> Option<SlotList> {
    let slots = slots.as_array().filter(|slots| !slots.is_empty())?;
    let total = u32::try_from(slots.len()).ok()?;
    let busy: Option<Vec<bool>> = slots.iter().map(is_busy).collect();
    let count = |busy: Vec<bool>| u32::try_from(busy.iter().filter(|b| **b).count()).ok();
    let window = slots
        .iter()
        .filter_map(|slot| number(slot.get("n_ctx")?))
        .filter(|n| *n > 0)
        .min();
    let field = |slot: &Value, name: &str| slot.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let decoded = |slot: &Value| match slot.get("next_token") {
        Some(Value::Array(tokens)) => tokens.iter().map(|t| field(t, "n_decoded")).sum(),
        Some(token) => field(token, "n_decoded"),
        None => 0.0,
    };
    let progress = slots
        .iter()
        .map(|slot| {
            decoded(slot) + field(slot, "n_prompt_tokens_processed") + field(slot, "id_task")
        })
        .sum();
    let is_reading = slots
        .iter()
        .any(|slot| is_busy(slot) == Some(true) && decoded(slot) < 1.0);
    Some(SlotList {
        total,
        busy: busy.and_then(count),
        window,
        progress,
        is_reading,
    })
}

/// Whether a slot works: `is_processing`, or `state` on servers before it (1 = processing).
fn is_busy(slot: &Value) -> Option<bool> {
    match (slot.get("is_processing"), slot.get("state")) {
        (Some(Value::Bool(busy)), _) => Some(*busy),
        (None, Some(state)) => state.as_i64().map(|state| state != 0),
        _ => None,
    }
}

/// The slots that `/health` of servers before 2025 counts, whatever its status.
fn slots_in_health(answers: &Answers) -> Option<Slots> {
    let body = answers.reply("/health")?.json()?;
    let count = |name: &str| number(body.get(name)?).and_then(|n| u32::try_from(n).ok());
    let (idle, busy) = (count("slots_idle")?, count("slots_processing")?);
    Some(exact_slots(idle.checked_add(busy)?, Some(busy), None))
}

fn slots(props: Option<&Value>, list: Option<&SlotList>, metrics: &Metrics) -> Slots {
    let waiting = metrics.count(&["llamacpp:requests_deferred"]);
    let processing = metrics.count(&["llamacpp:requests_processing"]);
    if let Some(list) = list {
        return exact_slots(list.total, list.busy.or(processing), waiting);
    }
    let total = props
        .and_then(|p| number(p.get("total_slots")?))
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n > 0);
    match total {
        Some(total) => exact_slots(total, processing, waiting),
        None => Slots {
            in_flight: processing,
            waiting,
            ..Slots::default()
        },
    }
}

fn progress(metrics: &Metrics, list: Option<&SlotList>) -> Option<f64> {
    let counters = [
        "llamacpp:prompt_tokens_total",
        "llamacpp:tokens_predicted_total",
        "llamacpp:n_decode_total",
    ];
    let found: Vec<f64> = counters
        .iter()
        .filter_map(|name| metrics.sum(name))
        .chain(list.map(|l| l.progress))
        .collect();
    (!found.is_empty()).then(|| found.iter().sum())
}

/// Rates from counters; the server's own gauges change with every scrape.
fn measured(finding: &mut Finding, metrics: &Metrics) {
    finding.speed.prefill_tokens_per_s = metrics.ratio(
        &["llamacpp:prompt_tokens_total"],
        &["llamacpp:prompt_seconds_total"],
    );
    finding.speed.decode_tokens_per_s = metrics.ratio(
        &["llamacpp:tokens_predicted_total"],
        &["llamacpp:tokens_predicted_seconds_total"],
    );
    for name in ["llamacpp:requests_processing", "llamacpp:requests_deferred"] {
        finding.number(name, metrics.count(&[name]));
    }
}

/// The route of a router's child: GETs need its name, and must not load it.
pub(crate) fn child_route(route: &str, model: &str) -> String {
    let mut escaped = String::new();
    for byte in model.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            use std::fmt::Write as _;
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    format!("{route}?model={escaped}&autoload=false")
}

/// The models of a router that are in memory, with their names.
pub(crate) fn loaded_children(body: &Value) -> Vec<String> {
    list::entries(body)
        .into_iter()
        .flatten()
        .filter(|entry| status(entry) == Some("loaded"))
        .filter_map(|entry| Some(entry.get("id")?.as_str()?.to_owned()))
        .collect()
}

fn status(entry: &Value) -> Option<&str> {
    let status = entry.get("status")?;
    status
        .get("value")
        .and_then(Value::as_str)
        .or(status.as_str())
}

pub(super) fn read_router(answers: &Answers) -> Finding {
    let props = answers.json("/props");
    let body = answers.json("/v1/models").unwrap_or(Value::Null);
    let mut finding = Finding::new(ServerKind::LlamaCppRouter, Readiness::Ready(String::new()));
    finding.version = props.as_ref().and_then(build);
    let entries = list::entries(&body).cloned().unwrap_or_default();
    let mut total: Option<u32> = None;
    let mut in_flight: Option<u32> = None;
    let mut waiting: Option<u32> = None;
    let add = |sum: &mut Option<u32>, more: Option<u32>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    for mut model in list::models(&body) {
        let Some(entry) = entries
            .iter()
            .find(|e| e.get("id").is_some_and(|id| *id == model.id))
        else {
            continue;
        };
        let state = child_state(entry);
        let metrics = answers
            .text(&child_route("/metrics", &model.id))
            .map(|text| Metrics::parse(&text))
            .unwrap_or_default();
        let list = answers
            .json(&child_route("/slots", &model.id))
            .and_then(|slots| slot_list(&slots));
        let child_props = answers.json(&child_route("/props", &model.id));
        model = with_share(model, state, child_props.as_ref(), list.as_ref());
        if state == ModelState::Failed {
            model.last_error = Some(last_error(entry));
        }
        if state == ModelState::Loaded {
            let slots = slots(child_props.as_ref(), list.as_ref(), &metrics);
            add(&mut total, slots.total);
            add(&mut in_flight, slots.in_flight);
            add(&mut waiting, slots.waiting);
            finding.progress = match (finding.progress, progress(&metrics, list.as_ref())) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
            finding.is_reading |= list.is_some_and(|l| l.is_reading);
            measured(&mut finding, &metrics);
        }
        if let Some(slots) = parallel_of(entry) {
            model.other.insert("parallel".to_owned(), json!(slots));
        }
        finding.models.push(model);
    }
    if let Some(total) = total {
        finding.slots = exact_slots(total, in_flight, waiting);
        finding.slots.source = SignalSource::Inferred;
    }
    finding.readiness = router_readiness(answers, props.as_ref(), &finding.models);
    finding
}

fn child_state(entry: &Value) -> ModelState {
    let failed = entry
        .get("status")
        .and_then(|s| s.get("failed")?.as_bool())
        .unwrap_or(false);
    match status(entry) {
        _ if failed => ModelState::Failed,
        Some("loaded") => ModelState::Loaded,
        Some("loading") => ModelState::Loading,
        Some("sleeping") => ModelState::Sleeping,
        Some("unloaded") => ModelState::Unloaded,
        Some("failed") => ModelState::Failed,
        _ => ModelState::Unknown,
    }
}

fn last_error(entry: &Value) -> String {
    let code = entry
        .get("status")
        .and_then(|s| s.get("exit_code")?.as_i64());
    match code {
        Some(code) => format!("its process ended with exit code {code}"),
        None => "its process failed".to_owned(),
    }
}

/// The slots a child will have, from the arguments the router starts it with.
fn parallel_of(entry: &Value) -> Option<u64> {
    let args = entry.get("status")?.get("args")?.as_array()?;
    let at = args
        .iter()
        .position(|a| a == "--parallel" || a == "-np" || a == "--n-parallel")?;
    args.get(at + 1)?.as_str()?.parse().ok()
}

fn router_readiness(answers: &Answers, props: Option<&Value>, models: &[Model]) -> Readiness {
    let health = health(answers);
    if let Health::Down(status) = health {
        return Readiness::Failed(format!("/health says {status}"));
    }
    if let Some(settled) = health.settled() {
        return settled;
    }
    let autoload = props.and_then(|p| p.get("models_autoload")?.as_bool());
    let any = |state: ModelState| models.iter().any(|m| m.state == state);
    if any(ModelState::Loaded) {
        return Readiness::Ready("a model is loaded".to_owned());
    }
    if any(ModelState::Loading) {
        return Readiness::Loading("a model is being loaded".to_owned());
    }
    if any(ModelState::Sleeping) {
        return Readiness::Sleeping("asleep: the first request loads the model again".to_owned());
    }
    if !models.is_empty() && models.iter().all(|m| m.state == ModelState::Failed) {
        return Readiness::Failed("every model failed to load".to_owned());
    }
    match autoload {
        Some(true) => Readiness::Sleeping(
            "models are listed and none is loaded: the first request loads its model".to_owned(),
        ),
        Some(false) => Readiness::Dormant(
            "models are listed, none is loaded, and requests do not load one (POST /models/load does)"
                .to_owned(),
        ),
        None => Readiness::Unknown(
            "models are listed and none is loaded; whether a request loads one is not told"
                .to_owned(),
        ),
    }
}
