//! `error/1`: what a tool prints where a document was promised and no judgement exists.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{SchemaTag, document};

/// The class of an error; a program may branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// A wrong flag or argument.
    Usage,
    /// An input document that cannot be read.
    Input,
    /// A configuration file or variable.
    Config,
    /// The server does not answer.
    Unavailable,
    /// No slot in time.
    TryAgain,
    /// A time limit passed.
    TimeLimit,
    /// Ended by a signal.
    Interrupted,
    /// The tool before us in the pipe failed.
    Relayed,
    /// Anything else; a bug or the operating system.
    Internal,
    /// A kind this reader does not know.
    #[serde(other)]
    Unknown,
}

/// `error/1`: no judgement exists, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorDocument {
    /// Always `error/1`.
    pub schema: SchemaTag<Self>,
    /// The program that failed, for example `vllm-health`.
    pub tool: String,
    /// The class of the error.
    pub kind: ErrorKind,
    /// What, where, and what to do next, in one line.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Anything more, or null.
    #[serde(default)]
    pub detail: Value,
}

document!(ErrorDocument, "error/1");
