//! Calls as elements, with an element for each argument.

use serde_json::{Map, Value};

use crate::calls::salvage::{Found, TextCall};

/// `<function=name><parameter=key>value</parameter>…</function>`, opening `<tool_call>` optional.
pub(super) fn function_tags(text: &str) -> Found {
    tag_calls(
        text,
        "<function=",
        &["</function>", "</tool_call>"],
        "<parameter=",
        "function_tag",
    )
}

/// `<invoke name="read"><parameter name="path">a</parameter></invoke>`.
pub(super) fn invoke_tags(text: &str) -> Found {
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

/// GLM's: `<tool_call>read <arg_key>path</arg_key><arg_value>a</arg_value></tool_call>`.
pub(super) fn key_value_tags(text: &str) -> Found {
    const OPEN: &str = "<tool_call>";
    let Some(first) = text.find(OPEN) else {
        return Found::Nothing;
    };
    let mut calls = Vec::new();
    for piece in text[first..].split(OPEN).skip(1) {
        let (body, closed) = match piece.split_once("</tool_call>") {
            Some((body, _)) => (body.trim(), true),
            None => (piece.trim(), false),
        };
        let mut fields = body.split("<arg_key>");
        let name = fields.next().unwrap_or_default().trim();
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "{<[".contains(c)) {
            return Found::Nothing;
        }
        // The closing tag may be a stop word that the server swallowed.
        if !closed && !body.ends_with("</arg_value>") {
            return Found::Incomplete;
        }
        let mut arguments = Map::new();
        for field in fields {
            let value = field
                .split_once("</arg_key>")
                .and_then(|(key, rest)| Some((key.trim(), rest.split_once("<arg_value>")?.1)))
                .and_then(|(key, rest)| Some((key, rest.split_once("</arg_value>")?.0)));
            let Some((key, value)) = value else {
                return Found::Incomplete;
            };
            arguments.insert(key.to_string(), Value::String(value.to_string()));
        }
        calls.push(TextCall {
            name: name.to_string(),
            arguments: Value::Object(arguments).to_string(),
            dialect: "key_value_tag",
        });
    }
    Found::Calls(calls, text[..first].trim().to_string())
}
