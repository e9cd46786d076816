//! llama-skein (a llama-swap that knows its hardware), as its contract describes it; not recorded.

use serde_json::{Value, json};

use super::llamacpp::LlamaCpp;
use super::{Event, Reply, Route, Server, Visit, llamacpp_chat, on_demand, openai, swap};
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Rules;
use crate::http::{Request, Response};

/// The kind itself.
pub(super) struct Skein;

/// The memory of the pretended graphics card, in megabytes.
const VRAM_MB: u64 = 24_576;
const MODEL_MB: u64 = 9_000;

impl Server for Skein {
    fn rules(&self, config: &Config) -> Rules {
        on_demand(config, &LlamaCpp.rules(config))
    }

    fn route(&self, visit: &Visit<'_>) -> Route {
        let config = visit.config;
        match visit.target() {
            ("GET", "/health") => Route::ok(&health(visit)),
            ("GET", "/api/hardware") => Route::ok(&hardware(visit)),
            ("GET", "/api/fit") => {
                let fits: Vec<Value> = config
                    .models
                    .iter()
                    .map(|model| fit(config, model, None))
                    .collect();
                Route::ok(
                    &json!({"vram_total_mb": VRAM_MB, "vram_free_mb": VRAM_MB - MODEL_MB, "models": fits}),
                )
            }
            ("GET", "/api/models" | "/v1/models") => Route::ok(&models(visit)),
            ("GET", "/running") => Route::ok(&swap::running(visit)),
            ("POST", "/v1/chat/completions") => Route::Chat,
            ("GET", path) => match path.strip_prefix("/api/fit/") {
                Some(model) if config.models.iter().any(|known| known == model) => {
                    let context = visit
                        .request
                        .param("ctx")
                        .and_then(|text| text.parse().ok());
                    Route::ok(&fit(config, model, context))
                }
                _ => not_found(),
            },
            _ => not_found(),
        }
    }

    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response> {
        let chat = swap::admit(config, request)?;
        let (estimate, safe) = (estimate(&chat), config.safe_context());
        if estimate <= safe {
            return Ok(chat);
        }
        let message =
            format!("prompt of about {estimate} tokens exceeds the largest safe context of {safe}");
        let body = json!({"error": {"message": message, "type": "exceed_context_size_error",
                                    "code": "prompt_over_max_safe_ctx"}});
        Err(Response::json(413, &body).with("X-Skein-Max-Safe-Ctx", safe.to_string()))
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

fn not_found() -> Route {
    Route::Now(Response::json(404, &json!({"error": "not found"})))
}

/// Its own guard before the model: JSON bytes, role and 8 for each message, by three. Tools do not count.
fn estimate(chat: &Chat) -> u64 {
    let messages = chat.body["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let size = |message: &Value| {
        message["content"].to_string().len() + message["role"].as_str().map_or(0, str::len) + 8
    };
    let bytes: usize = messages.iter().map(size).sum();
    bytes.div_ceil(3) as u64
}

/// Always 200 and "ok"; only the states of the models tell anything.
fn health(visit: &Visit<'_>) -> Value {
    let in_flight = visit.now.running + visit.now.waiting;
    let state = |model: &String| (model.clone(), json!({"state": word(visit, model)}));
    let models: serde_json::Map<String, Value> = visit.config.models.iter().map(state).collect();
    json!({
        "status": "ok", "any_model_resident": visit.now.resident.is_some(), "busy": in_flight > 0,
        "in_flight": in_flight, "models": models, "watchdog": {"active": false},
        "config_status": {"valid": true},
    })
}

fn word(visit: &Visit<'_>, model: &str) -> &'static str {
    if visit.now.resident.as_deref() == Some(model) {
        "ready"
    } else if visit.now.loading.as_deref() == Some(model) {
        "starting"
    } else {
        "stopped"
    }
}

fn hardware(visit: &Visit<'_>) -> Value {
    // The count has no meaning while no model runs, and the real one says 0 then.
    let slots = if visit.now.resident.is_some() {
        visit.config.slots
    } else {
        0
    };
    let in_flight = visit.now.running + visit.now.waiting;
    let mut all = json!({
        "memory": {"total_mb": 64_000, "used_mb": 12_000, "free_mb": 52_000, "available_mb": 50_000,
                   "effective_total_mb": 64_000, "effective_available_mb": 50_000, "limit_source": "none",
                   "swap_total": 0, "swap_used": 0, "type": "system", "load_avg1": 0.5},
        "cpu": {"cores": 16, "util_avg_pct": 5.0},
        "gpus": [{"id": 0, "name": "Simulated GPU", "vram_total_mb": VRAM_MB, "vram_used_mb": MODEL_MB,
                  "vram_free_mb": VRAM_MB - MODEL_MB, "utilization_pct": 0, "temp_c": 40}],
        "vram": {"total_mb": VRAM_MB, "used_mb": MODEL_MB, "free_mb": VRAM_MB - MODEL_MB},
        "inference": {"in_flight": in_flight, "slots_total": slots, "busy": slots > 0 && in_flight >= slots},
    });
    if let Some(model) = &visit.now.resident {
        all["loaded_model"] = json!({"id": model, "model_mb": MODEL_MB, "kv_estimate_mb": 2_000});
    }
    all
}

fn fit(config: &Config, model: &str, asked: Option<u64>) -> Value {
    let safe = config.safe_context();
    let level = match asked {
        Some(context) if context > config.context => "no",
        Some(context) if context > safe => "tight",
        _ => "good",
    };
    json!({
        "model": model, "backend": "llamacpp", "fit_level": level,
        "max_safe_ctx": if level == "no" { 0 } else { safe },
        "run_mode": "gpu", "configured_ctx": config.context * config.slots as u64, "model_mb": MODEL_MB,
        "vram_total_mb": VRAM_MB, "vram_required_mb": MODEL_MB + 2_000, "est_tokens_per_sec": 53.0,
        "reason": "simulated", "placement": {"mode": "gpu", "perf_class": "native-gpu", "reason": "fits"},
    })
}

fn models(visit: &Visit<'_>) -> Value {
    let mut list = openai::models(visit, "llama-swap");
    for entry in list["data"].as_array_mut().into_iter().flatten() {
        let state = word(visit, entry["id"].as_str().unwrap_or_default());
        entry["context_length"] = json!(visit.config.context);
        entry["max_output_tokens"] = json!(4096);
        entry["state"] = json!(state);
        entry["capabilities"] = json!(["completion", "tools"]);
    }
    list
}
