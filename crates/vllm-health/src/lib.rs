//! vllm-health: is the model server ready, with which models, what usable context, which slots?
//!
//! One signal never decides alone, and what is not known is said to be unknown. As a chain loader
//! (`vllm-health … -- COMMAND`) it becomes the command once a provider is ready.

mod ask;
mod choice;
mod cli;
mod notes;
mod plan;
mod run;
mod table;
mod verdict;
mod wait;

use std::process::ExitCode;

use baton_cli::{Tool, ToolKind};

use cli::Cli;

/// The tool's description, for its manual page and the tests.
pub const TOOL: Tool = Tool {
    name: "vllm-health",
    kind: ToolKind::Question,
    reads: &[],
    writes: &["health/1"],
};

/// The command line's definition, for the manual page and the completions.
pub fn command() -> clap::Command {
    baton_cli::command_with_version::<Cli>(&TOOL)
}

/// Runs the tool.
pub fn main() -> ExitCode {
    baton_cli::run(&TOOL, |cli, output| run::run(&cli, output))
}
