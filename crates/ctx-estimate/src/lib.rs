//! How many tokens does this need, and which server can really hold it?

mod breakdown;
mod cache;
mod cli;
mod files;
mod inputs;
mod judgement;
mod plan;
mod reader;
mod responses;
mod run;
mod server;
mod show;
mod subject;
mod task;
mod tokenizers;
mod trim;

use baton_cli::{Tool, ToolKind};

pub use cli::Cli;

/// What the shared command-line code must know of this tool.
pub const TOOL: Tool = Tool {
    name: "ctx-estimate",
    kind: ToolKind::Question,
    reads: &["health/1", "task/1"],
    writes: &["estimate/1"],
};

/// The command line, for the man page and the completions.
pub fn command() -> clap::Command {
    baton_cli::command_with_version::<Cli>(&TOOL)
}

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    baton_cli::run(&TOOL, |cli: Cli, output| run::run(&cli, output))
}
