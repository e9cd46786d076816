//! Calls as JSON: between marks, or as the whole message.

use serde_json::Value;

use crate::calls::json_repair::{parse_object, without_fence};
use crate::calls::salvage::{Found, TextCall};

/// Marks around calls in JSON, and the name of the notation. The closing mark may be a stop word
/// that the server swallowed, as long as the JSON itself is complete.
const MARKS: [(&str, &str, &str); 11] = [
    ("<tool_call>", "</tool_call>", "tool_call_tag"),
    ("<|tool_call|>", "<|/tool_call|>", "marked_json"),
    ("<tool_calls>", "</tool_calls>", "marked_json"),
    ("<TOOLCALL>", "</TOOLCALL>", "marked_json"),
    ("<function_call>", "</function_call>", "marked_json"),
    ("<tools>", "</tools>", "marked_json"),
    ("<|START_ACTION|>", "<|END_ACTION|>", "marked_json"),
    (
        "<|action_start|><|plugin|>",
        "<|action_end|>",
        "marked_json",
    ),
    ("[TOOL_CALLS]", "</s>", "marked_json"),
    ("<|python_tag|>", "<|eom_id|>", "marked_json"),
    ("functools", "<|end|>", "marked_json"),
];

/// `<tool_call>{"name": …, "arguments": …}</tool_call>` and the like.
pub(super) fn marked(text: &str) -> Found {
    for (open, close, dialect) in MARKS {
        let Some(first) = text.find(open) else {
            continue;
        };
        let mut calls = Vec::new();
        let mut is_json = true;
        for piece in text[first..].split(open).skip(1) {
            let body = without_fence(piece.split(close).next().unwrap_or_default());
            if !body.starts_with(['{', '[']) {
                is_json = false;
                break;
            }
            let Some(values) = sequence(body) else {
                // In a place that is made for calls, whatever cannot be read is a broken one.
                return Found::Incomplete;
            };
            for value in &values {
                match envelope(value, dialect) {
                    Some(call) => calls.push(call),
                    None => return Found::Nothing,
                }
            }
        }
        if is_json {
            return Found::Calls(calls, text[..first].trim().to_string());
        }
    }
    Found::Nothing
}

/// The whole message is one or more calls as JSON, fenced or bare.
pub(super) fn whole_message(text: &str) -> Found {
    let mut calls = Vec::new();
    for body in fences(text) {
        if !body.starts_with(['{', '[']) {
            return Found::Nothing;
        }
        let Some(values) = sequence(body) else {
            return Found::Nothing;
        };
        for value in &values {
            match envelope(value, "json_text") {
                Some(call) => calls.push(call),
                None => return Found::Nothing,
            }
        }
    }
    Found::Calls(calls, String::new())
}

/// The values of a text that holds nothing but JSON: one after another, or in a list. One object may
/// need repair; only if nothing follows it.
fn sequence(body: &str) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    let mut rest = body.trim();
    while !rest.is_empty() {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(Value::Array(items))) => values.extend(items),
            Some(Ok(value)) => values.push(value),
            _ => {
                let (value, _) = parse_object(body).ok()?;
                return body.trim_end().ends_with('}').then(|| vec![value]);
            }
        }
        rest = rest[stream.byte_offset()..].trim_start();
        rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start();
    }
    Some(values)
}

/// The insides of the fences a text consists of; the text itself if it has none; nothing if there
/// are words between them.
fn fences(text: &str) -> Vec<&str> {
    if !text.starts_with("```") {
        return vec![text];
    }
    let mut bodies = Vec::new();
    let mut rest = text;
    while let Some(after) = rest.strip_prefix("```") {
        let Some(end) = after.find("```") else {
            return Vec::new();
        };
        let block = &rest[..end + 6];
        bodies.push(without_fence(block));
        rest = after[end + 3..].trim();
    }
    if rest.is_empty() { bodies } else { Vec::new() }
}

/// `{"name": …, "arguments": …}` and its variations; nothing else is a call.
fn envelope(value: &Value, dialect: &'static str) -> Option<TextCall> {
    let map = value.as_object()?;
    if let Some(inner) = map.get("function").filter(|f| f.is_object()) {
        return envelope(inner, dialect);
    }
    let name_key = ["name", "tool", "tool_name", "function"]
        .into_iter()
        .find(|key| map.get(*key).is_some_and(Value::is_string))?;
    let args_key = ["arguments", "parameters", "args", "input", "params"]
        .into_iter()
        .find(|key| map.contains_key(*key));
    let known = |key: &str| {
        key == name_key
            || Some(key) == args_key
            || matches!(key, "id" | "type" | "tool_call_id" | "index")
    };
    if !map.keys().all(|key| known(key)) {
        return None;
    }
    let arguments = match args_key.and_then(|key| map.get(key)) {
        Some(Value::String(text)) => text.clone(),
        Some(value @ Value::Object(_)) => value.to_string(),
        None | Some(Value::Null) => "{}".into(),
        Some(_) => return None,
    };
    Some(TextCall {
        name: map.get(name_key)?.as_str()?.to_string(),
        arguments,
        dialect,
    })
}
