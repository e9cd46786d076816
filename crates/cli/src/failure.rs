//! Why a tool could not give its answer, and how it says so.

use baton_protocol::{ErrorDocument, ErrorKind, Exit, ReadError, SchemaTag};
use serde_json::Value;

use crate::run::ToolKind;

/// An error on its way to the exit code. Its message says what, where, and what to do next.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The class of the error.
    pub kind: ErrorKind,
    /// What, where, and what to do next, in one line.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Anything more for the `error/1` document.
    pub detail: Value,
    /// An exit code other than the one of the kind.
    pub exit: Option<Exit>,
}

impl Failure {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let retryable = matches!(kind, ErrorKind::Unavailable | ErrorKind::TryAgain);
        Self {
            kind,
            message: message.into(),
            retryable,
            detail: Value::Null,
            exit: None,
        }
    }

    /// A wrong flag or argument.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// An input that cannot be read.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// A wrong configuration file or variable.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// The server does not answer.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// No slot in time.
    pub fn try_again(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TryAgain, message)
    }

    /// A time limit passed.
    pub fn time_limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TimeLimit, message)
    }

    /// Ended by a signal.
    pub fn interrupted(signal: i32) -> Self {
        let number = u8::try_from(signal).unwrap_or(2);
        Self::new(ErrorKind::Interrupted, format!("ended by signal {signal}"))
            .with_exit(Exit::Signal(number))
    }

    /// Anything else: the operating system, or a bug.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// The same failure with another exit code.
    #[must_use]
    pub fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = Some(exit);
        self
    }

    /// The same failure with a detail for programs.
    #[must_use]
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.detail = detail;
        self
    }

    /// The same failure with `PLACE: ` in front of the message.
    #[must_use]
    pub fn at(mut self, place: impl std::fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// The exit code in a tool of this kind.
    pub fn exit_code(&self, kind: ToolKind) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        match (self.kind, kind) {
            (ErrorKind::Config, _) => Exit::Config,
            (ErrorKind::Unavailable, _) => Exit::Unavailable,
            (ErrorKind::TryAgain, _) => Exit::TryAgain,
            (ErrorKind::TimeLimit, ToolKind::Doer | ToolKind::ChainLoader) => Exit::TimeLimit,
            (ErrorKind::Interrupted, _) => Exit::Signal(2),
            (_, ToolKind::ChainLoader) => Exit::Internal,
            (ErrorKind::Usage | ErrorKind::Input | ErrorKind::Relayed, _) => Exit::Usage,
            (_, ToolKind::Doer) => Exit::No,
            (_, ToolKind::Question) => Exit::Unknown,
        }
    }

    /// The `error/1` document of this failure.
    pub fn document(&self, tool: &str) -> ErrorDocument {
        ErrorDocument {
            schema: SchemaTag::new(),
            tool: tool.into(),
            kind: self.kind,
            message: self.message.clone(),
            retryable: self.retryable,
            detail: self.detail.clone(),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Relayed(document) => Self {
                kind: ErrorKind::Relayed,
                message: format!("{} failed before: {}", document.tool, document.message),
                retryable: document.retryable,
                detail: serde_json::to_value(&*document).unwrap_or_default(),
                exit: None,
            },
            other => Self::input(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{Exit, Health, read};

    use super::Failure;
    use crate::run::ToolKind::{ChainLoader, Doer, Question};

    #[test]
    fn the_same_failure_ends_each_kind_of_tool_as_the_contract_says() {
        let table = [
            (Failure::usage("x"), [2, 2, 125]),
            (Failure::input("x"), [2, 2, 125]),
            (Failure::config("x"), [78, 78, 78]),
            (Failure::unavailable("x"), [69, 69, 69]),
            (Failure::try_again("x"), [75, 75, 75]),
            (Failure::time_limit("x"), [3, 124, 124]),
            (Failure::internal("x"), [3, 1, 125]),
            (Failure::interrupted(15), [143, 143, 143]),
        ];
        for (failure, codes) in table {
            let found = [Question, Doer, ChainLoader].map(|kind| failure.exit_code(kind).code());
            assert_eq!(found, codes, "{failure:?}");
        }
        assert_eq!(
            Failure::usage("x")
                .with_exit(Exit::NotFound)
                .exit_code(Question)
                .code(),
            127
        );
    }

    #[test]
    fn a_failure_of_the_tool_before_is_passed_on() {
        let before = Failure::config("OPENCODE_VLLM_BASE_URL is not set").document("vllm-health");
        let text = serde_json::to_string(&before).unwrap();
        let failure = Failure::from(read::<Health>(&text).unwrap_err());
        assert_eq!(
            failure.message,
            "vllm-health failed before: OPENCODE_VLLM_BASE_URL is not set"
        );
        assert_eq!(failure.exit_code(Question), Exit::Usage);
        assert_eq!(failure.exit_code(ChainLoader), Exit::Internal);
        assert_eq!(failure.detail["kind"], "config");
    }
}
