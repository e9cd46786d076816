//! What differs from a base, and where the difference sits.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::base::{Base, HeadAtBase};
use crate::error::RepoError;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::raw::{self, Change, ChangeKind, Mode};
use crate::repo::Repo;
use crate::status::{self, Entry};

/// Everything that differs from a base: in commits, in the index, in the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// What it is measured against.
    pub base: Base,
    /// HEAD now.
    pub head: Option<ObjectId>,
    /// The work tree now, as [`Repo::snapshot`] hashes it; none where nobody needed it hashed.
    pub tree: Option<ObjectId>,
    /// Base against work tree, with renames: the net effect.
    pub net: Vec<Change>,
    /// Commits made since the base, against it: also what the work tree has undone since.
    pub committed: Vec<Change>,
    /// The index against the base, where it holds what neither HEAD nor the work tree has.
    pub index_only: Vec<Change>,
    /// Whether HEAD still descends from what it was at the base (true where that is unknown).
    pub descends: bool,
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
    /// Everything that differs from `base` (a commit, a tree, or what [`Repo::record_base`] gave),
    /// with the work tree hashed.
    pub fn changes(&self, base: &str) -> Result<ChangeSet, RepoError> {
        self.changes_since(self.base(base)?, true)
    }

    /// Like [`Repo::changes`], for a base that is already resolved. Without `hashed` the changed
    /// files are not read where git's status alone tells all, which is much faster.
    pub fn changes_since(&self, base: Base, hashed: bool) -> Result<ChangeSet, RepoError> {
        let look = self.look()?;
        let head = look.head.clone();
        let quick = if hashed {
            None
        } else {
            self.net_by_status(&base, head.as_ref(), &look)?
        };
        let (net, tree) = if let Some(net) = quick {
            (net, None)
        } else {
            let tree = self.snapshot()?;
            (self.diff_trees(&base.tree, &tree)?, Some(tree))
        };
        let index_only = self.index_only(&base, &look)?;
        let committed = self.committed(&base, head.as_ref())?;
        let descends = match (&base.head, &head) {
            (HeadAtBase::Commit(start), Some(head)) if start != head => {
                self.is_ancestor(start.as_str(), head.as_str())?
            }
            (HeadAtBase::Commit(_), None) => false,
            _ => true,
        };
        Ok(ChangeSet {
            descends,
            base,
            head,
            tree,
            net,
            committed,
            index_only,
            status: look.status,
        })
    }

    /// The net changes by status alone. None where that is not exact: when HEAD is not the base,
    /// when one file has two states, or when a rename may hide in a deletion and a new file.
    fn net_by_status(
        &self,
        base: &Base,
        head: Option<&ObjectId>,
        look: &Look,
    ) -> Result<Option<Vec<Change>>, RepoError> {
        let same = match (&base.head, head) {
            (HeadAtBase::Commit(start), Some(head)) => start == head,
            (HeadAtBase::Unborn, None) => true,
            _ => false,
        };
        if !same || !self.is_clean_start(base)? {
            return Ok(None);
        }
        let mut net = Vec::new();
        for entry in &look.status {
            let two_states = entry.unmerged || (entry.staged && entry.unstaged);
            let change = if entry.untracked {
                self.untracked(entry)
            } else {
                entry.as_change()
            };
            match change {
                Some(change) if !two_states => net.push(change),
                _ => return Ok(None),
            }
        }
        let any = |kind| net.iter().any(|c| c.kind == kind);
        let may_rename = any(ChangeKind::Deleted) && any(ChangeKind::Added);
        net.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Some(net).filter(|_| !may_rename))
    }

    /// An untracked file as an addition; none for a folder, which holds a repository of its own.
    fn untracked(&self, entry: &Entry) -> Option<Change> {
        let data = fs::symlink_metadata(self.root().join(entry.path.as_path())).ok()?;
        let new_mode = match data.file_type() {
            kind if kind.is_symlink() => Mode::Symlink,
            kind if !kind.is_file() => return None,
            _ if data.permissions().mode() & 0o100 != 0 => Mode::Executable,
            _ => Mode::File,
        };
        Some(Change {
            kind: ChangeKind::Added,
            path: entry.path.clone(),
            from: None,
            old_mode: Mode::Absent,
            new_mode,
            old_id: None,
            new_id: None,
        })
    }

    /// The files that differ between two trees or commits, with renames and copies.
    pub fn diff_trees(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<Change>, RepoError> {
        if old == new {
            return Ok(Vec::new());
        }
        if let Some(known) = self.known_diff(old, new) {
            return Ok(known);
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
        let changes = raw::parse(&said.stdout)?;
        self.remember_diff(old, new, &changes);
        Ok(changes)
    }

    /// Changed paths of the work tree against HEAD, without Baton's own folder.
    pub fn dirty(&self) -> Result<Vec<Entry>, RepoError> {
        let said = self.git(["status"]).args(STATUS_FORMAT).ok()?;
        let mut entries = status::parse(&said.stdout)?;
        entries.retain(|e| !e.path.is_within(".orchestrator"));
        Ok(entries)
    }

    /// The status through a private copy of the index, which may then be refreshed at will.
    pub(crate) fn look(&self) -> Result<Look, RepoError> {
        let dir = tempfile::tempdir().map_err(RepoError::io("cannot make a temporary folder"))?;
        let index = dir.path().join("index");
        self.copy_index(&self.git_dir().join("index"), &index)?;
        let (status, head) = self.status_of(&index)?;
        Ok(Look {
            status,
            head,
            index,
            _dir: dir,
        })
    }

    /// The status through an index, and the commit that is checked out.
    pub(crate) fn status_of(
        &self,
        index: &Path,
    ) -> Result<(Vec<Entry>, Option<ObjectId>), RepoError> {
        let said = self
            .git(["status", "--branch", "--no-ahead-behind"])
            .args(STATUS_FORMAT)
            .env("GIT_INDEX_FILE", index)
            .ok()?;
        Ok((status::parse(&said.stdout)?, status::head(&said.stdout)))
    }

    /// What was staged and then undone in the work tree. After a dirty start the index may have
    /// been so before the work began, so nobody is blamed for it.
    fn index_only(&self, base: &Base, look: &Look) -> Result<Vec<Change>, RepoError> {
        let both: BTreeSet<_> = look
            .status
            .iter()
            .filter(|e| e.staged && e.unstaged && !e.unmerged)
            .map(|e| &e.path)
            .collect();
        if both.is_empty() || !self.is_clean_start(base)? {
            return Ok(Vec::new());
        }
        let said = self
            .reading(["diff-index", "--cached", "-r", "--raw", "-z", "--no-abbrev"])
            .args(["--no-renames", base.tree.as_str()])
            .env("GIT_INDEX_FILE", &look.index)
            .ok()?;
        let mut staged = raw::parse(&said.stdout)?;
        staged.retain(|c| both.contains(&c.path));
        Ok(staged)
    }

    fn is_clean_start(&self, base: &Base) -> Result<bool, RepoError> {
        match &base.head {
            HeadAtBase::Commit(head) => Ok(self.tree_of(head)? == base.tree),
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
            HeadAtBase::Commit(start) => self.tree_of(start)?,
            HeadAtBase::Unborn | HeadAtBase::Unknown => self.empty_tree()?,
        };
        let head_tree = self.tree_of(head)?;
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

/// One look at the work tree.
pub(crate) struct Look {
    pub(crate) status: Vec<Entry>,
    /// The commit that is checked out; none before the first one.
    pub(crate) head: Option<ObjectId>,
    pub(crate) index: PathBuf,
    /// Removed with the index when this goes.
    _dir: TempDir,
}

const STATUS_FORMAT: [&str; 5] = [
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=none",
    "--find-renames",
];
