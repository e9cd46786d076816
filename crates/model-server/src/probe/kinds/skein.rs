//! llama-skein: llama-swap with knowledge of the hardware.
//!
//! `/health` is always 200 with `status: "ok"`; the models inside it tell the truth. Its `busy`
//! means "something runs", while `/api/hardware`'s `busy` means "no slot free".

use baton_protocol::{ContextSource, Model, ModelState, ServerKind, Slots};
use serde_json::{Map, Value, json};

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness, exact_slots, limit};
use super::super::list;
use crate::stream::number;

pub(super) fn read(answers: &Answers) -> Finding {
    let health = answers.json("/health").unwrap_or(Value::Null);
    let hardware = answers.json("/api/hardware").unwrap_or(Value::Null);
    let fit = answers.json("/api/fit").unwrap_or(Value::Null);
    let states = health.get("models").and_then(Value::as_object).cloned();
    let mut models = answers
        .json("/v1/models")
        .map(|body| list::models(&body))
        .unwrap_or_default();
    for model in &mut models {
        // The configured window is not what a request may use.
        model.usable_context = None;
        model.usable_context_source = None;
        apply_state(model, states.as_ref());
        apply_fit(model, &fit);
    }
    let any = |state: ModelState| models.iter().any(|m| m.state == state);
    let readiness = if health.is_null() {
        Readiness::Unknown("/health does not answer, other routes do".to_owned())
    } else if any(ModelState::Loaded) {
        Readiness::Ready("a model is resident".to_owned())
    } else if any(ModelState::Loading) {
        Readiness::Loading("a model is being loaded".to_owned())
    } else if !models.is_empty() && models.iter().all(|m| m.state == ModelState::Failed) {
        Readiness::Failed("every model failed to load".to_owned())
    } else if models.is_empty() {
        Readiness::Failed("it has no model".to_owned())
    } else {
        Readiness::Sleeping("no model is resident: the first request loads one".to_owned())
    };
    let mut finding = Finding::new(ServerKind::Skein, readiness);
    finding.models = models;
    slots(&mut finding, &hardware);
    finding
}

fn apply_state(model: &mut Model, states: Option<&Map<String, Value>>) {
    let Some(told) = states.and_then(|s| s.get(&model.id)) else {
        return;
    };
    let word = told
        .get("state")
        .and_then(Value::as_str)
        .unwrap_or_default();
    model.state = match word {
        "ready" => ModelState::Loaded,
        "starting" => ModelState::Loading,
        "stopped" | "stopping" | "shutdown" => ModelState::Unloaded,
        "failed" => ModelState::Failed,
        _ => ModelState::Unknown,
    };
    // The error is kept as history after a later start that went well.
    if let Some(error) = told.get("last_error").filter(|e| !e.is_null()) {
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let words = match (text("class"), text("message")) {
            ("", "") => error.to_string(),
            ("", message) => message.to_owned(),
            (class, message) => format!("{class}: {message}"),
        };
        model.last_error = Some(words);
    }
}

fn apply_fit(model: &mut Model, fit: &Value) {
    let entry = fit
        .get("models")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .find(|m| m.get("model").is_some_and(|id| *id == model.id));
    let Some(entry) = entry else {
        return;
    };
    let level = entry.get("fit_level").and_then(Value::as_str);
    let safe = entry.get("max_safe_ctx").and_then(number);
    limit(model, safe, ContextSource::MaxSafeCtx);
    if let Some(level) = level {
        model.other.insert("fit_level".to_owned(), json!(level));
    }
    if level == Some("no") {
        model.other.insert("does_not_fit".to_owned(), json!(true));
    }
}

fn slots(finding: &mut Finding, hardware: &Value) {
    let Some(inference) = hardware.get("inference") else {
        return;
    };
    let field = |name: &str| {
        inference
            .get(name)
            .and_then(number)
            .and_then(|n| u32::try_from(n).ok())
    };
    let (total, all) = (field("slots_total").unwrap_or(0), field("in_flight"));
    finding.number("inference.in_flight", all);
    finding.number("inference.slots_total", Some(total));
    // Zero slots: no model runs, so nothing is known about the slots it will have.
    if total == 0 {
        finding.slots = Slots {
            in_flight: all,
            ..Slots::default()
        };
        return;
    }
    // `in_flight` counts the requests that wait for a slot too.
    let waiting = all.map(|all| all.saturating_sub(total));
    finding.slots = exact_slots(total, all.map(|all| all.min(total)), waiting);
}
