//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use crate::cli_github::Github;
use crate::cli_launch::Launch;
use crate::cli_verbs::{Goal, Handover, Init, Polish, Restructure, RunPlan, StressPlan};
use crate::cli_worktree::WorktreeArgs;
use baton_cli::{Common, HasCommon, parse_duration, parse_size};
use baton_protocol::SlotClass;
use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Exit codes: 0 completed; 1 finished, not completed (gaps stay); 2 usage, or the tree is not clean;
3 needs a person (halted, budget spent, review tripped); 69 no server; 75 no slot, or another run
works here; 78 configuration; 128+N ended by signal N.

Examples:
  orchestrate run \"Make slugify() drop accents and add tests\"
  orchestrate run --plan-only \"Add cursor pagination to GET /api/items\" > plan.json
  orchestrate run --from plan.json
  orchestrate status
  orchestrate show | less ; orchestrate show --html > report.html
  orchestrate halt && orchestrate resume

A run's files are in .orchestrator/runs/ID/: journal.jsonl, report.md, and one folder an attempt
with all that its stages read and wrote (task.json, command.txt, handoff.json, verdict.json, …).";

/// From a goal to integrated, checked work: plan, workers, checks, review, report.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl HasCommon for Cli {
    fn common(&self) -> &Common {
        &self.common
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Work on a goal in this repository.
    Run(Box<Run>),
    /// Set a goal that outlives a run, and work on it until it is reached.
    Goal(Goal),
    /// Work through a written plan, and keep its ticks and its status true.
    RunPlan(RunPlan),
    /// Draft a plan, have it criticised from four angles, and write its final form to a file.
    StressPlan(StressPlan),
    /// Change the form of code and not what it does: the same checks before and after.
    Restructure(Restructure),
    /// Clean up what changed on this branch, and nothing else.
    Polish(Polish),
    /// Print a brief for whoever takes over.
    Handover(Handover),
    /// Go on with a run that was halted, interrupted, killed, or that lacked a server.
    Resume(Resume),
    /// Say which runs there are and how far each task is.
    Status(Status),
    /// Show a run's report, also of one that goes on.
    Show(Show),
    /// Ask what works here to stop at the next safe point.
    Halt(Halt),
    /// Remove work trees and branches of ended runs that hold nothing of their own.
    Clean(Clean),
    /// Make, look at, push and clean up work trees beside those of runs.
    Worktree(WorktreeArgs),
    /// Read and create issues and pull requests, through `gh` only.
    Github(Github),
    /// Trust this repository's configuration as it is now.
    Trust,
    /// Look at all that a run needs: configuration, servers, models, git, sandbox, disk.
    Doctor,
    /// Write this repository's configuration, or put a role's model into it.
    Init(Init),
}

/// `orchestrate run`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_field_names,
    reason = "the fields are the flags, and the flag is --dry-run"
)]
pub(crate) struct Run {
    /// What is to be done, in plain words.
    #[arg(value_name = "GOAL", required_unless_present_any = ["from", "issue"])]
    pub(crate) goal: Option<String>,
    /// Work on this plan/1 document instead of asking a planner; `-` reads stdin.
    #[arg(long, value_name = "FILE", help_heading = "Plan")]
    pub(crate) from: Option<PathBuf>,
    /// Work on this GitHub issue (needs [github] enabled); GOAL then says what about it.
    #[arg(long, value_name = "NUMBER", help_heading = "GitHub", conflicts_with = "from", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) issue: Option<u64>,
    /// When it is completed, push the run's branch and open a pull request (needs `allow_mutations`).
    #[arg(long, help_heading = "GitHub", requires = "confirm", conflicts_with_all = ["plan_only", "dry_run"])]
    pub(crate) pr: bool,
    /// Yes, push and open the pull request of --pr.
    #[arg(long, help_heading = "GitHub", requires = "pr")]
    pub(crate) confirm: bool,
    /// Ask no planner: one worker gets the goal as it is.
    #[arg(long, help_heading = "Plan", conflicts_with_all = ["from", "plan_only"])]
    pub(crate) one: bool,
    /// Print the plan and stop.
    #[arg(long, help_heading = "Plan")]
    pub(crate) plan_only: bool,
    /// Check everything, send no request, print what would be worked on first.
    #[arg(long, help_heading = "Plan")]
    pub(crate) dry_run: bool,
    /// Workers at once, 1 to 8 [default: the configuration's, else 2].
    #[arg(long, value_name = "N", help_heading = "Bounds", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) max_parallel: Option<u32>,
    /// Rounds of work, 1 to 8 [default: the configuration's, else 2].
    #[arg(long, value_name = "N", help_heading = "Bounds", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) rounds: Option<u32>,
    /// How long a worker may wait for a slot.
    #[arg(long, value_name = "TIME", help_heading = "Bounds", default_value = "10m", value_parser = parse_duration)]
    pub(crate) queue: Duration,
    /// How long to wait for another run in this repository.
    #[arg(long, value_name = "TIME", help_heading = "Bounds", default_value = "0", value_parser = parse_duration)]
    pub(crate) wait: Duration,
    /// Who is served first where slots are short: interactive (its planning goes before other
    /// people's workers), worker or batch [default: interactive on a terminal, else worker].
    #[arg(long, value_name = "CLASS", help_heading = "Bounds", value_parser = parse_class)]
    pub(crate) class: Option<SlotClass>,
    #[command(flatten)]
    pub(crate) budget: Budget,
    #[command(flatten)]
    pub(crate) launch: Launch,
    /// Review the result before it reaches the branch [default: the configuration's, else bounded].
    #[arg(long, value_name = "MODE", help_heading = "Result")]
    pub(crate) review: Option<ReviewChoice>,
    /// Have a model sum the run up at the end.
    #[arg(long, help_heading = "Result")]
    pub(crate) summary: bool,
    /// Let integrated work reach the branch although the run has gaps.
    #[arg(long, help_heading = "Result")]
    pub(crate) merge_partial: bool,
    /// Start from the last commit although there are uncommitted changes.
    #[arg(long, help_heading = "Result")]
    pub(crate) allow_dirty: bool,
    /// Also write the run's events here, as JSON Lines.
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub(crate) events: Option<PathBuf>,
}

fn parse_class(text: &str) -> Result<SlotClass, String> {
    match text {
        "interactive" => Ok(SlotClass::Interactive),
        "worker" => Ok(SlotClass::Worker),
        "batch" => Ok(SlotClass::Batch),
        _ => Err("classes are: interactive, worker, batch".into()),
    }
}

/// What a run may spend.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Budget (stops between steps)")]
#[expect(
    clippy::struct_field_names,
    reason = "the fields are the flags, which all begin with --max"
)]
pub(crate) struct Budget {
    /// Requests to model servers.
    #[arg(long, value_name = "N")]
    pub(crate) max_requests: Option<u64>,
    /// Tokens, prompt and completion.
    #[arg(long, value_name = "TOKENS", value_parser = parse_size)]
    pub(crate) max_tokens: Option<u64>,
    /// The whole run's time.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) max_wall: Option<Duration>,
    /// Money, where prices are configured.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost_usd: Option<f64>,
}

/// Whether there is a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewChoice {
    /// None.
    Off,
    /// An explicit approval within a bounded number of rounds, else a person.
    Bounded,
}

/// `orchestrate resume`.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The run [default: the last one].
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// How long to wait for another run in this repository.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_duration)]
    pub(crate) wait: Duration,
    /// Also write the run's events here, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) launch: Launch,
}

/// `orchestrate status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Show it again whenever it changes, until Ctrl-C.
    #[arg(long)]
    pub(crate) watch: bool,
    /// Also the runs that have ended (the last one is always shown).
    #[arg(long)]
    pub(crate) all: bool,
}

/// `orchestrate show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The run [default: the last one].
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Write one self-contained HTML page: timeline, tasks, checks, diffs.
    #[arg(long, conflicts_with_all = ["json", "text"])]
    pub(crate) html: bool,
}

/// `orchestrate halt`.
#[derive(Debug, Args)]
pub(crate) struct Halt {
    /// The goal (and the run that works for it), the run that works here, or all of it.
    #[arg(value_name = "WHAT", default_value = "all")]
    pub(crate) what: HaltWhat,
    /// End the workers at once instead of letting them finish.
    #[arg(long)]
    pub(crate) now: bool,
}

/// What is halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HaltWhat {
    /// The goal, and the run that works for it.
    Goal,
    /// The run that works here.
    Run,
    /// Both.
    All,
}

/// `orchestrate clean`.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Do it; without this, only say what would be removed.
    #[arg(long)]
    pub(crate) yes: bool,
}
