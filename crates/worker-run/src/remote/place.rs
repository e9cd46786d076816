//! The place a task gets on a host that shares no folder: a tree of its own, gone when it is over.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_cli::{Environment, Failure, cache_dir};
use baton_process::{Cancel, Capture, Command};
use baton_protocol::{Launch, LaunchTree};
use baton_repo::{Depot, ObjectId, Repo};

use super::git_failure;

/// The longest one setup command may take.
const SETUP: Duration = Duration::from_secs(20 * 60);

/// A folder that is ours for as long as we live.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    root: PathBuf,
    /// Its kernel lock says that we live; a folder without one is what a killed process left.
    _lock: File,
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is removed by a later task.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Place {
    /// Makes a place, and tidies up what killed ones left.
    pub(super) fn make(dir: Option<&Path>, env: &Environment) -> Result<Self, Failure> {
        let root = dir.map_or_else(|| cache_dir(env).join("remote"), Path::to_owned);
        let root = std::path::absolute(&root).unwrap_or(root);
        let work = root.join("work");
        let fail = |e: std::io::Error| {
            Failure::internal(format!(
                "cannot make a place for the task in {}: {e}; name another: --dir DIR",
                work.display()
            ))
        };
        std::fs::create_dir_all(&work).map_err(fail)?;
        tidy(&work);
        let folder = tempfile::Builder::new()
            .prefix("task-")
            .tempdir_in(&work)
            .map_err(fail)?
            .keep();
        // Until it is locked the file has a name that nobody looks for.
        let (fresh, name) = (folder.join("lock.new"), folder.join("lock"));
        let lock = File::create_new(&fresh).map_err(fail)?;
        lock.try_lock().map_err(|e| fail(e.into()))?;
        std::fs::rename(fresh, name).map_err(fail)?;
        Ok(Self {
            folder,
            root,
            _lock: lock,
        })
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The store of what came of this repository before.
    pub(super) fn depot(&self, tree: &LaunchTree) -> Result<Depot, Failure> {
        if !baton_protocol::is_token(&tree.repository) || tree.repository.starts_with('.') {
            return Err(Failure::input(format!(
                "$.tree.repository: `{}` is no name",
                tree.repository
            )));
        }
        Depot::open(&self.root.join(format!("{}.git", tree.repository))).map_err(git_failure)
    }

    /// The tree of the task, with all it needs.
    pub(super) fn tree(
        &self,
        launch: &Launch,
        tree: &LaunchTree,
        bundle: Option<&Path>,
        stop: &Cancel,
    ) -> Result<Repo, Failure> {
        let depot = self.depot(tree)?;
        let id = |text: &str| {
            ObjectId::new(text)
                .ok_or_else(|| Failure::input(format!("$.tree: `{text}` is no object id")))
        };
        let commit = id(&tree.commit)?;
        if let Some(bundle) = bundle {
            depot.take_in(bundle, &commit).map_err(git_failure)?;
        }
        let repo = depot
            .check_out(&self.join("tree"), &commit)
            .map_err(git_failure)?;
        if let Some(extra) = &tree.extra {
            let extra = id(extra)?;
            let files = repo.files_of(extra.as_str()).map_err(git_failure)?;
            repo.restore(extra.as_str(), &files).map_err(git_failure)?;
        }
        if let Some(head) = &tree.head {
            repo.reset_keeping_files(id(head)?.as_str())
                .map_err(git_failure)?;
        }
        for line in &launch.setup {
            set_up(line, repo.root(), stop)?;
        }
        Ok(repo)
    }
}

/// Runs a setup command, with network and without a sandbox: it is the user's own.
fn set_up(line: &str, tree: &Path, stop: &Cancel) -> Result<(), Failure> {
    let outcome = Command::shell(line)
        .cwd(tree)
        .merge_stderr()
        .capture(Capture::default())
        .timeout(SETUP)
        .run(stop)
        .map_err(|e| Failure::internal(format!("cannot run setup `{line}`: {e}")))?;
    if outcome.success() {
        return Ok(());
    }
    if outcome.cancelled {
        return Err(Failure::interrupted(stop.signal().unwrap_or(15)));
    }
    let text = outcome.stdout.text();
    let last = text.lines().rev().find(|l| !l.trim().is_empty());
    let how = if outcome.timed_out {
        format!("did not end within {} minutes", SETUP.as_secs() / 60)
    } else {
        format!("ended with {}", outcome.exit.shell_code())
    };
    Err(Failure::config(format!(
        "[worktree] setup `{line}` {how}: {}",
        last.unwrap_or_default().trim()
    )))
}

/// Removes the folders of processes that were killed: nobody holds their locks any more.
fn tidy(work: &Path) {
    for entry in std::fs::read_dir(work).into_iter().flatten().flatten() {
        let lock = OpenOptions::new()
            .write(true)
            .open(entry.path().join("lock"));
        if let Ok(lock) = lock
            && lock.try_lock().is_ok()
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
