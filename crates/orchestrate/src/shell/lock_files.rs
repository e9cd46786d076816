//! Lock files at integration: made anew by the package manager where the work of tasks met in them.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use baton_cli::Failure;
use baton_process::sandbox::Network;
use baton_process::{Capture, Command};
use baton_repo::{GitPath, ObjectId, Repo};

use crate::core::lock_files::{KINDS, kind_of, stale};

use super::confined::{at_home, confine};
use super::context::Context;
use super::stage::{exit_code, last_line, write};
use super::worktrees::git_failure;

/// The longest one package manager may take.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Whether a conflict in this file is settled by making it anew.
pub(crate) fn is_settled_by_making(path: &GitPath) -> bool {
    std::str::from_utf8(path.as_bytes()).is_ok_and(|path| kind_of(path).is_some())
}

/// Where a task's commit began, what it is, and the head it was repeated on.
pub(crate) struct Picked<'a> {
    pub base: &'a str,
    pub commit: &'a str,
    pub onto: &'a str,
    /// Lock files both sides changed; the tree holds the branch's version.
    pub kept: &'a [GitPath],
}

/// Makes the lock files anew that the pick has left stale, and puts them into the commit that is
/// checked out in `tree`. Gives its new name, if there was anything to do. A package manager that is
/// not here or fails is no failure of the task: its checks run next and say whether it matters.
pub(crate) fn renew(
    context: &Context,
    repo: &Repo,
    tree: &Path,
    picked: &Picked<'_>,
    log_folder: &Path,
) -> Result<Option<String>, Failure> {
    let mut changed = names(repo, picked.base, picked.commit)?;
    // What most tasks change is no matter of a package manager, and then nothing is asked of git.
    let concerned = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        KINDS
            .iter()
            .any(|kind| kind.name == name || kind.manifests.contains(&name))
    };
    changed.retain(concerned);
    if changed.is_empty() {
        return Ok(None);
    }
    let mut meanwhile = names(repo, picked.base, picked.onto)?;
    for path in picked.kept {
        meanwhile.insert(path.to_string());
    }
    let there = |path: &str| tree.join(path).is_file();
    let locks = stale(&changed, &meanwhile, &there);
    let mut log = String::new();
    for lock in &locks {
        make(context, tree, lock, &mut log);
        if context.stop.is_cancelled() {
            return Ok(None);
        }
    }
    if !log.is_empty() {
        write(log_folder, "lock-files.log", &context.redactor.text(&log))?;
    }
    let _one = context.trees();
    let paths: Vec<GitPath> = locks.iter().map(|l| GitPath::from(l.as_str())).collect();
    let amended = repo.amend(&paths).map_err(|e| git_failure(&e))?;
    Ok(amended.map(|commit| commit.as_str().to_owned()))
}

fn names(repo: &Repo, old: &str, new: &str) -> Result<BTreeSet<String>, Failure> {
    let (Some(old), Some(new)) = (ObjectId::new(old), ObjectId::new(new)) else {
        return Err(Failure::internal(format!(
            "`{old}` or `{new}` is no commit"
        )));
    };
    let changes = repo.diff_trees(&old, &new).map_err(|e| git_failure(&e))?;
    let paths = changes.iter().flat_map(baton_repo::Change::touched);
    Ok(paths.map(ToString::to_string).collect())
}

fn make(context: &Context, tree: &Path, lock: &str, log: &mut String) {
    use std::fmt::Write as _;
    let Some(kind) = kind_of(lock) else {
        return;
    };
    let [program, args @ ..] = kind.command else {
        return;
    };
    let path = context.env.get("PATH").unwrap_or_default();
    if !std::env::split_paths(path).any(|folder| folder.join(program).is_file()) {
        let _ = writeln!(
            log,
            "{lock}: {program} is not on this machine; it was left as it is"
        );
        return;
    }
    let folder = lock
        .rsplit_once('/')
        .map_or_else(|| tree.to_owned(), |(folder, _)| tree.join(folder));
    let command = Command::new(program)
        .args(args)
        .cwd(folder)
        .merge_stderr()
        .capture(Capture::default())
        .timeout(LIMIT)
        .hunt();
    let caches = at_home(context, kind.caches);
    let confined = confine(context, command, tree, Network::All, &caches);
    match confined.run(&context.stop) {
        Ok(outcome) if outcome.success() => {
            let _ = writeln!(log, "{lock}: made anew by {}", kind.command.join(" "));
        }
        Ok(outcome) => {
            let _ = writeln!(
                log,
                "{lock}: {} ended with {}: {}",
                kind.command.join(" "),
                exit_code(outcome.exit),
                last_line(&outcome.stdout.text())
            );
        }
        Err(error) => {
            let _ = writeln!(log, "{lock}: {program} cannot be run: {error}");
        }
    }
}
