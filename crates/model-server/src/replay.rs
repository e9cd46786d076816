//! Makes a request that every server accepts, and counts what had to be mended.

use serde_json::{Map, Value, json};

use crate::stream::ChatAnswer;

/// The body to send for a chat request: streamed, with usage, and with history servers accept.
///
/// The history is what servers gave us themselves, yet they refuse parts of it when it comes back:
/// `content: null` beside tool calls (llama.cpp, LM Studio) becomes an empty text, and empty
/// `tool_calls` or `content` arrays (vLLM) are left out.
pub fn prepare(request: &Value) -> (Value, Vec<&'static str>) {
    let mut body = request.clone();
    let mut mended = Vec::new();
    if let Some(object) = body.as_object_mut() {
        object.insert("stream".to_owned(), Value::Bool(true));
        let options = object.entry("stream_options").or_insert_with(|| json!({}));
        if let Some(options) = options.as_object_mut() {
            options.insert("include_usage".to_owned(), Value::Bool(true));
        }
        if let Some(messages) = object.get_mut("messages").and_then(Value::as_array_mut) {
            for message in messages.iter_mut().filter_map(Value::as_object_mut) {
                mend(message, &mut mended);
            }
        }
    }
    (body, mended)
}

/// An answer as a message of the history, in the form its server accepts.
///
/// Calls that are not complete are left out: broken arguments in the history make llama.cpp fail on
/// every later turn. Thinking goes back under the name the server used for it (another name is
/// dropped by some), or not at all.
pub fn history_message(answer: &ChatAnswer, keep_reasoning: bool) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.content});
    let calls: Vec<Value> = answer
        .tool_calls
        .iter()
        .filter(|call| call.complete)
        .map(|call| {
            json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            })
        })
        .collect();
    if let Some(object) = message.as_object_mut() {
        if !calls.is_empty() {
            object.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        if let Some(field) = &answer.reasoning_field
            && keep_reasoning
            && !answer.reasoning.is_empty()
        {
            object.insert(field.clone(), json!(answer.reasoning));
        }
    }
    message
}

fn mend(message: &mut Map<String, Value>, mended: &mut Vec<&'static str>) {
    let is_empty_array =
        |value: Option<&Value>| value.and_then(Value::as_array).is_some_and(Vec::is_empty);
    if is_empty_array(message.get("tool_calls")) {
        message.remove("tool_calls");
        mended.push("sent_empty_tool_calls");
    }
    if is_empty_array(message.get("content")) {
        message.insert("content".to_owned(), json!(""));
        mended.push("sent_empty_content_array");
    }
    if message.get("content").is_some_and(Value::is_null) {
        message.insert("content".to_owned(), json!(""));
        mended.push("sent_null_content");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{history_message, prepare};
    use crate::stream::whole_answer;

    #[test]
    fn s34_null_content_is_sent_as_an_empty_text() {
        let call =
            json!([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
        let (body, mended) = prepare(&json!({"messages": [
            {"role": "assistant", "content": null, "tool_calls": call},
        ]}));
        assert_eq!(
            body["messages"][0],
            json!({"role": "assistant", "content": "", "tool_calls": call})
        );
        assert_eq!(mended, ["sent_null_content"]);
    }

    #[test]
    fn s35_empty_arrays_are_left_out() {
        let (body, mended) = prepare(&json!({"messages": [
            {"role": "assistant", "content": [], "tool_calls": []},
        ]}));
        assert_eq!(
            body["messages"][0],
            json!({"role": "assistant", "content": ""})
        );
        assert_eq!(mended.len(), 2);
    }

    #[test]
    fn s27_thinking_goes_back_under_the_name_the_server_used() {
        let body = json!({"choices": [{"finish_reason": "tool_calls", "message": {
            "content": null, "reasoning": "hm",
            "tool_calls": [
                {"id": "a", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "function": {"name": "g", "arguments": "{\"x\":"}},
            ],
        }}]});
        let answer = whole_answer(&body).unwrap();
        let message = history_message(&answer, true);
        assert_eq!(message["reasoning"], "hm");
        assert_eq!(message["content"], "");
        assert_eq!(message["tool_calls"].as_array().unwrap().len(), 1);
        assert!(history_message(&answer, false).get("reasoning").is_none());
    }

    #[test]
    fn every_request_streams_and_asks_for_usage() {
        let (body, mended) =
            prepare(&json!({"model": "m", "stream": false, "stream_options": {"x": 1}}));
        assert_eq!(
            body,
            json!({"model": "m", "stream": true, "stream_options": {"x": 1, "include_usage": true}})
        );
        assert!(mended.is_empty());
    }
}
