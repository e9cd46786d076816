//! A request of the Responses form (`input`, `instructions`) as the chat it becomes. Pure.

use serde_json::{Map, Value, json};

/// The chat request, where this is one of the Responses form; other requests come back as they are.
pub(crate) fn as_chat(request: Value) -> Value {
    let is_chat = request.get("messages").is_some() || request.get("prompt").is_some();
    let Some(input) = request.get("input").filter(|_| !is_chat) else {
        return request;
    };
    let mut messages = Vec::new();
    if let Some(text) = request.get("instructions").filter(|text| text.is_string()) {
        messages.push(json!({"role": "system", "content": text}));
    }
    match input {
        Value::Array(items) => items.iter().for_each(|item| add(&mut messages, item)),
        text => messages.push(json!({"role": "user", "content": text})),
    }
    let tools = request.get("tools").and_then(Value::as_array);
    let tools: Option<Vec<Value>> = tools.map(|tools| tools.iter().map(tool).collect());
    let mut chat = request.as_object().cloned().unwrap_or_default();
    chat.remove("input");
    chat.remove("instructions");
    chat.insert("messages".into(), messages.into());
    if let Some(tools) = tools {
        chat.insert("tools".into(), tools.into());
    }
    Value::Object(chat)
}

/// A message, a call of a tool, or what it gave. What is none of these stays, and is refused by place.
fn add(messages: &mut Vec<Value>, item: &Value) {
    match item["type"].as_str() {
        Some("function_call") => {
            let call = json!({"id": item["call_id"], "type": "function", "function":
                {"name": item["name"], "arguments": item["arguments"]}});
            match messages.last_mut().and_then(calls) {
                Some(calls) => calls.push(call),
                None => messages
                    .push(json!({"role": "assistant", "content": null, "tool_calls": [call]})),
            }
        }
        Some("function_call_output") => messages.push(json!({
            "role": "tool", "tool_call_id": item["call_id"], "content": item["output"],
        })),
        // Thinking is not sent back to the model.
        Some("reasoning") => {}
        _ => messages.push(item.clone()),
    }
}

/// The calls of a message that has some.
fn calls(message: &mut Value) -> Option<&mut Vec<Value>> {
    message.get_mut("tool_calls")?.as_array_mut()
}

/// `{type, name, parameters}` as `{type, function: {name, parameters}}`.
fn tool(tool: &Value) -> Value {
    if tool["type"] != "function" || tool.get("function").is_some() {
        return tool.clone();
    }
    let mut function = Map::new();
    for key in ["name", "description", "parameters"] {
        if let Some(value) = tool.get(key) {
            function.insert(key.into(), value.clone());
        }
    }
    json!({"type": "function", "function": function})
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::as_chat;

    #[test]
    fn a_responses_request_becomes_a_chat() {
        let chat = as_chat(json!({
            "model": "m", "instructions": "Be brief.", "max_output_tokens": 9,
            "tools": [{"type": "function", "name": "ls", "parameters": {}}],
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "1", "name": "ls", "arguments": "{}"},
                {"type": "function_call", "call_id": "2", "name": "ls", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "a b"},
            ],
        }));
        let call = |id| json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}});
        assert_eq!(
            chat,
            json!({
                "model": "m", "max_output_tokens": 9,
                "tools": [{"type": "function", "function": {"name": "ls", "parameters": {}}}],
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                    {"role": "assistant", "content": null, "tool_calls": [call("1"), call("2")]},
                    {"role": "tool", "tool_call_id": "1", "content": "a b"},
                ],
            })
        );
        let text = as_chat(json!({"input": "hi"}));
        assert_eq!(
            text,
            json!({"messages": [{"role": "user", "content": "hi"}]})
        );
    }

    #[test]
    fn other_requests_stay_as_they_are() {
        for request in [
            json!({"messages": [], "input": "x"}),
            json!({"prompt": "x"}),
            json!([1]),
            json!({"foo": 1}),
        ] {
            assert_eq!(as_chat(request.clone()), request);
        }
    }
}
