//! The exit code of a run.

use baton_protocol::{Exit, RunStatus};

use super::job::{Fate, Why};
use super::state::{State, Stop};

/// The exit code, by the contract of a tool that does something.
pub(crate) fn exit(state: &State, status: RunStatus) -> Exit {
    match status {
        RunStatus::Completed => Exit::Yes,
        RunStatus::Halted | RunStatus::BudgetSpent | RunStatus::NeedsPerson => Exit::Unknown,
        RunStatus::Interrupted => match state.stop {
            Some(Stop::Interrupt(signal)) => Exit::Signal(u8::try_from(signal).unwrap_or(2)),
            _ => Exit::Signal(2),
        },
        RunStatus::Incomplete => Exit::No,
        RunStatus::Failed => failed(state),
    }
}

/// A run that did nothing because no place could be had says which kind of place was missing.
fn failed(state: &State) -> Exit {
    let mut exits = Vec::new();
    for job in &state.jobs {
        if let Fate::GivenUp { why, .. } = &job.fate {
            match (why, job.attempt().end.as_ref().and_then(|e| e.exit)) {
                (Why::Place, Some(75)) => exits.push(Exit::TryAgain),
                (Why::Place, _) => exits.push(Exit::Unavailable),
                (Why::Blocked, Some(78)) => exits.push(Exit::Config),
                (Why::Dependency, _) => {}
                _ => return Exit::No,
            }
        }
    }
    exits.first().copied().unwrap_or(Exit::No)
}

#[cfg(test)]
mod tests {
    use baton_protocol::{Exit, RunStatus};

    use super::exit;
    use crate::core::job::Why;
    use crate::core::record::{JobKind, Record};
    use crate::core::state::State;
    use crate::core::testing::{ended, feed, run_started, settings, started, task};

    fn given_up(code: i32, why: Why) -> State {
        let mut state = State::empty();
        feed(
            &mut state,
            vec![
                ("", run_started(settings())),
                (
                    "",
                    Record::JobAdded {
                        kind: JobKind::Plan,
                        round: 1,
                        document: Box::new(task("p", &[])),
                    },
                ),
                ("p", started(1, 1)),
                ("p", ended(1, code, None)),
                (
                    "p",
                    Record::GaveUp {
                        why,
                        reason: "r".into(),
                    },
                ),
            ],
        );
        state
    }

    #[test]
    fn a_run_without_a_place_says_which_was_missing() {
        for (code, why, expected) in [
            (69, Why::Place, Exit::Unavailable),
            (75, Why::Place, Exit::TryAgain),
            (78, Why::Blocked, Exit::Config),
            (1, Why::Work, Exit::No),
        ] {
            assert_eq!(exit(&given_up(code, why), RunStatus::Failed), expected);
        }
    }

    #[test]
    fn an_interrupt_ends_with_its_signal() {
        let mut state = State::empty();
        feed(
            &mut state,
            vec![("", Record::InterruptAsked { signal: 15 })],
        );
        assert_eq!(exit(&state, RunStatus::Interrupted).code(), 143);
    }
}
