//! The command line of `orchestrate github`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `orchestrate github`.
#[derive(Debug, Args)]
#[command(after_help = GITHUB)]
pub(crate) struct Github {
    #[command(subcommand)]
    pub(crate) what: What,
    /// Another repository than the one gh finds here.
    #[arg(long, value_name = "OWNER/NAME", global = true)]
    pub(crate) repo: Option<String>,
}

const GITHUB: &str = "\
Everything goes through the GitHub CLI `gh` and its own login; orchestrate never sees a token.
Reading needs `[github] enabled = true`; creating needs `allow_mutations = true` and --confirm.

Examples:
  orchestrate github status
  orchestrate github issue list --label bug | jq '.items[].title'
  orchestrate github issue create --title \"Parser stops early\" --body-file report.md --confirm
  orchestrate run --issue 123 --pr --confirm";

/// What is asked.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Say whether gh is there, logged in, and for which repository.
    Status,
    /// List, read and create issues.
    #[command(subcommand)]
    Issue(Issue),
    /// List, read and create pull requests.
    #[command(subcommand)]
    Pr(Pr),
}

/// `github issue`.
#[derive(Debug, Subcommand)]
pub(crate) enum Issue {
    /// List issues.
    List(List),
    /// Read one, with its comments.
    View(View),
    /// Create one, unless an open one has the same title.
    Create(CreateIssue),
}

/// `github pr`.
#[derive(Debug, Subcommand)]
pub(crate) enum Pr {
    /// List pull requests.
    List(List),
    /// Read one, with its checks.
    View(View),
    /// Push this branch and open a pull request for it, unless there is an open one.
    Create(CreatePr),
}

/// Which ones.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// In which state.
    #[arg(long, value_name = "STATE", default_value = "open")]
    pub(crate) state: State,
    /// Only those with this label (repeatable).
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Vec<String>,
    /// Only those that GitHub's search finds for this.
    #[arg(long, value_name = "QUERY")]
    pub(crate) search: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
}

/// The state of an issue or pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// Open.
    Open,
    /// Closed (pull requests: not merged).
    Closed,
    /// Merged (only pull requests).
    Merged,
    /// Any.
    All,
}

/// Which one.
#[derive(Debug, Args)]
pub(crate) struct View {
    /// Its number.
    #[arg(value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) number: u64,
}

/// A new issue.
#[derive(Debug, Args)]
pub(crate) struct CreateIssue {
    /// Its title.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) title: String,
    #[command(flatten)]
    pub(crate) body: Body,
    /// A label that exists (repeatable).
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Vec<String>,
    /// Yes, create it.
    #[arg(long)]
    pub(crate) confirm: bool,
}

/// A new pull request.
#[derive(Debug, Args)]
pub(crate) struct CreatePr {
    /// Its title [default: the subject of the branch's last commit].
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) body: Body,
    /// The branch it goes into [default: the repository's default branch].
    #[arg(long, value_name = "BRANCH")]
    pub(crate) base: Option<String>,
    /// The branch it comes from [default: the one checked out].
    #[arg(long, value_name = "BRANCH")]
    pub(crate) head: Option<String>,
    /// The remote that is pushed to.
    #[arg(long, value_name = "NAME", default_value = "origin")]
    pub(crate) remote: String,
    /// As a draft.
    #[arg(long)]
    pub(crate) draft: bool,
    /// Yes, push and create it.
    #[arg(long)]
    pub(crate) confirm: bool,
}

/// The text of a new issue or pull request.
#[derive(Debug, Args)]
pub(crate) struct Body {
    /// Its text.
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "body_file",
        allow_hyphen_values = true
    )]
    pub(crate) body: Option<String>,
    /// A file with its text; `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) body_file: Option<PathBuf>,
}
