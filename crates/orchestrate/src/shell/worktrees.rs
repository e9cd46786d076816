//! Work trees of workers: made at a recorded base, given what git does not carry, never thrown away
//! while they hold something of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_cli::Failure;
use baton_cli::config::Isolation;
use baton_process::{Capture, Command};
use baton_protocol::RelPath;
use baton_repo::{GitPath, Globs, Removal, Repo};

use super::context::Context;
use super::layout::make_folder;
use super::stage::{exit_code, last_line};

/// The longest one setup command may take.
const SETUP_LIMIT: Duration = Duration::from_secs(20 * 60);

/// Why a work tree is not ready.
#[derive(Debug)]
pub(crate) enum NotReady {
    /// The environment is at fault: no request was sent for it.
    Environment(String),
    /// The run was stopped.
    Stopped,
    /// Something of ours.
    Failed(Failure),
}

impl From<Failure> for NotReady {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A failure of git, for people.
pub(crate) fn git_failure(error: &baton_repo::RepoError) -> Failure {
    if error.is_retryable() {
        Failure::try_again(error.to_string())
    } else {
        Failure::internal(error.to_string())
    }
}

/// A work tree at `base`, detached: the host's commits there get a branch only when they are not
/// integrated. One that a crash left and that is still as it was made is used again.
pub(crate) fn ready(
    context: &Context,
    name: &str,
    base: &str,
    log: &Path,
) -> Result<(Repo, PathBuf), NotReady> {
    let path = context.worktree(name);
    let repo = {
        let _one = context.trees();
        if path.exists() {
            let repo = Repo::discover(&path).map_err(|e| git_failure(&e))?;
            let head = repo.head().map_err(|e| git_failure(&e))?;
            let at_base = head.commit.as_ref().is_some_and(|c| c.as_str() == base);
            let clean = repo.dirty().map_err(|e| git_failure(&e))?.is_empty();
            if repo.root() != path.canonicalize().unwrap_or_default() || !at_base || !clean {
                return Err(NotReady::Failed(Failure::internal(format!(
                    "the work tree {} holds other work; it was kept; look at it, then \
                     `orchestrate clean`",
                    path.display()
                ))));
            }
            repo
        } else {
            if let Some(folder) = path.parent() {
                make_folder(folder)?;
            }
            make(context, &path, base).map_err(|e| git_failure(&e))?
        }
    };
    furnish(context, &path, log)?;
    Ok((repo, path))
}

/// A fresh tree, of the kind the configuration asks for. The integration tree is always a work tree:
/// only the host works there.
fn make(context: &Context, path: &Path, base: &str) -> Result<Repo, baton_repo::RepoError> {
    let ours = path == context.worktree(&format!("{}-integration", context.run));
    match context.config.run.isolation {
        Isolation::Clone if !ours => {
            // A clone takes many steps; it stands at its place only when it is whole.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&draft);
            context.repo.clone_to(&draft, base)?;
            std::fs::rename(&draft, path).map_err(|e| {
                baton_repo::RepoError::Refused(format!("cannot make {}: {e}", path.display()))
            })?;
            Repo::discover(path)
        }
        _ => context.repo.worktree_add(path, None, base),
    }
}

/// Gives a fresh work tree what git does not carry.
pub(crate) fn furnish(context: &Context, path: &Path, log: &Path) -> Result<(), NotReady> {
    copy(context, path)?;
    set_up(context, path, log)
}

/// Copies the files that git does not track and a fresh work tree needs.
fn copy(context: &Context, to: &Path) -> Result<(), NotReady> {
    let wanted = &context.config.worktree.copy;
    if wanted.is_empty() {
        return Ok(());
    }
    let globs = Globs::new(wanted).map_err(|e| Failure::config(format!("[worktree] copy: {e}")))?;
    for entry in walk(context.root()) {
        let Ok(relative) = entry.strip_prefix(context.root()) else {
            continue;
        };
        let Some(text) = relative.to_str() else {
            continue;
        };
        if RelPath::new(text).is_err() || !globs.matches(&GitPath::from(text)) {
            continue;
        }
        let target = to.join(relative);
        if target.exists() {
            continue;
        }
        if let Some(folder) = target.parent() {
            make_folder(folder)?;
        }
        std::fs::copy(&entry, &target).map_err(|e| {
            Failure::internal(format!("cannot copy {text} into the work tree: {e}"))
        })?;
    }
    Ok(())
}

/// The files that `copy` brings into a fresh work tree, as far as they are there.
pub(crate) fn copied(context: &Context, tree: &Path) -> Result<Vec<GitPath>, Failure> {
    let wanted = &context.config.worktree.copy;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let globs = Globs::new(wanted).map_err(|e| Failure::config(format!("[worktree] copy: {e}")))?;
    let files = walk(context.root()).into_iter().filter_map(|file| {
        let relative = file.strip_prefix(context.root()).ok()?.to_str()?;
        let name = GitPath::from(relative);
        let brought = globs.matches(&name) && tree.join(relative).is_file();
        brought.then_some(name)
    });
    Ok(files.collect())
}

/// The regular files below a folder; links are not followed, and git's and our folders are left out.
fn walk(root: &Path) -> Vec<PathBuf> {
    let mut open = vec![root.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name();
            if kind.is_dir() && name != ".git" && name != ".orchestrator" {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Runs the setup commands, with network and without a sandbox: they are the user's own.
fn set_up(context: &Context, tree: &Path, log: &Path) -> Result<(), NotReady> {
    for line in &context.config.worktree.setup {
        let outcome = Command::shell(line)
            .cwd(tree)
            .merge_stderr()
            .capture(Capture::default().to_file(log))
            .timeout(SETUP_LIMIT)
            .run(&context.stop)
            .map_err(|e| Failure::internal(format!("cannot run setup `{line}`: {e}")))?;
        if outcome.cancelled {
            return Err(NotReady::Stopped);
        }
        if !outcome.success() {
            let how = if outcome.timed_out {
                format!("did not end within {} minutes", SETUP_LIMIT.as_secs() / 60)
            } else {
                format!("ended with {}", exit_code(outcome.exit))
            };
            return Err(NotReady::Environment(format!(
                "[worktree] setup `{line}` {how}: {}",
                last_line(&outcome.stdout.text())
            )));
        }
    }
    Ok(())
}

/// What setup and copy brought into a work tree and git ignores: a check in a fresh copy of the tree
/// needs it too.
pub(crate) fn brought_along(context: &Context, tree: &Path) -> Result<Vec<String>, Failure> {
    let config = &context.config.worktree;
    if config.setup.is_empty() && config.copy.is_empty() {
        return Ok(Vec::new());
    }
    let outcome = Command::new("git")
        .args(["ls-files", "--others", "--ignored", "--exclude-standard"])
        .args(["--directory", "-z"])
        .cwd(tree)
        .capture(Capture::all(1024 * 1024))
        .timeout(Duration::from_secs(60))
        .run(&context.stop)
        .map_err(|e| Failure::internal(format!("cannot run git ls-files: {e}")))?;
    let text = outcome.stdout.text();
    let paths = text.split('\0').map(|p| p.trim_end_matches('/'));
    Ok(paths
        .filter(|p| RelPath::new(*p).is_ok() && !p.starts_with(".orchestrator"))
        .map(str::to_owned)
        .collect())
}

/// Removes a work tree that holds nothing of its own, given that `safe` commit is kept elsewhere.
/// Says why it was kept otherwise.
pub(crate) fn remove_if_empty(context: &Context, path: &Path, safe: &[&str]) -> Result<(), String> {
    let _one = context.trees();
    if !path.exists() {
        return Ok(());
    }
    if Repo::is_clone(path) {
        let removed = context.repo.clone_remove(path, safe);
        return removed.map_err(|e| e.to_string());
    }
    let repo = Repo::discover(path).map_err(|e| e.to_string())?;
    if repo.root() != path.canonicalize().unwrap_or_default() {
        return Err(format!("{} is no work tree", path.display()));
    }
    let dirty = repo.dirty().map_err(|e| e.to_string())?;
    if let Some(first) = dirty.first() {
        return Err(format!(
            "{} has uncommitted changes ({} …); it was kept",
            path.display(),
            first.path
        ));
    }
    let head = repo.head().map_err(|e| e.to_string())?.commit;
    let kept = head
        .as_ref()
        .is_none_or(|head| safe.contains(&head.as_str()));
    // Clean, and its commit is kept elsewhere: nothing is lost by removing it.
    let rule = if kept {
        Removal::Discard
    } else {
        Removal::Reachable
    };
    context
        .repo
        .worktree_remove(path, rule)
        .map_err(|e| e.to_string())
}
