//! What can go wrong with a repository.

use std::path::PathBuf;

use crate::path::GitPath;

/// Why a question to a repository has no answer, or an act did not happen.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// There is no repository here; this is never the same as "no changes".
    #[error("{} is not inside a git repository; run `git init` there, or go to one", .0.display())]
    NotARepository(PathBuf),
    /// The repository has no work tree.
    #[error("{} is in a repository but in no work tree of it (bare, or its git folder); name a work tree", .0.display())]
    Bare(PathBuf),
    /// The repository says that its files are somewhere else.
    #[error(
        "{}: the repository says that its files are in {} (core.worktree); \
         if that is wrong: git config --unset core.worktree", .start.display(), .root.display()
    )]
    Elsewhere {
        /// Where a work tree was looked for.
        start: PathBuf,
        /// Where the repository says it is.
        root: PathBuf,
    },
    /// Git itself could not be started.
    #[error("cannot run git: {0}; install git or put it on PATH")]
    NoGit(baton_process::SpawnError),
    /// A revision that does not exist here.
    #[error("`{0}` names no commit or tree of this repository")]
    UnknownRevision(String),
    /// Another git process holds a lock, and still did after we had waited.
    #[error(
        "git is locked by another process ({lock}); waited {waited_ms} ms. \
         Wait for it to end; only if no git process runs, remove that file yourself"
    )]
    Locked {
        /// The lock as git names it.
        lock: String,
        /// How long we had waited, in milliseconds.
        waited_ms: u64,
    },
    /// The act would lose work or force a branch, so it was not done.
    #[error("{0}")]
    Refused(String),
    /// A time limit passed; git was ended.
    #[error("`git {command}` did not end within {limit_ms} ms")]
    TimedOut {
        /// The command, shortened.
        command: String,
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The caller was interrupted.
    #[error("interrupted")]
    Cancelled,
    /// Git failed in a way we have no name for.
    #[error("`git {command}` failed ({status}): {stderr}")]
    Git {
        /// The command, shortened.
        command: String,
        /// How it ended.
        status: String,
        /// What it said.
        stderr: String,
    },
    /// Git printed something we cannot read; a bug of ours.
    #[error("cannot read the output of `git {command}`: {what}")]
    Output {
        /// The command, shortened.
        command: String,
        /// What is wrong.
        what: String,
    },
    /// The file system refused.
    #[error("{what}: {error}")]
    Io {
        /// What we did, with the path.
        what: String,
        /// What it said.
        error: std::io::Error,
    },
}

impl RepoError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::TimedOut { .. })
    }
}

/// Up to five names, then how many more.
pub(crate) fn list(paths: &[GitPath]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(ToString::to_string).collect();
    match paths.len() {
        0 => "no file".into(),
        n if n > 5 => format!("{} and {} more", shown.join(", "), n - 5),
        _ => shown.join(", "),
    }
}
