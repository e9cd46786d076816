//! Puts the events of a stream together to one answer.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answer::{ChatAnswer, Finish, StreamEvent, Timing};
use super::calls::CallAssembler;
use super::sse::{SseCounts, SseEvent};
use super::thinking::{Piece, Splitter, split_lone_close};
use super::usage::{Usage, number};

/// What one event led to.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Go on.
    More(Vec<StreamEvent>),
    /// `[DONE]`: do not wait for the connection to close.
    Done,
    /// The server reported an error inside the stream.
    Error(Value),
}

/// An answer in the making.
#[derive(Debug, Default)]
pub struct Assembly {
    content: String,
    reasoning: String,
    reasoning_field: Option<String>,
    splitter: Splitter,
    calls: CallAssembler,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    timings: Option<Value>,
    model: Option<String>,
    id: Option<String>,
    done: bool,
    repairs: BTreeMap<String, u32>,
}

impl Assembly {
    /// Takes the next event.
    pub fn push(&mut self, event: &SseEvent) -> Step {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.done = true;
            return Step::Done;
        }
        if data.is_empty() {
            return Step::More(vec![StreamEvent::Alive]);
        }
        if data.starts_with(':') {
            self.note("comment_as_data");
            return Step::More(vec![StreamEvent::Alive]);
        }
        let is_error = event.name.as_deref() == Some("error");
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            if is_error {
                return Step::Error(Value::String(data.to_owned()));
            }
            self.note("broken_event");
            return Step::More(Vec::new());
        };
        if let Some(error) = chunk.get("error").filter(|e| !e.is_null()) {
            return Step::Error(error.clone());
        }
        if is_error || chunk.get("object").and_then(Value::as_str) == Some("error") {
            return Step::Error(chunk);
        }
        Step::More(self.chunk(&chunk))
    }

    /// Whether `[DONE]` or a finish reason was seen: the answer is whole.
    pub fn is_whole(&self) -> bool {
        self.done || self.finish_reason.is_some()
    }

    /// Whether anything of an answer was seen.
    pub fn has_something(&self) -> bool {
        !self.content.is_empty()
            || !self.reasoning.is_empty()
            || !self.calls.is_empty()
            || self.finish_reason.is_some()
    }

    /// Counts one repair.
    pub fn note(&mut self, what: &str) {
        *self.repairs.entry(what.to_owned()).or_default() += 1;
    }

    /// The answer. `stopped` says that the caller ended it.
    pub fn finish(mut self, counts: SseCounts, stopped: bool) -> ChatAnswer {
        if let Some(piece) = self.splitter.finish() {
            self.sorted(vec![piece]);
        }
        self.lone_closing_tag();
        let whole = self.is_whole() && !stopped;
        let length = self.finish_reason.as_deref() == Some("length");
        if self.done && self.finish_reason.is_none() {
            self.note("no_finish_reason");
        }
        if whole && !self.done {
            self.note("no_done_line");
        }
        for (what, count) in [
            ("stray_line", counts.stray_lines),
            ("broken_utf8", counts.broken_utf8),
            ("value_without_data_field", counts.bare_values),
        ] {
            for _ in 0..count {
                self.note(what);
            }
        }
        let (tool_calls, repairs) = std::mem::take(&mut self.calls).finish(whole, length);
        for repair in repairs {
            self.note(repair);
        }
        let has_calls = !tool_calls.is_empty();
        let finish = match self.finish_reason.as_deref() {
            _ if stopped => Finish::Stopped,
            None if has_calls && whole => Finish::ToolCalls,
            None => Finish::Missing,
            Some("length") => Finish::Length,
            Some("stop" | "tool_calls" | "function_call" | "eos" | "eos_token") if has_calls => {
                Finish::ToolCalls
            }
            Some("tool_calls" | "function_call") => {
                self.note("finish_tool_calls_without_calls");
                Finish::Stop
            }
            Some("stop" | "eos" | "eos_token" | "") => Finish::Stop,
            Some(other) => Finish::Other(other.to_owned()),
        };
        ChatAnswer {
            content: self.content,
            reasoning: self.reasoning,
            reasoning_field: self.reasoning_field,
            tool_calls,
            truncated: !whole || length,
            finish,
            finish_reason: self.finish_reason,
            usage: self.usage,
            repairs: self.repairs,
            timings: self.timings,
            timing: Timing::default(),
            model: self.model,
            id: self.id,
        }
    }

    fn chunk(&mut self, chunk: &Value) -> Vec<StreamEvent> {
        let text = |name: &str| {
            let text = chunk.get(name).and_then(Value::as_str)?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        self.model = self.model.take().or_else(|| text("model"));
        self.id = self.id.take().or_else(|| text("id"));
        if let Some(usage) = chunk.get("usage").filter(|u| !u.is_null()) {
            match Usage::read(usage) {
                Some(usage) => self.usage = Some(usage),
                None => self.note("zero_usage"),
            }
        }
        if let Some(timings) = chunk.get("timings").filter(|t| t.is_object()) {
            self.timings = Some(timings.clone());
        }
        let mut events = Vec::new();
        if let Some(progress) = chunk.get("prompt_progress") {
            let field = |name: &str| progress.get(name).and_then(number).unwrap_or(0);
            events.push(StreamEvent::Prefill {
                processed: field("processed"),
                total: field("total"),
            });
        }
        let choice = chunk.get("choices").and_then(|c| c.get(0));
        if let Some(choice) = choice {
            self.choice(choice, &mut events);
        }
        if events.is_empty() {
            events.push(StreamEvent::Alive);
        }
        events
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<StreamEvent>) {
        // Whole messages (`message`) are what a server sends that does not stream.
        let delta = ["delta", "message"]
            .iter()
            .find_map(|name| choice.get(*name).filter(|d| d.is_object()));
        if let Some(delta) = delta {
            self.reasoning(delta, events);
            if let Some(text) = delta.get("content").and_then(text_of) {
                let pieces = self.splitter.push(&text);
                if self.reasoning.is_empty()
                    && pieces.iter().any(|p| matches!(p, Piece::Thinking(_)))
                {
                    self.note("thinking_in_content");
                }
                events.extend(self.sorted(pieces));
            }
            let mut deltas = match delta.get("tool_calls").and_then(Value::as_array) {
                Some(pieces) => self.calls.push(pieces),
                None => Vec::new(),
            };
            if let Some(function) = delta.get("function_call").filter(|f| f.is_object()) {
                deltas.extend(self.calls.push_legacy(function));
            }
            // A whole message needs no index to keep its calls apart.
            let is_whole = choice.get("delta").is_none();
            for repair in self.calls.take_repairs() {
                if !(is_whole && repair == "call_without_index") {
                    self.note(repair);
                }
            }
            events.extend(deltas.into_iter().map(|d| StreamEvent::Call {
                position: d.position,
                name: d.name,
                arguments: d.arguments,
            }));
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str)
            && !reason.is_empty()
        {
            self.finish_reason = Some(reason.to_owned());
        }
    }

    fn reasoning(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        // A server that sends both names says the same twice.
        let found = ["reasoning", "reasoning_content", "thinking"]
            .iter()
            .find_map(|name| Some((*name, delta.get(*name).and_then(text_of)?)));
        if let Some((field, text)) = found {
            self.reasoning_field.get_or_insert_with(|| field.to_owned());
            self.reasoning.push_str(&text);
            events.push(StreamEvent::Reasoning(text));
        }
    }

    fn sorted(&mut self, pieces: Vec<Piece>) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Content(text) => {
                    self.content.push_str(&text);
                    events.push(StreamEvent::Content(text));
                }
                Piece::Thinking(text) => {
                    self.reasoning.push_str(&text);
                    events.push(StreamEvent::Reasoning(text));
                }
            }
        }
        events
    }

    fn lone_closing_tag(&mut self) {
        if let Some((thinking, answer)) = split_lone_close(&self.content) {
            let (thinking, answer) = (thinking.to_owned(), answer.to_owned());
            self.reasoning.push_str(&thinking);
            self.content = answer;
            self.note("thinking_in_content");
        }
    }
}

/// The text of a field: a string, or the `text` parts of an array. Empty text is none.
fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str).or(part.as_str()))
            .collect(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}
