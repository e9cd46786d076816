//! What a model answered.

use std::collections::BTreeMap;

use serde_json::Value;

use super::usage::Usage;

/// Why the model stopped, as far as it can be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It asked for tools. Decided by the presence of calls, not by the server's word.
    ToolCalls,
    /// The limit of tokens was reached.
    Length,
    /// We stopped reading, because the caller said so.
    Stopped,
    /// The server did not say.
    Missing,
    /// Another reason, in the server's word.
    Other(String),
}

/// One tool call, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The server's id, or `call_N` where it gave none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as text; normally a JSON object.
    pub arguments: String,
    /// Whether the call is whole. A call that is not must never run.
    pub complete: bool,
}

/// How long it took, as the client saw it, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// To the response's headers.
    pub headers_ms: u64,
    /// To the first event with data: queue and prefill.
    pub first_event_ms: u64,
    /// From the first event to the last.
    pub decode_ms: u64,
    /// All of it.
    pub total_ms: u64,
}

/// A whole answer, or what came of one.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatAnswer {
    /// The answer's text.
    pub content: String,
    /// The thinking.
    pub reasoning: String,
    /// The field the server used for it (`reasoning`, `reasoning_content`), to be used on replay.
    pub reasoning_field: Option<String>,
    /// The tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// The server's own word for it.
    pub finish_reason: Option<String>,
    /// The tokens it cost; none where the server does not tell, or tells zeros.
    pub usage: Option<Usage>,
    /// What was repaired or noticed, by kind, with counts. Empty for a clean stream.
    pub repairs: BTreeMap<String, u32>,
    /// The server's own timings (llama.cpp), as they came.
    pub timings: Option<Value>,
    /// How long it took.
    pub timing: Timing,
    /// The model that answered, in the server's word.
    pub model: Option<String>,
    /// The server's id of this answer.
    pub id: Option<String>,
    /// The answer is not whole: the token limit was reached, or reading ended early.
    pub truncated: bool,
}

impl ChatAnswer {
    /// All tokens went into thinking and there is no answer; asking again unchanged is useless.
    pub fn spent_on_thinking(&self) -> bool {
        self.truncated
            && self.content.trim().is_empty()
            && self.tool_calls.is_empty()
            && !self.reasoning.trim().is_empty()
    }

    /// There is neither text nor a call.
    pub fn is_empty(&self) -> bool {
        self.content.trim().is_empty() && self.tool_calls.is_empty()
    }
}

/// Something that happened while an answer streamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// The server accepted the request and sent its headers. Nothing is generated yet.
    Accepted,
    /// The prompt is being read (llama.cpp with `return_progress`).
    Prefill {
        /// Prompt tokens so far.
        processed: u64,
        /// Prompt tokens in all.
        total: u64,
    },
    /// Text of the answer.
    Content(String),
    /// Thinking.
    Reasoning(String),
    /// A piece of a tool call.
    Call {
        /// Which call of this answer, from 0.
        position: usize,
        /// Its name, once.
        name: Option<String>,
        /// The text added to its arguments.
        arguments: String,
    },
    /// A heartbeat or another event without content.
    Alive,
}
