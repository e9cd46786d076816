//! Calls as a name and JSON behind it, with marks between them.

use crate::calls::json_repair::{parse_object, without_fence};
use crate::calls::salvage::{Found, TextCall};

/// The marks of a notation: before the name, between name and arguments, behind them.
struct Marks {
    open: &'static str,
    separator: &'static str,
    close: &'static str,
    dialect: &'static str,
}

const MARKS: [Marks; 4] = [
    // Mistral since its eleventh tokenizer.
    Marks {
        open: "[TOOL_CALLS]",
        separator: "[ARGS]",
        close: "</s>",
        dialect: "mistral",
    },
    Marks {
        open: "<｜tool▁call▁begin｜>",
        separator: "<｜tool▁sep｜>",
        close: "<｜tool▁call▁end｜>",
        dialect: "deepseek",
    },
    Marks {
        open: "<|tool_call_begin|>",
        separator: "<|tool_call_argument_begin|>",
        close: "<|tool_call_end|>",
        dialect: "kimi",
    },
    // The channels of gpt-oss.
    Marks {
        open: " to=functions.",
        separator: "<|message|>",
        close: "<|call|>",
        dialect: "harmony",
    },
];

/// `[TOOL_CALLS]read[ARGS]{"path": "a"}` and the like.
pub(super) fn headed(text: &str) -> Found {
    MARKS
        .iter()
        .find(|marks| text.contains(marks.open))
        .map_or(Found::Nothing, |marks| marks.calls(text))
}

impl Marks {
    fn calls(&self, text: &str) -> Found {
        let mut pieces = text.split(self.open);
        let before = pieces.next().unwrap_or_default();
        let mut calls = Vec::new();
        for piece in pieces {
            let Some((name, rest)) = piece.split_once(self.separator) else {
                // Prose about the marks has spaces and more behind them; a cut call has a name.
                let name = piece.trim();
                let is_cut = !name.is_empty() && !name.contains(char::is_whitespace);
                return if is_cut {
                    Found::Incomplete
                } else {
                    Found::Nothing
                };
            };
            let arguments = rest.split(self.close).next().unwrap_or_default().trim();
            let (name, arguments) = match bare(name) {
                // DeepSeek's first form names the kind of tool here and the tool below.
                "function" => match arguments.split_once('\n') {
                    Some((name, arguments)) => (name.trim(), arguments.trim()),
                    None => return Found::Incomplete,
                },
                name => (name, arguments),
            };
            let arguments = without_fence(arguments);
            if parse_object(arguments).is_err() {
                return Found::Incomplete;
            }
            calls.push(TextCall {
                name: name.to_string(),
                arguments: arguments.to_string(),
                dialect: self.dialect,
            });
        }
        Found::Calls(calls, words(before).to_string())
    }
}

/// The name alone: behind it stand call ids, channels and kinds of content.
fn bare(name: &str) -> &str {
    let name = name.trim();
    let end = name
        .find(|c: char| c.is_whitespace() || matches!(c, '[' | '<'))
        .unwrap_or(name.len());
    &name[..end]
}

/// What was said before the first mark, without the marks of the section or channel.
fn words(before: &str) -> &str {
    before
        .split("<|")
        .next()
        .unwrap_or_default()
        .trim_end_matches("<｜tool▁calls▁begin｜>")
        .trim()
}

/// `Action: read` and `Action Input: {"path": "a"}`, each on a line of its own. What the model
/// believes to have observed is not part of it.
pub(super) fn action_lines(text: &str) -> Found {
    const NAME: &str = "Action:";
    const INPUT: &str = "Action Input:";
    let Some(start) = line_start(text, NAME) else {
        return Found::Nothing;
    };
    let Some((name, rest)) = text[start + NAME.len()..].split_once('\n') else {
        return Found::Nothing;
    };
    let Some(arguments) = rest.trim_start().strip_prefix(INPUT) else {
        return Found::Nothing;
    };
    let arguments = arguments
        .split("\nObservation:")
        .next()
        .unwrap_or_default()
        .trim();
    if parse_object(arguments).is_err() {
        return Found::Incomplete;
    }
    let call = TextCall {
        name: name.trim().trim_matches('`').to_string(),
        arguments: arguments.to_string(),
        dialect: "action_lines",
    };
    Found::Calls(vec![call], text[..start].trim().to_string())
}

/// Where the first line begins that starts with these words.
fn line_start(text: &str, words: &str) -> Option<usize> {
    text.match_indices(words)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || text[..*at].ends_with('\n'))
}
