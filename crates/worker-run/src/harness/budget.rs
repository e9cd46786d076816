//! The limits of one task, and which of them is reached.

use std::time::Duration;

use baton_protocol::{HandoffStatus, Limits};

/// The limits with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Turns of the model.
    pub(crate) steps: u32,
    /// Requests, retries included.
    pub(crate) requests: u32,
    /// Tokens over all requests; none = not bounded.
    pub(crate) total_tokens: Option<u64>,
    /// Tokens of one answer.
    pub(crate) output_tokens: u64,
    /// Tokens of thinking in one answer; none = the server's default.
    pub(crate) thinking_tokens: Option<u64>,
    /// The whole task.
    pub(crate) wall: Duration,
    /// One request.
    pub(crate) request: Duration,
    /// Silence inside a stream.
    pub(crate) idle: Duration,
    /// Waiting for a slot.
    pub(crate) queue: Duration,
    /// One command.
    pub(crate) command: Duration,
}

impl Bounds {
    /// The task's limits, with defaults for what it does not say.
    pub(crate) fn new(limits: &Limits) -> Self {
        let or = |given: Option<u64>, default: u64| Duration::from_millis(given.unwrap_or(default));
        let steps = limits.steps.unwrap_or(40);
        Self {
            steps,
            requests: limits
                .requests
                .unwrap_or(steps.saturating_mul(2).saturating_add(5)),
            total_tokens: limits.total_tokens,
            output_tokens: limits.output_tokens.unwrap_or(4096),
            thinking_tokens: limits.thinking_tokens,
            wall: limits.wall(),
            request: or(limits.request_ms, 600_000),
            idle: or(limits.idle_ms, 120_000),
            queue: or(limits.queue_ms, 600_000),
            command: or(limits.command_ms, 120_000),
        }
    }
}

/// What has been used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Turns.
    pub(crate) steps: u32,
    /// Requests.
    pub(crate) requests: u32,
    /// Prompt and completion tokens.
    pub(crate) tokens: u64,
    /// Time since the start.
    pub(crate) wall: Duration,
}

/// The limit that is reached, if one is: the status of the hand-off and the reason.
pub(crate) fn reached(bounds: &Bounds, spent: Spent) -> Option<(HandoffStatus, String)> {
    if spent.wall >= bounds.wall {
        let limit = humantime::format_duration(bounds.wall);
        return Some((
            HandoffStatus::TimedOut,
            format!("the task's time limit of {limit} passed"),
        ));
    }
    let budget = |what: String| Some((HandoffStatus::BudgetSpent, what));
    if spent.steps >= bounds.steps {
        return budget(format!("the limit of {} steps is reached", bounds.steps));
    }
    if spent.requests >= bounds.requests {
        return budget(format!(
            "the limit of {} requests is reached",
            bounds.requests
        ));
    }
    match bounds.total_tokens {
        Some(limit) if spent.tokens >= limit => {
            budget(format!("{} of {limit} tokens are used", spent.tokens))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Spent, reached};
    use baton_protocol::{HandoffStatus, Limits};
    use std::time::Duration;

    #[test]
    fn each_limit_has_its_own_reason() {
        let bounds = Bounds::new(&Limits {
            steps: Some(3),
            requests: Some(5),
            total_tokens: Some(100),
            wall_ms: Some(1000),
            ..Limits::default()
        });
        let status = |spent| reached(&bounds, spent).map(|(status, _)| status);
        assert_eq!(status(Spent::default()), None);
        let wall = Duration::from_secs(1);
        assert_eq!(
            status(Spent {
                wall,
                ..Spent::default()
            }),
            Some(HandoffStatus::TimedOut)
        );
        for spent in [
            Spent {
                steps: 3,
                ..Spent::default()
            },
            Spent {
                requests: 5,
                ..Spent::default()
            },
            Spent {
                tokens: 100,
                ..Spent::default()
            },
        ] {
            assert_eq!(status(spent), Some(HandoffStatus::BudgetSpent));
        }
    }

    #[test]
    fn no_limit_is_zero_by_default() {
        let bounds = Bounds::new(&Limits::default());
        assert!(bounds.steps > 0 && bounds.requests > bounds.steps);
        assert_eq!(bounds.total_tokens, None);
    }
}
