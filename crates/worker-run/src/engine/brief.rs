//! What a foreign agent is told. Pure.

use std::fmt::Write as _;

use baton_prompt::{Baseline, code_fence};
use baton_protocol::Task;

/// The prompt of a task, self-contained: the agent has tools of its own and knows nothing of ours.
pub(crate) fn brief(task: &Task, writes: bool, baseline: &[Baseline]) -> String {
    let mut text = String::new();
    if !task.title.is_empty() {
        let _ = writeln!(text, "# {}\n", task.title);
    }
    let _ = writeln!(text, "{}", task.prompt.trim_end());
    if let Some(narrower) = &task.narrower {
        let _ = writeln!(
            text,
            "\nAn earlier attempt failed. This time:\n{}",
            narrower.trim_end()
        );
    }
    for (heading, lines) in [
        ("This must hold:", &task.must),
        ("This must not happen:", &task.must_not),
        ("It is done when:", &task.done_when),
    ] {
        list(&mut text, heading, lines);
    }
    if writes {
        let scope: Vec<String> = task.write_scope().unwrap_or_default().to_vec();
        if !scope.is_empty() && scope != ["**"] {
            let _ = writeln!(
                text,
                "\nChange only files that match {}; any other change is undone.",
                scope.join(", ")
            );
        }
        let checks: Vec<String> = task
            .verify
            .iter()
            .map(|check| format!("`{}`", check.command))
            .collect();
        if !checks.is_empty() {
            let _ = writeln!(
                text,
                "\nThe work is checked by running {}. Do not change what these commands rest on.",
                checks.join(" and ")
            );
        }
        for red in baseline {
            let fence = code_fence(&red.output);
            let _ = writeln!(
                text,
                "\n`{}` fails now ({}):\n{fence}\n{}\n{fence}",
                red.command,
                red.result,
                red.output.trim_end()
            );
        }
        let _ = writeln!(
            text,
            "\nNobody can answer questions. Do not commit; change the files and stop."
        );
    } else {
        let _ = writeln!(
            text,
            "\nChange no file. Your last message is the answer; nobody can answer questions."
        );
        if let Some(schema) = &task.result_schema {
            let _ = writeln!(
                text,
                "The last message is one JSON object that follows this schema, and nothing else:\n{schema}"
            );
        }
    }
    text
}

fn list(text: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{heading}");
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::brief;
    use baton_prompt::Baseline;
    use baton_protocol::{Scope, Task, TaskId, VerifyCommand};

    fn task() -> Task {
        let mut task = Task::new(TaskId::new("t").unwrap(), "Fix add().");
        task.scope = Some(Scope {
            write: Some(vec!["src/**".into()]),
            read: None,
        });
        task.verify = vec![VerifyCommand {
            command: "make test".into(),
            timeout_ms: None,
        }];
        task.must = vec!["Keep the API.".into()];
        task
    }

    #[test]
    fn everything_that_binds_the_agent_is_said() {
        let red = [Baseline {
            command: "make test".into(),
            result: "exit code 2".into(),
            output: "```\n1 failed".into(),
        }];
        let text = brief(&task(), true, &red);
        for part in [
            "Fix add().",
            "- Keep the API.",
            "src/**",
            "`make test` fails now (exit code 2)",
            "````\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_reader_is_told_to_change_nothing() {
        let mut task = task();
        task.result_schema = Some(serde_json::json!({"type": "object"}));
        let text = brief(&task, false, &[]);
        assert!(text.contains("Change no file") && text.contains(r#"{"type":"object"}"#));
        assert!(!text.contains("make test"));
    }
}
