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

/// What the common machinery must know of this tool.
pub const TOOL: Tool = Tool {
    name: "handoff-check",
    kind: ToolKind::Question,
    reads: &["task/1", "handoff/1"],
    writes: &["verdict/1", "handoff/1"],
};

/// The clap command, for generating man pages and completions.
pub fn command() -> clap::Command {
    baton_cli::command_with_version::<cli::Cli>(&TOOL)
}

/// Runs the tool.
pub fn main() -> ExitCode {
    baton_cli::run::<cli::Cli>(&TOOL, |cli, output| run::run(&cli, output))
}
