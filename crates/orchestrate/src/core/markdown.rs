//! `report.md`: the report for people. Facts first; a model's words, if any, below them.

use std::fmt::Write as _;

use baton_protocol::{CheckVerdict, MergeState, Run, RunStatus, RunTask, Usage};

use super::fallback::first_line;

/// The report as Markdown.
pub(crate) fn render(run: &Run) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail, so the results are not looked at.
    let _ = writeln!(
        text,
        "# {}: {}\n",
        in_words(run.status),
        first_line(&run.goal, 70)
    );
    let _ = writeln!(text, "Run `{}`.", run.run_id);
    if let (Some(branch), Some(head)) = (&run.branch, &run.head) {
        let _ = writeln!(
            text,
            "Branch `{branch}` at `{}`.",
            super::report::short(head)
        );
    }
    if run.goal.lines().count() > 1 || run.goal.chars().count() > 70 {
        let _ = writeln!(text, "\n> {}", run.goal.trim().replace('\n', "\n> "));
    }
    answer(&mut text, run);
    for (index, round) in run.rounds.iter().enumerate() {
        if run.rounds.len() > 1 {
            let _ = writeln!(text, "\n## Round {}", index + 1);
        } else {
            text.push_str("\n## Tasks\n");
        }
        for task in &round.tasks {
            task_lines(&mut text, task);
        }
    }
    if !run.gaps.is_empty() {
        text.push_str("\n## Gaps\n\n");
        for gap in &run.gaps {
            let _ = write!(text, "- {}", gap.statement);
            if let Some(branch) = &gap.branch {
                let _ = write!(text, " (the work is on `{branch}`)");
            }
            text.push('\n');
        }
    }
    cost(&mut text, run);
    if let Some(summary) = &run.summary {
        let _ = writeln!(text, "\n## In a model's words\n\n{}", summary.trim());
    }
    if !run.next.is_empty() {
        text.push_str("\n## Next\n\n");
        for next in &run.next {
            let _ = writeln!(text, "    {next}");
        }
    }
    text
}

/// A direct answer is what the person asked for, so it stands at the top.
fn answer(text: &mut String, run: &Run) {
    let tasks = || run.rounds.iter().flat_map(|r| &r.tasks);
    if tasks().any(|t| t.task.as_str() != "answer") {
        return;
    }
    if let Some(handoff) = tasks().filter_map(|t| t.handoff.as_ref()).next_back() {
        let _ = writeln!(text, "\n{}", handoff.outcome.trim());
    }
}

fn task_lines(text: &mut String, task: &RunTask) {
    let attempt = if task.attempt > 1 {
        format!(" (attempt {})", task.attempt)
    } else {
        String::new()
    };
    let _ = writeln!(text, "\n### {}{attempt}: {}\n", task.task, fate(task));
    if let Some(handoff) = &task.handoff {
        let said = first_line(&handoff.outcome, 200);
        if !said.is_empty() {
            let _ = writeln!(text, "- worker: {said}");
        }
        if !handoff.status_reason.is_empty() && handoff.status_reason != handoff.outcome {
            let _ = writeln!(text, "- ended: {}", first_line(&handoff.status_reason, 200));
        }
        let files: Vec<String> = handoff
            .files_changed
            .iter()
            .map(|f| format!("`{}`", f.path))
            .collect();
        if !files.is_empty() {
            let _ = writeln!(text, "- changed: {}", files.join(", "));
        }
    }
    if let Some(verdict) = &task.verdict {
        for result in &verdict.verification {
            let outcome = match result.exit_code {
                Some(0) => "passed".to_owned(),
                Some(code) => format!("failed with {code}"),
                None => "not run".to_owned(),
            };
            let _ = writeln!(text, "- `{}`: {outcome}", result.command);
        }
        for check in &verdict.checks {
            if matches!(check.verdict, CheckVerdict::Fail | CheckVerdict::Unknown) {
                let _ = writeln!(text, "- {}: {}", check.id, first_line(&check.detail, 300));
            }
        }
    }
    if let Some(merge) = &task.merge
        && !merge.detail.is_empty()
        && !matches!(merge.state, MergeState::Integrated)
    {
        let _ = writeln!(text, "- {}", first_line(&merge.detail, 300));
    }
}

fn fate(task: &RunTask) -> String {
    let Some(merge) = &task.merge else {
        return "not finished".into();
    };
    match merge.state {
        MergeState::Integrated => match &merge.commit {
            Some(commit) => format!("integrated as `{}`", super::report::short(commit)),
            None => "integrated".into(),
        },
        MergeState::Conflict => "conflict".into(),
        MergeState::CheckFailed => "broke its checks on the run's branch".into(),
        MergeState::NotTried => "not integrated".into(),
        MergeState::Nothing => "done, nothing to integrate".into(),
    }
}

fn cost(text: &mut String, run: &Run) {
    let Usage {
        requests,
        steps,
        prompt_tokens,
        completion_tokens,
        queue_ms,
        wall_ms,
        ..
    } = run.usage;
    let tokens = |n: Option<u64>| n.map_or("unknown".to_owned(), |n| n.to_string());
    let _ = writeln!(
        text,
        "\n## Cost\n\n{requests} requests, {steps} steps, {} prompt and {} completion tokens, {:.1} s \
         ({} waiting for a slot).",
        tokens(prompt_tokens),
        tokens(completion_tokens),
        seconds(wall_ms),
        queue_ms.map_or("unknown how long".to_owned(), |ms| format!(
            "{:.1} s",
            seconds(ms)
        )),
    );
    if let Some(cost) = run.budget.spent_cost_usd {
        let _ = writeln!(text, "Money: {cost:.4} USD.");
    }
    if let Some(limit) = &run.budget.exceeded {
        let _ = writeln!(text, "Over budget: {limit}.");
    }
}

fn seconds(ms: u64) -> f64 {
    std::time::Duration::from_millis(ms).as_secs_f64()
}

/// The status as the first word of a report.
pub(crate) fn in_words(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Completed => "Completed",
        RunStatus::Incomplete => "Incomplete",
        RunStatus::Failed => "Failed",
        RunStatus::Halted => "Halted",
        RunStatus::Interrupted => "Interrupted",
        RunStatus::BudgetSpent => "Budget spent",
        RunStatus::NeedsPerson => "Needs a person",
    }
}

#[cfg(test)]
mod tests {
    use super::render;

    fn example() -> baton_protocol::Run {
        baton_protocol::read(include_str!("../../../protocol/examples/run-1.json")).unwrap()
    }

    #[test]
    fn facts_come_first_and_a_model_s_words_below_them() {
        let mut run = example();
        run.summary = Some("All is well.".into());
        let text = render(&run);
        let facts = text.find("## Cost").unwrap();
        assert!(
            text.find("## In a model's words").unwrap() > facts,
            "{text}"
        );
        assert!(text.contains(&run.run_id));
    }

    #[test]
    fn every_gap_is_said() {
        let mut run = example();
        run.gaps.push(baton_protocol::Gap {
            task: None,
            statement: "the docs are missing".into(),
            branch: Some("baton/r-docs".into()),
        });
        let text = render(&run);
        assert!(
            text.contains("- the docs are missing (the work is on `baton/r-docs`)"),
            "{text}"
        );
    }
}
