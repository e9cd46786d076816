//! Finding calls that a model wrote into its text, because its server could not parse them.

use baton_prompt::Tool;
use serde_json::{Map, Value};

use super::json_repair::{parse_object, without_fence};
use super::names;

/// A call as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextCall {
    /// The name as written.
    pub(crate) name: String,
    /// Its arguments, as JSON text.
    pub(crate) arguments: String,
    /// In which notation, for the hand-off's counters.
    pub(crate) dialect: &'static str,
}

/// What a text without proper calls holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// Complete calls of offered tools, and the text around them.
    Calls(Vec<TextCall>, String),
    /// A call that begins and does not end; it must not run.
    Incomplete,
    /// Plain text.
    Nothing,
}

/// Looks for calls of `offered` tools in a text.
pub(crate) fn salvage(content: &str, offered: &[Tool]) -> Found {
    let text = content.trim();
    if text.is_empty() || offered.is_empty() {
        return Found::Nothing;
    }
    for dialect in [tagged, function_tags, invoke_tags, whole_message] {
        match dialect(text) {
            Found::Calls(calls, rest) => {
                let known = calls
                    .iter()
                    .all(|c| names::resolve(&c.name, offered).is_some());
                if known && !calls.is_empty() {
                    return Found::Calls(calls, rest);
                }
            }
            Found::Incomplete => return Found::Incomplete,
            Found::Nothing => {}
        }
    }
    Found::Nothing
}

/// `<tool_call>{"name": …, "arguments": …}</tool_call>`; the closing tag may be a stop word that
/// the server swallowed, as long as the JSON itself is complete.
fn tagged(text: &str) -> Found {
    const OPEN: &str = "<tool_call>";
    const CLOSE: &str = "</tool_call>";
    let Some(first) = text.find(OPEN) else {
        return Found::Nothing;
    };
    let mut calls = Vec::new();
    for piece in text[first..].split(OPEN).skip(1) {
        let body = piece.split(CLOSE).next().unwrap_or_default().trim();
        if body.contains("<function=") {
            return Found::Nothing;
        }
        match parse_object(body) {
            Ok((value, _)) => match envelope(&value, "tool_call_tag") {
                Some(call) => calls.push(call),
                None => return Found::Nothing,
            },
            Err(_) => return Found::Incomplete,
        }
    }
    Found::Calls(calls, text[..first].trim().to_string())
}

/// `<function=name><parameter=key>value</parameter>…</function>`, opening `<tool_call>` optional.
fn function_tags(text: &str) -> Found {
    tag_calls(
        text,
        "<function=",
        &["</function>", "</tool_call>"],
        "<parameter=",
        "function_tag",
    )
}

/// `<invoke name="read"><parameter name="path">a</parameter></invoke>`.
fn invoke_tags(text: &str) -> Found {
    tag_calls(
        text,
        "<invoke name=",
        &["</invoke>", "</function_calls>"],
        "<parameter name=",
        "invoke_tag",
    )
}

fn tag_calls(
    text: &str,
    open: &str,
    closers: &[&str],
    param: &str,
    dialect: &'static str,
) -> Found {
    let Some(first) = text.find(open) else {
        return Found::Nothing;
    };
    let mut calls = Vec::new();
    for piece in text[first..].split(open).skip(1) {
        let Some((name, body)) = piece.split_once('>') else {
            return Found::Incomplete;
        };
        let Some(end) = closers.iter().filter_map(|closer| body.find(closer)).min() else {
            return Found::Incomplete;
        };
        let mut arguments = Map::new();
        for field in body[..end].split(param).skip(1) {
            let Some((key, value)) = field.split_once('>') else {
                return Found::Incomplete;
            };
            let value = value.split("</parameter>").next().unwrap_or_default();
            arguments.insert(unquoted(key), Value::String(one_newline_off(value).into()));
        }
        calls.push(TextCall {
            name: unquoted(name),
            arguments: Value::Object(arguments).to_string(),
            dialect,
        });
    }
    let before = text[..first].trim().trim_end_matches("<tool_call>").trim();
    Found::Calls(
        calls,
        before.trim_end_matches("<function_calls>").trim().into(),
    )
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_string()
}

/// Templates put exactly one newline around a value; more are part of it.
fn one_newline_off(value: &str) -> &str {
    let value = value.strip_prefix('\n').unwrap_or(value);
    value.strip_suffix('\n').unwrap_or(value)
}

/// The whole message is one or more calls as JSON, fenced or bare.
fn whole_message(text: &str) -> Found {
    let mut rest = text;
    for marker in ["[TOOL_CALLS]", "<|python_tag|>", "functools"] {
        rest = rest.strip_prefix(marker).unwrap_or(rest).trim();
    }
    let mut calls = Vec::new();
    for body in fences(rest) {
        if !body.starts_with(['{', '[']) {
            return Found::Nothing;
        }
        let mut stream = serde_json::Deserializer::from_str(body).into_iter::<Value>();
        for value in &mut stream {
            let Ok(value) = value else {
                return loose_object(body);
            };
            let list = match value {
                Value::Array(items) => items,
                other => vec![other],
            };
            for item in &list {
                match envelope(item, "json_text") {
                    Some(call) => calls.push(call),
                    None => return Found::Nothing,
                }
            }
        }
    }
    Found::Calls(calls, String::new())
}

/// One object that needs repair; only if nothing follows it.
fn loose_object(body: &str) -> Found {
    let ends = body.trim_end().ends_with('}');
    match parse_object(body) {
        Ok((value, _)) if ends => match envelope(&value, "json_text") {
            Some(call) => Found::Calls(vec![call], String::new()),
            None => Found::Nothing,
        },
        _ => Found::Nothing,
    }
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
    let known =
        |key: &str| key == name_key || Some(key) == args_key || matches!(key, "id" | "type");
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

#[cfg(test)]
mod tests {
    use super::{Found, salvage};
    use baton_prompt::{Mode, Role, Tool};
    use proptest::prelude::{any, proptest};
    use serde_json::{Value, json};

    fn find(text: &str) -> Found {
        salvage(text, Tool::offered(Role::Implementer, Mode::Tools))
    }

    #[track_caller]
    fn one(text: &str) -> (String, Value) {
        match find(text) {
            Found::Calls(calls, _) if calls.len() == 1 => (
                calls[0].name.clone(),
                serde_json::from_str(&calls[0].arguments).unwrap(),
            ),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn t01_a_fenced_call_with_parameters() {
        for key in ["parameters", "arguments"] {
            let text = format!("```json\n{{\"name\":\"read\",\"{key}\":{{\"path\":\"a\"}}}}\n```");
            assert_eq!(one(&text), ("read".into(), json!({"path": "a"})));
        }
    }

    #[test]
    fn t02_a_bare_object_that_is_the_whole_message() {
        let text = r#"{"name": "read", "arguments": {"path": "a"}}"#;
        assert_eq!(one(text), ("read".into(), json!({"path": "a"})));
        let text = r#"[{"name": "read", "arguments": "{\"path\": \"a\"}"}]"#;
        assert_eq!(one(text), ("read".into(), json!({"path": "a"})));
    }

    #[test]
    fn t03_what_only_looks_like_a_call_is_text() {
        for text in [
            r#"{"name": "launch_rocket", "arguments": {"path": "a"}}"#,
            r#"{"name": "read", "version": "1.0"}"#,
            r#"You can call {"name": "read", "arguments": {"path": "a"}} to see it."#,
            "Like this:\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```\nGood luck.",
            "```json\n{\"name\": \"baton\", \"dependencies\": {}}\n```",
            "",
        ] {
            assert_eq!(find(text), Found::Nothing, "{text}");
        }
    }

    #[test]
    fn t04_the_opening_tag_is_missing() {
        let text = "I look.\n<function=search>\n<parameter=pattern>\n\n*.md\n\n</parameter>\n</function></tool_call>";
        assert_eq!(one(text), ("search".into(), json!({"pattern": "\n*.md\n"})));
        let unknown = text.replace("search", "teleport");
        assert_eq!(find(&unknown), Found::Nothing);
    }

    #[test]
    fn t05_a_parameter_ends_at_the_next_tag_and_a_cut_call_does_not_run() {
        let text = "<function=read><parameter=path>1<parameter=limit>2</function>";
        assert_eq!(
            one(text),
            ("read".into(), json!({"path": "1", "limit": "2"}))
        );
        for cut in [
            "<function=write><parameter=path>a</parameter><parameter=content>x",
            "<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"rm -r b",
            "<invoke name=\"bash\"><parameter name=\"command\">ls",
            "<function=bash",
        ] {
            assert_eq!(find(cut), Found::Incomplete, "{cut}");
        }
    }

    #[test]
    fn t06_the_dialects() {
        for text in [
            "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
            "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}",
            "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
            "<invoke name=\"read\"><parameter name=\"path\">a</parameter></invoke>",
            "[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]",
            "{\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}}",
        ] {
            assert_eq!(one(text), ("read".into(), json!({"path": "a"})), "{text}");
        }
    }

    #[test]
    fn words_before_a_tagged_call_are_kept_as_text() {
        let text =
            "I read it.\n<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>";
        assert!(matches!(find(text), Found::Calls(_, rest) if rest == "I read it."));
    }

    #[test]
    fn several_calls_in_one_text() {
        let two = "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n<tool_call>{\"name\":\"list\",\"arguments\":{}}</tool_call>";
        assert!(matches!(find(two), Found::Calls(calls, _) if calls.len() == 2));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = find(&text);
        }

        #[test]
        fn tags_in_any_order_do_not_panic(parts in proptest::collection::vec(proptest::sample::select(vec![
            "<tool_call>", "</tool_call>", "<function=", "read>", "</function>", "<parameter=", "x>", "</parameter>",
            "{\"name\":\"read\"", "}", "```json\n", "```", "\n", "é", "<invoke name=\"", "\">",
        ]), 0..12)) {
            let _ = find(&parts.concat());
        }
    }
}
