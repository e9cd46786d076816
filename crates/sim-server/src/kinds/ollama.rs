//! Ollama, as described in its documentation and in bug reports; not recorded. A prompt that does
//! not fit is cut at its front without a word; only usage shows it.

use serde_json::{Value, json};

use super::{Event, Reply, Route, Server, Visit, ollama_native as native, on_demand, openai};
use crate::chat::{Chat, Dialect};
use crate::config::Config;
use crate::engine::Rules;
use crate::http::{LINES, Request, Response};

/// The kind itself.
pub(super) struct Ollama;

impl Server for Ollama {
    fn rules(&self, config: &Config) -> Rules {
        on_demand(config, &openai::rules(config))
    }

    fn route(&self, visit: &Visit<'_>) -> Route {
        match visit.target() {
            ("GET", "/") => Route::Now(Response::typed(
                200,
                "text/plain; charset=utf-8",
                "Ollama is running",
            )),
            ("GET", "/api/version") => Route::ok(&json!({"version": "0.12.6"})),
            ("GET", "/api/tags") => Route::ok(&json!({"models": each(visit.config, tag)})),
            ("GET", "/api/ps") => Route::ok(&json!({"models": running(visit)})),
            ("POST", "/api/show") => Route::Now(show(visit.config, visit.request)),
            ("GET", "/v1/models") => Route::ok(&openai::models(visit, "library")),
            ("POST", "/v1/chat/completions") => Route::Chat,
            ("POST", "/api/chat" | "/api/generate") => native::route(visit),
            _ => Route::Now(Response::typed(404, "text/plain", "404 page not found")),
        }
    }

    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response> {
        if let Some(chat) = native::admit(config, request) {
            return chat;
        }
        let chat = openai::admit(request)?;
        if config.models.contains(&chat.model) {
            return Ok(chat);
        }
        let message = format!("model \"{}\" not found, try pulling it first", chat.model);
        Err(refusal(404, "not_found_error", &message))
    }

    fn kept(&self, config: &Config, chat: &Chat, prompt: u64) -> u64 {
        // What does not fit is cut to half the window, so that there is room to answer.
        let window = native::window(config, chat);
        if prompt < window { prompt } else { window / 2 }
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        let window = native::window(config, chat);
        let left = window.saturating_sub(self.kept(config, chat, prompt));
        Ok(chat.max_tokens.unwrap_or(u64::MAX).min(left).max(1))
    }

    fn stream_head(&self, chat: &Chat) -> Response {
        let kind = match chat.dialect {
            Dialect::OpenAi => "text/event-stream",
            _ => LINES,
        };
        Response::empty(200).with("content-type", kind)
    }

    fn document(&self, reply: &Reply<'_>) -> Value {
        if reply.chat.dialect != Dialect::OpenAi {
            return native::document(reply);
        }
        let mut whole = openai::document(reply);
        rename(&mut whole["choices"][0]["message"]);
        whole
    }

    /// Whole calls in one event each, all of them with index 0.
    fn events(&self, reply: &Reply<'_>) -> Vec<Event> {
        if reply.chat.dialect != Dialect::OpenAi {
            return native::events(reply);
        }
        let mut data = crate::wire::Data::Events(openai::events(reply));
        data.join_calls();
        data.each_call(|call| call["index"] = json!(0));
        data.each_message(rename);
        match data {
            crate::wire::Data::Events(events) => events,
            crate::wire::Data::Document(_) => Vec::new(),
        }
    }

    fn busy(&self) -> Response {
        let message = "server busy, please try again.  maximum pending requests exceeded";
        refusal(503, "api_error", message)
    }

    /// There are no keys; whatever is sent is ignored.
    fn check_key(&self, _: &str, _: &Request) -> Result<(), Response> {
        Ok(())
    }
}

fn refusal(status: u16, kind: &str, message: &str) -> Response {
    let body = json!({"message": message, "type": kind, "param": null, "code": null});
    Response::json(status, &json!({ "error": body }))
}

/// Thinking is called `reasoning` here.
fn rename(message: &mut Value) {
    let text = message
        .as_object_mut()
        .and_then(|map| map.shift_remove("reasoning_content"));
    if let Some(text) = text {
        message["reasoning"] = text;
    }
}

fn each(config: &Config, entry: impl Fn(&str) -> Value) -> Value {
    config.models.iter().map(|model| entry(model)).collect()
}

fn tag(model: &str) -> Value {
    json!({
        "name": model, "model": model, "modified_at": "2026-01-01T00:00:00Z", "size": 1_111_370_240_u64,
        "digest": "0".repeat(64),
        "details": {"parent_model": "", "format": "gguf", "family": "qwen2", "families": ["qwen2"],
                    "parameter_size": "1.5B", "quantization_level": "Q4_K_M"},
    })
}

/// The models in memory: those that were asked for so far.
fn running(visit: &Visit<'_>) -> Value {
    let Some(model) = &visit.now.resident else {
        return json!([]);
    };
    let mut entry = tag(model);
    entry["expires_at"] = json!("2026-12-31T00:00:00Z");
    entry["size_vram"] = entry["size"].clone();
    entry["context_length"] = json!(visit.config.context);
    json!([entry])
}

fn show(config: &Config, request: &Request) -> Response {
    if let Err(refusal) = native::read(config, request) {
        return refusal;
    }
    let body = json!({
        "modelfile": "", "parameters": format!("num_ctx {}", config.context), "template": "",
        "details": tag("")["details"], "capabilities": ["completion", "tools"],
        "model_info": {"general.architecture": "qwen2", "qwen2.context_length": config.trained_context},
    });
    Response::json(200, &body)
}
