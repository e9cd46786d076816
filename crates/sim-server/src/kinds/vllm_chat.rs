//! vLLM 0.32: chat requests and answers, field for field as recorded.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Event, Reply, error, none_if_empty, vllm};
use crate::chat::{Chat, Format, ToolChoice};
use crate::config::Config;
use crate::http::{Request, Response};
use crate::script::schema;

const FINGERPRINT: &str = "vllm-0.32.0-58eb865a";
/// vLLM measures very long texts in characters before it counts tokens.
const CHARACTERS_PER_TOKEN: u64 = 128;

/// A refusal that names the parameter, and its value where vLLM repeats it.
fn wrong(param: &str, value: Option<&Value>, message: &str) -> Response {
    let tail = value.map(|v| format!(", value={v}")).unwrap_or_default();
    error(
        400,
        "BadRequestError",
        &format!("{message} (parameter={param}{tail})"),
        Some(param),
    )
}

fn plain(message: &str) -> Response {
    error(400, "BadRequestError", message, None)
}

pub(super) fn admit(config: &Config, request: &Request) -> Result<Chat, Response> {
    let body = vllm::body(request)?;
    let Some(messages) = body.get("messages") else {
        let size = body.as_object().map_or(0, Map::len);
        let input = format!("<dict of {size} items>");
        return Err(vllm::invalid(
            "missing",
            "body.messages",
            "Field required",
            &input,
        ));
    };
    if !messages.is_array() {
        return Err(vllm::invalid(
            "list_type",
            "body.messages",
            "Input should be a valid list",
            &plain_text(messages),
        ));
    }
    for field in ["max_tokens", "max_completion_tokens"] {
        let value = &body[field];
        if !value.is_null() && !value.is_i64() && !value.is_u64() {
            let message = "Input should be a valid integer, unable to parse string as an integer";
            let place = format!("body.{field}");
            return Err(vllm::invalid(
                "int_parsing",
                &place,
                message,
                &plain_text(value),
            ));
        }
    }
    vllm::known_model(config, &body)?;
    sampling(config, &body)?;
    tools(config, &body)?;
    let chat = Chat::from_body(&body);
    if chat.messages.is_empty() {
        return Err(plain(
            "Cannot apply chat template to an empty conversation. Provide at least one message.",
        ));
    }
    if let Format::Schema(wanted) = &chat.format
        && let Some(unknown) = schema::unknown_type(wanted)
    {
        return Err(plain(&format!("Grammar error: Invalid type: {unknown}")));
    }
    Ok(chat)
}

fn plain_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn sampling(config: &Config, body: &Value) -> Result<(), Response> {
    let most = &body["max_tokens"];
    if most.as_i64().is_some_and(|n| n < 1) {
        return Err(wrong(
            "max_tokens",
            Some(most),
            &format!("max_tokens must be at least 1, got {most}."),
        ));
    }
    if most.as_u64().is_some_and(|n| n > config.context) {
        let message = format!(
            "max_tokens={most} cannot be greater than max_model_len={}. Please request fewer output tokens.",
            config.context
        );
        return Err(wrong("max_tokens", Some(most), &message));
    }
    if let Some(heat) = body["temperature"].as_f64().filter(|heat| *heat < 0.0) {
        let message = format!("temperature must be non-negative, got {heat:?}.");
        return Err(wrong("temperature", Some(&json!(heat)), &message));
    }
    let options = &body["stream_options"];
    if !options.is_null() && body["stream"] != true {
        return Err(wrong(
            "stream_options",
            None,
            "Stream options can only be defined when `stream=True`.",
        ));
    }
    let budget = &body["thinking_token_budget"];
    if !budget.is_null() && !config.reasoning {
        return Err(plain(
            "thinking_token_budget is set but reasoning_config is not configured. Please set \
             --reasoning-parser and/or --reasoning-config to use thinking_token_budget.",
        ));
    }
    if budget.as_i64().is_some_and(|n| n < -1) {
        let message = "`thinking_token_budget` must be a non-negative integer or -1 for unlimited.";
        return Err(wrong("thinking_token_budget", Some(budget), message));
    }
    Ok(())
}

fn tools(config: &Config, body: &Value) -> Result<(), Response> {
    let choice = &body["tool_choice"];
    let offered = body["tools"].as_array().filter(|tools| !tools.is_empty());
    let Some(offered) = offered else {
        let harmless = choice.is_null() || choice == "none" || choice == "auto";
        return if harmless {
            Ok(())
        } else {
            Err(wrong(
                "tool_choice",
                None,
                "When using `tool_choice`, `tools` must be set.",
            ))
        };
    };
    if !config.tools && choice != "none" {
        let word = choice.as_str().unwrap_or("auto");
        return Err(plain(&format!(
            "\"{word}\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"
        )));
    }
    if let Some(name) = choice["function"]["name"].as_str()
        && !offered.iter().any(|tool| tool["function"]["name"] == name)
    {
        let message =
            "The tool specified in `tool_choice` does not match any of the specified `tools`";
        return Err(wrong("tool_choice", None, message));
    }
    Ok(())
}

pub(super) fn limit(config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
    let window = config.context;
    let characters = chat
        .messages
        .iter()
        .map(|m| m.text.chars().count() as u64)
        .sum::<u64>();
    let start = format!(
        "This model's maximum context length is {window} tokens. However, your prompt contains"
    );
    if characters > window * CHARACTERS_PER_TOKEN {
        let message = format!(
            "{start} {characters} characters (more than {} characters, which is the upper bound for {window} \
             input tokens). Please reduce the length of the input prompt.",
            window * CHARACTERS_PER_TOKEN
        );
        return Err(wrong("input_text", Some(&json!(characters)), &message));
    }
    if prompt >= window {
        // It counts no further than one past the limit, and says so.
        let least = window + 1;
        let message = format!(
            "{start} at least {least} input tokens, which exceeds this limit even without any output tokens. \
             Please reduce the length of the input prompt."
        );
        return Err(wrong("input_tokens", Some(&json!(least)), &message));
    }
    let left = window - prompt;
    Ok(chat.max_tokens.map_or(left, |most| most.min(left)))
}

/// The text vLLM puts into the content when a call was cut off: the model's own markup.
fn leaked(reply: &Reply<'_>) -> String {
    let mut text = reply.output.said();
    for call in &reply.output.calls {
        let end = if call.complete { "}\n</tool_call>" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "<tool_call>\n{{\"name\": \"{}\", \"arguments\": {}{end}",
            call.name,
            call.text()
        );
    }
    text
}

pub(super) fn document(reply: &Reply<'_>) -> Value {
    let output = reply.output;
    let text = if output.cut_call {
        leaked(reply)
    } else {
        output.said()
    };
    let think = output.thinking();
    let mut message = json!({
        "role": "assistant", "content": none_if_empty(&text), "refusal": null, "annotations": null,
        "audio": null, "function_call": null,
    });
    let mut finish = output.finish.clone();
    if !output.cut_call && !output.calls.is_empty() {
        let call = |(at, call): (usize, &crate::generate::Written)| {
            json!({"id": call_id(reply, at), "type": "function",
                   "function": {"name": call.name, "arguments": call.text()}})
        };
        message["tool_calls"] = output.calls.iter().enumerate().map(call).collect();
        finish = finish_of(reply);
    }
    message["reasoning"] = none_if_empty(&think);
    let choice = json!({
        "index": 0, "message": message, "logprobs": null, "finish_reason": finish,
        "stop_reason": null, "token_ids": null, "routed_experts": null,
    });
    let mut whole = json!({
        "id": id(reply), "object": "chat.completion", "created": reply.stamp.created, "model": reply.model,
        "choices": [choice], "service_tier": null, "system_fingerprint": FINGERPRINT,
    });
    let mut spent = usage(reply, output.tokens, output.think.len() as u64);
    spent["prompt_tokens_details"] = json!({"cached_tokens": reply.cached, "created_cache_tokens": 0, "multimodal_tokens": null});
    order_details(&mut spent);
    if let Some(spent) = reply.usage(spent) {
        whole["usage"] = spent;
    }
    for key in [
        "prompt_logprobs",
        "prompt_token_ids",
        "prompt_text",
        "kv_transfer_params",
        "ec_transfer_params",
        "metrics",
    ] {
        whole[key] = Value::Null;
    }
    whole
}

/// A named tool ends with `stop`, though the call is there.
fn finish_of(reply: &Reply<'_>) -> String {
    let named = matches!(reply.chat.tool_choice, ToolChoice::Named(_));
    let finish = &reply.output.finish;
    if named && finish == "tool_calls" {
        "stop".to_owned()
    } else {
        finish.clone()
    }
}

fn usage(reply: &Reply<'_>, tokens: u64, thought: u64) -> Value {
    json!({
        "prompt_tokens": reply.prompt, "total_tokens": reply.prompt + tokens, "completion_tokens": tokens,
        "completion_tokens_details": {"reasoning_tokens": thought},
    })
}

/// Puts the prompt's details before the completion's, as the real server has them.
fn order_details(usage: &mut Value) {
    if let Some(details) = usage
        .as_object_mut()
        .and_then(|map| map.shift_remove("completion_tokens_details"))
    {
        usage["completion_tokens_details"] = details;
    }
}

fn id(reply: &Reply<'_>) -> String {
    format!("chatcmpl-{}", reply.stamp.id)
}

fn call_id(reply: &Reply<'_>, at: usize) -> String {
    format!("chatcmpl-tool-{}{at:x}", &reply.stamp.id)
}

pub(super) fn events(reply: &Reply<'_>) -> Vec<Event> {
    let output = reply.output;
    let mut events = vec![first_event(reply)];
    let mut add = |delta: Value, tokens: u64| {
        events.push(Event {
            data: chunk(reply, &delta),
            tokens,
        });
    };
    for piece in &output.think {
        add(json!({"reasoning": piece}), 1);
    }
    for piece in &output.say {
        add(json!({"content": piece}), 1);
    }
    for (at, call) in output.calls.iter().enumerate() {
        let head = json!({"id": call_id(reply, at), "type": "function", "index": at,
                          "function": {"name": call.name}});
        add(json!({"content": null, "tool_calls": [head]}), 1);
        for piece in &call.arguments {
            add(
                json!({"content": null, "tool_calls": [{"index": at, "function": {"arguments": piece}}]}),
                1,
            );
        }
    }
    finish_events(reply, &mut events);
    if reply.chat.continuous_usage {
        count_along(reply, &mut events);
    }
    events
}

fn first_event(reply: &Reply<'_>) -> Event {
    let choice = json!({"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": null,
                        "finish_reason": null});
    let mut data = envelope(reply, &json!([choice]));
    data["prompt_token_ids"] = Value::Null;
    data["prompt_text"] = Value::Null;
    Event { data, tokens: 0 }
}

/// The last content delta carries the finish reason; after calls an empty delta does.
fn finish_events(reply: &Reply<'_>, events: &mut Vec<Event>) {
    let calls = !reply.output.calls.is_empty();
    let spoken = events.len() > 1;
    if calls || !spoken {
        events.push(Event {
            data: chunk(reply, &json!({})),
            tokens: 0,
        });
    }
    let wanted = reply
        .usage(stream_usage(reply))
        .filter(|_| reply.chat.include_usage);
    let written = events.iter().map(|event| event.tokens).sum::<u64>();
    if let Some(last) = events.last_mut() {
        let choice = &mut last.data["choices"][0];
        choice["finish_reason"] = json!(finish_of(reply));
        if let Some(choice) = choice.as_object_mut() {
            choice.shift_remove("token_ids");
            choice.insert("stop_reason".to_owned(), Value::Null);
            choice.insert("token_ids".to_owned(), Value::Null);
        }
        // What has no delta of its own (tags, the end mark) is paid with the last one.
        last.tokens += reply.output.tokens.saturating_sub(written);
        if !reply.chat.include_usage {
            last.data["system_fingerprint"] = json!(FINGERPRINT);
        }
    }
    if let Some(usage) = wanted {
        let mut data = envelope(reply, &json!([]));
        data["usage"] = usage;
        data["system_fingerprint"] = json!(FINGERPRINT);
        events.push(Event { data, tokens: 0 });
    }
}

fn stream_usage(reply: &Reply<'_>) -> Value {
    let mut spent = usage(reply, reply.output.tokens, reply.output.think.len() as u64);
    spent["prompt_tokens_details"] =
        json!({"cached_tokens": reply.cached, "created_cache_tokens": 0});
    order_details(&mut spent);
    spent
}

/// `continuous_usage_stats`: every chunk says what was spent so far.
fn count_along(reply: &Reply<'_>, events: &mut [Event]) {
    let mut written = 0;
    let thought = reply.output.think.len() as u64;
    for event in events
        .iter_mut()
        .filter(|event| event.data["choices"][0].is_object())
    {
        written += event.tokens;
        event.data["usage"] = usage(reply, written, written.min(thought));
    }
}

fn chunk(reply: &Reply<'_>, delta: &Value) -> Value {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null, "token_ids": null});
    envelope(reply, &json!([choice]))
}

fn envelope(reply: &Reply<'_>, choices: &Value) -> Value {
    json!({"id": id(reply), "object": "chat.completion.chunk", "created": reply.stamp.created,
           "model": reply.model, "choices": choices})
}
