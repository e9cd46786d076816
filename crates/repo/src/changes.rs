//! What differs from a base, and where the difference sits.

use std::collections::BTreeSet;

use crate::base::{Base, HeadAtBase};
use crate::error::RepoError;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::raw::{self, Change, ChangeKind};
use crate::repo::Repo;
use crate::status::{self, Entry};

/// Everything that differs from a base: in commits, in the index, in the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// What it is measured against.
    pub base: Base,
    /// HEAD now.
    pub head: Option<ObjectId>,
    /// The work tree now, as [`Repo::snapshot`] hashes it.
    pub tree: ObjectId,
    /// Base against work tree, with renames: the net effect.
    pub net: Vec<Change>,
    /// Commits made since the base, against it: also what the work tree has undone since.
    pub committed: Vec<Change>,
    /// The index against the base, where it holds what neither HEAD nor the work tree has.
    pub index_only: Vec<Change>,
    /// HEAD against index and work tree, as git's status has it. Files that were dirty before
    /// the base was recorded are among them.
    pub status: Vec<Entry>,
}

impl ChangeSet {
    /// Every name that was added, altered or removed since the base, both names of a rename.
    pub fn touched(&self) -> BTreeSet<&GitPath> {
        let changes = self
            .net
            .iter()
            .chain(&self.committed)
            .chain(&self.index_only);
        let inside_submodules = self
            .status
            .iter()
            .filter(|e| e.submodule.is_some_and(|s| s.modified || s.untracked))
            .map(|e| &e.path);
        changes
            .flat_map(Change::touched)
            .chain(inside_submodules)
            .collect()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.touched().is_empty()
    }

    /// The touched names that commits since the base hold.
    pub fn committed_paths(&self) -> Vec<&GitPath> {
        let paths: BTreeSet<_> = self.committed.iter().flat_map(Change::touched).collect();
        paths.into_iter().collect()
    }

    /// The touched names that the index holds and HEAD does not.
    pub fn staged_paths(&self) -> Vec<&GitPath> {
        self.status_paths(|e| e.staged)
    }

    /// The touched names that only the work tree holds.
    pub fn unstaged_paths(&self) -> Vec<&GitPath> {
        self.status_paths(|e| e.unstaged)
    }

    /// The touched names that git does not track and does not ignore.
    pub fn untracked_paths(&self) -> Vec<&GitPath> {
        self.status_paths(|e| e.untracked)
    }

    fn status_paths(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<&GitPath> {
        let touched = self.touched();
        let names = self.status.iter().filter(|e| wanted(e)).flat_map(|e| {
            let old = e.from.as_ref();
            std::iter::once(&e.path).chain(old)
        });
        let paths: BTreeSet<_> = names.filter(|p| touched.contains(p)).collect();
        paths.into_iter().collect()
    }
}

impl Repo {
    /// Everything that differs from `base` (a commit, a tree, or what [`Repo::record_base`] gave).
    pub fn changes(&self, base: &str) -> Result<ChangeSet, RepoError> {
        self.changes_since(self.base(base)?)
    }

    /// Like [`Repo::changes`], for a base that is already resolved.
    pub fn changes_since(&self, base: Base) -> Result<ChangeSet, RepoError> {
        let tree = self.snapshot()?;
        let head = self.head()?.commit;
        let (status, index_only) = self.index_state(&base)?;
        let net = self.diff_trees(&base.tree, &tree)?;
        let committed = self.committed(&base, head.as_ref())?;
        Ok(ChangeSet {
            base,
            head,
            tree,
            net,
            committed,
            index_only,
            status,
        })
    }

    /// The files that differ between two trees or commits, with renames and copies.
    pub fn diff_trees(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<Change>, RepoError> {
        if old == new {
            return Ok(Vec::new());
        }
        let said = self
            .reading([
                "diff-tree",
                "-r",
                "--raw",
                "-z",
                "--no-abbrev",
                "--no-commit-id",
            ])
            .args(["-M", "-C", "-l1000", "--ignore-submodules=none"])
            .args([old.as_str(), new.as_str()])
            .ok()?;
        raw::parse(&said.stdout)
    }

    /// Changed paths of the work tree against HEAD, without Baton's own folder.
    pub fn dirty(&self) -> Result<Vec<Entry>, RepoError> {
        let said = self.git(["status"]).args(STATUS_FORMAT).ok()?;
        let mut entries = status::parse(&said.stdout)?;
        entries.retain(|e| !e.path.is_within(".orchestrator"));
        Ok(entries)
    }

    /// The status through a private copy of the index, and what only the index holds.
    fn index_state(&self, base: &Base) -> Result<(Vec<Entry>, Vec<Change>), RepoError> {
        let dir = tempfile::tempdir().map_err(RepoError::io("cannot make a temporary folder"))?;
        let index = dir.path().join("index");
        self.copy_index(&self.git_dir().join("index"), &index)?;
        let said = self
            .git(["status"])
            .args(STATUS_FORMAT)
            .env("GIT_INDEX_FILE", &index)
            .ok()?;
        let status = status::parse(&said.stdout)?;
        // Staged and then undone in the work tree. After a dirty start the index may have been
        // so before the work began, so nobody is blamed for it.
        let both: BTreeSet<_> = status
            .iter()
            .filter(|e| e.staged && e.unstaged && !e.unmerged)
            .map(|e| &e.path)
            .collect();
        if both.is_empty() || !self.is_clean_start(base)? {
            return Ok((status, Vec::new()));
        }
        let said = self
            .reading(["diff-index", "--cached", "-r", "--raw", "-z", "--no-abbrev"])
            .args(["--no-renames", base.tree.as_str()])
            .env("GIT_INDEX_FILE", &index)
            .ok()?;
        let mut staged = raw::parse(&said.stdout)?;
        staged.retain(|c| both.contains(&c.path));
        Ok((status, staged))
    }

    fn is_clean_start(&self, base: &Base) -> Result<bool, RepoError> {
        match &base.head {
            HeadAtBase::Commit(head) => Ok(self.tree(head.as_str())? == base.tree),
            HeadAtBase::Unborn => Ok(self.empty_tree()? == base.tree),
            HeadAtBase::Unknown => Ok(false),
        }
    }

    /// What commits since the base changed. A file that was dirty at the start and was committed
    /// as it was is no change.
    fn committed(&self, base: &Base, head: Option<&ObjectId>) -> Result<Vec<Change>, RepoError> {
        let (Some(head), false) = (head, base.head == HeadAtBase::Unknown) else {
            return Ok(Vec::new());
        };
        let start = match &base.head {
            HeadAtBase::Commit(start) if start == head => return Ok(Vec::new()),
            HeadAtBase::Commit(start) => self.tree(start.as_str())?,
            HeadAtBase::Unborn | HeadAtBase::Unknown => self.empty_tree()?,
        };
        let head_tree = self.tree(head.as_str())?;
        let made = self.diff_trees(&start, &head_tree)?;
        if start == base.tree {
            return Ok(made);
        }
        let against_base = self.diff_trees(&base.tree, &head_tree)?;
        let differing: BTreeSet<_> = against_base.iter().flat_map(Change::touched).collect();
        Ok(made
            .into_iter()
            .filter(|c| {
                c.kind == ChangeKind::Unmerged || c.touched().any(|p| differing.contains(p))
            })
            .collect())
    }
}

const STATUS_FORMAT: [&str; 5] = [
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=none",
    "--find-renames",
];
