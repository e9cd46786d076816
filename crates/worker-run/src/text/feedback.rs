//! What the harness says to the model. Short, concrete, and never the same twice in a row.

use std::fmt::Write as _;

/// One check as it is told to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckText<'a> {
    /// The command line.
    pub(crate) command: &'a str,
    /// `passes`, or how it failed.
    pub(crate) result: &'a str,
    /// The part of its output that matters; empty when it passes.
    pub(crate) output: &'a str,
    /// Whether it passes.
    pub(crate) green: bool,
}

/// The result of the checks after a change.
pub(crate) fn checks(runs: &[CheckText<'_>], before: Option<&str>) -> String {
    let mut out = String::new();
    for run in runs {
        if run.green {
            let _ = writeln!(out, "[check] `{}` passes.", run.command);
            continue;
        }
        let same = before
            .is_some_and(|old| !run.output.trim().is_empty() && old.contains(run.output.trim()));
        if same {
            let _ = writeln!(
                out,
                "[check] `{}` still fails exactly as before ({}): this change did not help.",
                run.command, run.result
            );
        } else {
            let _ = writeln!(
                out,
                "[check] `{}` fails: {}\n{}",
                run.command,
                run.result,
                run.output.trim_end()
            );
        }
    }
    out.trim_end().to_string()
}

/// Where the model talks instead of acting.
pub(crate) const NUDGE_TOOLS: &str =
    "Call a tool now; call done if the task is finished or cannot be done.";

/// The same for models that reply with files.
pub(crate) const NUDGE_TEXT: &str = "Your reply held no file. Reply with the path and the complete new content of each file you change in a code block, or with DONE if nothing is left to change.";

/// The same where a check fails: a small model that hears of an easy way out takes it.
pub(crate) const NUDGE_FILE: &str = "Your reply held no file. Reply now with the path and the complete new content of each file you change in a code block.";

/// A cut-off answer.
pub(crate) fn cut_off(tokens: u64) -> String {
    format!(
        "Your answer was cut off at {tokens} tokens and nothing of it was done. Do it in smaller pieces."
    )
}

/// After an attempt that did not pass.
pub(crate) const REPAIR: &str = "Say in one sentence what is wrong with what you wrote. Then reply again with the complete corrected content; it must differ from what you wrote before.";

/// For a reply that is the same as the last one.
pub(crate) const REPEATED: &str = "The content above is an attempt that fails. Find out from the failing check what is wrong with it, and write something different.";

#[cfg(test)]
mod tests {
    use super::{CheckText, checks};

    #[test]
    fn only_what_changed_is_shown_again() {
        let run = CheckText {
            command: "make test",
            result: "exit code 1",
            output: "expected 3, got 2",
            green: false,
        };
        let first = checks(std::slice::from_ref(&run), None);
        assert!(first.contains("expected 3, got 2"));
        let second = checks(&[run], Some(&first));
        assert!(second.contains("exactly as before") && !second.contains("expected 3"));
    }
}
