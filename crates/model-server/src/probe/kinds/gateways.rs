//! llama-swap and LiteLLM: programs that stand in front of the servers.

use baton_protocol::{ContextSource, ModelState, ServerKind};
use serde_json::Value;

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness, limit};
use super::super::list;
use super::openai;

/// The models llama-swap runs, with their states.
pub(crate) fn running(body: &Value) -> Vec<(String, String)> {
    body.get("running")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str);
            Some((
                text("model")?.to_owned(),
                text("state").unwrap_or("ready").to_owned(),
            ))
        })
        .collect()
}

/// The routes of the server behind llama-swap. Only asked for a model that runs: asking for
/// another would swap.
pub(crate) fn upstream(model: &str, route: &str) -> String {
    format!("/upstream/{model}{route}")
}

pub(super) fn read_llama_swap(answers: &Answers) -> Finding {
    let running = answers
        .json("/running")
        .map(|body| running(&body))
        .unwrap_or_default();
    let mut models = answers
        .json("/v1/models")
        .map(|body| list::models(&body))
        .unwrap_or_default();
    for model in &mut models {
        let state = running.iter().find(|(id, _)| *id == model.id);
        model.state = match state.map(|(_, state)| state.as_str()) {
            Some("ready") => ModelState::Loaded,
            Some("starting") => ModelState::Loading,
            None | Some("stopping" | "stopped" | "shutdown") => ModelState::Unloaded,
            Some(_) => ModelState::Unknown,
        };
        let share = answers.json(&upstream(&model.id, "/props")).and_then(|p| {
            crate::stream::number(p.get("default_generation_settings")?.get("n_ctx")?)
        });
        limit(model, share, ContextSource::SlotShare);
    }
    let any = |state: ModelState| models.iter().any(|m| m.state == state);
    // Its /health is a constant.
    let readiness = if models.is_empty() {
        Readiness::Failed("it has no model".to_owned())
    } else if any(ModelState::Loaded) {
        Readiness::Ready("a model is running".to_owned())
    } else if any(ModelState::Loading) {
        Readiness::Loading("a model is starting".to_owned())
    } else {
        Readiness::Sleeping("no model is running: the first request starts one".to_owned())
    };
    let slots = running
        .iter()
        .filter(|(_, state)| state == "ready")
        .find_map(|(id, _)| Some((id, answers.json(&upstream(id, "/slots"))?)));
    let mut finding = Finding::new(ServerKind::LlamaSwap, readiness);
    if let Some((_, body)) = slots {
        finding.slots = super::llamacpp::slots_of(&body);
    }
    finding.models = models;
    finding.number("models running", Some(running.len()));
    finding
}

pub(super) fn read_litellm(answers: &Answers) -> Finding {
    let readiness = answers.json("/health/readiness");
    let mut models = answers
        .json("/v1/models")
        .map(|body| list::models(&body))
        .unwrap_or_default();
    let info = answers.json("/model/info").unwrap_or(Value::Null);
    for model in &mut models {
        model.state = ModelState::Unknown;
        let window = list::entries(&info)
            .into_iter()
            .flatten()
            .filter(|e| e.get("model_name").is_some_and(|name| *name == model.id))
            .filter_map(|e| crate::stream::number(e.get("model_info")?.get("max_input_tokens")?))
            .min();
        limit(model, window, ContextSource::ServedWindow);
    }
    let state = match &readiness {
        Some(body)
            if body
                .get("status")
                .is_some_and(|s| s == "healthy" || s == "connected") =>
        {
            Readiness::Unknown(
                "the gateway is up; whether the servers behind it are, only --probe can tell"
                    .to_owned(),
            )
        }
        _ => openai::readiness(answers, models.is_empty()),
    };
    let mut finding = Finding::new(ServerKind::LiteLlm, state);
    finding.version =
        readiness.and_then(|body| Some(body.get("litellm_version")?.as_str()?.to_owned()));
    finding.models = models;
    finding
}
