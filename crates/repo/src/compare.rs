//! From a base to the work tree: what differs, as cheaply as can be told.

use std::collections::BTreeSet;

use crate::as_is;
use crate::base::{Base, HeadAtBase};
use crate::changes::ChangeSet;
use crate::error::RepoError;
use crate::id::ObjectId;
use crate::look::Look;
use crate::objects::Algorithm;
use crate::pairs;
use crate::path::GitPath;
use crate::raw::{self, Change, ChangeKind, Mode};
use crate::repo::Repo;
use crate::states::{States, Wanted};

/// How much must be known of the work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Which names differ. Files are read only where git's status does not tell it.
    Names,
    /// The name of its tree as well, for which every changed file is read.
    TreeName,
    /// The tree itself, as [`Repo::snapshot`] makes it, to be looked into or written out.
    Tree,
}

impl Repo {
    /// Everything that differs from `base` (a commit, a tree, or what [`Repo::record_base`] gave),
    /// with the work tree hashed.
    pub fn changes(&self, base: &str) -> Result<ChangeSet, RepoError> {
        self.changes_since(self.base(base)?, Depth::Tree)
    }

    /// Like [`Repo::changes`], for a base that is already resolved, and only as deep as is asked
    /// for. Only the whole tree has its renames paired.
    pub fn changes_since(&self, base: Base, depth: Depth) -> Result<ChangeSet, RepoError> {
        self.changes_seen(self.look()?, base, depth)
    }

    /// Like [`Repo::changes_since`], by a look that was taken already: it needs no base.
    pub fn changes_seen(
        &self,
        look: Look,
        base: Base,
        depth: Depth,
    ) -> Result<ChangeSet, RepoError> {
        let head = look.head.clone();
        let is_clean_start = self.is_clean_start(&base)?;
        let base_to_head = self.base_to_head(&base, is_clean_start, head.as_ref())?;
        let mut states = States::new(&base_to_head, &look.status);
        let index_only = states
            .as_ref()
            .filter(|_| is_clean_start)
            .map(States::index_only)
            .unwrap_or_default();
        let told = states
            .as_mut()
            .filter(|_| depth < Depth::Tree)
            .and_then(|states| self.told(states, &look, &base, depth));
        let (net, tree) = if let Some(told) = told {
            told
        } else {
            let tree = self.snapshot()?;
            let net = self.diff_trees(&base.tree, &tree)?;
            let told = states.map_or_else(Vec::new, |s| s.net());
            (with_repositories(net, &told), Some(tree))
        };
        let committed = self.committed(&base, is_clean_start, head.as_ref(), base_to_head)?;
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
            ignored: look.ignored,
        })
    }

    /// The net changes, and the tree's name where it is wanted, without git's hashing. None where
    /// git must do it.
    fn told(
        &self,
        states: &mut States,
        look: &Look,
        base: &Base,
        depth: Depth,
    ) -> Option<(Vec<Change>, Option<ObjectId>)> {
        let algorithm = Algorithm::of(&base.tree);
        let (wanted, found) = if depth > Depth::Names {
            let files = states.unnamed(Wanted::All);
            (Wanted::All, self.take_in(&files, &look.index, algorithm)?)
        } else {
            let files = states.unnamed(Wanted::Modified);
            let intake = self.intake(&files, &look.index)?;
            let wanted = if intake.is_plain() {
                Wanted::Open
            } else {
                Wanted::Modified
            };
            let files = states.unnamed(wanted);
            (wanted, self.name_contents(&files, &intake, algorithm)?)
        };
        states.name(wanted, found);
        let tree = if wanted == Wanted::All {
            Some(as_is::tree(states, &look.index, algorithm)?)
        } else {
            None
        };
        Some((states.net(), tree))
    }

    /// Pairs the renames that are not paired yet, by their content, until it is `enough`: finding
    /// files that were renamed and changed as well is slow, and often nobody needs to know.
    pub fn pair_renames(
        &self,
        facts: &mut ChangeSet,
        enough: impl Fn(&ChangeSet) -> bool,
    ) -> Result<(), RepoError> {
        let may_be_more = |facts: &ChangeSet| {
            pairs::may_be_more(&facts.net) || pairs::may_be_more(&facts.committed)
        };
        if !may_be_more(facts) || enough(facts) {
            return Ok(());
        }
        self.name_added(facts);
        facts.net = pairs::exact(&facts.net);
        facts.committed = pairs::exact(&facts.committed);
        if !may_be_more(facts) || enough(facts) {
            return Ok(());
        }
        if pairs::may_be_more(&facts.net) {
            let tree = self.snapshot()?;
            let net = self.diff_trees(&facts.base.tree, &tree)?;
            facts.net = with_repositories(net, &facts.net);
        }
        if pairs::may_be_more(&facts.committed) {
            let kept: BTreeSet<&GitPath> = facts.committed.iter().map(|c| &c.path).collect();
            let start = self.start(&facts.base)?;
            let head = self.tree_at(facts.head.as_ref())?;
            let mut paired = self.diff_trees(&start, &head)?;
            paired.retain(|c| c.touched().any(|p| kept.contains(p)));
            facts.committed = paired;
        }
        Ok(())
    }

    /// Names the contents of new files, where that can be done here.
    fn name_added(&self, facts: &mut ChangeSet) {
        let wanted = |c: &Change| {
            c.kind == ChangeKind::Added && c.new_mode != Mode::Submodule && c.new_id.is_none()
        };
        let files = facts.net.iter().filter(|c| wanted(c));
        let files: Vec<(&GitPath, Option<Mode>)> = files.map(|c| (&c.path, None)).collect();
        let algorithm = Algorithm::of(&facts.base.tree);
        let index = self.git_dir().join("index");
        let found = self.take_in(&files, &index, algorithm);
        let unnamed = facts.net.iter_mut().filter(|c| wanted(c));
        for (change, (mode, id)) in unnamed.zip(found.into_iter().flatten()) {
            change.new_mode = mode;
            change.new_id = Some(id);
        }
    }

    /// The files that differ between two trees or commits, with renames and copies.
    pub fn diff_trees(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<Change>, RepoError> {
        if old == new {
            return Ok(Vec::new());
        }
        if let Some(known) = self.known_diff(old, new) {
            return Ok(known);
        }
        let changes = self.diff(old, new, &["-M", "-C", "-l1000"])?;
        self.remember_diff(old, new, &changes);
        Ok(changes)
    }

    fn diff(
        &self,
        old: &ObjectId,
        new: &ObjectId,
        renames: &[&str],
    ) -> Result<Vec<Change>, RepoError> {
        let ask = |renames: &[&str]| {
            self.reading(["diff-tree", "-r", "--raw", "-z", "--no-abbrev"])
                .args(["--no-commit-id", "--ignore-submodules=none"])
                .args(renames)
                .args([old.as_str(), new.as_str()])
                .said()
        };
        let mut said = ask(renames)?;
        if said.lacks_contents() {
            // Files of the very same content can still be paired.
            self.missed_contents();
            said = ask(&["-M100%"])?;
        }
        if !said.is_ok() {
            return Err(said.into_error());
        }
        raw::parse(&said.stdout)
    }

    /// Whether nothing was uncommitted when the work started.
    fn is_clean_start(&self, base: &Base) -> Result<bool, RepoError> {
        Ok(base.head != HeadAtBase::Unknown && self.start(base)? == base.tree)
    }

    /// The tree of HEAD when the work started.
    fn start(&self, base: &Base) -> Result<ObjectId, RepoError> {
        match (&base.start, &base.head) {
            (Some(start), _) => Ok(start.clone()),
            (None, HeadAtBase::Commit(head)) => self.tree_of(head),
            (None, HeadAtBase::Unborn | HeadAtBase::Unknown) => self.empty_tree(),
        }
    }

    fn tree_at(&self, head: Option<&ObjectId>) -> Result<ObjectId, RepoError> {
        head.map_or_else(|| self.empty_tree(), |head| self.tree_of(head))
    }

    /// The files that differ between the base and HEAD, each name for itself.
    fn base_to_head(
        &self,
        base: &Base,
        is_clean_start: bool,
        head: Option<&ObjectId>,
    ) -> Result<Vec<Change>, RepoError> {
        let same = match (&base.head, head) {
            (HeadAtBase::Commit(start), Some(head)) => start == head,
            (HeadAtBase::Unborn, None) => true,
            _ => false,
        };
        if same && is_clean_start {
            return Ok(Vec::new());
        }
        let head = match head {
            Some(head) => head.clone(),
            None => self.empty_tree()?,
        };
        if base.tree == head {
            return Ok(Vec::new());
        }
        self.diff(&base.tree, &head, &["--no-renames"])
    }

    /// What commits since the base changed. A file that was dirty at the start and was committed
    /// as it was is no change.
    fn committed(
        &self,
        base: &Base,
        is_clean_start: bool,
        head: Option<&ObjectId>,
        base_to_head: Vec<Change>,
    ) -> Result<Vec<Change>, RepoError> {
        let head = match (&base.head, head) {
            (HeadAtBase::Unknown, _) | (_, None) => return Ok(Vec::new()),
            (HeadAtBase::Commit(start), Some(head)) if start == head => return Ok(Vec::new()),
            (_, Some(head)) => head,
        };
        if is_clean_start {
            return Ok(base_to_head);
        }
        let start = self.start(base)?;
        let mut made = self.diff(&start, head, &["--no-renames"])?;
        let differing: BTreeSet<_> = base_to_head.iter().map(|c| &c.path).collect();
        made.retain(|c| differing.contains(&c.path));
        Ok(made)
    }
}

/// The changes with the new repositories inside that git left out, for they have no commit yet.
fn with_repositories(mut net: Vec<Change>, told: &[Change]) -> Vec<Change> {
    let is_repository = |c: &&Change| c.old_mode == Mode::Absent && c.new_mode == Mode::Submodule;
    for change in told.iter().filter(is_repository) {
        if net.iter().all(|c| c.path != change.path) {
            net.push(change.clone());
        }
    }
    net.sort_by(|a, b| a.path.cmp(&b.path));
    net
}
