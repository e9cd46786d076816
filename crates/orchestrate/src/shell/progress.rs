//! What people see while a run works: one note an event, on stderr.

use baton_protocol::{HandoffStatus, TaskId};

use crate::core::fallback::first_line;
use crate::core::record::{PlanSource, Record};
use crate::core::report::short;
use crate::core::state::State;

/// A line for people about a record, or none when it is of no interest to them.
pub(crate) fn line(task: Option<&TaskId>, record: &Record, state: &State) -> Option<String> {
    let job = task.map(TaskId::as_str).unwrap_or_default();
    Some(match record {
        Record::Started {
            attempt, placement, ..
        } => match (attempt, placement) {
            (1, 1) => format!("{job}: started"),
            (1, _) => format!("{job}: started at another place"),
            (n, _) => format!("{job}: started, attempt {n}"),
        },
        Record::Placed {
            launcher,
            host: Some(host),
            ..
        } => format!("{job}: on {host}, by {launcher}"),
        Record::Ended {
            status,
            reason,
            exit,
            ..
        } => match (status, exit) {
            (Some(HandoffStatus::Completed), _) => format!("{job}: the worker says it is done"),
            _ => format!("{job}: the worker ended: {}", first_line(reason, 200)),
        },
        Record::Judged { pass, reasons, .. } => match pass {
            Some(true) => format!("{job}: checked, it holds"),
            Some(false) => format!(
                "{job}: it does not hold: {}",
                first_line(&reasons.join("; "), 300)
            ),
            None => format!(
                "{job}: cannot be judged: {}",
                first_line(&reasons.join("; "), 300)
            ),
        },
        Record::Integrated { commit, .. } => {
            format!("{job}: integrated as {} on {}", short(commit), state.branch)
        }
        Record::NotIntegrated { detail, branch, .. } => format!(
            "{job}: not integrated: {}; the work is on {}",
            first_line(detail, 200),
            branch.as_deref().unwrap_or("no branch")
        ),
        Record::Retry { reason } => format!(
            "{job}: once more, narrower, because {}",
            first_line(reason, 200)
        ),
        Record::Replaced { reason, .. } => {
            format!("{job}: placed again, because {}", first_line(reason, 200))
        }
        Record::GaveUp { reason, .. } => format!("{job}: given up: {}", first_line(reason, 300)),
        Record::PlanRejected { faults } => format!(
            "the plan is refused: {}",
            first_line(&faults.join("; "), 400)
        ),
        Record::PlanAccepted {
            source,
            plan,
            notes,
        } => {
            let tasks: Vec<&str> = plan.tasks.iter().map(|t| t.id.as_str()).collect();
            let what = match source {
                _ if plan.direct => "a question: one reader answers it".to_owned(),
                PlanSource::Planner | PlanSource::File => {
                    format!("plan of {} tasks: {}", tasks.len(), tasks.join(", "))
                }
                PlanSource::Goal => "one worker with the goal as it is".to_owned(),
                PlanSource::Gaps => format!("again: {}", tasks.join(", ")),
            };
            let parts: Vec<&str> = std::iter::once(what.as_str())
                .chain(notes.iter().map(String::as_str))
                .collect();
            parts.join("; ")
        }
        Record::FactsWanted { questions } => format!("looking up {} facts first", questions.len()),
        Record::RoundStarted { round, gaps } => format!("round {round}, for {} gaps", gaps.len()),
        Record::RoundRefused { reason } => reason.clone(),
        Record::Reviewed {
            verdict, reason, ..
        } => format!("review: {verdict:?}: {}", first_line(reason, 200)).to_lowercase(),
        Record::Landed { branch, from, to } => {
            format!("{branch} moved from {} to {}", short(from), short(to))
        }
        Record::NotLanded { reason } => {
            format!("{} was left as it is: {reason}", state.target.branch)
        }
        Record::Rebased { onto, .. } => format!(
            "{} has moved to {}; the work was put on top of it",
            state.target.branch,
            short(onto)
        ),
        Record::HaltAsked { now: true } => "halted; the workers are being ended".into(),
        Record::HaltAsked { now: false } => "halting; what runs is led to its end".into(),
        Record::InterruptAsked { .. } => "interrupted; the workers are being ended".into(),
        Record::BudgetSpent { limit } => format!("the budget is spent: {limit}"),
        Record::Resumed { .. } => "resumed".into(),
        _ => return None,
    })
}
