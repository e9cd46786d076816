//! From the open steps of a plan to a plan/1 document.

use std::fmt::Write as _;

use baton_protocol::{Gate, Plan, SchemaTag, Scope, Task, TaskId, VerifyCommand};

use super::order::order;
use super::{PlanFile, Step};

/// What the shell knows and the file does not.
pub(crate) struct Around<'a> {
    /// The role of steps that name none.
    pub role: &'a str,
    /// The repository's own checks, for steps without any.
    pub checks: &'a [VerifyCommand],
    /// Whether a line could be a command here.
    pub is_command: &'a dyn Fn(&str) -> bool,
}

/// The plan of what is open.
pub(crate) fn plan(file: &PlanFile, around: &Around<'_>) -> Result<Plan, String> {
    let open: Vec<&Step> = file.steps.iter().filter(|s| !s.done).collect();
    let tasks: Vec<Task> = open.iter().map(|step| task(file, step, around)).collect();
    let scopes: Vec<Vec<String>> = tasks
        .iter()
        .map(|t| t.write_scope().unwrap_or(&[]).to_vec())
        .collect();
    let id = |index: usize| -> TaskId { open[index].id.clone() };
    let depends = order(file, &open, &scopes)?
        .into_iter()
        .map(|(before, after)| (id(before), id(after)))
        .collect();
    Ok(Plan {
        schema: SchemaTag::new(),
        goal: file.title.clone(),
        gate: Gate::default(),
        direct: false,
        tasks,
        depends,
        notes: String::new(),
    })
}

fn task(file: &PlanFile, step: &Step, around: &Around<'_>) -> Task {
    let mut task = Task::new(step.id.clone(), prompt(file, step));
    step.title.clone_into(&mut task.title);
    task.role = step
        .fields
        .role
        .clone()
        .unwrap_or_else(|| around.role.to_owned());
    let write = if crate::core::plan_check::reads_only(&task.role) {
        Vec::new()
    } else if step.fields.files.is_empty() {
        vec!["**".into()]
    } else {
        step.fields.files.clone()
    };
    task.scope = Some(Scope {
        write: Some(write),
        read: None,
    });
    let (commands, words): (Vec<&String>, Vec<&String>) = step
        .fields
        .verify_words
        .iter()
        .partition(|line| (around.is_command)(line));
    let own = step.fields.verify.iter().chain(commands);
    task.verify = own.map(|c| command(c)).collect();
    // What is no command is for the model and the reviewer to look at.
    task.done_when = words.into_iter().cloned().collect();
    if task.verify.is_empty() {
        task.verify = if file.verify.is_empty() {
            around.checks.to_vec()
        } else {
            file.verify.iter().map(|c| command(c)).collect()
        };
    }
    task.narrower = Some(format!(
        "Do the smallest part of this that is of use and keeps every check passing: {}",
        step.title
    ));
    task
}

fn command(text: &str) -> VerifyCommand {
    VerifyCommand {
        command: text.to_owned(),
        timeout_ms: None,
    }
}

fn prompt(file: &PlanFile, step: &Step) -> String {
    const DONE: usize = 30;
    let mut text = step.title.clone();
    if !step.body.is_empty() {
        let _ = write!(text, "\n\n{}", step.body);
    }
    let _ = write!(
        text,
        "\n\nThis is one step of the written plan \"{}\"; do this step and no other.",
        file.title
    );
    let done: Vec<&str> = file
        .steps
        .iter()
        .filter(|s| s.done)
        .map(|s| s.title.as_str())
        .collect();
    if !done.is_empty() {
        text.push_str(" Done before it:");
        let skipped = done.len().saturating_sub(DONE);
        if skipped > 0 {
            let _ = write!(text, "\n- {skipped} earlier steps");
        }
        for title in &done[skipped..] {
            let _ = write!(text, "\n- {title}");
        }
    }
    if !file.preamble.is_empty() {
        let _ = write!(text, "\n\nThe plan begins with:\n{}", file.preamble);
    }
    text
}
