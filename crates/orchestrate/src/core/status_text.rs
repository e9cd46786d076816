//! `status/1` for people: a table of tasks under each run.

use std::fmt::Write as _;

use baton_protocol::{RunState, Status, StatusRun, StatusTask, TaskState};

use super::fallback::first_line;

/// The whole status.
pub(crate) fn render(status: &Status) -> String {
    let mut text = String::new();
    if let Some(goal) = &status.goal {
        // Writing into a String cannot fail, so the results are not looked at.
        let _ = write!(text, "goal  {}", goal.state);
        if let Some(who) = &goal.works {
            let _ = write!(text, ", {who} works on it");
        }
        if let Some(reason) = &goal.reason {
            let _ = write!(text, ": {reason}");
        }
        let _ = writeln!(text, "\n  {}", first_line(&goal.objective, 96));
    }
    if status.runs.is_empty() {
        text.push_str("no runs here yet; start one: orchestrate run GOAL\n");
    }
    for run in &status.runs {
        one(&mut text, run);
    }
    text
}

fn one(text: &mut String, run: &StatusRun) {
    // Writing into a String cannot fail, so the results are not looked at.
    let _ = write!(text, "{}  {}", run.run, run_word(run.state));
    if run.state == RunState::Working {
        let _ = write!(text, ", round {}, {}", run.round, clock(run.elapsed_ms));
    }
    text.push('\n');
    if let Some(detail) = &run.detail {
        let _ = writeln!(text, "  {detail}");
    }
    if !run.goal.trim().is_empty() {
        let _ = writeln!(text, "  {}", first_line(&run.goal, 96));
    }
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(run.tasks.iter().map(row));
    if rows.len() > 1 {
        text.push_str(&columns(&rows));
    }
    if let Some(next) = &run.next {
        let _ = writeln!(text, "  go on: {next}");
    }
    let _ = writeln!(text, "  files: {}", run.folder);
}

const HEAD: [&str; 9] = [
    "TASK", "ROLE", "STATE", "PLACE", "STEP", "TOK/S", "CONTEXT", "SILENT", "TIME",
];

fn row(task: &StatusTask) -> [String; 9] {
    let name = if task.attempt > 1 {
        format!("{} ({})", task.task, task.attempt)
    } else {
        task.task.to_string()
    };
    let place = match (&task.provider, task.slot.zip(task.slots), task.pid) {
        (Some(provider), Some((slot, slots)), Some(_)) => {
            format!("{provider} {}/{slots}", slot + 1)
        }
        (Some(provider), ..) => provider.clone(),
        _ => String::new(),
    };
    let place = match (&task.host, &task.launcher) {
        (Some(host), _) => format!("{place} on {host}"),
        (None, Some(launcher)) => format!("{place} by {launcher}"),
        (None, None) => place,
    };
    let place = place.trim_start().to_owned();
    let state = match task.pid {
        Some(pid) => format!("{}, pid {pid}", task_word(task.state)),
        None => task_word(task.state).to_owned(),
    };
    let dash = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    [
        name,
        task.role.clone(),
        state,
        if place.is_empty() { "-".into() } else { place },
        dash((task.step > 0).then(|| task.step.to_string())),
        dash(task.tokens_per_s.map(|rate| format!("{rate:.0}"))),
        dash(task.context_percent.map(|p| format!("{p} %"))),
        dash(task.silent_ms.map(clock)),
        dash(task.elapsed_ms.map(clock)),
    ]
}

/// Columns as wide as what stands in them. The last of a row is not filled up.
fn columns(rows: &[[String; 9]]) -> String {
    let width = |at: usize| -> usize {
        rows.iter()
            .map(|r| r[at].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..9).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
    text
}

/// A time as people read it.
pub(crate) fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ),
    }
}

const fn run_word(state: RunState) -> &'static str {
    match state {
        RunState::Working => "working",
        RunState::Killed => "killed",
        RunState::Unreadable => "unreadable",
        RunState::Completed => "completed",
        RunState::Incomplete => "incomplete",
        RunState::Failed => "failed",
        RunState::Halted => "halted",
        RunState::Interrupted => "interrupted",
        RunState::BudgetSpent => "budget spent",
        RunState::NeedsPerson => "needs a person",
        RunState::Unknown => "unknown",
    }
}

const fn task_word(state: TaskState) -> &'static str {
    match state {
        TaskState::Waiting => "waiting",
        TaskState::Retrying => "retrying",
        TaskState::Preparing => "preparing",
        TaskState::Running => "running",
        TaskState::Ended => "ended",
        TaskState::Checked => "checked",
        TaskState::Refused => "refused",
        TaskState::Committed => "committed",
        TaskState::Integrated => "integrated",
        TaskState::Done => "done",
        TaskState::Conflict => "conflict",
        TaskState::BrokeChecks => "broke checks",
        TaskState::Failed => "failed",
        TaskState::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::{clock, render};

    #[test]
    fn every_row_says_where_and_how_far() {
        let status: baton_protocol::Status =
            baton_protocol::read(include_str!("../../../protocol/examples/status-1.json")).unwrap();
        let text = render(&status);
        let row = text.lines().find(|l| l.contains("paging")).unwrap();
        for part in [
            "running, pid 4242",
            "arc 1/2 on node7",
            "  3  ",
            "46",
            "31 %",
            "1 s",
            "41 s",
        ] {
            assert!(row.contains(part), "{part}: {text}");
        }
        assert!(text.contains("working, round 1, 1:07"), "{text}");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(
            [clock(999), clock(61_000), clock(3_725_000)],
            ["0 s", "1:01", "1:02:05"]
        );
    }
}
