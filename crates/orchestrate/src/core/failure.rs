//! What follows from how a worker ended: judge it, place it again, try it narrower, or give up.

use baton_protocol::HandoffStatus;

use super::job::{Attempt, End, Judgement, Why};

/// Attempts at one task: the first, and one narrower retry.
pub(crate) const ATTEMPTS: u32 = 2;

/// Places one attempt may be sent to. A place that fails is not the task's failure, so this is not
/// counted as the retry; but it is bounded, or a dead server would be asked for ever.
pub(crate) const PLACEMENTS: u32 = 3;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum After {
    /// The worker says it is done; look whether that is true.
    Judge,
    /// The place failed: send the same attempt to another one.
    Replace {
        reason: String,
        avoid: Option<String>,
    },
    /// The work failed: ask once more, narrower.
    Retry { reason: String },
    /// Asking again cannot help, or was done already.
    GiveUp { why: Why, reason: String },
}

/// What follows from the end of a worker.
pub(crate) fn after_end(attempt: &Attempt, end: &End) -> After {
    let said = if end.reason.is_empty() {
        "no reason given"
    } else {
        &end.reason
    };
    if end.status == Some(HandoffStatus::Completed) {
        return After::Judge;
    }
    if end.lost {
        return replace(attempt, said.to_owned(), None);
    }
    match end.exit {
        Some(69) => {
            return replace(
                attempt,
                format!("the server was lost: {said}"),
                end.provider.clone(),
            );
        }
        Some(75) => {
            return After::GiveUp {
                why: Why::Place,
                reason: format!("no slot was free in time: {said}"),
            };
        }
        Some(code @ (2 | 78 | 125 | 126 | 127)) => {
            return After::GiveUp {
                why: Why::Blocked,
                reason: format!("the worker could not be run (exit {code}): {said}"),
            };
        }
        Some(code) if code >= 128 => {
            return replace(
                attempt,
                format!("the worker was ended by signal {}", code - 128),
                None,
            );
        }
        _ => {}
    }
    match end.status {
        Some(HandoffStatus::Blocked) => After::GiveUp {
            why: Why::Blocked,
            reason: format!("the worker is blocked: {said}"),
        },
        Some(HandoffStatus::Interrupted) => {
            replace(attempt, format!("the worker was interrupted: {said}"), None)
        }
        None if end.exit.is_none() => replace(
            attempt,
            "the worker vanished without a hand-off".into(),
            None,
        ),
        None => retry(
            attempt,
            format!(
                "the worker left no hand-off (exit {}): {said}",
                end.exit.unwrap_or(0)
            ),
        ),
        Some(status) => retry(attempt, format!("{}: {said}", in_words(status))),
    }
}

/// What follows from a verdict that is not `pass`.
pub(crate) fn after_verdict(attempt: &Attempt, judged: &Judgement) -> After {
    let reasons = judged.reasons.join("; ");
    if judged.pass.is_none() {
        // A person has to look: asking a model again does not make it judgeable.
        return After::GiveUp {
            why: Why::Blocked,
            reason: format!("the hand-off cannot be judged: {reasons}"),
        };
    }
    retry(attempt, format!("the hand-off does not hold: {reasons}"))
}

fn replace(attempt: &Attempt, reason: String, avoid: Option<String>) -> After {
    if attempt.lost + 1 < PLACEMENTS {
        After::Replace { reason, avoid }
    } else {
        After::GiveUp {
            why: Why::Place,
            reason: format!("{reason} ({PLACEMENTS} places tried)"),
        }
    }
}

fn retry(attempt: &Attempt, reason: String) -> After {
    if attempt.number < ATTEMPTS {
        After::Retry { reason }
    } else {
        After::GiveUp {
            why: Why::Work,
            reason,
        }
    }
}

fn in_words(status: HandoffStatus) -> &'static str {
    match status {
        HandoffStatus::Completed => "completed",
        HandoffStatus::Blocked => "blocked",
        HandoffStatus::Failed => "failed",
        HandoffStatus::TimedOut => "ran out of time",
        HandoffStatus::Interrupted => "was interrupted",
        HandoffStatus::BudgetSpent => "spent its budget",
        HandoffStatus::Overflow => "did not fit the context",
        HandoffStatus::NoAnswer => "got no usable answer",
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{HandoffStatus, Usage};

    use super::{After, after_end, after_verdict};
    use crate::core::job::{Attempt, End, Judgement, Why};

    fn attempt(number: u32, placement: u32) -> Attempt {
        Attempt {
            number,
            placement,
            lost: placement - 1,
            ..Attempt::default()
        }
    }

    fn end(exit: Option<i32>, status: Option<HandoffStatus>) -> End {
        End {
            at: crate::core::testing::at(0),
            exit,
            status,
            reason: "it broke".into(),
            provider: Some("p1".into()),
            model: None,
            usage: Usage::default(),
            cost_usd: None,
            open: Vec::new(),
            lost: false,
        }
    }

    #[test]
    fn a_lost_launcher_is_another_place_whatever_its_code_and_bounded() {
        for exit in [Some(0), Some(1), Some(143), Some(255), None] {
            let lost = End {
                lost: true,
                ..end(exit, None)
            };
            let after = after_end(&attempt(1, 1), &lost);
            assert!(
                matches!(&after, After::Replace { reason, .. } if reason == "it broke"),
                "{exit:?}: {after:?}"
            );
            let after = after_end(&attempt(1, 3), &lost);
            assert!(
                matches!(
                    after,
                    After::GiveUp {
                        why: Why::Place,
                        ..
                    }
                ),
                "{after:?}"
            );
        }
    }

    #[test]
    fn a_completed_hand_off_is_judged_whatever_the_exit_code() {
        let done = Some(HandoffStatus::Completed);
        for exit in [Some(0), None] {
            assert_eq!(after_end(&attempt(1, 1), &end(exit, done)), After::Judge);
        }
    }

    #[test]
    fn failed_work_is_retried_once_and_then_reported() {
        let failed = end(Some(1), Some(HandoffStatus::Failed));
        assert!(matches!(
            after_end(&attempt(1, 1), &failed),
            After::Retry { .. }
        ));
        assert!(matches!(
            after_end(&attempt(2, 1), &failed),
            After::GiveUp { why: Why::Work, .. }
        ));
    }

    #[test]
    fn o18_a_lost_server_is_another_place_and_bounded() {
        let lost = end(Some(69), Some(HandoffStatus::Failed));
        assert!(matches!(
            after_end(&attempt(1, 1), &lost),
            After::Replace { avoid: Some(p), .. } if p == "p1"
        ));
        assert!(matches!(
            after_end(&attempt(1, 3), &lost),
            After::GiveUp {
                why: Why::Place,
                ..
            }
        ));
    }

    #[test]
    fn o17_deterministic_failures_are_not_retried() {
        for exit in [2, 78, 125, 126, 127] {
            assert!(
                matches!(
                    after_end(&attempt(1, 1), &end(Some(exit), None)),
                    After::GiveUp {
                        why: Why::Blocked,
                        ..
                    }
                ),
                "{exit}"
            );
        }
        let blocked = end(Some(1), Some(HandoffStatus::Blocked));
        assert!(matches!(
            after_end(&attempt(1, 1), &blocked),
            After::GiveUp {
                why: Why::Blocked,
                ..
            }
        ));
    }

    #[test]
    fn a_killed_worker_is_placed_again() {
        for end in [
            end(Some(137), None),
            end(None, None),
            end(Some(130), Some(HandoffStatus::Interrupted)),
        ] {
            assert!(matches!(
                after_end(&attempt(1, 1), &end),
                After::Replace { avoid: None, .. }
            ));
        }
    }

    #[test]
    fn o24_a_worker_that_ended_well_without_a_hand_off_is_an_error() {
        let silent = end(Some(0), None);
        assert!(matches!(
            after_end(&attempt(1, 1), &silent),
            After::Retry { reason } if reason.contains("no hand-off")
        ));
    }

    #[test]
    fn a_verdict_that_cannot_be_given_needs_a_person() {
        let unknown = Judgement {
            pass: None,
            reasons: vec!["no scope".into()],
        };
        assert!(matches!(
            after_verdict(&attempt(1, 1), &unknown),
            After::GiveUp {
                why: Why::Blocked,
                ..
            }
        ));
        let fail = Judgement {
            pass: Some(false),
            reasons: vec!["outside scope: x".into()],
        };
        assert!(matches!(
            after_verdict(&attempt(1, 1), &fail),
            After::Retry { reason } if reason.contains("outside scope")
        ));
    }
}
