//! What a model decides to answer, before any token of it is sent.

use std::time::Duration;

use serde_json::Value;

/// One tool call of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The arguments as the model writes them; normally JSON, but a script may write anything.
    pub(crate) arguments: String,
}

/// An answer in place of a model's: status and body of an error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) retry_after: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    /// Which rule of the script gave it; empty for the built-in model.
    pub(crate) rule: String,
    pub(crate) think: String,
    pub(crate) say: String,
    pub(crate) calls: Vec<Call>,
    /// A finish reason in place of the true one.
    pub(crate) finish: Option<String>,
    /// Fields that replace those of the true usage; `Null` leaves usage out altogether.
    pub(crate) usage: Option<Value>,
    /// The model name the answer claims.
    pub(crate) model: Option<String>,
    /// A real wait before the first token, on top of the simulated prefill.
    pub(crate) wait: Duration,
    /// A real wait before every further token.
    pub(crate) pace: Duration,
    /// A gate that must be released before the first token.
    pub(crate) hold: Option<String>,
    /// A gate that must be released before the last token.
    pub(crate) hold_end: Option<String>,
    pub(crate) refusal: Option<Refusal>,
    /// Faults that act on this answer alone.
    pub(crate) faults: Vec<String>,
}

impl Answer {
    pub(crate) fn text(say: impl Into<String>) -> Self {
        Self {
            say: say.into(),
            ..Self::default()
        }
    }
}
