//! Ollama.
//!
//! Models are loaded on demand and cut prompts to their window without a word. The window of a
//! loaded model is in `/api/ps`; of one that is not, only the default is known.

use baton_protocol::{ContextSource, ModelState, ServerKind};
use serde_json::{Value, json};

use super::super::answers::Answers;
use super::super::finding::{Finding, Readiness, limit, model};
use super::super::list;
use crate::stream::number;

/// The window Ollama gives a model unless it is told otherwise.
const DEFAULT_WINDOW: u64 = 4096;

pub(super) fn read(answers: &Answers) -> Finding {
    let running = answers.json("/api/ps").unwrap_or(Value::Null);
    let loaded: Vec<(String, Option<u64>)> = list::entries(&running)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.get("name").or_else(|| entry.get("model"))?.as_str()?;
            Some((
                name.to_owned(),
                entry.get("context_length").and_then(number),
            ))
        })
        .collect();
    let listed = answers
        .json("/api/tags")
        .or_else(|| answers.json("/v1/models"))
        .unwrap_or(Value::Null);
    let mut models = list::models(&listed);
    for (name, _) in &loaded {
        if list::find(&models, name).is_none() {
            models.push(model(name, ModelState::Loaded));
        }
    }
    for model in &mut models {
        // A name without a tag means this one.
        if let Some(bare) = model.id.strip_suffix(":latest") {
            model.other.insert("aliases".to_owned(), json!([bare]));
        }
        let window = loaded.iter().find(|(name, _)| *name == model.id);
        // What the list says is the model's largest window, not the one it is loaded with.
        model.usable_context = None;
        model.usable_context_source = None;
        if let Some((_, window)) = window {
            model.state = ModelState::Loaded;
            limit(model, *window, ContextSource::LoadedLength);
        } else if answers.status("/api/ps") == Some(200) {
            model.state = ModelState::Unloaded;
        }
        if model.usable_context.is_none() {
            limit(model, Some(DEFAULT_WINDOW), ContextSource::Other);
            model.other.insert(
                "context_note".to_owned(),
                json!("Ollama's default window; it cuts longer prompts without a word"),
            );
        }
    }
    let readiness = if models.is_empty() {
        Readiness::Failed("it has no model; `ollama pull` gets one".to_owned())
    } else if loaded.is_empty() {
        Readiness::Sleeping("no model is in memory: the first request loads one".to_owned())
    } else {
        Readiness::Ready("a model is in memory".to_owned())
    };
    let mut finding = Finding::new(ServerKind::Ollama, readiness);
    finding.models = models;
    finding.version = answers
        .json("/api/version")
        .and_then(|v| Some(v.get("version")?.as_str()?.to_owned()));
    finding.number("models in memory", Some(loaded.len()));
    finding
}
