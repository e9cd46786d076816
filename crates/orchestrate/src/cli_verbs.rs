//! The command lines of the verbs that live long or prepare work.

use clap::{Args, Subcommand};

use crate::core::role_model::{self, RoleModel};

/// `orchestrate init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// A model for a role, with the effort it is asked for, as in reviewer=arc/qwen38#high (repeatable).
    #[arg(long = "model", value_name = "ROLE=PROVIDER/MODEL[#EFFORT]", value_parser = role_model::parse)]
    pub(crate) models: Vec<RoleModel>,
}

/// `orchestrate goal`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = GOAL)]
pub(crate) struct Goal {
    /// What is to be reached, in plain words: set it and work on it. Without it, show the goal.
    #[arg(value_name = "OBJECTIVE")]
    pub(crate) objective: Vec<String>,
    /// Work in the background; it survives the terminal.
    #[arg(long, requires = "objective")]
    pub(crate) detach: bool,
    #[command(subcommand)]
    pub(crate) action: Option<GoalAction>,
}

const GOAL: &str = "\
Exit codes: 0 reached (or shown, or changed); 1 one part done, more to do, or there is no goal;
3 needs a person (paused, halted, blocked, its means used up); 69 no server; 75 no slot, or a loop
works here already.

Examples:
  orchestrate goal \"Ship the checkout refactor without regressing payments\"
  orchestrate goal                     # how far is it, and what is next?
  orchestrate goal pause; orchestrate goal resume && orchestrate goal run --detach

It is kept in .orchestrator/goal.json. Each continuation is a run of its own, followed by a look at
whether the goal is reached. Three rounds that change neither git nor a plan need a person.";

/// What is done with a goal.
#[derive(Debug, Subcommand)]
pub(crate) enum GoalAction {
    /// Begin nothing new for it until it is resumed.
    Pause,
    /// Make it active again; `goal run` then works on it.
    Resume,
    /// Take it away. What was done for it stays.
    Clear,
    /// Work on it until it is reached or needs a person.
    Run(GoalRun),
}

/// `orchestrate goal run`.
#[derive(Debug, Args)]
pub(crate) struct GoalRun {
    /// Work in the background; it survives the terminal.
    #[arg(long)]
    pub(crate) detach: bool,
    /// We are the one in the background.
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) detached: bool,
}
