//! LM Studio. Its native lists tell the loaded window; the OpenAI list tells nothing.

use baton_protocol::{ContextSource, Model, ModelState, ServerKind};
use serde_json::{Value, json};

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness, limit, model};
use super::super::list;
use crate::stream::number;

pub(super) fn read(answers: &Answers) -> Finding {
    let native = ["/api/v1/models", "/api/v0/models"]
        .iter()
        .find_map(|route| answers.json(route).filter(|b| list::entries(b).is_some()));
    let models = match &native {
        Some(body) => list::entries(body)
            .into_iter()
            .flatten()
            .filter(|entry| list::can_chat(entry))
            .filter_map(one)
            .collect(),
        None => answers
            .json("/v1/models")
            .map(|body| list::models(&body))
            .unwrap_or_default(),
    };
    let loaded = models.iter().any(|m: &Model| m.state == ModelState::Loaded);
    let readiness = if native.is_none() {
        Readiness::Unknown("the native model list does not answer; --probe settles it".to_owned())
    } else if loaded {
        Readiness::Ready("a model is loaded".to_owned())
    } else if models.is_empty() {
        Readiness::Failed("it has no model for chat".to_owned())
    } else {
        Readiness::Sleeping(
            "no model is loaded; with just-in-time loading the first request loads one".to_owned(),
        )
    };
    let mut finding = Finding::new(ServerKind::LmStudio, readiness);
    finding.models = models;
    finding
}

fn one(entry: &Value) -> Option<Model> {
    let id = entry.get("id").or_else(|| entry.get("key"))?.as_str()?;
    let instances = entry.get("loaded_instances").and_then(Value::as_array);
    let state = match (entry.get("state").and_then(Value::as_str), instances) {
        (Some("loaded"), _) => ModelState::Loaded,
        (Some("loading"), _) => ModelState::Loading,
        (Some(_), _) => ModelState::Unloaded,
        (None, Some(instances)) if instances.is_empty() => ModelState::Unloaded,
        (None, Some(_)) => ModelState::Loaded,
        (None, None) => ModelState::Unknown,
    };
    let mut model = model(id, state);
    model.max_model_len = entry
        .get("max_context_length")
        .and_then(number)
        .filter(|n| *n > 0);
    let of_instances = instances
        .into_iter()
        .flatten()
        .filter_map(|i| number(i.get("config")?.get("context_length")?))
        .min();
    let loaded = entry
        .get("loaded_context_length")
        .and_then(number)
        .or(of_instances);
    // Not loaded: the window is chosen when it gets loaded, so nothing is known but its upper bound.
    if state == ModelState::Loaded {
        limit(&mut model, loaded, ContextSource::LoadedLength);
    }
    if let Some(loaded) = loaded {
        model
            .other
            .insert("loaded_context_length".to_owned(), json!(loaded));
    }
    Some(model)
}
