//! A chat request, read into what the rest of the simulator asks about.

use serde_json::{Map, Value};

use crate::template;

/// One message of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Message {
    pub(crate) role: String,
    /// All text parts of the content, joined.
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// Calls an assistant message made: name and arguments as text.
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) tool_call_id: String,
}

/// One offered tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) parameters: Value,
    /// The whole entry, as it goes into the prompt.
    pub(crate) raw: Value,
}

impl Tool {
    /// The properties its parameters may have.
    pub(crate) fn properties(&self) -> Option<&Map<String, Value>> {
        self.parameters.get("properties")?.as_object()
    }
}

/// What the answer's text must look like.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Format {
    #[default]
    Text,
    /// Any JSON object.
    Object,
    /// JSON that a schema describes.
    Schema(Value),
    /// One of these texts.
    Choice(Vec<String>),
}

impl Format {
    /// The name under which a script asks for it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Object => "json_object",
            Self::Schema(_) => "json_schema",
            Self::Choice(_) => "choice",
        }
    }
}

/// Whether the answer must, may or must not call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    #[default]
    Auto,
    None,
    Required,
    Named(String),
}

/// The form of a request and its answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    OpenAi,
    /// Ollama's `/api/chat`.
    OllamaChat,
    /// Ollama's `/api/generate`.
    OllamaGenerate,
}

/// A chat request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chat {
    pub(crate) dialect: Dialect,
    /// The model asked for, or empty.
    pub(crate) model: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) format: Format,
    pub(crate) stream: bool,
    pub(crate) include_usage: bool,
    pub(crate) continuous_usage: bool,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) thinking: bool,
    /// The most thinking tokens (vLLM's `thinking_token_budget`).
    pub(crate) thinking_budget: Option<u64>,
    /// The whole body, for the fields only one server kind knows.
    pub(crate) body: Value,
}

impl Chat {
    /// Reads a body that has passed its server kind's own validation.
    pub(crate) fn from_body(body: &Value) -> Self {
        let options = &body["stream_options"];
        let thinking = &body["chat_template_kwargs"]["enable_thinking"];
        Self {
            dialect: Dialect::OpenAi,
            model: text_of(&body["model"]),
            messages: list(&body["messages"]).iter().map(message).collect(),
            tools: list(&body["tools"]).iter().filter_map(tool).collect(),
            tool_choice: tool_choice(&body["tool_choice"]),
            format: format(body),
            stream: body["stream"].as_bool().unwrap_or(false),
            include_usage: options["include_usage"].as_bool().unwrap_or(false),
            continuous_usage: options["continuous_usage_stats"].as_bool().unwrap_or(false),
            max_tokens: body["max_completion_tokens"]
                .as_u64()
                .or_else(|| body["max_tokens"].as_u64()),
            thinking: thinking.as_bool().unwrap_or(true),
            thinking_budget: body["thinking_token_budget"].as_u64(),
            body: body.clone(),
        }
    }

    /// The prompt the chat template makes of it.
    pub(crate) fn prompt(&self) -> String {
        template::render(&self.messages, &self.tools, true)
    }

    /// All text of the system (and developer) messages.
    pub(crate) fn system(&self) -> String {
        let system = |m: &&Message| m.role == "system" || m.role == "developer";
        let texts: Vec<&str> = self
            .messages
            .iter()
            .filter(system)
            .map(|m| m.text.as_str())
            .collect();
        texts.join("\n")
    }

    /// The newest message of a role.
    pub(crate) fn last_of(&self, role: &str) -> Option<&Message> {
        self.messages.iter().rev().find(|m| m.role == role)
    }

    /// How many answers the conversation already has.
    pub(crate) fn turn(&self) -> usize {
        self.messages
            .iter()
            .filter(|m| m.role == "assistant")
            .count()
    }

    /// The tool whose result is the newest message, if one is.
    pub(crate) fn answered_tool(&self) -> Option<&str> {
        let last = self.messages.last().filter(|m| m.role == "tool")?;
        let calls = &self
            .messages
            .iter()
            .rev()
            .find(|m| m.role == "assistant")?
            .calls;
        // Ids are not kept, so the n-th result after the call message answers the n-th call.
        let results = self
            .messages
            .iter()
            .rev()
            .take_while(|m| m.role == "tool")
            .count();
        let call = calls
            .get(results.saturating_sub(1))
            .or_else(|| calls.last());
        call.map(|(name, _)| name.as_str()).or(Some(&last.role))
    }
}

/// The text of a content field: a string, or the text parts of an array.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn message(value: &Value) -> Message {
    let call = |call: &Value| {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (text_of(&function["name"]), arguments)
    };
    let reasoning = [&value["reasoning"], &value["reasoning_content"]];
    Message {
        role: text_of(&value["role"]),
        text: text_of(&value["content"]),
        reasoning: reasoning
            .into_iter()
            .map(text_of)
            .find(|t| !t.is_empty())
            .unwrap_or_default(),
        calls: list(&value["tool_calls"]).iter().map(call).collect(),
        tool_call_id: text_of(&value["tool_call_id"]),
    }
}

fn tool(value: &Value) -> Option<Tool> {
    let function = value.get("function")?;
    Some(Tool {
        name: function["name"].as_str()?.to_owned(),
        parameters: function["parameters"].clone(),
        raw: value.clone(),
    })
}

fn tool_choice(value: &Value) -> ToolChoice {
    match value {
        Value::String(word) if word == "none" => ToolChoice::None,
        Value::String(word) if word == "required" => ToolChoice::Required,
        Value::Object(_) => ToolChoice::Named(text_of(&value["function"]["name"])),
        _ => ToolChoice::Auto,
    }
}

fn format(body: &Value) -> Format {
    let wanted = &body["response_format"];
    let structured = &body["structured_outputs"];
    if let Some(choices) = structured["choice"].as_array() {
        return Format::Choice(choices.iter().map(text_of).collect());
    }
    if structured["json"].is_object() {
        return Format::Schema(structured["json"].clone());
    }
    match wanted["type"].as_str() {
        // llama.cpp takes the schema at three places.
        Some("json_schema") => {
            let nested = &wanted["json_schema"]["schema"];
            Format::Schema(if nested.is_null() {
                wanted["schema"].clone()
            } else {
                nested.clone()
            })
        }
        Some("json_object") if wanted["schema"].is_object() => {
            Format::Schema(wanted["schema"].clone())
        }
        Some("json_object") => Format::Object,
        _ if body["json_schema"].is_object() => Format::Schema(body["json_schema"].clone()),
        _ => Format::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_answered_tool_is_found_by_position() {
        let call = |name| json!({"id": name, "function": {"name": name, "arguments": "{}"}});
        let chat = Chat::from_body(&json!({"messages": [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": null, "tool_calls": [call("read"), call("bash")]},
            {"role": "tool", "tool_call_id": "read", "content": "1"},
            {"role": "tool", "tool_call_id": "bash", "content": "2"},
        ]}));
        assert_eq!(chat.answered_tool(), Some("bash"));
        assert_eq!((chat.turn(), chat.messages[0].text.as_str()), (1, "go"));
    }

    #[test]
    fn a_schema_is_found_wherever_a_client_puts_it() {
        let schema = json!({"type": "object"});
        for body in [
            json!({"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}),
            json!({"response_format": {"type": "json_object", "schema": schema}}),
            json!({"structured_outputs": {"json": schema}}),
            json!({"json_schema": schema}),
        ] {
            assert_eq!(
                Chat::from_body(&body).format,
                Format::Schema(schema.clone())
            );
        }
    }
}
