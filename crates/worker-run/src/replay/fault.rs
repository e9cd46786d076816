//! A failed call as JSON and back.

use std::time::Duration;

use baton_model_server::{CallError, Clock, ErrorClass};
use serde::{Deserialize, Serialize};

/// A failed call in a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedFault {
    class: String,
    message: String,
    status: Option<u16>,
    retryable: bool,
    retry_after_ms: Option<u64>,
    prompt_tokens: Option<u64>,
    limit_tokens: Option<u64>,
}

/// Each class by its name; an overflow has its own numbers.
const CLASSES: [(&str, ErrorClass); 19] = [
    ("key_rejected", ErrorClass::KeyRejected),
    ("unknown_model", ErrorClass::UnknownModel),
    ("feature_off", ErrorClass::FeatureOff),
    ("busy", ErrorClass::Busy),
    ("loading", ErrorClass::Loading),
    ("transient", ErrorClass::Transient),
    ("deterministic", ErrorClass::Deterministic),
    ("not_api", ErrorClass::NotApi),
    ("refused", ErrorClass::Refused),
    ("no_such_host", ErrorClass::NoSuchHost),
    ("tls", ErrorClass::Tls),
    ("timed_out_connect", ErrorClass::TimedOut(Clock::Connect)),
    (
        "timed_out_first_byte",
        ErrorClass::TimedOut(Clock::FirstByte),
    ),
    ("timed_out_idle", ErrorClass::TimedOut(Clock::Idle)),
    ("timed_out_request", ErrorClass::TimedOut(Clock::Request)),
    ("timed_out_deadline", ErrorClass::TimedOut(Clock::Deadline)),
    ("cut", ErrorClass::Cut),
    ("too_large", ErrorClass::TooLarge),
    ("cancelled", ErrorClass::Cancelled),
];

impl From<&CallError> for RecordedFault {
    fn from(error: &CallError) -> Self {
        let (prompt_tokens, limit_tokens) = match &error.class {
            ErrorClass::Overflow {
                prompt_tokens,
                limit,
            } => (*prompt_tokens, *limit),
            _ => (None, None),
        };
        let name = CLASSES
            .iter()
            .find(|(_, class)| *class == error.class)
            .map_or("overflow", |(name, _)| name);
        Self {
            class: name.into(),
            message: error.message.clone(),
            status: error.status,
            retryable: error.retryable,
            retry_after_ms: error
                .retry_after
                .map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)),
            prompt_tokens,
            limit_tokens,
        }
    }
}

impl From<RecordedFault> for CallError {
    fn from(fault: RecordedFault) -> Self {
        let class = CLASSES
            .iter()
            .find(|(name, _)| *name == fault.class)
            .map_or(
                ErrorClass::Overflow {
                    prompt_tokens: fault.prompt_tokens,
                    limit: fault.limit_tokens,
                },
                |(_, class)| class.clone(),
            );
        let mut error = Self::new(class, fault.message);
        error.status = fault.status;
        error.retryable = fault.retryable;
        error.retry_after = fault.retry_after_ms.map(Duration::from_millis);
        error
    }
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, RecordedFault};
    use baton_model_server::{CallError, ErrorClass};

    #[test]
    fn every_class_survives() {
        let overflow = ErrorClass::Overflow {
            prompt_tokens: Some(9012),
            limit: Some(8192),
        };
        let classes = CLASSES.iter().map(|(_, class)| class.clone());
        for class in classes.chain([overflow]) {
            let mut error = CallError::new(class, "no").with_status(503);
            error.retry_after = Some(std::time::Duration::from_millis(1500));
            let text = serde_json::to_string(&RecordedFault::from(&error)).unwrap();
            let back: RecordedFault = serde_json::from_str(&text).unwrap();
            assert_eq!(CallError::from(back), error);
        }
    }
}
