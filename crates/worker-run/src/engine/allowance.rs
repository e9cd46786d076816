//! What an agent may still ask. Pure: it is told what happens and says when it is enough.

use std::time::{Duration, Instant};

use baton_model_server::{CallError, ErrorClass};
use baton_protocol::{Exit, HandoffStatus};

use crate::harness::budget::{Bounds, Spent, reached};
use crate::session::End;

/// Overflows one after another, and in all, after which an agent goes in circles: some compact,
/// read the same files again and overflow, for ever.
const OVERFLOWS_IN_A_ROW: u32 = 3;
const OVERFLOWS: u32 = 8;
/// Time limits of the server after which it is not asked again.
const TIMEOUTS: u32 = 2;

/// The requests of one agent.
#[derive(Debug)]
pub(crate) struct Allowance {
    bounds: Bounds,
    requests: u32,
    steps: u32,
    tokens: u64,
    overflows: u32,
    in_a_row: u32,
    timeouts: u32,
    failing_since: Option<Instant>,
}

impl Allowance {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            requests: 0,
            steps: 0,
            tokens: 0,
            overflows: 0,
            in_a_row: 0,
            timeouts: 0,
            failing_since: None,
        }
    }

    /// Counts a request, or says that there may be no more.
    pub(crate) fn admit(&mut self) -> Result<u32, End> {
        let spent = Spent {
            steps: self.steps,
            requests: self.requests,
            tokens: self.tokens,
            wall: Duration::ZERO,
        };
        if let Some((status, why)) = reached(&self.bounds, spent) {
            return Err(End::new(status, format!("{why}, and the agent asks on")));
        }
        self.requests += 1;
        Ok(self.requests)
    }

    /// A request was answered, with so many tokens.
    pub(crate) fn answered(&mut self, tokens: u64) {
        self.steps += 1;
        self.tokens += tokens;
        self.in_a_row = 0;
        self.failing_since = None;
    }

    /// A request was too long for the window; an end where that is all that happens.
    pub(crate) fn overflowed(&mut self, message: &str) -> Option<End> {
        self.overflows += 1;
        self.in_a_row += 1;
        let enough = self.in_a_row >= OVERFLOWS_IN_A_ROW || self.overflows >= OVERFLOWS;
        enough.then(|| {
            End::new(
                HandoffStatus::Overflow,
                format!(
                    "{} of {} requests were too long, and the agent asks on: {message}",
                    self.overflows, self.requests
                ),
            )
        })
    }

    /// A request failed; an end where another one would fail too.
    pub(crate) fn failed(&mut self, error: &CallError, now: Instant) -> Option<End> {
        let since = *self.failing_since.get_or_insert(now);
        match &error.class {
            ErrorClass::Overflow { .. } => self.overflowed(&error.message),
            ErrorClass::Cancelled => None,
            ErrorClass::KeyRejected | ErrorClass::UnknownModel | ErrorClass::Tls => {
                Some(End::failed(error.message.clone()).with_exit(Exit::Config))
            }
            ErrorClass::NotApi if !error.status.is_some_and(|s| (502..=504).contains(&s)) => {
                Some(End::failed(error.message.clone()).with_exit(Exit::Config))
            }
            ErrorClass::TimedOut(_) => {
                self.timeouts += 1;
                (self.timeouts >= TIMEOUTS)
                    .then(|| End::new(HandoffStatus::TimedOut, error.message.clone()))
            }
            _ => (now.saturating_duration_since(since) >= self.bounds.queue)
                .then(|| End::failed(error.message.clone()).with_exit(Exit::Unavailable)),
        }
    }

    /// Whether the server failed last, for an agent that gives up by itself.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing_since.is_some()
    }

    /// Requests so far.
    pub(crate) fn requests(&self) -> u32 {
        self.requests
    }

    /// Answers so far.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::Allowance;
    use crate::harness::budget::Bounds;
    use baton_model_server::{CallError, Clock, ErrorClass};
    use baton_protocol::{Exit, HandoffStatus, Limits};
    use std::time::{Duration, Instant};

    fn allowance() -> Allowance {
        Allowance::new(Bounds::new(&Limits {
            requests: Some(3),
            steps: Some(9),
            total_tokens: Some(100),
            queue_ms: Some(1000),
            ..Limits::default()
        }))
    }

    #[test]
    fn requests_and_tokens_are_counted_to_their_limits() {
        let mut most = allowance();
        assert!((1..=3).all(|n| most.admit() == Ok(n)));
        assert_eq!(most.admit().unwrap_err().status, HandoffStatus::BudgetSpent);
        let mut tokens = allowance();
        tokens.admit().unwrap();
        tokens.answered(100);
        assert_eq!(
            tokens.admit().unwrap_err().status,
            HandoffStatus::BudgetSpent
        );
    }

    #[test]
    fn an_agent_that_overflows_again_and_again_is_ended() {
        let mut row = allowance();
        assert_eq!(row.overflowed("x"), None);
        assert_eq!(row.overflowed("x"), None);
        assert_eq!(row.overflowed("x").unwrap().status, HandoffStatus::Overflow);
        let mut mixed = allowance();
        let ended = (0..20).find(|_| {
            mixed.answered(1);
            mixed.overflowed("x").is_some()
        });
        assert_eq!(ended, Some(7), "also where its compactions succeed");
    }

    #[test]
    fn a_server_that_is_away_ends_it_when_the_patience_is_over() {
        let mut away = allowance();
        let start = Instant::now();
        let refused = CallError::new(ErrorClass::Refused, "no");
        assert_eq!(away.failed(&refused, start), None);
        let end = away.failed(&refused, start + Duration::from_secs(2));
        assert_eq!(end.unwrap().exit, Some(Exit::Unavailable));
        let silent = CallError::new(ErrorClass::TimedOut(Clock::Idle), "silent");
        assert_eq!(away.failed(&silent, start), None);
        let end = away.failed(&silent, start);
        assert_eq!(end.unwrap().status, HandoffStatus::TimedOut);
        let key = CallError::new(ErrorClass::KeyRejected, "key");
        assert_eq!(away.failed(&key, start).unwrap().exit, Some(Exit::Config));
    }
}
