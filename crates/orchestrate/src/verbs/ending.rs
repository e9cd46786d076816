//! How a run is told about when it has ended.

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Plan, RunStatus, Timestamp};

use crate::core::state::State;
use crate::core::{markdown, outcome};
use crate::shell::finishing;
use crate::shell::layout::RunFolder;

/// Prints the report (or the plan, where only that was asked for) and gives the exit code.
pub(crate) fn tell(
    run: &str,
    folder: &RunFolder,
    state: &State,
    output: &Output,
) -> Result<Exit, Failure> {
    let status = state.status.unwrap_or(RunStatus::Failed);
    if state.settings.plan_only
        && let Some(accepted) = state.plan()
    {
        output.document(&accepted.plan, || plan_text(&accepted.plan))?;
        return Ok(outcome::exit(state, status));
    }
    let now = state.last_at.unwrap_or_else(Timestamp::now);
    let report = finishing::make(run, folder, state, status, now);
    output.document(&report, || markdown::render(&report))?;
    output.note(&format!(
        "the run's files are in {}",
        folder.path().display()
    ));
    Ok(outcome::exit(state, status))
}

/// A plan for people.
pub(crate) fn plan_text(plan: &Plan) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    if plan.direct {
        text.push_str("A question: one reader answers it; nothing is changed.\n");
    }
    for task in &plan.tasks {
        let needs: Vec<&str> = plan
            .depends
            .iter()
            .filter(|(_, b)| *b == task.id)
            .map(|(a, _)| a.as_str())
            .collect();
        let _ = write!(text, "{} ({})", task.id, task.role);
        if !needs.is_empty() {
            let _ = write!(text, ", after {}", needs.join(", "));
        }
        let _ = writeln!(text, "\n  {}", task.prompt.trim().replace('\n', "\n  "));
        let _ = writeln!(
            text,
            "  owns: {}",
            task.write_scope().unwrap_or(&[]).join(", ")
        );
        for verify in &task.verify {
            let _ = writeln!(text, "  check: {}", verify.command);
        }
    }
    text
}
