//! text-generation-inference, as described in its documentation; not recorded.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Route, Server, Visit, openai};
use crate::chat::Chat;
use crate::config::Config;
use crate::http::{Request, Response};
use crate::tokens;

/// The kind itself.
pub(super) struct Tgi;

impl Server for Tgi {
    fn route(&self, visit: &Visit<'_>) -> Route {
        match visit.target() {
            ("GET", "/health" | "/ping") => Route::Now(Response::empty(200)),
            ("GET", "/info") => Route::ok(&info(visit.config)),
            ("GET", "/v1/models") => Route::ok(&openai::models(visit, "models")),
            ("GET", "/metrics") => {
                let mut text = String::new();
                let now = visit.now;
                for (name, value) in [
                    ("queue_size", now.waiting),
                    ("batch_current_size", now.running),
                ] {
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "# TYPE tgi_{name} gauge\ntgi_{name} {value}");
                }
                Route::Now(Response::typed(200, "text/plain", text))
            }
            ("POST", "/tokenize") => Route::Now(tokenize(visit.request)),
            ("POST", "/chat_tokenize") => Route::Now(chat_tokenize(visit.request)),
            ("POST", "/v1/chat/completions") => Route::Chat,
            _ => Route::Now(Response::empty(404)),
        }
    }

    /// Any model name will do; there is one model.
    fn admit(&self, _: &Config, request: &Request) -> Result<Chat, Response> {
        openai::admit(request)
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        let window = config.context;
        let wanted = chat.max_tokens.unwrap_or(100);
        if prompt + wanted > window {
            let message = if prompt >= window {
                format!("`inputs` must have less than {window} tokens. Given: {prompt}")
            } else {
                format!(
                    "`inputs` tokens + `max_new_tokens` must be <= {window}. Given: {prompt} `inputs` tokens and \
                     {wanted} `max_new_tokens`"
                )
            };
            let message = format!("Input validation error: {message}");
            let body = json!({"error": message, "error_type": "validation"});
            return Err(Response::json(422, &body));
        }
        Ok(wanted)
    }

    fn busy(&self) -> Response {
        Response::json(
            429,
            &json!({"error": "Model is overloaded", "error_type": "overloaded"}),
        )
    }
}

fn info(config: &Config) -> Value {
    json!({
        "model_id": config.models[0], "model_sha": null, "model_pipeline_tag": "text-generation",
        "max_concurrent_requests": 128, "max_best_of": 2, "max_stop_sequences": 4,
        "max_input_tokens": config.context - 1, "max_total_tokens": config.context,
        "max_client_batch_size": 4, "router": "text-generation-router", "version": "3.3.6",
    })
}

fn tokenize(request: &Request) -> Response {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(text) = body["inputs"].as_str() else {
        return Response::json(
            422,
            &json!({"error": "missing field `inputs`", "error_type": "validation"}),
        );
    };
    Response::json(200, &listed(text))
}

/// The tokens of a chat as the template renders it, and the rendered text.
fn chat_tokenize(request: &Request) -> Response {
    match openai::admit(request) {
        Ok(chat) => {
            let text = chat.prompt();
            Response::json(
                200,
                &json!({"tokenize_response": listed(&text), "templated_text": text}),
            )
        }
        Err(refusal) => refusal,
    }
}

/// The tokens of a text, each with its place in characters.
fn listed(text: &str) -> Value {
    let mut start = 0;
    let entry = |(id, piece): (u32, &str)| {
        let stop = start + piece.chars().count();
        let entry = json!({"id": id, "text": piece, "start": start, "stop": stop});
        start = stop;
        entry
    };
    tokens::ids(text)
        .into_iter()
        .zip(tokens::pieces(text))
        .map(entry)
        .collect()
}
