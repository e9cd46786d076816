//! A server of which only the OpenAI routes are known: no probes, no metrics, no window in the list.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Event, Reply, Route, Server, Stamp, Visit, bearer, error, extend, none_if_empty};
use crate::chat::Chat;
use crate::config::Config;
use crate::engine::Rules;
use crate::generate::Written;
use crate::http::{Request, Response};

/// The kind itself.
pub(super) struct OpenAi;

impl Server for OpenAi {
    fn route(&self, visit: &Visit<'_>) -> Route {
        match visit.target() {
            ("GET", "/v1/models") => Route::ok(&models(visit, "organization_owner")),
            ("POST", "/v1/chat/completions") => Route::Chat,
            (method, path) => {
                let message = format!("Invalid URL ({method} {path})");
                Route::Now(error(404, "invalid_request_error", &message, None))
            }
        }
    }

    fn sign(&self, response: &mut Response, stamp: &Stamp, _: &Request) {
        let id = format!("req_{}", stamp.id);
        response.headers.push(("x-request-id".to_owned(), id));
    }
}

/// An error with a code that is a word.
fn coded(status: u16, message: &str, param: Option<&str>, code: &str) -> Response {
    let body =
        json!({"message": message, "type": "invalid_request_error", "param": param, "code": code});
    Response::json(status, &json!({ "error": body }))
}

/// Reads a chat request and refuses a model that is not served.
pub(super) fn admit_served(config: &Config, request: &Request) -> Result<Chat, Response> {
    let chat = admit(request)?;
    if config.models.contains(&chat.model) {
        return Ok(chat);
    }
    let message = format!(
        "The model `{}` does not exist or you do not have access to it.",
        chat.model
    );
    Err(coded(404, &message, None, "model_not_found"))
}

pub(super) fn limit(config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
    let window = config.context;
    if prompt >= window {
        let message = format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {prompt} \
             tokens. Please reduce the length of the messages."
        );
        return Err(coded(
            400,
            &message,
            Some("messages"),
            "context_length_exceeded",
        ));
    }
    Ok(room(config, chat, prompt))
}

/// What may still be generated.
pub(super) fn room(config: &Config, chat: &Chat, prompt: u64) -> u64 {
    chat.max_tokens
        .unwrap_or(u64::MAX)
        .min(config.context.saturating_sub(prompt))
        .max(1)
}

pub(super) fn rate_limited() -> Response {
    let body = json!({"message": "Rate limit reached, please try again later.", "type": "requests",
                      "param": null, "code": "rate_limit_exceeded"});
    Response::json(429, &json!({ "error": body })).with("retry-after", "1")
}

pub(super) fn server_error() -> (Value, bool) {
    let body = json!({"message": "The server had an error while processing your request.",
                      "type": "server_error", "param": null, "code": null});
    (json!({ "error": body }), false)
}

pub(super) fn check_key(key: &str, request: &Request) -> Result<(), Response> {
    if bearer(request) == Some(key) {
        return Ok(());
    }
    Err(coded(
        401,
        "Incorrect API key provided.",
        None,
        "invalid_api_key",
    ))
}

/// Plain slots before a pool that is large enough for all of them.
pub(super) fn rules(config: &Config) -> Rules {
    Rules {
        slots: config.slots,
        pool: config.pool_tokens(),
        block: 1,
        own_prefix: true,
        abort_when_full: false,
        queue_limit: config.queue_limit,
        cancel_lag: config.cancel_lag,
        one_model: false,
        prefill_blocks: false,
        load_time: Duration::ZERO,
        keep_alive: None,
    }
}

/// The list of the served models as every such server has it: without any window.
pub(super) fn models(visit: &Visit<'_>, owner: &str) -> Value {
    let entry = |id: &String| json!({"id": id, "object": "model", "created": visit.stamp.created, "owned_by": owner});
    json!({"object": "list", "data": visit.config.models.iter().map(entry).collect::<Vec<_>>()})
}

/// Reads a chat request with no more than the checks every server makes.
pub(super) fn admit(request: &Request) -> Result<Chat, Response> {
    let body: Value = serde_json::from_slice(&request.body).map_err(|e| {
        let message = format!("We could not parse the JSON body of your request: {e}");
        error(400, "invalid_request_error", &message, None)
    })?;
    if !body["messages"].is_array() {
        let message = "Missing required parameter: 'messages'.";
        return Err(error(
            400,
            "invalid_request_error",
            message,
            Some("messages"),
        ));
    }
    Ok(Chat::from_body(&body))
}

pub(super) fn usage(reply: &Reply<'_>) -> Option<Value> {
    let tokens = reply.output.tokens;
    reply.usage(json!({
        "prompt_tokens": reply.prompt, "completion_tokens": tokens, "total_tokens": reply.prompt + tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
    }))
}

fn head(reply: &Reply<'_>, object: &str) -> Value {
    json!({"id": format!("chatcmpl-{}", reply.stamp.id), "object": object, "created": reply.stamp.created,
           "model": reply.model, "system_fingerprint": "fp_simulated"})
}

fn call_id(reply: &Reply<'_>, at: usize) -> String {
    format!("call_{}{at:x}", reply.stamp.id)
}

pub(super) fn document(reply: &Reply<'_>) -> Value {
    let output = reply.output;
    let mut message = json!({"role": "assistant", "content": none_if_empty(&output.said())});
    if !output.think.is_empty() {
        message["reasoning_content"] = json!(output.thinking());
    }
    if !output.calls.is_empty() {
        let call = |(at, call): (usize, &Written)| {
            json!({"id": call_id(reply, at), "type": "function",
                   "function": {"name": call.name, "arguments": call.text()}})
        };
        message["tool_calls"] = output.calls.iter().enumerate().map(call).collect();
    }
    let choice =
        json!({"index": 0, "message": message, "logprobs": null, "finish_reason": output.finish});
    let mut whole = head(reply, "chat.completion");
    extend(&mut whole, json!({"choices": [choice]}));
    if let Some(usage) = usage(reply) {
        whole["usage"] = usage;
    }
    whole
}

pub(super) fn events(reply: &Reply<'_>) -> Vec<Event> {
    let output = reply.output;
    let chunk = |delta: Value, finish: Option<&str>| {
        let mut data = head(reply, "chat.completion.chunk");
        data["choices"] =
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        data
    };
    let mut events = vec![Event {
        data: chunk(json!({"role": "assistant", "content": ""}), None),
        tokens: 0,
    }];
    let mut add = |delta: Value| {
        events.push(Event {
            data: chunk(delta, None),
            tokens: 1,
        });
    };
    for piece in &output.think {
        add(json!({"reasoning_content": piece}));
    }
    for piece in &output.say {
        add(json!({"content": piece}));
    }
    for (at, call) in output.calls.iter().enumerate() {
        add(
            json!({"tool_calls": [{"index": at, "id": call_id(reply, at), "type": "function",
                                   "function": {"name": call.name, "arguments": ""}}]}),
        );
        for piece in &call.arguments {
            add(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}));
        }
    }
    let written = events.iter().map(|event| event.tokens).sum();
    let rest = output.tokens.saturating_sub(written);
    events.push(Event {
        data: chunk(json!({}), Some(&output.finish)),
        tokens: rest,
    });
    if let Some(usage) = usage(reply).filter(|_| reply.chat.include_usage) {
        let mut data = head(reply, "chat.completion.chunk");
        extend(&mut data, json!({"choices": [], "usage": usage}));
        events.push(Event { data, tokens: 0 });
    }
    events
}
