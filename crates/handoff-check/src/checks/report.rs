//! Checks of the report itself.

use baton_process::line;
use baton_protocol::{Check, CommandStatus, Handoff, HandoffStatus, ReviewState, TaskId};

use super::{count, fail, list, pass, skipped, unknown, warning};
use crate::report::{Form, NoReport, Report, content, foreign_id};

/// `report`: there is exactly one whole report.
pub(crate) fn found(report: Result<&Report, &NoReport>) -> Check {
    match report {
        Ok(report) => pass("report", format!("one {}, whole", report.form)),
        Err(why) => fail("report", why.to_string()),
    }
}

/// `task`: it is about this task.
pub(crate) fn task(report: &Report, task: &TaskId) -> Check {
    let named = &report.handoff.task_id;
    if report.form == Form::Markdown {
        skipped("task", "a report with headings names no task")
    } else if let Some(theirs) = foreign_id::foreign_id(&report.handoff).filter(|_| named == task) {
        warning(
            "task",
            format!("the envelope names {theirs:?}, which reads {task} in our letters"),
        )
    } else if named == task {
        pass("task", format!("about {task}"))
    } else {
        fail(
            "task",
            format!("the report is about `{named}`, the task is `{task}`"),
        )
    }
}

/// `status`: the worker itself says that it is done.
pub(crate) fn status(handoff: &Handoff) -> Check {
    let reason = match handoff.status_reason.as_str() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let word = match handoff.status {
        HandoffStatus::Completed => return pass("status", "completed"),
        HandoffStatus::Blocked => "blocked",
        HandoffStatus::Failed => "failed",
        HandoffStatus::TimedOut => "timed_out",
        HandoffStatus::Interrupted => "interrupted",
        HandoffStatus::BudgetSpent => "budget_spent",
        HandoffStatus::Overflow => "overflow",
        HandoffStatus::NoAnswer => "no_answer",
    };
    fail("status", format!("{word}{reason}"))
}

/// `content`: the outcome says something.
pub(crate) fn content(handoff: &Handoff) -> Check {
    match content::fault(&handoff.outcome) {
        Some(fault) if handoff.result.is_null() => fail("content", fault),
        _ => pass("content", "the outcome says something"),
    }
}

/// `secrets`: no key is in the report.
pub(crate) fn secrets(kept_out: bool) -> Check {
    if kept_out {
        pass("secrets", "no key in the report")
    } else {
        fail(
            "secrets",
            "the report holds a key or token; change that key, and keep it out of reports",
        )
    }
}

/// `artifacts`: what it names as produced is there.
pub(crate) fn artifacts(handoff: &Handoff, absent: &[String]) -> Check {
    if handoff.artifacts.is_empty() {
        skipped("artifacts", "the report names none")
    } else if absent.is_empty() {
        pass(
            "artifacts",
            format!("{} there", count(handoff.artifacts.len(), "artefact")),
        )
    } else {
        fail(
            "artifacts",
            format!("named as produced, but not there: {}", list(absent)),
        )
    }
}

/// `claims`: what the report says about itself without anything that shows it.
pub(crate) fn unsupported(handoff: &Handoff, required: &[String], receipts: bool) -> Check {
    let mut faults = Vec::new();
    if handoff.review_state == ReviewState::Approved {
        faults.push("it calls itself reviewed and approved; only a review can".to_owned());
    }
    for claim in handoff
        .verification
        .iter()
        .filter(|c| c.status == CommandStatus::Pass)
    {
        let command = claim.command.trim();
        let receipt = receipts && handoff.receipts.iter().any(|r| r.command.trim() == command);
        if let Some(why) = line::masked_in_a_plain_shell(command) {
            faults.push(format!("`{command}` is called passed, but {why}"));
        } else if !receipt && !required.iter().any(|r| r.trim() == command) {
            faults.push(format!(
                "`{command}` is called passed, but it is no command of the task"
            ));
        }
    }
    if faults.is_empty() {
        pass("claims", "nothing is claimed without a way to check it")
    } else {
        warning("claims", list(faults))
    }
}

/// `tree`: the work tree is still the one that was handed over.
pub(crate) fn tree(handoff: &Handoff, alone: bool, tree: &str) -> Check {
    match handoff.tree.as_deref().filter(|_| alone) {
        None => skipped("tree", "the report records no tree"),
        Some(recorded) if recorded == tree => pass("tree", "as it was handed over"),
        Some(recorded) => unknown(
            "tree",
            format!(
                "the work tree is {tree} now, but {recorded} was handed over; something changed it since"
            ),
        ),
    }
}
