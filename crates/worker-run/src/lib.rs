//! Do one well-scoped task with an agent loop, and hand it off.
//!
//! The harness carries the model: the scope's files and the failing checks go into the first
//! message, the task's own checks run after each change and decide when it is done. Pure modules
//! (`calls`, `edit`, `text`, `harness`) hold the rules; `session` and `tools` are the shell that
//! asks the server, runs commands and writes files; `run` starts and ends it all.

mod calls;
mod cli;
mod edit;
mod engine;
mod files;
mod flag;
mod harness;
mod inputs;
mod place;
mod provider;
mod remote;
mod replay;
mod run;
mod session;
mod text;
mod tools;

use std::process::ExitCode;

use baton_cli::{Tool, ToolKind};

const TOOL: Tool = Tool {
    name: "worker-run",
    kind: ToolKind::Doer,
    reads: &["task/1", "launch/1"],
    writes: &["handoff/1", "event/1", "launched/1", "landed/1", "error/1"],
};

/// The command line, for the man page and the completions.
pub fn command() -> clap::Command {
    baton_cli::command_with_version::<cli::Cli>(&TOOL)
}

/// Runs the tool.
pub fn main() -> ExitCode {
    if let Some(code) = engine::relay_main_if_asked() {
        return code;
    }
    baton_cli::run(&TOOL, |cli: cli::Cli, output| run::run(&cli, output))
}
