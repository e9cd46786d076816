//! How `run-plan` tells what came of a plan.

use std::fmt::Write as _;

use baton_cli::{Failure, Output};
use baton_protocol::RunStatus;
use serde_json::json;

use crate::core::plan_file::PlanFile;
use crate::core::record::JobKind;
use crate::core::state::State;
use crate::shell::desk::can_go_on;
use crate::shell::plan_store::Stored;

/// Prints how the plan stands.
pub(crate) fn tell(
    output: &Output,
    stored: &Stored,
    file: &PlanFile,
    run: Option<&str>,
    gaps: &[String],
) -> Result<(), Failure> {
    let steps: Vec<_> = file
        .steps
        .iter()
        .map(|s| json!({"id": s.id, "title": s.title, "done": s.done, "line": s.line}))
        .collect();
    let document = json!({
        "schema": "run-plan/1",
        "plan": stored.name,
        "file": stored.path(),
        "title": file.title,
        "status": file.status,
        "done": file.done(),
        "of": file.steps.len(),
        "steps": steps,
        "gaps": gaps,
        "run": run,
    });
    output.document(&document, || text(stored, file, gaps))
}

fn text(stored: &Stored, file: &PlanFile, gaps: &[String]) -> String {
    let mut text = format!(
        "{}: {} of {} steps done, {}\n",
        stored.name,
        file.done(),
        file.steps.len(),
        file.status.as_deref().unwrap_or("no status")
    );
    for step in file.steps.iter().filter(|s| !s.done).take(20) {
        let _ = writeln!(text, "  open, line {}: {}", step.line, step.title);
    }
    for gap in gaps.iter().take(20) {
        let _ = writeln!(text, "  {gap}");
    }
    text
}

/// The same where the file cannot be read any more: the steps are those that the run was given.
pub(crate) fn tell_without_file(
    output: &Output,
    stored: &Stored,
    state: &State,
    run: &str,
    gaps: &[String],
) -> Result<(), Failure> {
    let work = || state.of_kind(JobKind::Work);
    let steps: Vec<_> = work()
        .map(|job| {
            json!({"id": job.id(), "title": job.task.title, "done": job.fate.is_good(), "line": null})
        })
        .collect();
    let done = work().filter(|job| job.fate.is_good()).count();
    let document = json!({
        "schema": "run-plan/1",
        "plan": stored.name,
        "file": stored.path(),
        "title": null,
        "status": null,
        "done": done,
        "of": steps.len(),
        "steps": steps,
        "gaps": gaps,
        "run": run,
    });
    output.document(&document, || {
        let mut text = format!(
            "{}: {done} of {} steps of run {run} done, the file cannot be read\n",
            stored.name,
            steps.len()
        );
        for gap in gaps.iter().take(20) {
            let _ = writeln!(text, "  {gap}");
        }
        text
    })
}

/// What a person should know and do when the plan is not complete.
pub(crate) fn why_paused(state: &State, run: &str, complete: bool, branch: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(reason) = &state.not_landed {
        lines.push(format!(
            "the work could not reach {}: {reason}; it is on {branch}",
            state.target.branch
        ));
    }
    let go_on = match state.status {
        _ if complete => return lines,
        Some(RunStatus::Halted | RunStatus::Interrupted) => {
            "the plan is paused; go on where it stopped: orchestrate run-plan".to_owned()
        }
        Some(RunStatus::NeedsPerson) if state.not_landed.is_some() => {
            "the plan is paused; mend that, then: orchestrate run-plan (no step is done again)"
                .into()
        }
        Some(RunStatus::NeedsPerson) if can_go_on(state) => format!(
            "the plan is paused, as its review gave no answer; ask again: orchestrate run-plan (no step \
             is done again); or look at it yourself (orchestrate show {run}) and, when it is right: git \
             merge {branch}"
        ),
        Some(RunStatus::NeedsPerson) => format!(
            "the plan is paused for you to decide: look at the review (orchestrate show {run}) and at \
             {branch}; when it is right, git merge {branch}, then: orchestrate run-plan"
        ),
        Some(RunStatus::BudgetSpent) => {
            "the plan is paused, its budget is spent; raise [budget], then: orchestrate run-plan"
                .to_owned()
        }
        _ => format!(
            "the plan is paused; see why (orchestrate show {run}), mend the step, then: orchestrate \
             run-plan"
        ),
    };
    lines.push(go_on);
    lines
}
