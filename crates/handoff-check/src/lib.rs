//! handoff-check: is a hand-off true?
//!
//! Agents report files they did not change and tests that did not run. This tool believes git and
//! exit codes. Finding the report (`report`), every check (`checks`), the judging of commands and
//! their outputs (`verify`) and the verdict (`judge`) are pure; `run` asks git and the disk, and
//! `rerun` runs the task's commands in a scratch copy. Nothing in the repository is ever changed.

mod admission;
mod checks;
mod cli;
mod explain;
mod hiding;
mod judge;
mod names;
mod only_scope;
#[cfg(test)]
mod oracle;
mod report;
mod rerun;
mod run;
mod text;
mod verify;

use std::process::ExitCode;

use baton_cli::{Tool, ToolKind};
use baton_protocol::{Handoff, TaskId};
use baton_repo::GitPath;

/// What the common machinery must know of this tool.
pub const TOOL: Tool = Tool {
    name: "handoff-check",
    kind: ToolKind::Question,
    reads: &["task/1", "handoff/1"],
    writes: &["verdict/1", "handoff/1"],
};

/// Finds the one report in what a worker left, in any of the forms the tool reads, as handoff/1.
///
/// The error says why there is none. `task` is the id for a form that names no task (headings).
/// This is the part of the tool that reads whatever a model wrote, so it is what a fuzzer should call.
pub fn find_report(text: &str, task: &TaskId) -> Result<Handoff, String> {
    let found = report::find(text, task);
    found.map(|r| r.handoff).map_err(|why| why.to_string())
}

/// The changed names in what `git diff` prints, in any of its forms; both names of a rename.
///
/// The error names the line that cannot be read. Like [`find_report`], for a fuzzer.
pub fn changed_names(diff: &[u8]) -> Result<Vec<GitPath>, String> {
    names::changed(diff)
}

/// The clap command, for generating man pages and completions.
pub fn command() -> clap::Command {
    baton_cli::command_with_version::<cli::Cli>(&TOOL)
}

/// Runs the tool.
pub fn main() -> ExitCode {
    baton_cli::run::<cli::Cli>(&TOOL, |cli, output| run::run(&cli, output))
}
