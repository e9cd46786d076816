//! Preparing messages for a template, as vLLM does.

use serde_json::Value;

/// The messages of a request: arguments of tool calls as objects, missing content as an empty text,
/// a list of text parts as one text where the template wants one.
pub(super) fn prepared(request: &Value, template: &str) -> Value {
    let mut messages = request.get("messages").cloned().unwrap_or_default();
    let keeps_lists = goes_through_content(template);
    for message in messages.as_array_mut().into_iter().flatten() {
        let Some(message) = message.as_object_mut() else {
            continue;
        };
        let content = message.entry("content").or_insert(Value::Null);
        if content.is_null() {
            *content = "".into();
        } else if let Some(text) = joined(content).filter(|_| !keeps_lists) {
            *content = text.into();
        }
        // The thinking of an earlier answer goes by two names.
        let thinking = message
            .get("reasoning")
            .filter(|value| !value.is_null())
            .cloned();
        if let Some(thinking) = thinking {
            message.entry("reasoning_content").or_insert(thinking);
        }
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten() {
            if let Some(arguments) = call.pointer_mut("/function/arguments")
                && let Some(text) = arguments.as_str()
                && let Ok(parsed) = serde_json::from_str::<Value>(text)
            {
                *arguments = parsed;
            }
        }
    }
    messages
}

/// Whether a template goes through the parts of a content itself: a loop over it, not only a look
/// into it (`'</think>' in content`).
fn goes_through_content(template: &str) -> bool {
    template.split("{%").any(|statement| {
        let statement = statement.split("%}").next().unwrap_or_default();
        let statement = statement.trim_start_matches(['-', '+']).trim_start();
        let list = statement
            .strip_prefix("for ")
            .and_then(|rest| Some(rest.split_once(" in ")?.1.trim_start()));
        let list = list.and_then(|list| list.split([' ', '|', '\n', '-']).next());
        list.is_some_and(|list| {
            let name = list.trim_end_matches(['\'', '"', ']']);
            name.ends_with("content")
        })
    })
}

/// The texts of a list of parts, one a line.
fn joined(content: &Value) -> Option<String> {
    let texts = content.as_array()?.iter().map(|part| match part {
        Value::String(text) => Some(text.as_str()),
        part => part.get("text").and_then(Value::as_str),
    });
    Some(texts.flatten().collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::prepared;

    #[test]
    fn arguments_become_objects_and_nothing_an_empty_text() {
        let request = json!({"messages": [
            {"role": "assistant", "content": null, "reasoning": "hm", "tool_calls": [
                {"function": {"name": "f", "arguments": "{\"a\": 1}"}},
                {"function": {"name": "g", "arguments": "broken"}},
            ]},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ]});
        let messages = prepared(&request, "{{ message.content }}");
        assert_eq!(messages[0]["content"], "");
        assert_eq!(messages[0]["reasoning_content"], "hm");
        assert_eq!(
            messages[0]["tool_calls"][0]["function"]["arguments"],
            json!({"a": 1})
        );
        assert_eq!(
            messages[0]["tool_calls"][1]["function"]["arguments"],
            "broken"
        );
        assert_eq!(messages[1]["content"], "a\nb");
        let is_kept = |template: &str| prepared(&request, template)[1]["content"].is_array();
        for template in [
            "{% for part in message['content'] %}",
            "{%- for item in content -%}",
            "{%- for c in m.content|selectattr('type') %}",
        ] {
            assert!(is_kept(template), "{template}");
        }
        for template in [
            "{%- if '</think>' in content %}",
            "{% for message in messages %}{{ message.content }}",
            "{%- for tool in tools %}{% if 'x' in message.content %}",
        ] {
            assert!(!is_kept(template), "{template}");
        }
    }
}
