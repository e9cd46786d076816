//! From a goal to integrated, checked work: plan, workers, checks, review, report.
//!
//! The conductor is a process that owns a state machine, not a conversation. It never calls a model
//! itself: every stage is a child process whose inputs and outputs are kept, so that each can be
//! repeated by hand. The journal is the truth: what is in it has happened or is about to, and a run
//! that was killed goes on from it.

mod cli;
mod cli_github;
mod cli_launch;
mod cli_verbs;
mod cli_worktree;
mod core;
mod shell;
mod verbs;

use baton_cli::{Failure, Output, Tool, ToolKind};
use baton_protocol::Exit;

use crate::cli::{Cli, Verb};

/// What the tool is called, reads and writes.
pub const TOOL: Tool = Tool {
    name: "orchestrate",
    kind: ToolKind::Doer,
    reads: &["plan/1", "health/1", "estimate/1", "handoff/1", "verdict/1"],
    writes: &[
        "run/1", "plan/1", "task/1", "event/1", "status/1", "clean/1", "trace/1", "error/1",
    ],
};

/// The command line's definition, for the man page and the completions.
pub fn command() -> clap::Command {
    baton_cli::command_with_version::<Cli>(&TOOL)
}

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    baton_cli::run::<Cli>(&TOOL, dispatch)
}

fn dispatch(cli: Cli, output: &Output) -> Result<Exit, Failure> {
    perform(cli, output).map_err(|mut failure| {
        if let Some(advice) = core::advice::for_message(&failure.message) {
            failure.message = format!("{}; {advice}", failure.message);
        }
        failure
    })
}

fn perform(cli: Cli, output: &Output) -> Result<Exit, Failure> {
    match cli.verb {
        Verb::Run(run) => verbs::run::run(&run, output),
        Verb::Goal(goal) => verbs::goal::goal(&goal, output),
        Verb::RunPlan(plan) => verbs::run_plan::run_plan(&plan, output),
        Verb::StressPlan(plan) => verbs::stress_plan::stress_plan(&plan, output),
        Verb::Restructure(cli) => verbs::restructure::restructure(&cli, output),
        Verb::Polish(polish) => verbs::polish::polish(&polish, output),
        Verb::Handover(handover) => verbs::handover::handover(&handover, output),
        Verb::Resume(resume) => verbs::resume::resume(&resume, output),
        Verb::Status(status) => verbs::status::status(&status, output),
        Verb::Show(show) => verbs::show::show(&show, output),
        Verb::Halt(halt) => verbs::halt::halt(&halt, output),
        Verb::Clean(clean) => verbs::clean::clean(&clean, output),
        Verb::Worktree(asked) => verbs::worktree::worktree(&asked, output),
        Verb::Github(asked) => verbs::github::github(&asked, output),
        Verb::Trust => verbs::trust::trust(output),
        Verb::Doctor => verbs::doctor::doctor(output),
        Verb::Init(init) => verbs::init::init(&init, output),
    }
}
