//! llama-swap before llama.cpp, as described; not recorded. It starts the model a request names and
//! stops the one before; its health is a constant.

use serde_json::{Value, json};

use super::llamacpp::{LlamaCpp, refusal};
use super::{Event, Reply, Route, Server, Visit, llamacpp, llamacpp_chat, openai};
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Rules;
use crate::http::{Request, Response};

/// The kind itself.
pub(super) struct LlamaSwap;

impl Server for LlamaSwap {
    fn rules(&self, config: &Config) -> Rules {
        Rules {
            one_model: true,
            ..LlamaCpp.rules(config)
        }
    }

    fn route(&self, visit: &Visit<'_>) -> Route {
        match visit.target() {
            ("GET", "/health") => Route::Now(Response::typed(200, "text/plain", "OK")),
            ("GET", "/v1/models") => Route::ok(&openai::models(visit, "llama-swap")),
            ("GET", "/running") => Route::ok(&running(visit)),
            ("POST", "/v1/chat/completions") => Route::Chat,
            _ => Route::Now(Response::typed(404, "text/plain", "404 page not found")),
        }
    }

    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response> {
        admit(config, request)
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        llamacpp_chat::limit(config, chat, prompt)
    }

    fn document(&self, reply: &Reply<'_>) -> Value {
        llamacpp_chat::document(reply)
    }

    fn events(&self, reply: &Reply<'_>) -> Vec<Event> {
        llamacpp_chat::events(reply)
    }

    fn busy(&self) -> Response {
        Response::json(429, &json!({"error": "Too many requests"}))
    }
}

pub(super) fn admit(config: &Config, request: &Request) -> Result<Chat, Response> {
    let body = llamacpp::body(request)?;
    let Some(model) = body["model"].as_str() else {
        return Err(Response::json(
            400,
            &json!({"error": "missing or invalid 'model' key"}),
        ));
    };
    if !config.models.iter().any(|known| known == model) {
        return Err(refusal(
            404,
            "not_found_error",
            &format!("could not find real modelID for {model}"),
        ));
    }
    llamacpp_chat::admit(request)
}

pub(super) fn running(visit: &Visit<'_>) -> Value {
    let entry = |model: &String| json!({"model": model, "state": "ready"});
    json!({"running": visit.now.resident.iter().map(entry).collect::<Vec<_>>()})
}
