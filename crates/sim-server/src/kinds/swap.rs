//! llama-swap before llama.cpp, as described; not recorded. It starts the model a request names and
//! stops the one before; its health is a constant.

use serde_json::{Value, json};

use super::llamacpp::{LlamaCpp, refusal};
use super::{
    Event, Memory, Reply, Route, Server, Visit, llamacpp, llamacpp_chat, on_demand, openai,
};
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Rules;
use crate::http::{Request, Response};

/// The kind itself.
pub(super) struct LlamaSwap;

impl Server for LlamaSwap {
    fn rules(&self, config: &Config) -> Rules {
        on_demand(config, &LlamaCpp.rules(config))
    }

    fn route(&self, visit: &Visit<'_>) -> Route {
        match visit.target() {
            ("GET", "/health") => Route::Now(Response::typed(200, "text/plain", "OK")),
            ("GET", "/v1/models") => Route::ok(&openai::models(visit, "llama-swap")),
            ("GET", "/running") => Route::ok(&running(visit)),
            ("POST", "/v1/chat/completions") => Route::Chat,
            ("GET", "/unload") | ("POST", "/api/models/unload") => {
                let done = Response::typed(200, "text/plain", "OK");
                Route::Memory(Memory::Unload, done)
            }
            (_, path) => path
                .strip_prefix("/upstream/")
                .and_then(|rest| upstream(visit, rest))
                .unwrap_or_else(nothing),
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

fn nothing() -> Route {
    Route::Now(Response::typed(404, "text/plain", "404 page not found"))
}

/// What lies behind it, `MODEL/ROUTE`; asking for a model that does not run starts it.
fn upstream(visit: &Visit<'_>, rest: &str) -> Option<Route> {
    // A model's name may hold slashes.
    let model = visit.config.models.iter().find(|model| {
        rest.strip_prefix(model.as_str())
            .is_some_and(|r| r.starts_with('/'))
    })?;
    let request = Request {
        path: rest.get(model.len()..)?.to_owned(),
        ..visit.request.clone()
    };
    let behind = Visit {
        request: &request,
        ..*visit
    };
    let route = LlamaCpp.route(&behind);
    match route {
        Route::Now(response) if visit.now.resident.as_ref() != Some(model) => {
            Some(Route::Memory(Memory::Bring(model.clone()), response))
        }
        Route::Now(response) => Some(Route::Now(response)),
        _ => None,
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
    let entry = |(model, state): (&String, &str)| {
        json!({"model": model, "state": state, "name": "", "description": "", "ttl": 0,
               "cmd": format!("llama-server --alias {model}"), "proxy": "http://localhost:5800"})
    };
    let ready = visit.now.resident.iter().map(|model| (model, "ready"));
    let starting = visit.now.loading.iter().map(|model| (model, "starting"));
    json!({"running": ready.chain(starting).map(entry).collect::<Vec<_>>()})
}
