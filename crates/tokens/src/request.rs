//! What a chat request is made of, and its estimate when there is no template to render.

use serde_json::Value;

use crate::count::Count;
use crate::meter::Meter;
use crate::template::{ChatTemplate, Date};

/// A text of a request and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// `system`, `history` or `tools`.
    pub part: &'static str,
    /// The text.
    pub text: String,
}

/// The texts of a request, before any template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pieces {
    /// The texts, in order.
    pub pieces: Vec<Piece>,
    /// How many messages it has.
    pub messages: u64,
    /// Content that is no text: how many images, sounds and files.
    pub attachments: u64,
    /// Whether a template is applied (a bare `prompt` has none).
    pub templated: bool,
}

/// The estimate of a whole request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestCount {
    /// All of it, the template's overhead included.
    pub total: Count,
    /// `system`, `history`, `tools` and `template`, those that are not empty.
    pub parts: Vec<(&'static str, Count)>,
    /// How the template's share was found.
    pub template: TemplateUse,
    /// Content whose tokens cannot be told (images, sounds, files). While there is any, the total
    /// counts only the text and its upper bound does not hold.
    pub attachments: u64,
}

/// How the tokens a chat template adds were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateUse {
    /// There is none: a bare prompt.
    None,
    /// The template was rendered and its text counted.
    Rendered,
    /// By a formula that bounds the templates of known models.
    Formula,
    /// By the formula, because the template could not be rendered.
    Failed(String),
}

/// A document that is no chat request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no chat request: `{path}` {problem}")]
pub struct RequestError {
    /// Where, as a JSON path.
    pub path: String,
    /// What is wrong there.
    pub problem: String,
}

impl RequestError {
    fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            problem: problem.into(),
        }
    }
}

/// What a template adds, in the mean and at most: the facts behind the numbers are measurements of
/// the templates of Qwen, Llama, Gemma, `DeepSeek`, Kimi and `MiniMax`.
mod overhead {
    /// Per message: role and separators.
    pub(super) const MESSAGE: u64 = 5;
    pub(super) const MESSAGE_MOST: u64 = 32;
    /// The beginning, and the opening of the answer.
    pub(super) const START: u64 = 4;
    pub(super) const START_MOST: u64 = 100;
    /// Tools are printed with more space than compact JSON has, and a preamble.
    pub(super) const TOOLS_PERCENT: u64 = 133;
    pub(super) const TOOLS_PERCENT_MOST: u64 = 170;
    pub(super) const TOOLS_START: u64 = 50;
}

/// Takes a request apart: a chat request (`messages`, `tools`) or a completion (`prompt`).
pub fn pieces(request: &Value) -> Result<Pieces, RequestError> {
    let object = request
        .as_object()
        .ok_or_else(|| RequestError::new("$", format!("is {}, not an object", kind(request))))?;
    let mut found = Pieces::default();
    match (object.get("messages"), object.get("prompt")) {
        (Some(messages), _) => {
            found.templated = true;
            // The Anthropic form keeps the system text apart.
            if let Some(system) = present(object.get("system")) {
                content(system, "$.system", "system", &mut found)?;
                found.messages += 1;
            }
            let list = messages.as_array().ok_or_else(|| {
                RequestError::new("$.messages", format!("is {}, not a list", kind(messages)))
            })?;
            if list.is_empty() {
                return Err(RequestError::new("$.messages", "is empty"));
            }
            for (index, message) in list.iter().enumerate() {
                self::message(message, &format!("$.messages[{index}]"), &mut found)?;
            }
        }
        (None, Some(prompt)) => completion(prompt, &mut found)?,
        (None, None) => {
            return Err(RequestError::new(
                "$",
                "has neither `messages` (chat) nor `prompt` (completion)",
            ));
        }
    }
    for key in ["tools", "functions"] {
        if let Some(tools) = present(object.get(key)) {
            let path = format!("$.{key}");
            let list = tools.as_array().ok_or_else(|| {
                RequestError::new(path, format!("is {}, not a list", kind(tools)))
            })?;
            if !list.is_empty() {
                found.add("tools", tools.to_string());
            }
        }
    }
    Ok(found)
}

/// Estimates a request: its texts by `count`, the template by formula.
pub fn estimate_with(pieces: &Pieces, mut count: impl FnMut(&str) -> Count) -> RequestCount {
    let mut parts: Vec<(&'static str, Count)> = Vec::new();
    let mut tools = 0;
    for piece in &pieces.pieces {
        let counted = count(&piece.text);
        if piece.part == "tools" {
            tools += counted.upper_bound;
        }
        match parts.iter_mut().find(|(part, _)| *part == piece.part) {
            Some((_, sum)) => *sum += counted,
            None => parts.push((piece.part, counted)),
        }
    }
    if pieces.templated {
        let tools_mean = parts.iter().find(|(part, _)| *part == "tools");
        let tools_mean = tools_mean.map_or(0, |(_, counted)| counted.tokens);
        parts.push(("template", template(pieces.messages, tools_mean, tools)));
    }
    RequestCount {
        total: parts.iter().map(|(_, counted)| *counted).sum(),
        parts,
        template: if pieces.templated {
            TemplateUse::Formula
        } else {
            TemplateUse::None
        },
        attachments: pieces.attachments,
    }
}

/// Counts a request as exactly as a meter can: with a tokenizer and a template the rendered prompt,
/// else the texts and the formula. `template` stands in for the one that came with the tokenizer.
pub fn count_request(
    meter: &Meter,
    request: &Value,
    template: Option<&str>,
    today: Date,
) -> Result<RequestCount, RequestError> {
    let found = pieces(request)?;
    let mut counted = estimate_with(&found, |text| meter.count(text));
    let Some(tokenizer) = meter.tokenizer() else {
        return Ok(counted);
    };
    let source = template.or_else(|| tokenizer.chat_template());
    let (Some(source), true, 0) = (source, found.templated, found.attachments) else {
        return Ok(counted);
    };
    let special = |name| tokenizer.special_token(name).unwrap_or_default();
    let template = ChatTemplate {
        source,
        bos_token: special("bos_token"),
        eos_token: special("eos_token"),
    };
    match template.render(request, today) {
        Ok(prompt) => {
            counted.total = meter.count(&prompt);
            counted.template = TemplateUse::Rendered;
            // The template's share is what the texts leave over. It may also leave texts out (old
            // thinking, tools): then there is none.
            let texts: u64 = counted
                .parts
                .iter()
                .filter(|(part, _)| *part != "template")
                .map(|(_, count)| count.tokens)
                .sum();
            let share = counted.total.tokens.saturating_sub(texts);
            if let Some((_, own)) = counted
                .parts
                .iter_mut()
                .find(|(part, _)| *part == "template")
            {
                *own = Count::exact(share, counted.total.method);
            }
        }
        Err(e) => counted.template = TemplateUse::Failed(e.to_string()),
    }
    Ok(counted)
}

/// What an unknown template adds to the messages and to the tools' own JSON.
fn template(messages: u64, tools_mean: u64, tools_most: u64) -> Count {
    use overhead::{
        MESSAGE, MESSAGE_MOST, START, START_MOST, TOOLS_PERCENT, TOOLS_PERCENT_MOST, TOOLS_START,
    };
    let (tools, tools_bound) = if tools_most == 0 {
        (0, 0)
    } else {
        (
            tools_mean * (TOOLS_PERCENT - 100) / 100 + TOOLS_START,
            (tools_most * (TOOLS_PERCENT_MOST - 100)).div_ceil(100) + TOOLS_START,
        )
    };
    Count {
        tokens: START + MESSAGE * messages + tools,
        lower_bound: messages,
        upper_bound: START_MOST + MESSAGE_MOST * messages + tools_bound,
        method: baton_protocol::Method::Heuristic,
        error_band: 0.5,
    }
}

impl Pieces {
    fn add(&mut self, part: &'static str, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.pieces.push(Piece { part, text });
        }
    }
}

fn message(value: &Value, path: &str, found: &mut Pieces) -> Result<(), RequestError> {
    let object = value
        .as_object()
        .ok_or_else(|| RequestError::new(path, format!("is {}, not an object", kind(value))))?;
    let role = object
        .get("role")
        .and_then(Value::as_str)
        .ok_or_else(|| RequestError::new(format!("{path}.role"), "is missing or no text"))?;
    let part = match role {
        "system" | "developer" => "system",
        _ => "history",
    };
    found.messages += 1;
    for key in [
        "content",
        "reasoning_content",
        "reasoning",
        "refusal",
        "name",
    ] {
        if let Some(value) = present(object.get(key)) {
            content(value, &format!("{path}.{key}"), part, found)?;
        }
    }
    if let Some(calls) = present(object.get("tool_calls")) {
        let calls_path = format!("{path}.tool_calls");
        let list = calls.as_array().ok_or_else(|| {
            RequestError::new(&calls_path, format!("is {}, not a list", kind(calls)))
        })?;
        for call in list {
            // A call is wrapped much like a message, and its id may be printed.
            found.messages += 1;
            let function = call.get("function").unwrap_or(call);
            for value in [
                call.get("id"),
                function.get("name"),
                function.get("arguments"),
            ] {
                match present(value) {
                    Some(Value::String(text)) => found.add(part, text.as_str()),
                    Some(other) => found.add(part, other.to_string()),
                    None => {}
                }
            }
        }
    }
    Ok(())
}

/// Content is a text or a list of parts.
fn content(
    value: &Value,
    path: &str,
    part: &'static str,
    found: &mut Pieces,
) -> Result<(), RequestError> {
    match value {
        Value::String(text) => found.add(part, text.as_str()),
        Value::Array(parts) => {
            for (index, item) in parts.iter().enumerate() {
                content_part(item, &format!("{path}[{index}]"), part, found)?;
            }
        }
        other => {
            return Err(RequestError::new(
                path,
                format!("is {}, neither text nor a list of parts", kind(other)),
            ));
        }
    }
    Ok(())
}

fn content_part(
    item: &Value,
    path: &str,
    part: &'static str,
    found: &mut Pieces,
) -> Result<(), RequestError> {
    if let Value::String(text) = item {
        found.add(part, text.as_str());
        return Ok(());
    }
    let object = item
        .as_object()
        .ok_or_else(|| RequestError::new(path, format!("is {}, not a content part", kind(item))))?;
    match object.get("type").and_then(Value::as_str) {
        Some("tool_use") => found.add(
            part,
            object
                .get("input")
                .map(ToString::to_string)
                .unwrap_or_default(),
        ),
        Some("tool_result") => {
            if let Some(inner) = present(object.get("content")) {
                content(inner, &format!("{path}.content"), part, found)?;
            }
        }
        _ => match ["text", "thinking", "refusal"]
            .iter()
            .find_map(|key| object.get(*key).and_then(Value::as_str))
        {
            Some(text) => found.add(part, text),
            None => found.attachments += 1,
        },
    }
    Ok(())
}

fn completion(prompt: &Value, found: &mut Pieces) -> Result<(), RequestError> {
    let texts = match prompt {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    };
    for (index, text) in texts.iter().enumerate() {
        let text = text.as_str().ok_or_else(|| {
            RequestError::new(
                format!("$.prompt[{index}]"),
                format!("is {}, not text", kind(text)),
            )
        })?;
        found.add("history", text);
    }
    Ok(())
}

fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// The kind of a JSON value, in words.
const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Method;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{estimate_with, pieces};
    use crate::Count;

    fn error(request: &Value) -> String {
        pieces(request).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_request_is_named_with_its_path() {
        assert_eq!(
            error(&json!([])),
            "no chat request: `$` is a list, not an object"
        );
        assert!(error(&json!({})).contains("neither `messages` (chat) nor `prompt`"));
        assert!(error(&json!({"messages": "hi"})).contains("`$.messages` is a text, not a list"));
        assert!(error(&json!({"messages": []})).contains("`$.messages` is empty"));
        assert!(
            error(&json!({"messages": [{"role": "user", "content": "a"}, {"content": "b"}]}))
                .contains("`$.messages[1].role`")
        );
        assert!(
            error(&json!({"messages": [{"role": "user", "content": 3}]}))
                .contains("`$.messages[0].content` is a number")
        );
        assert!(error(&json!({"prompt": [1, 2]})).contains("`$.prompt[0]` is a number"));
        assert!(error(&json!({"messages": [{"role": "user"}], "tools": {}})).contains("`$.tools`"));
    }

    #[test]
    fn every_text_of_a_request_is_found() {
        let request = json!({
            "messages": [
                {"role": "system", "content": "one"},
                {"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "image_url", "image_url": {}}]},
                {"role": "assistant", "content": null, "reasoning_content": "three",
                 "tool_calls": [{"id": "four", "type": "function", "function": {"name": "five", "arguments": "{\"six\":6}"}}]},
                {"role": "tool", "tool_call_id": "four", "content": "seven"},
            ],
            "tools": [{"type": "function", "function": {"name": "eight"}}],
        });
        let found = pieces(&request).unwrap();
        let texts: Vec<_> = found
            .pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect();
        assert_eq!(
            texts,
            [
                "one",
                "two",
                "three",
                "four",
                "five",
                "{\"six\":6}",
                "seven",
                r#"[{"type":"function","function":{"name":"eight"}}]"#
            ]
        );
        assert_eq!(found.messages, 5, "a call is wrapped like a message");
        assert_eq!(found.attachments, 1);
    }

    #[test]
    fn parts_and_template_add_up_to_the_total() {
        let request = json!({
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "bash"}}],
        });
        let counted = estimate_with(&pieces(&request).unwrap(), |text| {
            Count::exact(text.len() as u64, Method::Tokenizer)
        });
        let names: Vec<_> = counted.parts.iter().map(|(part, _)| *part).collect();
        assert_eq!(names, ["system", "history", "tools", "template"]);
        let sum: u64 = counted.parts.iter().map(|(_, count)| count.tokens).sum();
        assert_eq!(counted.total.tokens, sum);
        // 8 + 2 + 48 of text; 1.7 x the tools, 32 a message, 100 and 50 once.
        assert_eq!(counted.total.upper_bound, 58 + 34 + 64 + 100 + 50);
        assert_eq!(counted.total.method, Method::Heuristic);
    }

    #[test]
    fn a_bare_prompt_has_no_template() {
        let counted = estimate_with(&pieces(&json!({"prompt": "hello"})).unwrap(), |text| {
            Count::exact(text.len() as u64, Method::Tokenizer)
        });
        assert_eq!(counted.total.tokens, 5);
    }

    proptest! {
        #[test]
        fn no_json_makes_it_panic(text in r#"[\[\]{}":,a-z0-9]{0,60}"#) {
            if let Ok(value) = serde_json::from_str(&text) {
                let _ = pieces(&value);
                let _ = pieces(&json!({"messages": value}));
                let _ = pieces(&json!({"messages": [{"role": "user", "content": value}]}));
            }
        }
    }
}
