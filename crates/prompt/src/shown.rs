//! How much the first message shows, and of what.
//!
//! worker-run sends that message and ctx-estimate foretells its tokens: both take the numbers from
//! here, so that the forecast is of what is sent.

use baton_protocol::Task;

use crate::request::Baseline;
use crate::role::Role;

/// Lines of the file list.
pub const TREE_LINES: usize = 40;

/// Tokens of the repository's own rules; longer ones are not shown.
pub const RULE_TOKENS: u64 = 800;

/// Tokens of one failing check's output; longer output is shortened.
pub const CHECK_OUTPUT_TOKENS: u64 = 900;

/// Tokens of one failing check: its output and the heading above it.
pub const CHECK_TOKENS: u64 = CHECK_OUTPUT_TOKENS + 100;

/// Tokens of files shown where the context is unknown, and at most.
const PACK_TOKENS: u64 = 6000;

/// The tokens of files that may be shown in a window: a quarter of it.
pub fn pack_budget(window: Option<u64>) -> u64 {
    window.map_or(PACK_TOKENS, |window| (window / 4).min(PACK_TOKENS))
}

/// The tokens of a text, as far as they decide what is shown. An estimate that knows no tokenizer:
/// the choice must not depend on who makes it.
pub fn estimated_tokens(text: &str) -> u64 {
    baton_tokens::estimate(text).tokens
}

/// Every text in which a person or a check may have named a file.
pub fn mentions(task: &Task, role: Role, baseline: &[Baseline]) -> String {
    let mut texts: Vec<&str> = vec![&task.title, &task.prompt];
    texts.extend(task.must.iter().map(String::as_str));
    texts.extend(task.done_when.iter().map(String::as_str));
    texts.extend(task.narrower.as_deref());
    if role.writes() {
        texts.extend(task.verify.iter().map(|v| v.command.as_str()));
        texts.extend(baseline.iter().map(|b| b.output.as_str()));
    }
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use baton_protocol::{Task, TaskId, VerifyCommand};

    use super::{mentions, pack_budget};
    use crate::Role;

    #[test]
    fn files_get_a_quarter_of_a_small_window() {
        assert_eq!(pack_budget(Some(4096)), 1024);
        assert_eq!(pack_budget(Some(200_000)), 6000);
        assert_eq!(pack_budget(None), 6000);
        assert_eq!(pack_budget(Some(0)), 0);
    }

    #[test]
    fn only_a_writing_role_is_told_by_its_checks() {
        let mut task = Task::new(TaskId::new("t").unwrap(), "fix a.py");
        task.verify = vec![VerifyCommand {
            command: "python3 b.py".into(),
            timeout_ms: None,
        }];
        assert!(mentions(&task, Role::Implementer, &[]).contains("b.py"));
        assert!(!mentions(&task, Role::Explore, &[]).contains("b.py"));
    }
}
