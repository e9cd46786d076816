//! The task, from a document or from flags.

use baton_cli::Failure;
use baton_protocol::{Scope, Task, TaskId, VerifyCommand, read_strict};

use crate::cli::{Cli, LimitFlags};

/// The task the flags describe; none if it comes as a document.
pub(crate) fn task_from_flags(cli: &Cli) -> Result<Option<Task>, Failure> {
    let Some(prompt) = &cli.prompt else {
        return Ok(None);
    };
    if prompt.trim().is_empty() {
        return Err(Failure::usage("--prompt is empty; say what to do"));
    }
    let id = match &cli.id {
        Some(id) => id.clone(),
        None => TaskId::new("task").map_err(Failure::internal)?,
    };
    let mut task = Task::new(id, prompt.clone());
    if let Some(role) = &cli.role {
        task.role.clone_from(role);
    }
    task.scope = Some(Scope {
        write: Some(if cli.write.is_empty() {
            vec!["**".into()]
        } else {
            cli.write.clone()
        }),
        read: (!cli.read.is_empty()).then(|| cli.read.clone()),
    });
    task.verify = cli
        .verify
        .iter()
        .map(|command| VerifyCommand {
            command: command.clone(),
            timeout_ms: None,
        })
        .collect();
    Ok(Some(task))
}

/// Reads a task document and checks what no later stage could make sense of.
pub(crate) fn task_from_document(text: &str) -> Result<Task, Failure> {
    let task: Task = read_strict(text)?;
    if task.prompt.trim().is_empty() {
        return Err(Failure::input("$.prompt: it is empty; say what to do"));
    }
    if let Some(at) = task.verify.iter().position(|v| v.command.trim().is_empty()) {
        return Err(Failure::input(format!(
            "$.verify[{at}].command: it is empty"
        )));
    }
    Ok(task)
}

/// Lets the flags' limits win over the task's.
pub(crate) fn override_limits(task: &mut Task, flags: &LimitFlags) {
    let millis = |d: std::time::Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
    let limits = &mut task.limits;
    limits.steps = flags.steps.or(limits.steps);
    limits.wall_ms = flags.wall.map(millis).or(limits.wall_ms);
    limits.output_tokens = flags.output_tokens.or(limits.output_tokens);
    limits.queue_ms = flags.wait.map(millis).or(limits.queue_ms);
}

#[cfg(test)]
mod tests {
    use super::{override_limits, task_from_document, task_from_flags};
    use crate::cli::Cli;
    use clap::Parser as _;

    #[test]
    fn flags_make_a_whole_task() {
        let cli = Cli::parse_from([
            "worker-run",
            "--prompt",
            "Fix it",
            "--write",
            "src/**",
            "--verify",
            "make test",
            "--steps",
            "3",
        ]);
        let mut task = task_from_flags(&cli).unwrap().unwrap();
        override_limits(&mut task, &cli.limits);
        assert_eq!(task.write_scope().unwrap(), ["src/**"]);
        assert_eq!(task.verify[0].command, "make test");
        assert_eq!(task.limits.steps, Some(3));
    }

    #[test]
    fn an_empty_prompt_or_check_is_named_by_path() {
        let text = r#"{"schema":"task/1","id":"t","prompt":" "}"#;
        assert!(
            task_from_document(text)
                .unwrap_err()
                .message
                .starts_with("$.prompt")
        );
        let text = r#"{"schema":"task/1","id":"t","prompt":"x","verify":[{"command":""}]}"#;
        assert!(
            task_from_document(text)
                .unwrap_err()
                .message
                .starts_with("$.verify[0]")
        );
    }
}
