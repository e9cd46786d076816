//! Bringing one piece of work onto a branch, without ever forcing anything.

use crate::error::{RepoError, list};
use crate::git::Git;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::repo::{Repo, split_names};

/// The outcome of a rebase or a cherry-pick. A conflict is a normal one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integration {
    /// The new tip.
    Done(ObjectId),
    /// These files conflict; everything is as it was before.
    Conflict(Vec<GitPath>),
}

impl Repo {
    /// Moves the commits since `upstream` of the branch checked out here onto `onto`.
    pub fn rebase(&self, upstream: &str, onto: &str) -> Result<Integration, RepoError> {
        let git = self
            .git([
                "rebase",
                "--quiet",
                "--merge",
                "--no-autosquash",
                "--no-autostash",
            ])
            .args([
                "--no-verify",
                "--empty=drop",
                "--no-update-refs",
                "--onto",
                onto,
                upstream,
            ]);
        self.integrate(git)
    }

    /// Repeats the commits `upstream..tip` on top of what is checked out here.
    pub fn cherry_pick(&self, upstream: &str, tip: &str) -> Result<Integration, RepoError> {
        if self.commit(upstream)? == self.commit(tip)? {
            return Ok(Integration::Done(self.commit("HEAD")?));
        }
        let git = self
            .git(["cherry-pick", "--allow-empty", "--keep-redundant-commits"])
            .arg(format!("{upstream}..{tip}"));
        self.integrate(git)
    }

    /// As [`Repo::cherry_pick`], but conflicts in files that `settled` names are settled with the
    /// version that is checked out here; these files are given back.
    pub fn cherry_pick_keeping(
        &self,
        upstream: &str,
        tip: &str,
        settled: &dyn Fn(&GitPath) -> bool,
    ) -> Result<(Integration, Vec<GitPath>), RepoError> {
        let mut kept = Vec::new();
        if self.commit(upstream)? == self.commit(tip)? {
            return Ok((Integration::Done(self.commit("HEAD")?), kept));
        }
        let git = self
            .git(["cherry-pick", "--allow-empty", "--keep-redundant-commits"])
            .arg(format!("{upstream}..{tip}"));
        let mut said = self.as_committer(git)?.said()?;
        while !said.is_ok() {
            let unmerged = self.unmerged()?;
            if unmerged.is_empty() || !unmerged.iter().all(settled) {
                self.abort_operation()?;
                return if unmerged.is_empty() {
                    Err(said.into_error())
                } else {
                    Ok((Integration::Conflict(unmerged), kept))
                };
            }
            for path in &unmerged {
                // What is checked out here is "ours"; where it is not there, it stays away.
                let ours = self
                    .git(["checkout", "--ours", "--"])
                    .arg(path.as_path())
                    .said()?;
                let take = if ours.is_ok() { ["add"] } else { ["rm"] };
                let git = self.git(take);
                let git = if ours.is_ok() {
                    git
                } else {
                    git.args(["--quiet", "--cached"])
                };
                git.arg("--").arg(path.as_path()).ok()?;
            }
            kept.extend(unmerged);
            self.as_committer(
                self.git(["commit", "--quiet", "--no-verify", "--allow-empty"])
                    .args(["--cleanup=verbatim", "-C", "CHERRY_PICK_HEAD"]),
            )?
            .ok()?;
            if self.operation_in_progress().is_none() {
                break;
            }
            said = self
                .as_committer(self.git(["cherry-pick", "--continue"]))?
                .said()?;
        }
        Ok((Integration::Done(self.commit("HEAD")?), kept))
    }

    /// Puts these files, as they are now, into the commit that is checked out. None: they are in it.
    pub fn amend(&self, paths: &[GitPath]) -> Result<Option<ObjectId>, RepoError> {
        if paths.is_empty() {
            return Ok(None);
        }
        let names = paths.iter().map(GitPath::as_path);
        self.git(["add", "--"]).args(names).ok()?;
        let staged = self
            .git(["diff-index", "--cached", "--quiet", "HEAD"])
            .said()?;
        if staged.is_ok() {
            return Ok(None);
        }
        self.as_committer(
            self.git(["commit", "--quiet", "--no-verify", "--amend", "--no-edit"])
                .args(["--cleanup=verbatim", "--allow-empty"]),
        )?
        .ok()?;
        Ok(Some(self.commit("HEAD")?))
    }

    fn unmerged(&self) -> Result<Vec<GitPath>, RepoError> {
        let unmerged = self
            .git([
                "diff",
                "--name-only",
                "--diff-filter=U",
                "-z",
                "--no-ext-diff",
            ])
            .ok()?;
        Ok(split_names(&unmerged.stdout))
    }

    fn integrate(&self, git: Git) -> Result<Integration, RepoError> {
        let said = self.as_committer(git)?.said()?;
        if said.is_ok() {
            return Ok(Integration::Done(self.commit("HEAD")?));
        }
        let paths = self.unmerged()?;
        self.abort_operation()?;
        if paths.is_empty() {
            return Err(said.into_error());
        }
        Ok(Integration::Conflict(paths))
    }

    /// The rebase, cherry-pick or merge that a crash left half done here.
    ///
    /// (A bisection is none: nothing of it is in the files.)
    pub fn operation_in_progress(&self) -> Option<&'static str> {
        let traces = [
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("sequencer", "cherry-pick"),
            ("MERGE_HEAD", "merge"),
        ];
        let found = traces
            .iter()
            .find(|(file, _)| self.git_dir().join(file).exists());
        found.map(|(_, verb)| *verb)
    }

    /// Undoes a half-done rebase, cherry-pick or merge. Nothing to undo is no error.
    pub fn abort_operation(&self) -> Result<(), RepoError> {
        match self.operation_in_progress() {
            Some(verb) => self.git([verb, "--abort"]).ok().map(|_| ()),
            None => Ok(()),
        }
    }

    /// The commit of a local branch; none when there is no such branch.
    pub fn branch(&self, name: &str) -> Result<Option<ObjectId>, RepoError> {
        self.find(&format!("refs/heads/{name}^{{commit}}"))
    }

    /// The local branches whose names begin so.
    pub fn branches_below(&self, start: &str) -> Result<Vec<String>, RepoError> {
        let said = self
            .git(["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"])
            .ok()?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let names = text.lines().filter(|name| name.starts_with(start));
        Ok(names.map(str::to_owned).collect())
    }

    /// Makes a branch at a commit. An existing branch is an error, unless it is there already.
    pub fn create_branch(&self, name: &str, at: &str) -> Result<(), RepoError> {
        let commit = self.commit(at)?;
        match self.branch(name)? {
            Some(there) if there == commit => return Ok(()),
            Some(there) => {
                return Err(RepoError::Refused(format!(
                    "branch `{name}` exists already, at {there}; it was not moved"
                )));
            }
            None => {}
        }
        self.git(["branch", "--no-track", name, commit.as_str()])
            .ok()?;
        Ok(())
    }

    /// Deletes a branch whose commits `merged_into` holds too.
    pub fn delete_branch(&self, name: &str, merged_into: &str) -> Result<(), RepoError> {
        let Some(tip) = self.branch(name)? else {
            return Ok(());
        };
        if !self.is_ancestor(tip.as_str(), merged_into)? {
            return Err(RepoError::Refused(format!(
                "branch `{name}` holds commits that `{merged_into}` does not; it was kept"
            )));
        }
        self.git(["branch", "--quiet", "-D", "--", name]).ok()?;
        Ok(())
    }

    /// Moves a branch forward to a commit that descends from it, never otherwise. Where the branch
    /// is checked out, the files follow; if that would overwrite uncommitted work, nothing happens.
    pub fn fast_forward(&self, branch: &str, to: &str) -> Result<(), RepoError> {
        let to = self.commit(to)?;
        let old = self.branch(branch)?.ok_or_else(|| {
            RepoError::Refused(format!("there is no branch `{branch}` to move forward"))
        })?;
        if old == to {
            return Ok(());
        }
        if !self.is_ancestor(old.as_str(), to.as_str())? {
            return Err(RepoError::Refused(format!(
                "branch `{branch}` has moved to {old}, which {to} does not contain; rebase first"
            )));
        }
        let holder = self
            .worktrees()?
            .into_iter()
            .find(|w| w.branch.as_deref() == Some(branch));
        let Some(holder) = holder.filter(|w| !w.missing) else {
            let reference = format!("refs/heads/{branch}");
            self.git(["update-ref", "-m", "baton: fast-forward"])
                .args([&reference, to.as_str(), old.as_str()])
                .ok()?;
            return Ok(());
        };
        let said = Git::new(
            &holder.path,
            ["merge", "--ff-only", "--quiet", "--no-verify-signatures"],
        )
        .settings(self.guards())
        .setting("merge.autoStash", "false")
        .arg(to.as_str())
        .said()?;
        if said.is_ok() {
            return Ok(());
        }
        if said.stderr.contains("would be overwritten") {
            let names: Vec<GitPath> = said
                .stderr
                .lines()
                .filter_map(|l| l.strip_prefix('\t'))
                .map(GitPath::from)
                .collect();
            return Err(RepoError::Refused(format!(
                "branch `{branch}` is checked out in {} with uncommitted changes in {}; \
                 commit or stash them, then try again",
                holder.path.display(),
                list(&names)
            )));
        }
        Err(said.into_error())
    }
}
