//! Ollama's own routes `/api/chat` and `/api/generate`, as its documentation describes them: lines of
//! JSON, `options.num_ctx` honoured, and an empty request that loads or unloads a model.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::{Event, Memory, Reply, Route, Visit, extend};
use crate::chat::{Chat, Dialect};
use crate::config::Config;
use crate::generate::Written;
use crate::http::{Request, Response};

/// The dialect of a route.
fn dialect(path: &str) -> Dialect {
    match path {
        "/api/chat" => Dialect::OllamaChat,
        "/api/generate" => Dialect::OllamaGenerate,
        _ => Dialect::OpenAi,
    }
}

/// A request to one of these routes: answered by the model, or about the model's place in memory.
pub(super) fn route(visit: &Visit<'_>) -> Route {
    let body = match read(visit.config, visit.request) {
        Ok(body) => body,
        Err(refusal) => return Route::Now(refusal),
    };
    let is_empty = |key: &str| match &body[key] {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        other => other.is_null(),
    };
    let dialect = dialect(&visit.request.path);
    let asks_nothing = match dialect {
        Dialect::OllamaChat => is_empty("messages"),
        _ => is_empty("prompt"),
    };
    if !asks_nothing {
        return Route::Chat;
    }
    let model = body["model"].as_str().unwrap_or_default();
    let unload =
        ["0", "\"0\"", "\"0s\"", "\"0m\""].contains(&body["keep_alive"].to_string().as_str());
    let mut answer = head(model, visit.stamp.created);
    extend(&mut answer, part(dialect, "content", json!("")));
    let reason = if unload { "unload" } else { "load" };
    extend(&mut answer, json!({"done": true, "done_reason": reason}));
    let what = if unload {
        Memory::Unload
    } else {
        Memory::Bring(model.to_owned())
    };
    Route::Memory(what, Response::json(200, &answer))
}

/// Reads a request of these routes; the OpenAI routes are `None`.
pub(super) fn admit(config: &Config, request: &Request) -> Option<Result<Chat, Response>> {
    let dialect = dialect(&request.path);
    if dialect == Dialect::OpenAi {
        return None;
    }
    Some(read(config, request).map(|body| translate(&body, dialect)))
}

/// The body of a request, once its model is known.
pub(super) fn read(config: &Config, request: &Request) -> Result<Value, Response> {
    let refuse =
        |status, message: String| Err(Response::json(status, &json!({ "error": message })));
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return refuse(400, "invalid character in request body".to_owned());
    };
    match body["model"].as_str() {
        None | Some("") => refuse(400, "model is required".to_owned()),
        Some(model) if !is_known(config, model) => {
            refuse(404, format!("model '{model}' not found"))
        }
        Some(_) => Ok(body),
    }
}

/// A name without a tag means the tag `latest`.
fn is_known(config: &Config, model: &str) -> bool {
    let bare = model.strip_suffix(":latest").unwrap_or(model);
    config
        .models
        .iter()
        .any(|known| known == model || known.strip_suffix(":latest").unwrap_or(known) == bare)
}

/// The same request in the words of the OpenAI routes.
fn translate(body: &Value, dialect: Dialect) -> Chat {
    let options = &body["options"];
    let mut same = json!({
        "model": body["model"], "stream": body["stream"].as_bool().unwrap_or(true),
        "messages": body["messages"], "tools": body["tools"], "options": options,
    });
    if dialect == Dialect::OllamaGenerate {
        let message = |role: &str, text: &Value| json!({"role": role, "content": text});
        let system = body["system"]
            .is_string()
            .then(|| message("system", &body["system"]));
        let user = message("user", &body["prompt"]);
        same["messages"] = system.into_iter().chain([user]).collect();
    }
    if let Some(most) = options["num_predict"].as_u64() {
        same["max_tokens"] = json!(most);
    }
    match &body["format"] {
        Value::Object(schema) => {
            same["response_format"] =
                json!({"type": "json_schema", "json_schema": {"schema": schema}});
        }
        Value::String(word) if word == "json" => {
            same["response_format"] = json!({"type": "json_object"});
        }
        _ => {}
    }
    if let Some(think) = body["think"].as_bool() {
        same["chat_template_kwargs"] = json!({"enable_thinking": think});
    }
    Chat {
        dialect,
        ..Chat::from_body(&same)
    }
}

/// The window of one request: only these routes hear `options.num_ctx`.
pub(super) fn window(config: &Config, chat: &Chat) -> u64 {
    let asked = (chat.dialect != Dialect::OpenAi)
        .then(|| chat.body["options"]["num_ctx"].as_u64())
        .flatten();
    asked.map_or(config.context, |n| n.min(config.trained_context).max(1))
}

fn head(model: &str, created: u64) -> Value {
    let time = UNIX_EPOCH + Duration::from_secs(created);
    let at = humantime::format_rfc3339_nanos(time).to_string();
    json!({"model": model, "created_at": at})
}

/// One field of the answer, where its route has it.
fn part(dialect: Dialect, field: &str, value: Value) -> Value {
    let mut fields = Map::new();
    if dialect == Dialect::OllamaChat {
        let mut message = json!({"role": "assistant", "content": ""});
        message[field] = value;
        fields.insert("message".to_owned(), message);
    } else {
        fields.insert("response".to_owned(), json!(""));
        let name = if field == "content" {
            "response"
        } else {
            field
        };
        fields.insert(name.to_owned(), value);
    }
    Value::Object(fields)
}

/// What the last line tells: why it ended, and what it cost, in nanoseconds.
fn end(reply: &Reply<'_>) -> Value {
    let reason = if reply.output.was_cut() {
        "length"
    } else {
        "stop"
    };
    let nanos = |ms: f64| {
        let time = Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default();
        json!(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    };
    json!({
        "done": true, "done_reason": reason,
        "total_duration": nanos(reply.prompt_ms + reply.answer_ms), "load_duration": 0,
        "prompt_eval_count": reply.prompt, "prompt_eval_duration": nanos(reply.prompt_ms),
        "eval_count": reply.output.tokens, "eval_duration": nanos(reply.answer_ms),
    })
}

/// A call, whole, with its arguments as an object.
fn call(written: &Written) -> Value {
    let text = written.text();
    let arguments = serde_json::from_str(&text).unwrap_or(Value::String(text));
    json!({"function": {"name": written.name, "arguments": arguments}})
}

pub(super) fn document(reply: &Reply<'_>) -> Value {
    let (output, dialect) = (reply.output, reply.chat.dialect);
    let mut whole = head(reply.model, reply.stamp.created);
    extend(&mut whole, part(dialect, "content", json!(output.said())));
    let place = if dialect == Dialect::OllamaChat {
        &mut whole["message"]
    } else {
        &mut whole
    };
    if !output.think.is_empty() {
        place["thinking"] = json!(output.thinking());
    }
    if !output.calls.is_empty() && dialect == Dialect::OllamaChat {
        place["tool_calls"] = output.calls.iter().map(call).collect();
    }
    extend(&mut whole, end(reply));
    whole
}

pub(super) fn events(reply: &Reply<'_>) -> Vec<Event> {
    let (output, dialect) = (reply.output, reply.chat.dialect);
    let line = |field: &str, value: Value| {
        let mut data = head(reply.model, reply.stamp.created);
        extend(&mut data, part(dialect, field, value));
        data
    };
    let mut events = Vec::new();
    let mut add = |field: &str, value: Value| {
        let mut data = line(field, value);
        data["done"] = json!(false);
        events.push(Event { data, tokens: 1 });
    };
    for piece in &output.think {
        add("thinking", json!(piece));
    }
    for piece in &output.say {
        add("content", json!(piece));
    }
    for written in output
        .calls
        .iter()
        .filter(|_| dialect == Dialect::OllamaChat)
    {
        add("tool_calls", json!([call(written)]));
    }
    let told: u64 = events.iter().map(|event| event.tokens).sum();
    let mut data = line("content", json!(""));
    extend(&mut data, end(reply));
    events.push(Event {
        data,
        tokens: output.tokens.saturating_sub(told),
    });
    events
}
