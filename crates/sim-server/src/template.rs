//! The chat template: a conversation becomes one prompt text, in the `ChatML` form of the Qwen family.

use std::fmt::Write as _;

use crate::chat::{Message, Tool};

/// Renders the prompt; `answer` adds the opening of the assistant's message.
pub(crate) fn render(messages: &[Message], tools: &[Tool], answer: bool) -> String {
    let mut out = String::new();
    let mut rest = messages;
    if !tools.is_empty() {
        // Tools live in the system message, which is made up where none was given.
        let mut system = "You are a helpful assistant.";
        if let Some((first, others)) = messages.split_first().filter(|(m, _)| m.role == "system") {
            system = &first.text;
            rest = others;
        }
        block(&mut out, "system", &format!("{system}{}", tool_text(tools)));
    }
    for (at, message) in rest.iter().enumerate() {
        match message.role.as_str() {
            "tool" => tool_result(&mut out, rest, at),
            "assistant" => block(&mut out, "assistant", &assistant_text(message)),
            "system" | "user" | "developer" => block(&mut out, &message.role, &message.text),
            // As recorded from vLLM: a message of an unknown role is dropped without a word.
            _ => {}
        }
    }
    if answer {
        out.push_str("<|im_start|>assistant\n");
    }
    out
}

fn block(out: &mut String, role: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<|im_start|>{role}\n{text}<|im_end|>");
}

fn tool_text(tools: &[Tool]) -> String {
    let mut out = String::from(
        "\n\n# Tools\n\nThese functions can be called, one JSON object with a name and arguments \
         inside <tool_call></tool_call> for each call:\n<tools>",
    );
    for tool in tools {
        let _ = write!(out, "\n{}", tool.raw);
    }
    out.push_str("\n</tools>");
    out
}

fn assistant_text(message: &Message) -> String {
    let mut out = message.text.clone();
    for (name, arguments) in &message.calls {
        let _ = write!(
            out,
            "\n<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>"
        );
    }
    out
}

/// Results that follow each other share one user block, as the template of the family does it.
fn tool_result(out: &mut String, messages: &[Message], at: usize) {
    let is_tool = |index: Option<usize>| {
        index
            .and_then(|i| messages.get(i))
            .is_some_and(|m| m.role == "tool")
    };
    if !is_tool(at.checked_sub(1)) {
        out.push_str("<|im_start|>user");
    }
    let _ = write!(
        out,
        "\n<tool_response>\n{}\n</tool_response>",
        messages[at].text
    );
    if !is_tool(at.checked_add(1)) {
        out.push_str("<|im_end|>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, text: &str) -> Message {
        Message {
            role: role.into(),
            text: text.into(),
            ..Message::default()
        }
    }

    #[test]
    fn a_conversation_is_rendered_block_by_block() {
        let talk = [
            message("system", "S"),
            message("user", "U"),
            message("tool", "1"),
            message("tool", "2"),
        ];
        assert_eq!(
            render(&talk, &[], true),
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>user\
             \n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>\
             \n<|im_start|>assistant\n"
        );
    }

    #[test]
    fn an_unknown_role_is_dropped() {
        assert_eq!(render(&[message("alien", "x")], &[], false), "");
    }
}
