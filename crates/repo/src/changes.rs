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
    /// What git ignores: files, and whole folders with a slash behind them.
    pub ignored: Vec<GitPath>,
}

impl ChangeSet {
    /// All its names, put in order once.
    pub fn names(&self) -> Names<'_> {
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
        let touched = changes
            .flat_map(Change::touched)
            .chain(inside_submodules)
            .collect();
        Names {
            set: self,
            touched: sorted(touched),
        }
    }

    /// Every name that was added, altered or removed since the base, both names of a rename; sorted,
    /// each once.
    pub fn touched(&self) -> Vec<&GitPath> {
        self.names().touched
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.touched().is_empty()
    }
}

/// The names of a [`ChangeSet`], all of them and by where they differ.
#[derive(Debug)]
pub struct Names<'a> {
    set: &'a ChangeSet,
    touched: Vec<&'a GitPath>,
}

impl<'a> Names<'a> {
    /// See [`ChangeSet::touched`].
    pub fn touched(&self) -> &[&'a GitPath] {
        &self.touched
    }

    /// The touched names that commits since the base hold.
    pub fn committed(&self) -> Vec<&'a GitPath> {
        sorted(
            self.set
                .committed
                .iter()
                .flat_map(Change::touched)
                .collect(),
        )
    }

    /// The touched names that the index holds and HEAD does not.
    pub fn staged(&self) -> Vec<&'a GitPath> {
        self.of_status(|e| e.staged)
    }

    /// The touched names that only the work tree holds.
    pub fn unstaged(&self) -> Vec<&'a GitPath> {
        self.of_status(|e| e.unstaged)
    }

    /// The touched names that git does not track and does not ignore.
    pub fn untracked(&self) -> Vec<&'a GitPath> {
        self.of_status(|e| e.untracked)
    }

    fn of_status(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<&'a GitPath> {
        let names = self.set.status.iter().filter(|e| wanted(e));
        let names = names.flat_map(|e| std::iter::once(&e.path).chain(e.from.as_ref()));
        let mut touched = self.touched.iter().peekable();
        let mut found = sorted(names.collect());
        // Both lists are sorted: one walk along both.
        found.retain(|name| {
            while touched.next_if(|t| **t < name).is_some() {}
            touched.peek() == Some(&name)
        });
        found
    }
}

/// Sorted, each once. (The lists they come from are sorted already, which makes this quick.)
fn sorted(mut paths: Vec<&GitPath>) -> Vec<&GitPath> {
    paths.sort();
    paths.dedup();
    paths
}
