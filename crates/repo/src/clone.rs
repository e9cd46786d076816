//! Clones of a repository on the same machine: their own index, stash, branches and settings, so that
//! nothing a worker does to git in one reaches another or the user's own.

use std::path::Path;

use crate::error::{RepoError, list};
use crate::git::Git;
use crate::path::GitPath;
use crate::repo::Repo;

/// Settings of a repository that decide what its files look like or who commits; a clone gets them.
const CARRIED: [&str; 9] = [
    "user.name",
    "user.email",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.longpaths",
];

/// Lets a clone give any commit it has, also one that no branch of it holds.
const ANY_COMMIT: &str = "--upload-pack=git -c uploadpack.allowAnySHA1InWant=true upload-pack";

impl Repo {
    /// Makes a clone at `start`, detached, that knows no remote: nothing can be pushed from it.
    pub fn clone_to(&self, path: &Path, start: &str) -> Result<Self, RepoError> {
        let start = self.commit(start)?;
        Git::new(self.root(), ["clone", "--quiet", "--local", "--no-tags"])
            .args(["--no-checkout", "--no-recurse-submodules", "--template="])
            .arg(ANY_COMMIT)
            .setting("protocol.file.allow", "always")
            .arg("--")
            .arg(self.common_dir())
            .arg(path)
            .ok()?;
        let git = |args: &[&str]| Git::new(path, args);
        git(&["remote", "remove", "origin"]).ok()?;
        for name in CARRIED {
            let value = self.git(["config", "--get", name]).said()?;
            if value.is_ok() {
                git(&["config", "--local", name]).arg(value.line()).ok()?;
            }
        }
        self.carry_info(path, "exclude")?;
        self.carry_info(path, "attributes")?;
        // Objects are linked file by file where that is possible; where git had to copy by its
        // protocol (a shallow repository), a commit that no branch holds is still missing.
        let there = git(&["cat-file", "-e"])
            .arg(format!("{start}^{{commit}}"))
            .said()?;
        if !there.is_ok() {
            git(&["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"])
                .arg(ANY_COMMIT)
                .setting("protocol.file.allow", "always")
                .arg(self.common_dir())
                .arg(start.as_str())
                .ok()?;
        }
        git(&["checkout", "--quiet", "--detach"])
            .arg(start.as_str())
            .ok()?;
        Self::discover(path)
    }

    fn carry_info(&self, clone: &Path, name: &str) -> Result<(), RepoError> {
        let from = self.common_dir().join("info").join(name);
        if !from.is_file() {
            return Ok(());
        }
        let folder = clone.join(".git/info");
        let copied = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::copy(&from, folder.join(name)).map(|_| ()));
        copied.map_err(|e| {
            RepoError::Refused(format!(
                "cannot copy {} into the clone: {e}",
                from.display()
            ))
        })
    }

    /// Brings a commit of a clone into this repository. It is on no branch here.
    pub fn fetch_from_clone(&self, clone: &Path, commit: &str) -> Result<(), RepoError> {
        self.git(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"])
            .args(["--no-recurse-submodules", "--no-auto-maintenance"])
            .arg(ANY_COMMIT)
            .setting("protocol.file.allow", "always")
            .arg("--")
            .arg(clone)
            .arg(commit)
            .ok()
            .map(|_| ())
    }

    /// Whether a folder is a clone: it has a git folder of its own, which a work tree has not.
    pub fn is_clone(path: &Path) -> bool {
        path.join(".git").is_dir()
    }

    /// Why a clone holds something that this repository does not have; none when it may go. `safe`
    /// are commits that are kept here although no branch holds them yet.
    pub fn clone_holds(&self, path: &Path, safe: &[&str]) -> Result<Option<String>, RepoError> {
        let here = Self::discover(path)?;
        if path.canonicalize().is_ok_and(|real| real != here.root()) {
            return Ok(Some(format!("{} is no clone", path.display())));
        }
        if let Some(verb) = here.operation_in_progress() {
            return Ok(Some(format!("it is in the middle of a {verb}")));
        }
        let dirty: Vec<GitPath> = here.dirty()?.into_iter().map(|e| e.path).collect();
        if !dirty.is_empty() {
            return Ok(Some(format!("uncommitted: {}", list(&dirty))));
        }
        let refs = here
            .git(["for-each-ref", "--format=%(objectname) %(refname)"])
            .ok()?;
        let head = here.head()?.commit.map(|c| format!("{c} HEAD"));
        let text = String::from_utf8_lossy(&refs.stdout).into_owned();
        for line in text.lines().chain(head.as_deref()) {
            let Some((id, name)) = line.split_once(' ') else {
                continue;
            };
            if safe.contains(&id) {
                continue;
            }
            let known = self.find(&format!("{id}^{{commit}}"))?.is_some();
            if !known || !self.is_reachable(id)? {
                return Ok(Some(format!(
                    "no branch here holds its commit {id} ({name})"
                )));
            }
        }
        Ok(None)
    }

    /// Removes a clone that holds nothing this repository does not have.
    pub fn clone_remove(&self, path: &Path, safe: &[&str]) -> Result<(), RepoError> {
        if let Some(why) = self.clone_holds(path, safe)? {
            return Err(RepoError::Refused(format!(
                "clone {}: {why}; it was kept",
                path.display()
            )));
        }
        std::fs::remove_dir_all(path).map_err(|e| {
            RepoError::Refused(format!("cannot remove the clone {}: {e}", path.display()))
        })
    }
}
