//! llama-server b11434: chat requests and answers, field for field as recorded.

use serde_json::{Value, json};

use super::{Event, Reply, extend, llamacpp};
use crate::chat::{Chat, Format};
use crate::config::Config;
use crate::http::{Request, Response};
use crate::script::schema;

fn wrong(message: &str) -> Response {
    llamacpp::refusal(400, "invalid_request_error", message)
}

pub(super) fn admit(request: &Request) -> Result<Chat, Response> {
    let body = llamacpp::body(request)?;
    match &body["messages"] {
        Value::Null => return Err(wrong("'messages' is required")),
        Value::Array(_) => {}
        _ => return Err(wrong("Expected 'messages' to be an array")),
    }
    let most = &body["max_tokens"];
    if !most.is_null() && !most.is_number() {
        let kind = if most.is_string() { "string" } else { "object" };
        return Err(wrong(&format!(
            "Field 'max_tokens': [json.exception.type_error.302] type must be number, but is {kind}"
        )));
    }
    if let Some(form) = body["response_format"]["type"].as_str()
        && !["text", "json_object", "json_schema"].contains(&form)
    {
        return Err(wrong(&format!(
            "response_format type must be one of \"text\" or \"json_object\", but got: {form}"
        )));
    }
    let chat = Chat::from_body(&body);
    if let Format::Schema(wanted) = &chat.format
        && let Some(unknown) = schema::unknown_type(wanted)
    {
        return Err(wrong(&format!(
            "Unable to generate parser for this template. Automatic parser generation failed: JSON schema error \
             at #: unrecognized type {unknown}"
        )));
    }
    past_calls_are_json(&chat)?;
    Ok(chat)
}

/// A call in the history whose arguments are no JSON poisons every later turn, as recorded.
fn past_calls_are_json(chat: &Chat) -> Result<(), Response> {
    let calls = chat.messages.iter().flat_map(|message| &message.calls);
    for (_, arguments) in calls {
        if serde_json::from_str::<Value>(arguments).is_err() {
            let message = "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse \
                           error at line 1, column 2: syntax error while parsing object key";
            return Err(llamacpp::refusal(500, "server_error", message));
        }
    }
    Ok(())
}

pub(super) fn limit(config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
    let window = config.context;
    if prompt >= window {
        let message = format!(
            "request ({prompt} tokens) exceeds the available context size ({window} tokens), try increasing it"
        );
        let error = json!({"code": 400, "message": message, "type": "exceed_context_size_error",
                           "n_prompt_tokens": prompt, "n_ctx": window});
        return Err(Response::json(400, &json!({ "error": error })));
    }
    // One token is always written, and an answer that fills the window simply ends.
    let wanted = chat.max_tokens.map_or(u64::MAX, |most| most.max(1));
    Ok(wanted.min(window - prompt))
}

fn tail(reply: &Reply<'_>, object: &str) -> Value {
    json!({"created": reply.stamp.created, "model": reply.model, "system_fingerprint": "b11434-sdist",
           "object": object})
}

fn usage(reply: &Reply<'_>) -> Option<Value> {
    let tokens = reply.output.tokens;
    reply.usage(json!({
        "completion_tokens": tokens, "prompt_tokens": reply.prompt, "total_tokens": reply.prompt + tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
    }))
}

fn timings(reply: &Reply<'_>) -> Value {
    let rate = |count: u64, ms: f64| {
        if ms > 0.0 {
            float(count) * 1000.0 / ms
        } else {
            0.0
        }
    };
    let each = |count: u64, ms: f64| if count > 0 { ms / float(count) } else { 0.0 };
    let read = reply.prompt - reply.cached.min(reply.prompt);
    let written = reply.output.tokens;
    json!({
        "cache_n": reply.cached, "prompt_n": read, "prompt_ms": reply.prompt_ms,
        "prompt_per_token_ms": each(read, reply.prompt_ms), "prompt_per_second": rate(read, reply.prompt_ms),
        "predicted_n": written, "predicted_ms": reply.answer_ms,
        "predicted_per_token_ms": each(written, reply.answer_ms),
        "predicted_per_second": rate(written, reply.answer_ms),
    })
}

fn float(n: u64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "token counts are far below 2^52"
    )]
    let float = n as f64;
    float
}

fn id(reply: &Reply<'_>) -> String {
    format!("chatcmpl-{}{}", reply.stamp.id, reply.stamp.id)
}

pub(super) fn document(reply: &Reply<'_>) -> Value {
    let output = reply.output;
    let mut message = json!({"role": "assistant", "content": output.said()});
    if !output.think.is_empty() {
        message["reasoning_content"] = json!(output.thinking());
    }
    if !output.calls.is_empty() {
        let call = |(at, call): (usize, &crate::generate::Written)| {
            json!({"type": "function", "function": {"name": call.name, "arguments": call.text()},
                   "id": format!("{}{at:x}", reply.stamp.id)})
        };
        message["tool_calls"] = output.calls.iter().enumerate().map(call).collect();
    }
    let mut whole =
        json!({"choices": [{"finish_reason": output.finish, "index": 0, "message": message}]});
    extend(&mut whole, tail(reply, "chat.completion"));
    if let Some(usage) = usage(reply) {
        whole["usage"] = usage;
    }
    whole["id"] = json!(id(reply));
    whole["timings"] = timings(reply);
    whole
}

pub(super) fn events(reply: &Reply<'_>) -> Vec<Event> {
    let output = reply.output;
    let mut events = Vec::with_capacity(output.say.len() + output.think.len() + 4);
    if reply.chat.body["return_progress"] == true {
        events.push(progress(reply));
    }
    events.push(Event {
        data: chunk(reply, &json!({"role": "assistant", "content": null}), None),
        tokens: 0,
    });
    let mut add = |delta: Value| {
        events.push(Event {
            data: chunk(reply, &delta, None),
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
        // The first piece of the arguments comes with the name.
        let (first, rest) = call
            .arguments
            .split_first()
            .map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
        add(
            json!({"tool_calls": [{"index": at, "id": format!("{}{at:x}", reply.stamp.id), "type": "function",
                                   "function": {"name": call.name, "arguments": first}}]}),
        );
        for piece in rest {
            add(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}));
        }
    }
    let written = events.iter().map(|event| event.tokens).sum();
    let mut last = chunk(reply, &json!({}), Some(&output.finish));
    // The timings come with the very last chunk, which is the usage where that was asked for.
    let usage = usage(reply).filter(|_| reply.chat.include_usage);
    if usage.is_none() {
        last["timings"] = timings(reply);
    }
    events.push(Event {
        data: last,
        tokens: output.tokens.saturating_sub(written),
    });
    if let Some(usage) = usage {
        let mut data = envelope(reply, &json!([]));
        data["usage"] = usage;
        data["timings"] = timings(reply);
        events.push(Event { data, tokens: 0 });
    }
    events
}

fn progress(reply: &Reply<'_>) -> Event {
    let mut data = chunk(reply, &json!({"role": "assistant", "content": null}), None);
    data["timings"] = timings(reply);
    data["prompt_progress"] = json!({"total": reply.prompt, "cache": reply.cached, "processed": reply.prompt,
                                     "time_ms": reply.prompt_ms.round()});
    Event { data, tokens: 0 }
}

fn chunk(reply: &Reply<'_>, delta: &Value, finish: Option<&str>) -> Value {
    envelope(
        reply,
        &json!([{"finish_reason": finish, "index": 0, "delta": delta}]),
    )
}

fn envelope(reply: &Reply<'_>, choices: &Value) -> Value {
    json!({"choices": choices, "created": reply.stamp.created, "id": id(reply), "model": reply.model,
           "system_fingerprint": "b11434-sdist", "object": "chat.completion.chunk"})
}
