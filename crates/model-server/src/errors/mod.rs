//! What went wrong with a call, and whether asking again can help.

mod classify;
mod overflow;

use std::time::Duration;

pub use classify::{Reply, classify, classify_stream_error};
pub(crate) use classify::{head, is_html, message_of};
pub use overflow::{Overflow, overflow};

use crate::stream::ChatAnswer;

/// The clock that ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Connecting, the look-up of the name included.
    Connect,
    /// Waiting for the first event with data: queue and prefill.
    FirstByte,
    /// A gap between two events.
    Idle,
    /// The whole request.
    Request,
    /// The caller's own deadline.
    Deadline,
}

/// The class of an error. A program decides by it what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorClass {
    /// Prompt, or prompt and output together, are longer than the window.
    Overflow {
        /// The prompt's tokens, where the server tells them truly.
        prompt_tokens: Option<u64>,
        /// The window, in tokens, where the server tells it.
        limit: Option<u64>,
    },
    /// 401 or 403: the key is missing or wrong.
    KeyRejected,
    /// The server does not serve this model.
    UnknownModel,
    /// Tool calls or structured output are switched off; the message names the flags.
    FeatureOff,
    /// The server has too much to do; try again later.
    Busy,
    /// The model is being loaded.
    Loading,
    /// Something that may pass by itself.
    Transient,
    /// The same request will fail again.
    Deterministic,
    /// What answered is no model server: a web page, a proxy, another protocol.
    NotApi,
    /// Nothing listens there.
    Refused,
    /// The name does not resolve.
    NoSuchHost,
    /// The TLS handshake failed.
    Tls,
    /// A time limit passed.
    TimedOut(Clock),
    /// The connection ended in the middle of the answer, or before it.
    Cut,
    /// The answer is longer than the limit.
    TooLarge,
    /// The caller cancelled.
    Cancelled,
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The class.
    pub class: ErrorClass,
    /// What, where, and what to do next.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long the server asks to wait (`Retry-After`).
    pub retry_after: Option<Duration>,
    /// What had come of the answer. Never to be taken for one; good for a report.
    pub partial: Option<Box<ChatAnswer>>,
}

impl CallError {
    /// An error of a class, with the usual answer to "may the same request succeed later?".
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        let retryable = matches!(
            class,
            ErrorClass::Busy
                | ErrorClass::Loading
                | ErrorClass::Transient
                | ErrorClass::Refused
                | ErrorClass::NoSuchHost
                | ErrorClass::Cut
                | ErrorClass::TimedOut(
                    Clock::Connect | Clock::FirstByte | Clock::Idle | Clock::Request
                )
        );
        Self {
            class,
            message: message.into(),
            status: None,
            retryable,
            retry_after: None,
            partial: None,
        }
    }

    /// With the HTTP status it came with.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// With what had come of the answer.
    #[must_use]
    pub fn with_partial(mut self, answer: ChatAnswer) -> Self {
        self.partial = Some(Box::new(answer));
        self
    }
}
