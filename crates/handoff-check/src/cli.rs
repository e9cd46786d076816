//! The command line.

use std::path::PathBuf;

use baton_cli::{Common, HasCommon};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Is a hand-off true? Believes git and exit codes, never a report.
#[derive(Debug, Parser)]
#[command(
    about = "Is a hand-off true? Believes git and exit codes, never a report",
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// The report; standard input when none is given.
    pub(crate) report: Option<PathBuf>,

    /// The task/1 document the report answers: its scope, its base, its verification commands.
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,

    /// The work tree to look at. Nothing in it, or in its repository, is changed.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,

    /// Measure against this commit or tree instead of the task's `base`.
    #[arg(long, value_name = "REV")]
    pub(crate) base: Option<String>,

    /// Run the task's verification commands again, in a scratch copy of exactly this tree.
    #[arg(long)]
    pub(crate) rerun: bool,

    /// Run each command N times; different results are called flaky (implies --rerun).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: Option<u32>,

    /// Also show that the changed tests fail on the base without the work (implies --rerun).
    #[arg(long)]
    pub(crate) red_first: bool,

    /// Copy this untracked or ignored path into the scratch copy, for example `node_modules`.
    #[arg(long, value_name = "PATH")]
    pub(crate) with: Vec<PathBuf>,

    /// Run the commands without the kernel's border around them.
    #[arg(long)]
    pub(crate) no_sandbox: bool,

    /// Warnings count as failures.
    #[arg(long)]
    pub(crate) strict: bool,

    /// The work must be reviewed: a true hand-off is then review-pending, not admitted.
    #[arg(long)]
    pub(crate) review_required: bool,

    #[command(flatten)]
    pub(crate) protect: Protect,

    /// Read the report only in this form, and (without --task) write it as handoff/1.
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<From>,

    /// Judge nothing; write the report in this form.
    #[arg(long, value_name = "FORM")]
    pub(crate) emit: Option<Emit>,

    /// Print what each check proves, and how.
    #[arg(long)]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// What is protected whatever the scope says.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Protect {
    /// No change here, whatever the scope says (besides .git and .orchestrator).
    #[arg(long, value_name = "GLOB")]
    pub(crate) protect: Vec<String>,

    /// No change to what continuous integration runs (.github/workflows, .gitlab-ci.yml, …).
    #[arg(long)]
    pub(crate) protect_ci: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Only the question of ownership, for a diff on standard input
    #[command(after_help = SCOPE_EXAMPLES)]
    Scope(Scope),
}

/// `handoff-check scope`.
#[derive(Debug, Args)]
pub(crate) struct Scope {
    /// A file or folder that may change; repeat it for more. None: nothing may change.
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow: Vec<String>,

    #[command(flatten)]
    pub(crate) protect: Protect,

    /// The diff; standard input when none is given.
    pub(crate) diff: Option<PathBuf>,
}

/// A form to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// Whatever is there.
    Auto,
    /// handoff/1.
    Handoff,
    /// The version-1 envelope.
    Envelope,
    /// Four or five headings.
    Markdown,
}

/// A form to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// handoff/1.
    Handoff,
    /// The version-1 envelope.
    Envelope,
    /// Outcome / Files / Verification / Risks / Follow-up.
    #[value(alias = "markdown-5")]
    Markdown,
    /// Summary / Files changed / Verification / Open issues.
    #[value(name = "markdown-4")]
    MarkdownFour,
}

impl HasCommon for Cli {
    fn common(&self) -> &Common {
        &self.common
    }
}

const EXAMPLES: &str = "\
Exit status: 0 true, 1 false, 2 no readable report (or wrong usage), 3 cannot judge.

Examples:
  handoff-check --task task.json --repo . < handoff.json
  handoff-check --task task.json --rerun < handoff.json     # run the task's commands again
  handoff-check --from markdown report.md | jq .files_changed
  handoff-check --emit envelope < handoff.json              # the plugin's version-1 envelope
  git diff main... | handoff-check scope --allow 'src/**'   # as a CI step or git hook";

const SCOPE_EXAMPLES: &str = "\
Reads what `git diff` prints (also --name-status, --raw, --numstat and --name-only, with or without
-z), and patches of other systems. With --name-only add --no-renames: else old names are missing.

Examples:
  git diff main... | handoff-check scope --allow 'src/**' --allow Cargo.lock
  git diff --cached -z --name-status | handoff-check scope --allow 'docs/**' --protect-ci";
