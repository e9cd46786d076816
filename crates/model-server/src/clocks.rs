//! The five clocks of a request. Pure: the time comes in as an argument.

use std::time::{Duration, Instant};

use crate::errors::Clock;

/// The limits of one request. None = this clock does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    /// Look-up and connecting.
    pub connect: Duration,
    /// From sending the request to the first event with data: the server's queue and its prefill.
    pub first_byte: Option<Duration>,
    /// The longest gap between two events with data. Heartbeats do not count as life.
    pub idle: Option<Duration>,
    /// The whole request.
    pub request: Option<Duration>,
    /// The caller's own deadline.
    pub deadline: Option<Instant>,
}

impl Default for Clocks {
    /// 5 s to connect, 10 minutes to the first byte, 2 minutes between events, 30 minutes in all.
    ///
    /// The gap is generous because a neighbour's prefill stalls every other stream of the server.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Some(Duration::from_secs(600)),
            idle: Some(Duration::from_secs(120)),
            request: Some(Duration::from_secs(1800)),
            deadline: None,
        }
    }
}

impl Clocks {
    /// Clocks for a short question that is answered in one piece.
    pub fn all(limit: Duration) -> Self {
        Self {
            connect: limit,
            first_byte: Some(limit),
            idle: Some(limit),
            request: Some(limit),
            deadline: None,
        }
    }

    /// The same clocks with a deadline.
    #[must_use]
    pub fn until(mut self, deadline: Instant) -> Self {
        self.deadline = Some(match self.deadline {
            Some(other) => other.min(deadline),
            None => deadline,
        });
        self
    }

    /// The clock that runs out next, and when.
    ///
    /// `last_event` is the time of the last event with data; none before the first.
    pub fn next(&self, started: Instant, last_event: Option<Instant>) -> Option<(Instant, Clock)> {
        let waiting = match last_event {
            None => (started, self.first_byte, Clock::FirstByte),
            Some(at) => (at, self.idle, Clock::Idle),
        };
        let relative = |(from, limit, clock): (Instant, Option<Duration>, Clock)| {
            Some((from.checked_add(limit?)?, clock))
        };
        [
            self.deadline.map(|at| (at, Clock::Deadline)),
            relative((started, self.request, Clock::Request)),
            relative(waiting),
        ]
        .into_iter()
        .flatten()
        .min_by_key(|(at, _)| *at)
    }

    /// The limit behind a clock, for its error message.
    pub fn limit(&self, clock: Clock) -> Option<Duration> {
        match clock {
            Clock::Connect => Some(self.connect),
            Clock::FirstByte => self.first_byte,
            Clock::Idle => self.idle,
            Clock::Request => self.request,
            Clock::Deadline => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Clocks;
    use crate::errors::Clock;

    #[test]
    fn q02_each_phase_has_its_own_clock() {
        let start = Instant::now();
        let seconds = |s| start + Duration::from_secs(s);
        let clocks = Clocks::default();
        assert_eq!(
            clocks.next(start, None),
            Some((seconds(600), Clock::FirstByte))
        );
        assert_eq!(
            clocks.next(start, Some(seconds(700))),
            Some((seconds(820), Clock::Idle))
        );
        assert_eq!(
            clocks.next(start, Some(seconds(1790))),
            Some((seconds(1800), Clock::Request))
        );
        let until = clocks.until(seconds(3));
        assert_eq!(until.next(start, None), Some((seconds(3), Clock::Deadline)));
    }

    #[test]
    fn no_limit_is_no_clock() {
        let clocks = Clocks {
            connect: Duration::ZERO,
            first_byte: None,
            idle: None,
            request: None,
            deadline: None,
        };
        assert_eq!(clocks.next(Instant::now(), None), None);
    }
}
