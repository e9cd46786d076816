//! An answer on its way to bytes: first as data, then as frames, with the way it ends.

use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Response;
use crate::kinds::Event;

/// An answer before it is rendered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Document(Value),
    Events(Vec<Event>),
}

impl Data {
    /// Applies a change to the document, or to the data of every event.
    pub(crate) fn each(&mut self, mut change: impl FnMut(&mut Value)) {
        match self {
            Self::Document(value) => change(value),
            Self::Events(events) => events.iter_mut().for_each(|event| change(&mut event.data)),
        }
    }

    /// Applies a change to every choice's `message` or `delta`.
    pub(crate) fn each_message(&mut self, mut change: impl FnMut(&mut Value)) {
        self.each(|value| {
            let Some(choices) = value["choices"].as_array_mut() else {
                return;
            };
            for choice in choices {
                let key = if choice["delta"].is_object() {
                    "delta"
                } else {
                    "message"
                };
                if let Some(message) = choice.get_mut(key) {
                    change(message);
                }
            }
        });
    }

    /// Applies a change to every tool call entry, whole or in pieces.
    pub(crate) fn each_call(&mut self, mut change: impl FnMut(&mut Value)) {
        self.each_message(|message| {
            if let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) {
                calls.iter_mut().for_each(&mut change);
            }
        });
    }

    /// Joins the pieces of every call into one event each.
    pub(crate) fn join_calls(&mut self) {
        let Self::Events(events) = self else { return };
        let mut joined: Vec<Event> = Vec::with_capacity(events.len());
        for event in events.drain(..) {
            let piece = &event.data["choices"][0]["delta"]["tool_calls"][0];
            let more = piece["function"]["arguments"].as_str();
            if let (true, Some(more), Some(last)) =
                (piece["function"]["name"].is_null(), more, joined.last_mut())
            {
                let target =
                    &mut last.data["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"];
                let text = format!("{}{more}", target.as_str().unwrap_or_default());
                *target = json!(text);
                last.tokens += event.tokens;
            } else {
                joined.push(event);
            }
        }
        *events = joined;
    }

    /// Sets the finish reason wherever one is given.
    pub(crate) fn finish(&mut self, reason: &Value) {
        self.each(|value| {
            if value["choices"][0]["finish_reason"].is_string() {
                value["choices"][0]["finish_reason"] = reason.clone();
            }
        });
    }
}

/// What happens before a frame is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Pause {
    #[default]
    None,
    For(Duration),
    /// Nothing more comes until the client leaves.
    Forever,
}

/// Some bytes of a body and the tokens they stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    pub(crate) tokens: u64,
    pub(crate) pause: Pause,
}

impl Frame {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            bytes: text.into().into_bytes(),
            ..Self::default()
        }
    }
}

/// How a body ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// As it should.
    #[default]
    Clean,
    /// The connection is closed without the mark that the body is complete.
    Drop,
    /// The connection is reset.
    Reset,
    /// The connection stays open and silent.
    Open,
}

/// A whole response in frames.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) head: Response,
    pub(crate) frames: Vec<Frame>,
    pub(crate) end: End,
    /// The most bytes sent at once.
    pub(crate) piece: Option<usize>,
    pub(crate) stream: bool,
    /// The length a document's head claims, where it is not the true one.
    pub(crate) declared: Option<usize>,
    /// Neither length nor chunks: the body ends with the connection.
    pub(crate) unframed: bool,
    /// The connection is closed after the answer, and nothing says so.
    pub(crate) close_after: bool,
}

/// The end mark of a stream.
pub(crate) const DONE: &[u8] = b"data: [DONE]\n\n";

impl Body {
    /// Renders an answer under a head.
    pub(crate) fn new(head: Response, data: Data) -> Self {
        let (frames, stream) = match data {
            Data::Document(value) => (vec![Frame::text(value.to_string())], false),
            Data::Events(events) if head.is_lines() => {
                let frame = |event: Event| Frame {
                    tokens: event.tokens,
                    ..Frame::text(format!("{}\n", event.data))
                };
                (events.into_iter().map(frame).collect(), true)
            }
            Data::Events(events) => {
                let frame = |event: Event| Frame {
                    tokens: event.tokens,
                    ..Frame::text(format!("data: {}\n\n", event.data))
                };
                let done = Frame {
                    bytes: DONE.to_vec(),
                    ..Frame::default()
                };
                (events.into_iter().map(frame).chain([done]).collect(), true)
            }
        };
        Self {
            head,
            frames,
            end: End::Clean,
            piece: None,
            stream,
            declared: None,
            unframed: false,
            close_after: false,
        }
    }

    /// The bytes of all frames together.
    pub(crate) fn length(&self) -> usize {
        self.frames.iter().map(|frame| frame.bytes.len()).sum()
    }

    /// The index of the frame that carries the end mark.
    pub(crate) fn done(&self) -> Option<usize> {
        self.frames.iter().position(|frame| frame.bytes == DONE)
    }
}
