//! The command lines of the verbs that live long or prepare work.

use std::time::Duration;

use baton_cli::parse_duration;
use clap::{Args, Subcommand, ValueEnum};

use crate::cli_launch::Launch;
use crate::core::role_model::{self, RoleModel};

/// `orchestrate init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// A model for a role, with the effort it is asked for, as in reviewer=arc/qwen38#high (repeatable).
    #[arg(long = "model", value_name = "ROLE=PROVIDER/MODEL[#EFFORT]", value_parser = role_model::parse)]
    pub(crate) models: Vec<RoleModel>,
    /// Also write what opencode needs: provider, model limits, agents and commands. What is there stays.
    #[arg(long)]
    pub(crate) opencode: bool,
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
    #[command(flatten)]
    pub(crate) launch: Launch,
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
    #[command(flatten)]
    pub(crate) launch: Launch,
}

/// `orchestrate run-plan`.
#[derive(Debug, Args)]
#[command(after_help = RUN_PLAN)]
pub(crate) struct RunPlan {
    /// The plan, as in `checkout` for .orchestrator/plans/checkout.md [default: the one under way, else the only one with something left to do].
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print what would be worked on, as a plan/1 document, and start nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Workers at once, 1 to 8 [default: the configuration's, else 2].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) max_parallel: Option<u32>,
    /// How long to wait for another run in this repository.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_duration)]
    pub(crate) wait: Duration,
    /// Start from the last commit although there are uncommitted changes.
    #[arg(long)]
    pub(crate) allow_dirty: bool,
    #[command(flatten)]
    pub(crate) launch: Launch,
}

const RUN_PLAN: &str = "\
A plan is Markdown, with its steps as checkboxes or as headings called Task or Step:

  ---
  verify: make test            # for steps that name no check of their own
  order: any                   # steps wait only for what they name [default: as written]
  ---
  # Rate limiting
  - [x] Add the limiter
    files: src/limit.rs
    verify: `cargo test limit`
  - [ ] Use it in the API
    files: src/api/**
    depends: 1                 # a number, a title, `previous`, `all` or `none`

A step is ticked when its work is checked and integrated; a step that fails pauses the plan, and what
is done by then reaches the branch. The same command goes on where it stopped.

Exit codes: 0 complete; 1 a step failed; 2 the plan cannot be worked on; 3 needs a person (halted,
budget spent, review); 69 no server; 75 no slot, or another run works here.

Examples:
  orchestrate run-plan
  orchestrate run-plan checkout --max-parallel 4
  orchestrate run-plan checkout --dry-run --text";

/// `orchestrate handover`.
#[derive(Debug, Args)]
pub(crate) struct Handover {
    /// What the next one should look at first, in plain words.
    #[arg(value_name = "FOCUS")]
    pub(crate) focus: Vec<String>,
}

/// `orchestrate stress-plan`.
#[derive(Debug, Args)]
pub(crate) struct StressPlan {
    /// What is to be planned, in plain words.
    #[arg(value_name = "GOAL", required = true)]
    pub(crate) goal: Vec<String>,
    #[command(flatten)]
    pub(crate) launch: Launch,
}

/// `orchestrate polish`.
#[derive(Debug, Args)]
pub(crate) struct Polish {
    /// Only these of the changed files (a folder means all in it).
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// What counts as changed: since this commit or branch [default: where this branch left the main one].
    #[arg(long, value_name = "REVISION")]
    pub(crate) since: Option<String>,
    /// What must pass before and after (repeatable) [default: the repository's own checks].
    #[arg(long, value_name = "COMMAND")]
    pub(crate) verify: Vec<String>,
    #[command(flatten)]
    pub(crate) launch: Launch,
}

/// `orchestrate restructure`.
#[derive(Debug, Args)]
pub(crate) struct Restructure {
    /// The file or folder.
    #[arg(value_name = "PATH")]
    pub(crate) target: String,
    /// Which files may be changed.
    #[arg(long, value_enum, default_value = "file")]
    pub(crate) scope: Reach,
    /// How much may change inside them.
    #[arg(long, value_enum, default_value = "conservative")]
    pub(crate) risk: Risk,
    /// What must pass before and after (repeatable) [default: the repository's own checks].
    #[arg(long, value_name = "COMMAND")]
    pub(crate) verify: Vec<String>,
    /// What is to become of it, in plain words.
    #[arg(long, value_name = "WORDS")]
    pub(crate) aim: Option<String>,
    #[command(flatten)]
    pub(crate) launch: Launch,
}

/// Which files a restructuring may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reach {
    /// The file itself.
    File,
    /// Its folder, with all below.
    Module,
    /// Everything.
    Project,
}

/// How much a restructuring may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Risk {
    /// No public name changes.
    Conservative,
    /// Public names may change where all uses are changed too.
    Broad,
}
