//! The built-in model: what is answered where no script says anything.
//!
//! It acts like a modest agent: looks at a file the task names, and then reports. It changes
//! nothing, so it is a model that never succeeds at more than reading, which suits a demo of
//! failure and a test that only needs traffic.

use serde_json::{Map, Value};

use crate::answer::{Answer, Call};
use crate::chat::{Chat, Format, Tool, ToolChoice};
use crate::script::{Verb, calls_simple, offered, schema};

/// The built-in model's answer.
pub(crate) fn answer(chat: &Chat) -> Answer {
    if let Some(tool) = forced_tool(chat) {
        return Answer {
            calls: vec![invented(tool)],
            ..Answer::default()
        };
    }
    match &chat.format {
        Format::Schema(schema) => {
            return Answer::text(schema::fill(schema, &Map::new()).to_string());
        }
        Format::Choice(choices) => {
            return Answer::text(choices.first().cloned().unwrap_or_default());
        }
        Format::Object => return Answer::text("{\"answer\": \"simulated\"}"),
        Format::Text => {}
    }
    if chat.tools.is_empty() || chat.tool_choice == ToolChoice::None {
        return Answer::text(remark(chat));
    }
    step(chat)
}

/// The tool the request demands, if it does.
fn forced_tool(chat: &Chat) -> Option<&Tool> {
    match &chat.tool_choice {
        ToolChoice::Named(name) => chat.tools.iter().find(|tool| tool.name == *name),
        ToolChoice::Required if offered(chat, Verb::Done).is_none() => chat.tools.first(),
        _ => None,
    }
}

fn invented(tool: &Tool) -> Call {
    let arguments = schema::fill(&tool.parameters, &Map::new());
    let arguments = if arguments.is_object() {
        arguments
    } else {
        Value::Object(Map::new())
    };
    Call {
        name: tool.name.clone(),
        arguments: arguments.to_string(),
    }
}

fn step(chat: &Chat) -> Answer {
    let looked = chat.messages.iter().any(|m| m.role == "tool");
    let first = chat
        .messages
        .iter()
        .find(|m| m.role == "user")
        .map_or("", |m| m.text.as_str());
    if !looked {
        if let (Some(path), Some(_)) = (named_file(first), offered(chat, Verb::Read)) {
            return call(chat, Verb::Read, path, "I read the file the task names.");
        }
        if offered(chat, Verb::List).is_some() {
            return call(chat, Verb::List, ".", "I look around first.");
        }
        if offered(chat, Verb::Bash).is_some() {
            return call(chat, Verb::Bash, "ls", "I look around first.");
        }
    }
    let outcome =
        "I looked at the files and changed nothing: I am a simulated model without a script.";
    if offered(chat, Verb::Done).is_some() {
        return call(chat, Verb::Done, outcome, "");
    }
    Answer::text(outcome)
}

fn call(chat: &Chat, verb: Verb, main: &str, say: &str) -> Answer {
    Answer {
        calls: vec![calls_simple(chat, verb, main)],
        ..Answer::text(say)
    }
}

/// The first word of a text that looks like a relative file path.
fn named_file(text: &str) -> Option<&str> {
    let dressing = |c: char| !(c.is_alphanumeric() || "._-/".contains(c));
    text.split_whitespace()
        .map(|word| word.trim_matches(dressing).trim_end_matches('.'))
        .find(|word| {
            let (stem, extension) = word.rsplit_once('.').unwrap_or((word, ""));
            (1..=4).contains(&extension.len())
                && stem.len() > 1
                && extension.chars().all(|c| c.is_ascii_lowercase())
                && !word.contains("//")
                && !word.starts_with('/')
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || "._-/".contains(c))
        })
}

fn remark(chat: &Chat) -> String {
    let last = chat.messages.last().map_or("", |m| m.text.as_str());
    let start: String = last
        .split_whitespace()
        .take(12)
        .collect::<Vec<_>>()
        .join(" ");
    format!("This is a simulated answer to \"{start}\".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> Value {
        json!({"type": "function", "function": {"name": name, "parameters": {
            "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}})
    }

    #[test]
    fn it_reads_the_named_file_then_reports() {
        let user = json!({"role": "user", "content": "Fix add() in `src/calc.py`, e.g. the sign."});
        let mut body = json!({"messages": [user], "tools": [tool("read"), tool("list")]});
        let first = answer(&Chat::from_body(&body));
        assert_eq!(first.calls[0].arguments, r#"{"path":"src/calc.py"}"#);
        body["messages"] = json!([{"role": "tool", "content": "def add"}]);
        let second = answer(&Chat::from_body(&body));
        assert!(second.calls.is_empty() && second.say.contains("changed nothing"));
    }

    #[test]
    fn a_forced_tool_is_called_with_valid_arguments() {
        let body = json!({"messages": [], "tools": [tool("read")],
            "tool_choice": {"type": "function", "function": {"name": "read"}}});
        let forced = answer(&Chat::from_body(&body));
        assert_eq!(forced.calls[0].arguments, r#"{"path":"simulated path"}"#);
    }
}
