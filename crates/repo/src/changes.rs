//! What differs from a base, and where the difference sits.

use crate::base::Base;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::raw::Change;
use crate::status::Entry;

/// Everything that differs from a base: in commits, in the index, in the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// What it is measured against.
    pub base: Base,
    /// HEAD now.
    pub head: Option<ObjectId>,
    /// The work tree now, as [`crate::Repo::snapshot`] names it; none where nobody needed it named.
    pub tree: Option<ObjectId>,
    /// Base against work tree: the net effect. Renames may not be paired yet
    /// ([`crate::Repo::pair_renames`]).
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
    /// Every name that was added, altered or removed since the base, both names of a rename; sorted,
    /// each once.
    pub fn touched(&self) -> Vec<&GitPath> {
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
        sorted(
            changes
                .flat_map(Change::touched)
                .chain(inside_submodules)
                .collect(),
        )
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.touched().is_empty()
    }

    /// The touched names that commits since the base hold.
    pub fn committed_paths(&self) -> Vec<&GitPath> {
        sorted(self.committed.iter().flat_map(Change::touched).collect())
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
        sorted(names.filter(|p| touched.binary_search(p).is_ok()).collect())
    }
}

/// Sorted, each once. (The lists they come from are sorted already, which makes this quick.)
fn sorted(mut paths: Vec<&GitPath>) -> Vec<&GitPath> {
    paths.sort();
    paths.dedup();
    paths
}
