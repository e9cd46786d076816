//! llama-server in router mode (`--models-dir`, `--models-max 1`), as recorded: several models, at
//! most one of them loaded, and a request for another one waits for the running ones.

use serde_json::{Value, json};

use super::llamacpp::{LlamaCpp, not_found, refusal};
use super::{
    Event, Memory, Reply, Route, Server, Stamp, Visit, llamacpp, llamacpp_chat,
    llamacpp_probes as probes, on_demand,
};
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Rules;
use crate::http::{Request, Response};

/// The kind itself.
pub(super) struct Router;

fn wrong(message: &str) -> Response {
    refusal(400, "invalid_request_error", message)
}

impl Server for Router {
    fn rules(&self, config: &Config) -> Rules {
        on_demand(config, &LlamaCpp.rules(config))
    }

    fn route(&self, visit: &Visit<'_>) -> Route {
        let response = match visit.target() {
            ("GET", "/health" | "/v1/health") => Response::json(200, &json!({"status": "ok"})),
            ("GET", "/v1/models" | "/models") => Response::json(200, &models(visit)),
            ("GET", "/props") if visit.request.param("model").is_none() => {
                Response::json(200, &props())
            }
            ("POST", "/v1/chat/completions" | "/chat/completions") => return Route::Chat,
            ("GET", "/props" | "/slots" | "/metrics") => {
                let model = visit.request.param("model");
                return loaded(visit, model.as_deref())
                    .map_or_else(Route::Now, |()| LlamaCpp.route(visit));
            }
            ("POST", "/models/load" | "/models/unload") => return memory(visit),
            ("POST", _) => {
                let body = match llamacpp::body(visit.request) {
                    Ok(body) => body,
                    Err(refusal) => return Route::Now(refusal),
                };
                let model = body["model"].as_str().map(str::to_owned);
                return known(visit.config, model.as_deref())
                    .map_or_else(Route::Now, |()| LlamaCpp.route(visit));
            }
            _ => not_found(),
        };
        Route::Now(response)
    }

    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response> {
        let body = llamacpp::body(request)?;
        known(config, body["model"].as_str())?;
        llamacpp_chat::admit(request)
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
        LlamaCpp.busy()
    }

    fn aborted(&self) -> (Value, bool) {
        LlamaCpp.aborted()
    }

    fn stream_head(&self, chat: &Chat) -> Response {
        LlamaCpp.stream_head(chat)
    }

    fn sign(&self, response: &mut Response, stamp: &Stamp, request: &Request) {
        LlamaCpp.sign(response, stamp, request);
    }

    fn check_key(&self, key: &str, request: &Request) -> Result<(), Response> {
        LlamaCpp.check_key(key, request)
    }
}

/// Loads or unloads a model by hand.
fn memory(visit: &Visit<'_>) -> Route {
    let body = match llamacpp::body(visit.request) {
        Ok(body) => body,
        Err(refusal) => return Route::Now(refusal),
    };
    let model = body["model"].as_str();
    if let Err(refusal) = known(visit.config, model) {
        return Route::Now(refusal);
    }
    let wanted = model.map(str::to_owned);
    let is_there = visit.now.resident == wanted;
    let what = match (visit.request.path.as_str(), wanted) {
        ("/models/load", Some(_)) if is_there => {
            return Route::Now(wrong("model is already loaded"));
        }
        ("/models/load", Some(model)) => Memory::Load(model),
        _ if is_there => Memory::Unload,
        _ => return Route::Now(wrong("model is not loaded")),
    };
    Route::Memory(what, Response::json(200, &json!({"success": true})))
}

fn known(config: &Config, model: Option<&str>) -> Result<(), Response> {
    let Some(model) = model.filter(|model| !model.is_empty()) else {
        return Err(wrong("model name is missing from the request"));
    };
    if config.models.iter().any(|known| known == model) {
        return Ok(());
    }
    Err(wrong(&format!("model '{model}' not found")))
}

/// A probe of one model needs that model to be loaded.
fn loaded(visit: &Visit<'_>, model: Option<&str>) -> Result<(), Response> {
    known(visit.config, model)?;
    if visit.now.resident.as_deref() == model {
        Ok(())
    } else {
        Err(wrong("model is not loaded"))
    }
}

fn props() -> Value {
    json!({
        "role": "router", "max_instances": 1, "models_autoload": true, "model_alias": "llama-server",
        "model_path": "none", "default_generation_settings": {"params": null, "n_ctx": 0},
        "ui_settings": {}, "build_info": "b11434-sdist", "cors_proxy_enabled": false,
    })
}

fn models(visit: &Visit<'_>) -> Value {
    let config = visit.config;
    let entry = |model: &String| {
        let is_loaded = visit.now.resident.as_ref() == Some(model);
        let state = match &visit.now.loading {
            _ if is_loaded => "loaded",
            Some(loading) if loading == model => "loading",
            _ => "unloaded",
        };
        let window = config.context.to_string();
        let arguments = [
            "llama-server",
            "--alias",
            model,
            "--ctx-size",
            &window,
            "--metrics",
        ];
        let preset = format!("[{model}]\nctx-size = {window}\nmetrics = 1\n\n");
        let status = json!({"value": state,
                            "args": arguments, "preset": preset});
        let mut entry = json!({
            "id": model, "aliases": [], "tags": [], "object": "model", "owned_by": "llamacpp",
            "created": visit.stamp.created, "status": status,
            "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
            "source": "models_dir", "can_remove": false,
        });
        if is_loaded {
            entry["meta"] = probes::meta(config);
        }
        entry
    };
    json!({"data": config.models.iter().map(entry).collect::<Vec<_>>(), "object": "list"})
}
