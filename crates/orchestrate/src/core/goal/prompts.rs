//! What the runs of a goal are asked: the work of one continuation, and the look afterwards.

use std::fmt::Write as _;

use baton_protocol::{Gate, Plan, SchemaTag, Task, TaskId};
use serde_json::json;

use super::Goal;
use crate::core::questions;

/// What is known besides the goal itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The commits since the goal was set, the newest first, as `abc1234 subject`.
    pub commits: Vec<String>,
    /// The plans and how far each is.
    pub plans: Vec<String>,
    /// What the last run reported.
    pub last: Option<String>,
}

/// The most commits that are told.
const COMMITS: usize = 40;

/// The task's id of a look; the shell finds the answer by it.
pub(crate) const ASSESS: &str = "assess";

/// The goal of one continuation's run. The first gets the objective as it was said.
pub(crate) fn work(goal: &Goal, facts: &Facts) -> String {
    if goal.continuations <= 1 && facts.commits.is_empty() {
        return goal.objective.clone();
    }
    let mut text = format!(
        "{}\n\nThis is part {} of that longer work. Do the next useful part, not all of it at once.\n",
        goal.objective, goal.continuations
    );
    if let Some(missing) = &goal.missing {
        let _ = write!(
            text,
            "\nStill missing when it was last looked at:\n{missing}\n"
        );
    }
    section(&mut text, "Done so far (git, newest first)", &facts.commits);
    section(&mut text, "Written plans", &facts.plans);
    text
}

/// The plan of a look: one reader that says whether the objective is reached.
pub(crate) fn assess(goal: &Goal, facts: &Facts, role: &str) -> Result<Plan, String> {
    let mut prompt = format!(
        "Judge whether this objective is reached in this repository as it is now. You only read; you \
         change nothing. Look at the files; do not trust what commit messages claim.\n\n\
         Objective:\n{}\n",
        goal.objective
    );
    section(
        &mut prompt,
        "Commits since it was set (newest first)",
        &facts.commits,
    );
    section(&mut prompt, "Written plans", &facts.plans);
    if let Some(last) = &facts.last {
        let _ = write!(prompt, "\nWhat the last run reported:\n{last}\n");
    }
    prompt.push_str(
        "\nGive the result as one JSON object:\n\
         - `done`: true only if every part of the objective holds in the files.\n\
         - `reason`: one sentence that names what shows it.\n\
         - `missing`: what is left to do, as precisely as a worker needs it; null when done.\n\
         - `question`: only what a person alone can decide and without which nothing can go on; else null.\n",
    );
    let id = TaskId::new(ASSESS)?;
    let mut task = questions::reading(id, role, "Look whether the goal is reached", prompt);
    task.result_schema = Some(json!({
        "type": "object",
        "required": ["done", "reason", "missing", "question"],
        "properties": {
            "done": {"type": "boolean"},
            "reason": {"type": "string"},
            "missing": {"type": ["string", "null"]},
            "question": {"type": ["string", "null"]},
        },
    }));
    task.narrower = Some(format!(
        "Read the README and the newest files and say in the asked JSON whether this is reached: {}",
        goal.objective
    ));
    Ok(reading_plan(&goal.objective, vec![task], Vec::new()))
}

/// A plan of tasks that only read.
pub(crate) fn reading_plan(goal: &str, tasks: Vec<Task>, depends: Vec<(TaskId, TaskId)>) -> Plan {
    Plan {
        schema: SchemaTag::new(),
        goal: goal.to_owned(),
        gate: Gate::default(),
        direct: false,
        tasks,
        depends,
        notes: String::new(),
    }
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "\n{title}:\n");
    for line in lines.iter().take(COMMITS) {
        let _ = writeln!(text, "- {line}");
    }
    if lines.len() > COMMITS {
        let _ = writeln!(text, "- and {} more", lines.len() - COMMITS);
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, assess, work};
    use crate::core::goal::Goal;
    use crate::core::testing::at;

    fn goal() -> Goal {
        Goal::new("g".into(), "ship it now", None, at(0))
    }

    #[test]
    fn the_first_continuation_gets_the_objective_verbatim_and_later_ones_what_is_missing() {
        let mut goal = goal();
        goal.continuations = 1;
        assert_eq!(work(&goal, &Facts::default()), "ship it now");
        goal.continuations = 3;
        goal.missing = Some("the docs".into());
        let facts = Facts {
            commits: (0..60).map(|n| format!("c{n} x")).collect(),
            ..Facts::default()
        };
        let text = work(&goal, &facts);
        assert!(text.starts_with("ship it now\n"), "{text}");
        for words in ["part 3", "the docs", "- c0 x", "and 20 more"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn a_look_owns_no_file_and_must_answer_in_a_form() {
        let plan = assess(&goal(), &Facts::default(), "reviewer").unwrap();
        let task = &plan.tasks[0];
        assert_eq!(task.write_scope(), Some(&[][..]));
        assert!(task.result_schema.is_some());
        assert!(task.prompt.contains("ship it now"));
    }
}
