//! The life of a supervised command as a pure state machine: when to ask, when to kill, when to
//! stop reading.

use std::time::{Duration, Instant};

/// Where the command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It runs.
    Running,
    /// It was asked to end, and gets KILL at this time.
    Terminating { kill_at: Instant },
    /// It was killed, and we give up on it at this time.
    Killed { give_up_at: Instant },
    /// It has ended, and what is in the pipes is read until this time.
    Draining { until: Instant },
}

/// Why we ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    TimeLimit,
    Cancelled,
    /// The disk fills up.
    Space,
}

/// What the shell has to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Wait, at most this long.
    Wait(Option<Duration>),
    /// Send TERM to the group.
    Terminate(Reason),
    /// Send KILL to the group.
    Kill,
    /// It has ended: start draining.
    Drain,
    /// All is read, or the time for it is over: reap and return.
    Finish,
    /// KILL had no effect.
    GiveUp,
}

/// What is known at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) now: Instant,
    pub(crate) exited: bool,
    pub(crate) cancelled: bool,
    pub(crate) urgent: bool,
    pub(crate) no_space: bool,
    pub(crate) pipes_open: bool,
}

/// The limits of one command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) deadline: Option<Instant>,
    pub(crate) grace: Duration,
    pub(crate) drain: Duration,
}

/// A process that survives KILL this long hangs inside the kernel.
const UNKILLABLE_AFTER: Duration = Duration::from_secs(5);

impl Phase {
    /// The next action, and the phase after it.
    pub(crate) fn step(self, facts: Facts, limits: Limits) -> (Self, Action) {
        let Facts { now, exited, .. } = facts;
        if let Self::Draining { until } = self {
            let action = if !facts.pipes_open || now >= until {
                Action::Finish
            } else {
                Action::Wait(Some(until - now))
            };
            return (self, action);
        }
        if exited {
            return (
                Self::Draining {
                    until: now + limits.drain,
                },
                Action::Drain,
            );
        }
        match self {
            Self::Running => {
                let late = limits.deadline.is_some_and(|deadline| now >= deadline);
                let reason = match (facts.cancelled, late, facts.no_space) {
                    (true, ..) => Reason::Cancelled,
                    (false, true, _) => Reason::TimeLimit,
                    (false, false, true) => Reason::Space,
                    (false, false, false) => {
                        let left = limits.deadline.map(|deadline| deadline - now);
                        return (self, Action::Wait(left));
                    }
                };
                (
                    Self::Terminating {
                        kill_at: now + limits.grace,
                    },
                    Action::Terminate(reason),
                )
            }
            Self::Terminating { kill_at } if now >= kill_at || facts.urgent => (
                Self::Killed {
                    give_up_at: now + UNKILLABLE_AFTER,
                },
                Action::Kill,
            ),
            Self::Terminating { kill_at } => (self, Action::Wait(Some(kill_at - now))),
            Self::Killed { give_up_at } if now >= give_up_at => (self, Action::GiveUp),
            Self::Killed { give_up_at } => (self, Action::Wait(Some(give_up_at - now))),
            Self::Draining { .. } => (self, Action::Finish),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(2);

    fn at(now: Instant) -> Facts {
        Facts {
            now,
            exited: false,
            cancelled: false,
            urgent: false,
            no_space: false,
            pipes_open: true,
        }
    }

    fn limits(start: Instant) -> Limits {
        Limits {
            deadline: Some(start + Duration::from_secs(10)),
            grace: GRACE,
            drain: Duration::from_millis(200),
        }
    }

    #[test]
    fn it_waits_until_the_deadline_then_asks_then_kills_then_gives_up() {
        let t = Instant::now();
        let (phase, action) = Phase::Running.step(at(t), limits(t));
        assert_eq!(action, Action::Wait(Some(Duration::from_secs(10))));
        let late = t + Duration::from_secs(10);
        let (phase, action) = phase.step(at(late), limits(t));
        assert_eq!(action, Action::Terminate(Reason::TimeLimit));
        let (phase, action) = phase.step(at(late), limits(t));
        assert_eq!(action, Action::Wait(Some(GRACE)));
        let (phase, action) = phase.step(at(late + GRACE), limits(t));
        assert_eq!(action, Action::Kill);
        let (_, action) = phase.step(at(late + GRACE + UNKILLABLE_AFTER), limits(t));
        assert_eq!(action, Action::GiveUp);
    }

    #[test]
    fn a_second_request_skips_the_grace() {
        let t = Instant::now();
        let once = Facts {
            cancelled: true,
            ..at(t)
        };
        let (phase, action) = Phase::Running.step(once, limits(t));
        assert_eq!(action, Action::Terminate(Reason::Cancelled));
        let (_, action) = phase.step(
            Facts {
                urgent: true,
                ..once
            },
            limits(t),
        );
        assert_eq!(action, Action::Kill);
    }

    #[test]
    fn b01_after_the_exit_it_reads_only_briefly_whoever_holds_the_pipe() {
        let t = Instant::now();
        let ended = Facts {
            exited: true,
            ..at(t)
        };
        let (phase, action) = Phase::Running.step(ended, limits(t));
        assert_eq!(action, Action::Drain);
        let (phase, action) = phase.step(ended, limits(t));
        assert_eq!(action, Action::Wait(Some(Duration::from_millis(200))));
        let later = Facts {
            now: t + Duration::from_millis(200),
            ..ended
        };
        assert_eq!(phase.step(later, limits(t)).1, Action::Finish);
        let closed = Facts {
            pipes_open: false,
            ..ended
        };
        assert_eq!(phase.step(closed, limits(t)).1, Action::Finish);
    }

    #[test]
    fn an_exit_in_the_grace_period_ends_it() {
        let t = Instant::now();
        let phase = Phase::Terminating { kill_at: t + GRACE };
        assert_eq!(
            phase
                .step(
                    Facts {
                        exited: true,
                        ..at(t)
                    },
                    limits(t)
                )
                .1,
            Action::Drain
        );
    }
}
