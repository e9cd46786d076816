//! A command of the model: run, watched by git, and told.

use std::time::Duration;

use baton_protocol::ReceiptSource;

use super::act::Done;
use super::{End, Session, tokens};
use crate::calls::arguments::Arguments;
use crate::text::shape::{Favour, shape};
use crate::tools::shell::{Order, Ran};
use crate::tools::worktree::Settled;

/// The longest a command may ask for.
const MOST: Duration = Duration::from_secs(600);
/// Outputs longer than this are worth looking up in their file.
const LONG_BYTES: u64 = 512 << 10;

impl Session<'_> {
    /// Runs a command; what it changed outside the scope is undone and told.
    pub(crate) fn bash(&mut self, arguments: &Arguments) -> Result<Done, End> {
        let command = arguments.text("command").unwrap_or_default();
        if command.trim().is_empty() {
            return Ok(Done::error("Not run: the command is empty.".into()));
        }
        let wish = arguments.number("timeout").map(Duration::from_secs);
        let left = self.job.bounds.wall.saturating_sub(self.started.elapsed());
        let order = Order {
            command,
            source: ReceiptSource::Model,
            limit: wish
                .unwrap_or(self.job.bounds.command)
                .min(MOST.max(self.job.bounds.command))
                .min(left.max(Duration::from_secs(1))),
        };
        let before = self.tree.snapshot().map_err(End::failed)?;
        let (mut ran, note) = match self.shell.run_for_model(order, self.cancel) {
            Ok(ran) => ran,
            Err(error) => return Ok(Done::error(error)),
        };
        let settled = self.tree.settle(&before).map_err(End::failed)?;
        ran.receipt.tree_before = Some(before.as_str().into());
        ran.receipt.tree_after.clone_from(&settled.tree);
        self.ledger.usage.tools_ms += ran.receipt.duration_ms;
        for path in &settled.kept {
            self.seen.forget(path);
            if !self.known.contains(path) {
                self.known.push(path.clone());
            }
        }
        for (path, why) in &settled.undone {
            self.ledger
                .note(format!("a command changed {path}, which was undone: {why}"));
        }
        let text = self.told(&ran, &settled, note);
        let failed = (!ran.passed()).then(|| format!("{}: {}", ran.result(), last_line(&ran.text)));
        let cancelled = ran.cancelled;
        self.ledger.receipts.push(ran.receipt);
        if cancelled {
            return Err(self.interrupted());
        }
        Ok(Done {
            text,
            changed: !settled.kept.is_empty(),
            error: failed,
            ..Done::default()
        })
    }

    /// The result for the model: output, then what it should know, then how and where it ended.
    fn told(&self, ran: &Ran, settled: &Settled, note: Option<String>) -> String {
        let shaped = shape(&ran.text, self.result_budget(), Favour::Tail, &tokens);
        let mut lines = vec![if shaped.text.trim().is_empty() {
            "(no output)".to_string()
        } else {
            shaped.text
        }];
        if shaped.omitted_lines > 0 || ran.receipt.output_bytes > LONG_BYTES {
            lines.push(format!("[whole output: {}]", ran.log.display()));
        }
        for (path, why) in &settled.undone {
            lines.push(format!("[undone: {path}, because {why}]"));
        }
        if ran.killed > 0 {
            lines.push(format!("[{} background processes were ended]", ran.killed));
        }
        lines.extend(note.map(|note| format!("[{note}]")));
        if !ran.passed() && wants_to_change_git(&ran.text) {
            lines.push("[git's own files cannot be changed here: committing is not your task, the change in the files counts]".into());
        }
        if ran.receipt.command.contains(" | ") {
            lines.push("[a pipe: the exit code is that of the last failing part]".into());
        }
        lines.push(format!("[{}, in {}]", ran.result(), ran.receipt.cwd));
        lines.join("\n")
    }
}

/// Whether git says that it could not write into its own folder.
fn wants_to_change_git(output: &str) -> bool {
    let refused = ["Read-only file system", "Permission denied"];
    output.contains("could not write index")
        || output
            .lines()
            .any(|line| line.contains(".git/") && refused.iter().any(|why| line.contains(why)))
}

fn last_line(text: &str) -> String {
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .chars()
        .take(160)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::wants_to_change_git;

    #[test]
    fn a_refused_commit_is_told_from_other_failures() {
        for text in [
            "fatal: Unable to create '/w/.git/index.lock': Read-only file system",
            "error: could not write index",
            "fatal: cannot lock ref: Unable to create '/m/.git/worktrees/x/HEAD.lock': Permission denied",
        ] {
            assert!(wants_to_change_git(text), "{text}");
        }
        for text in ["cp: /etc/x: Read-only file system", "see .git/config", ""] {
            assert!(!wants_to_change_git(text), "{text}");
        }
    }
}
