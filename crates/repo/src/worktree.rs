//! Making work trees, and removing those that hold nothing of their own.

use std::path::Path;

use crate::error::{RepoError, list};
use crate::path::GitPath;
use crate::repo::Repo;
use crate::worktree_list::Worktree;

/// When a work tree may be removed. In each case it must be there, unlocked and clean, untracked
/// files and submodules included; ignored files do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal<'a> {
    /// Its commits are in this branch or commit.
    MergedInto(&'a str),
    /// Some branch or tag holds its commits.
    Reachable,
    /// A person asked for it by name: whatever it holds is lost.
    Discard,
}

impl Repo {
    /// Makes a work tree at `start` on a new branch, or detached when there is no branch name.
    pub fn worktree_add(
        &self,
        path: &Path,
        branch: Option<&str>,
        start: &str,
    ) -> Result<Self, RepoError> {
        let start = self.commit(start)?;
        let git = self.git(["worktree", "add", "--quiet"]);
        let git = match branch {
            Some(name) => git.args(["--no-track", "-b", name]),
            None => git.arg("--detach"),
        };
        git.arg(path).arg(start.as_str()).ok()?;
        Self::discover(path)
    }

    /// Makes a work tree of an existing branch.
    pub fn worktree_of_branch(&self, path: &Path, branch: &str) -> Result<Self, RepoError> {
        self.git(["worktree", "add", "--quiet"])
            .arg(path)
            .arg(branch)
            .ok()?;
        Self::discover(path)
    }

    /// Removes a work tree if the rule allows it; otherwise it is kept and the error says why.
    /// Its branch stays.
    pub fn worktree_remove(&self, path: &Path, rule: Removal<'_>) -> Result<(), RepoError> {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let Some(tree) = self
            .worktrees()?
            .into_iter()
            .find(|w| w.path == real || w.path == path)
        else {
            return Err(RepoError::Refused(format!(
                "{} is not a work tree of this repository; nothing was removed",
                path.display()
            )));
        };
        self.may_remove(&tree, rule)?;
        let remove = |force: bool| {
            let git = self.git(["worktree", "remove"]);
            let git = if force { git.arg("--force") } else { git };
            git.arg(&tree.path).said()
        };
        let said = remove(rule == Removal::Discard)?;
        if said.is_ok() {
            return Ok(());
        }
        // Git never removes a work tree with submodules unless forced. It is clean (we have just
        // looked, submodules included), so one --force loses nothing.
        if said.stderr.contains("containing submodules") {
            let forced = remove(true)?;
            return if forced.is_ok() {
                Ok(())
            } else {
                Err(forced.into_error())
            };
        }
        Err(said.into_error())
    }

    fn may_remove(&self, tree: &Worktree, rule: Removal<'_>) -> Result<(), RepoError> {
        let shown = tree.path.display();
        let kept = |why: String| Err(RepoError::Refused(why));
        if let Some(reason) = &tree.locked {
            let state = if tree.missing {
                " and its folder is gone"
            } else {
                ""
            };
            let because = if reason.is_empty() {
                String::new()
            } else {
                format!(" ({reason})")
            };
            return kept(format!(
                "work tree {shown} is locked{because}{state}; if it is not needed any more: \
                 git worktree unlock '{shown}' && git worktree remove '{shown}'"
            ));
        }
        if tree.missing || rule == Removal::Discard {
            return Ok(());
        }
        let here = Self::discover(&tree.path)?;
        if here.root() != tree.path {
            return kept(format!(
                "{shown} is no longer a work tree; look at it, then: git worktree prune"
            ));
        }
        if let Some(verb) = here.operation_in_progress() {
            return kept(format!(
                "work tree {shown} is in the middle of a {verb}; it was kept"
            ));
        }
        let dirty: Vec<GitPath> = here.dirty()?.into_iter().map(|e| e.path).collect();
        if !dirty.is_empty() {
            return kept(format!(
                "work tree {shown} has uncommitted changes in {}; it was kept",
                list(&dirty)
            ));
        }
        let Some(head) = &tree.head else {
            return Ok(());
        };
        let safe = match rule {
            Removal::MergedInto(branch) => self.is_ancestor(head.as_str(), branch)?,
            Removal::Reachable => self.is_reachable(head.as_str())?,
            Removal::Discard => true,
        };
        if safe {
            return Ok(());
        }
        kept(match rule {
            Removal::MergedInto(branch) => {
                format!("work tree {shown} has commits that `{branch}` does not hold; it was kept")
            }
            _ => format!("no branch holds commit {head} of work tree {shown}; it was kept"),
        })
    }

    /// How many commits `a` has that `b` lacks, and the other way round.
    pub fn ahead_behind(&self, a: &str, b: &str) -> Result<(u64, u64), RepoError> {
        let range = format!("{a}...{b}");
        let said = self
            .git(["rev-list", "--left-right", "--count"])
            .arg(&range)
            .ok()?;
        let line = said.line();
        let mut counts = line.split_whitespace().map(str::parse);
        match (counts.next(), counts.next()) {
            (Some(Ok(ahead)), Some(Ok(behind))) => Ok((ahead, behind)),
            _ => Err(RepoError::Output {
                command: said.command,
                what: format!("`{line}` is not two numbers"),
            }),
        }
    }

    /// Whether some branch, tag or other reference holds a commit.
    pub fn is_reachable(&self, commit: &str) -> Result<bool, RepoError> {
        let said = self
            .git([
                "for-each-ref",
                "--count=1",
                "--format=%(refname)",
                "--contains",
                commit,
            ])
            .ok()?;
        Ok(!said.stdout.is_empty())
    }

    /// Forgets work trees whose folders are gone and that are not locked.
    pub fn worktree_prune(&self) -> Result<(), RepoError> {
        self.git(["worktree", "prune"]).ok().map(|_| ())
    }
}
