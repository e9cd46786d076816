//! Putting the first request together.

use baton_protocol::{Part, Task};
use serde_json::{Value, json};

use crate::Counter;
use crate::message;
use crate::pack::PackPlan;
use crate::role::{Mode, Role};
use crate::system::system_text;
use crate::tools::tool_list;

/// A check that fails before any work was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The command line.
    pub command: String,
    /// How it ended, for example `exit code 1`.
    pub result: String,
    /// The part of its output that matters, already shortened.
    pub output: String,
}

/// Everything the first request is made of.
#[derive(Debug, Clone)]
pub struct Inputs<'a> {
    /// The task.
    pub task: &'a Task,
    /// What it is for.
    pub role: Role,
    /// How the model acts.
    pub mode: Mode,
    /// The work tree, absolute.
    pub cwd: &'a str,
    /// A configured system text in place of the built-in one.
    pub system: Option<&'a str>,
    /// The repository's own rules, if any.
    pub rules: Option<&'a str>,
    /// The short file list, if any.
    pub tree: Option<&'a str>,
    /// The files to show.
    pub pack: &'a PackPlan,
    /// The checks that fail now.
    pub baseline: &'a [Baseline],
}

/// A first request, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstRequest {
    /// The system text.
    pub system: String,
    /// The tools; empty for models that cannot call tools.
    pub tools: Vec<Value>,
    /// The messages: exactly one `system`, then one `user`.
    pub messages: Vec<Value>,
    /// The tokens of each part, in the order they are sent.
    pub parts: Vec<Part>,
}

impl FirstRequest {
    /// The tokens of all parts.
    pub fn tokens(&self) -> u64 {
        self.parts.iter().map(|part| part.tokens).sum()
    }
}

/// Builds the first request of a task.
pub fn first_request(inputs: &Inputs<'_>, count: Counter<'_>) -> FirstRequest {
    let system = inputs
        .system
        .unwrap_or_else(|| system_text(inputs.role, inputs.mode))
        .to_string();
    let tools = tool_list(inputs.role, inputs.mode);
    let own: Vec<&str> = inputs
        .pack
        .shown
        .iter()
        .filter(|file| file.writable)
        .map(|file| file.path.as_str())
        .collect();
    let mut sections = vec![("workplace", message::workplace(inputs.cwd))];
    if let Some(rules) = inputs.rules {
        sections.push(("rules", message::rules(rules)));
    }
    if let Some(tree) = inputs.tree {
        sections.push(("tree", message::tree(tree)));
    }
    sections.push(("files", message::files(&inputs.pack.shown, inputs.mode)));
    sections.push(("left_out", message::left_out(&inputs.pack.left_out)));
    sections.push(("checks", message::baseline(inputs.baseline)));
    sections.push((
        "task",
        message::task(
            inputs.task,
            inputs.role,
            inputs.mode,
            !inputs.baseline.is_empty(),
            &own,
        ),
    ));

    let mut parts = vec![part("system", count(&system))];
    if !tools.is_empty() {
        let text: String = tools.iter().map(ToString::to_string).collect();
        parts.push(part("tools", count(&text)));
    }
    sections.retain(|(_, text)| !text.is_empty());
    parts.extend(sections.iter().map(|(name, text)| part(name, count(text))));
    let user: String = sections.into_iter().map(|(_, text)| text).collect();
    let messages = vec![
        json!({"role": "system", "content": system}),
        json!({"role": "user", "content": user}),
    ];
    FirstRequest {
        system,
        tools,
        messages,
        parts,
    }
}

fn part(name: &str, tokens: u64) -> Part {
    Part {
        part: name.into(),
        tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::{Baseline, Inputs, first_request};
    use crate::{Mode, PackPlan, PackedFile, Role};
    use baton_protocol::{Task, TaskId};

    fn words(text: &str) -> u64 {
        u64::try_from(text.split_whitespace().count()).unwrap_or(0)
    }

    fn task() -> Task {
        let mut task = Task::new(TaskId::new("t1").unwrap(), "Fix add().");
        task.must = vec!["keep the signature".into()];
        task
    }

    fn inputs<'a>(task: &'a Task, pack: &'a PackPlan, baseline: &'a [Baseline]) -> Inputs<'a> {
        Inputs {
            task,
            role: Role::Implementer,
            mode: Mode::Tools,
            cwd: "/work/tree",
            system: None,
            rules: None,
            tree: Some("calc.py"),
            pack,
            baseline,
        }
    }

    #[test]
    fn there_is_one_system_message_and_it_tells_no_place() {
        let task = task();
        let request = first_request(&inputs(&task, &PackPlan::default(), &[]), &words);
        let roles: Vec<_> = request
            .messages
            .iter()
            .map(|m| m["role"].as_str())
            .collect();
        assert_eq!(roles, [Some("system"), Some("user")]);
        assert!(!request.system.contains("/work/tree"));
    }

    #[test]
    fn t18_the_absolute_working_directory_is_stated() {
        let task = task();
        let request = first_request(&inputs(&task, &PackPlan::default(), &[]), &words);
        let user = request.messages[1]["content"].as_str().unwrap();
        assert!(user.starts_with("The repository is at /work/tree;"));
    }

    #[test]
    fn files_checks_and_task_come_in_this_order() {
        let task = task();
        let pack = PackPlan {
            shown: vec![PackedFile {
                path: "calc.py".into(),
                text: "def add(a, b):\n    return a - b\n".into(),
                writable: true,
                asked: true,
            }],
            ..PackPlan::default()
        };
        let baseline = [Baseline {
            command: "python3 test.py".into(),
            result: "exit code 1".into(),
            output: "AssertionError".into(),
        }];
        let request = first_request(&inputs(&task, &pack, &baseline), &words);
        let user = request.messages[1]["content"].as_str().unwrap();
        let at = |needle: &str| user.find(needle).unwrap();
        assert!(at("# Files\n") < at("return a - b"));
        assert!(at("return a - b") < at("AssertionError"));
        assert!(at("AssertionError") < at("# Task"));
        assert!(user.contains("- keep the signature"));
        let names: Vec<&str> = request.parts.iter().map(|p| p.part.as_str()).collect();
        assert_eq!(
            names,
            [
                "system",
                "tools",
                "workplace",
                "tree",
                "files",
                "checks",
                "task"
            ]
        );
    }

    #[test]
    fn a_second_attempt_asks_the_narrower_question() {
        let mut task = task();
        task.narrower = Some("Only swap the sign.".into());
        let ask = |task: &Task| {
            let pack = PackPlan::default();
            let request = first_request(&inputs(task, &pack, &[]), &words);
            request.messages[1]["content"].as_str().unwrap().to_string()
        };
        assert!(ask(&task).contains("Fix add()."));
        task.attempt = 2;
        assert!(ask(&task).contains("Only swap the sign."));
        assert!(!ask(&task).contains("Fix add()."));
    }
}
