//! `SGLang`, as described in its documentation and in bug reports; not recorded.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Route, Server, Visit, openai};
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Snapshot;
use crate::http::{Request, Response};
use crate::tokens;

/// The kind itself.
pub(super) struct Sglang;

impl Server for Sglang {
    fn route(&self, visit: &Visit<'_>) -> Route {
        let config = visit.config;
        match visit.target() {
            ("GET", "/health" | "/health_generate") => Route::Now(Response::empty(200)),
            ("GET", "/get_model_info" | "/model_info") => Route::ok(&json!({
                "model_path": config.models[0], "tokenizer_path": config.models[0], "is_generation": true,
            })),
            ("GET", "/get_server_info" | "/server_info") => Route::ok(&server_info(config)),
            ("GET", "/metrics") => {
                let text = metrics(config, visit.now);
                Route::Now(Response::typed(
                    200,
                    "text/plain; version=0.0.4; charset=utf-8",
                    text,
                ))
            }
            ("GET", "/v1/models") => {
                let mut list = openai::models(visit, "sglang");
                for entry in list["data"].as_array_mut().into_iter().flatten() {
                    entry["root"] = entry["id"].clone();
                    entry["max_model_len"] = json!(config.context);
                }
                Route::ok(&list)
            }
            ("POST", "/tokenize" | "/v1/tokenize") => Route::Now(tokenize(config, visit.request)),
            ("POST", "/v1/chat/completions") => Route::Chat,
            _ => Route::Now(Response::json(404, &json!({"detail": "Not Found"}))),
        }
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        let window = config.context;
        if prompt >= window {
            let message = format!(
                "The input ({prompt} tokens) is longer than the model's context length ({window} tokens)."
            );
            return Err(refusal(400, &message));
        }
        Ok(openai::room(config, chat, prompt))
    }

    fn busy(&self) -> Response {
        refusal(503, "The request queue is full.")
    }
}

/// This server's errors are not nested.
fn refusal(status: u16, message: &str) -> Response {
    let body = json!({"object": "error", "message": message, "type": "BadRequestError",
                      "param": null, "code": status});
    Response::json(status, &body)
}

/// Counts a bare text. A chat is a body it does not know, in the words of its framework.
fn tokenize(config: &Config, request: &Request) -> Response {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(text) = body["prompt"].as_str() else {
        let missing =
            json!({"type": "missing", "loc": ["body", "prompt"], "msg": "Field required"});
        return Response::json(422, &json!({"detail": [missing]}));
    };
    let ids = tokens::ids(text);
    Response::json(
        200,
        &json!({"tokens": ids, "count": ids.len(), "max_model_len": config.context}),
    )
}

fn server_info(config: &Config) -> Value {
    json!({
        "model_path": config.models[0], "context_length": config.context,
        "max_running_requests": config.slots, "max_total_num_tokens": config.pool_tokens(),
        "max_req_input_len": config.context.saturating_sub(6), "status": "ready", "version": "0.5.3",
    })
}

fn metrics(config: &Config, now: &Snapshot) -> String {
    let pool = config.pool_tokens().max(1);
    #[expect(clippy::cast_precision_loss, reason = "a ratio for a gauge")]
    let usage = now.pool_used as f64 / pool as f64;
    let mut out = String::new();
    let model = &config.models[0];
    let mut row = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "# TYPE sglang:{name} gauge\nsglang:{name}{{model_name=\"{model}\"}} {value}"
        );
    };
    row("num_running_reqs", format!("{}.0", now.running));
    row("num_queue_reqs", format!("{}.0", now.waiting));
    row("num_used_tokens", format!("{}.0", now.pool_used));
    row("token_usage", format!("{usage:?}"));
    out
}
