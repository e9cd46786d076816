//! Git's status, seen through a private copy of the index.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::RepoError;
use crate::git::Said;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::repo::Repo;
use crate::status::{self, Entry};

/// One look at the work tree, from which [`Repo::changes_seen`] tells what differs.
#[derive(Debug)]
pub struct Look {
    pub(crate) status: Vec<Entry>,
    /// The commit that is checked out; none before the first one.
    pub(crate) head: Option<ObjectId>,
    /// The names that git ignores: files, and whole folders with a slash behind them.
    pub(crate) ignored: Vec<GitPath>,
    pub(crate) index: PathBuf,
    /// Removed with the index when this goes.
    _dir: TempDir,
}

const STATUS_FORMAT: [&str; 4] = [
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=none",
];

impl Repo {
    /// Changed paths of the work tree against HEAD, without Baton's own folder.
    pub fn dirty(&self) -> Result<Vec<Entry>, RepoError> {
        let status = self.git(["status", "--find-renames"]);
        let said = status.args(STATUS_FORMAT).ok()?;
        let mut entries = status::parse(&said.stdout)?;
        entries.retain(|e| !e.path.is_within(".orchestrator"));
        Ok(entries)
    }

    /// The status through a private copy of the index, which may then be refreshed at will.
    pub fn look(&self) -> Result<Look, RepoError> {
        let dir = tempfile::tempdir().map_err(RepoError::io("cannot make a temporary folder"))?;
        let index = dir.path().join("index");
        self.copy_index(&self.git_dir().join("index"), &index)?;
        let said = self.status_said(&index, &["--ignored=matching"])?;
        Ok(Look {
            status: status::parse(&said.stdout)?,
            head: status::head(&said.stdout),
            ignored: status::ignored(&said.stdout),
            index,
            _dir: dir,
        })
    }

    /// The status through an index, and the commit that is checked out. Renames are not paired:
    /// each name stands for itself.
    pub(crate) fn status_of(
        &self,
        index: &Path,
    ) -> Result<(Vec<Entry>, Option<ObjectId>), RepoError> {
        let said = self.status_said(index, &[])?;
        Ok((status::parse(&said.stdout)?, status::head(&said.stdout)))
    }

    fn status_said(&self, index: &Path, more: &[&str]) -> Result<Said, RepoError> {
        self.git(["status", "--branch", "--no-ahead-behind", "--no-renames"])
            .args(STATUS_FORMAT)
            .args(more)
            .env("GIT_INDEX_FILE", index)
            .ok()
    }
}
