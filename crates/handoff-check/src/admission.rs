//! The admission machine of the orchestrator plugin: which state a judged hand-off is in.

use baton_protocol::{Admission, CheckVerdict};

/// What happens to a hand-off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    WorkerFail,
    WorkerPass,
    WorkerBlock,
    OrchestratorFail,
    OrchestratorBlock,
    OrchestratorPass { review_required: bool },
}

/// The next state; an action that does not fit leaves the state as it is.
pub(crate) const fn step(state: Admission, action: Action) -> Admission {
    match (state, action) {
        (Admission::Candidate, Action::WorkerFail) => Admission::WorkerFailed,
        (Admission::Candidate, Action::WorkerPass) => Admission::WorkerPassed,
        (Admission::Candidate, Action::WorkerBlock)
        | (Admission::WorkerPassed, Action::OrchestratorBlock) => Admission::BlockedUnknown,
        (Admission::WorkerPassed, Action::OrchestratorFail) => Admission::OrchestratorFailed,
        (
            Admission::WorkerPassed,
            Action::OrchestratorPass {
                review_required: true,
            },
        ) => Admission::ReviewPending,
        (
            Admission::WorkerPassed,
            Action::OrchestratorPass {
                review_required: false,
            },
        ) => Admission::Admitted,
        // blocked-unknown leaves only by a new receipt and a person's decision, which this tool
        // cannot make; the others are ends, or wait for a review.
        (state, _) => state,
    }
}

/// The state after the checks of the report and, where there were any, our own.
pub(crate) fn state(
    worker: CheckVerdict,
    own: Option<CheckVerdict>,
    review_required: bool,
) -> Admission {
    let first = match worker {
        CheckVerdict::Fail => Action::WorkerFail,
        CheckVerdict::Unknown => Action::WorkerBlock,
        _ => Action::WorkerPass,
    };
    let state = step(Admission::Candidate, first);
    match own {
        None => state,
        Some(CheckVerdict::Fail) => step(state, Action::OrchestratorFail),
        Some(CheckVerdict::Unknown) => step(state, Action::OrchestratorBlock),
        Some(_) => step(state, Action::OrchestratorPass { review_required }),
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{Admission, CheckVerdict};

    use super::state;

    #[test]
    fn a_hand_off_is_admitted_only_by_our_own_checks() {
        use CheckVerdict::{Fail, Pass, Unknown};
        let table = [
            (Pass, None, false, Admission::WorkerPassed),
            (Fail, Some(Pass), false, Admission::WorkerFailed),
            (Unknown, Some(Pass), false, Admission::BlockedUnknown),
            (Pass, Some(Fail), false, Admission::OrchestratorFailed),
            (Pass, Some(Unknown), false, Admission::BlockedUnknown),
            (Pass, Some(Pass), false, Admission::Admitted),
            (Pass, Some(Pass), true, Admission::ReviewPending),
        ];
        for (worker, own, review, expected) in table {
            assert_eq!(state(worker, own, review), expected, "{worker:?} {own:?}");
        }
    }
}
