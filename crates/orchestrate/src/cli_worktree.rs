//! The command line of `orchestrate worktree`.

use clap::{Args, Subcommand};

/// `orchestrate worktree`.
#[derive(Debug, Args)]
#[command(after_help = WORKTREE)]
pub(crate) struct WorktreeArgs {
    #[command(subcommand)]
    pub(crate) what: What,
}

const WORKTREE: &str = "\
States: pending (its creation has not ended), ready, dirty (uncommitted changes), moved (elsewhere, or
on another branch than it was made for), orphaned (its folder or git's entry is gone),
cleanup-failed. Work trees of runs and of other people are shown and never touched.
They are made in [worktree] root, which may be an absolute path outside the repository.

Examples:
  orchestrate worktree create try-redis --from main
  orchestrate worktree list | jq '.trees[] | select(.state == \"dirty\").path'
  orchestrate worktree push try-redis --confirm
  orchestrate worktree cleanup try-redis --confirm";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Say which work trees there are and how each one is.
    List,
    /// Make one on a new branch, with [worktree] copy and setup.
    Create(Create),
    /// Say all that is known of one.
    Status(Named),
    /// Push one's branch.
    Push(Push),
    /// Remove those that hold nothing of their own; their branches stay.
    Cleanup(Cleanup),
}

/// A new one.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Its name: letters, digits, `.`, `_` and `-`.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Its branch; one that exists is checked out [default: baton/NAME].
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// Where a new branch begins.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub(crate) from: String,
}

/// One.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Its name or path.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// What is pushed.
#[derive(Debug, Args)]
pub(crate) struct Push {
    /// Its name or path.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Where to.
    #[arg(long, value_name = "NAME", default_value = "origin")]
    pub(crate) remote: String,
    /// Yes, push it.
    #[arg(long)]
    pub(crate) confirm: bool,
}

/// What is removed.
#[derive(Debug, Args)]
pub(crate) struct Cleanup {
    /// Their names or paths [default: all that were made by `worktree create`].
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Do it; without this, only say what would be removed.
    #[arg(long)]
    pub(crate) confirm: bool,
}
