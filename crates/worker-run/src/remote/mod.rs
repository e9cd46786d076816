//! A task that a launcher has brought here: read what it needs, do it as any other, give it back.
//!
//! Two ways lead here. With a shared folder everything is files in that folder (`shared`); without
//! one, frames on stdin and stdout (`stream`). Both start the same command (`child`): worker-run
//! itself, below slot-lock where no slot is held for it.

mod child;
mod given;
mod place;
mod shared;
mod stream;

use baton_cli::{Failure, Output, ToolKind};
use baton_process::Cancel;
use baton_protocol::{Exit, Landed, Launched, SchemaTag};
use baton_repo::RepoError;

use crate::cli::RemoteFlags;

/// Does the task.
pub(crate) fn run(flags: &RemoteFlags, output: &Output) -> Result<Exit, Failure> {
    let cancel = Cancel::install()
        .map_err(|error| Failure::internal(format!("cannot watch for signals: {error}")))?;
    let landed = match &flags.folder {
        Some(folder) => shared::run(folder, &cancel, output)?,
        None => stream::run(flags.dir.as_deref(), &cancel, output)?,
    };
    if let Some(error) = &landed.error {
        output.error(error);
    }
    Ok(Exit::Command(u8::try_from(landed.exit).unwrap_or(125)))
}

/// What is said when a placement has reached this host; `have` are the commits that are here already.
fn launched(token: &str, have: Vec<String>) -> Launched {
    Launched {
        schema: SchemaTag::new(),
        token: token.to_owned(),
        host: host(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").into(),
        have,
    }
}

/// The end of a placement at which no worker could be started.
fn not_begun(token: &str, failure: &Failure) -> Landed {
    Landed {
        schema: SchemaTag::new(),
        token: token.to_owned(),
        exit: i32::from(failure.exit_code(ToolKind::Doer).code()),
        handoff: false,
        commit: None,
        tree: None,
        error: Some(format!("{} (on {})", failure.message, host())),
    }
}

/// Why there is no hand-off: what stands in its place. Who wrote nothing has said why on stderr.
fn why_not(text: &str, error: Option<&baton_protocol::ReadError>) -> Option<String> {
    error
        .filter(|_| !text.trim().is_empty())
        .map(ToString::to_string)
}

/// A failure of git; a git that is not there is one of the tools that are missing.
fn git_failure(error: RepoError) -> Failure {
    match error {
        RepoError::NoGit(_) => Failure::internal(format!(
            "{error}; a launched worker needs git where it runs: install it there"
        ))
        .with_exit(Exit::NotFound),
        error => Failure::internal(error.to_string()),
    }
}

/// What this host calls itself.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok());
    let name = name.unwrap_or_default().trim().to_owned();
    if name.is_empty() {
        "unknown".into()
    } else {
        name
    }
}
