//! What every changed name holds at the base, in HEAD, in the index and on disk, put together from
//! two lists: the changes from the base to HEAD, and git's status.

use std::collections::BTreeMap;

use crate::id::ObjectId;
use crate::path::GitPath;
use crate::raw::{Change, ChangeKind, Mode};
use crate::status::Entry;

/// What a name holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Absent,
    Known(Mode, ObjectId),
    /// On disk, where the index does not have it as it is; its content was not named yet.
    OnDisk(Mode),
    /// On disk, and not tracked: a file, a program or a link.
    New,
}

impl State {
    fn new(mode: Mode, id: Option<&ObjectId>) -> Self {
        match (mode, id) {
            (Mode::Absent, _) => Self::Absent,
            (mode, Some(id)) => Self::Known(mode, id.clone()),
            (mode, None) => Self::OnDisk(mode),
        }
    }

    /// Of what is new this is a guess.
    pub(crate) const fn mode(&self) -> Mode {
        match self {
            Self::Absent => Mode::Absent,
            Self::New => Mode::File,
            Self::Known(mode, _) | Self::OnDisk(mode) => *mode,
        }
    }

    pub(crate) const fn id(&self) -> Option<&ObjectId> {
        match self {
            Self::Known(_, id) => Some(id),
            Self::Absent | Self::OnDisk(_) | Self::New => None,
        }
    }
}

/// One name at four points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) base: State,
    pub(crate) head: State,
    pub(crate) index: State,
    pub(crate) disk: State,
}

impl Name {
    fn is_wanted(&self, wanted: Wanted) -> bool {
        let is_of_base = match self.disk {
            State::Absent | State::Known(..) => return false,
            State::OnDisk(mode) => self.base.mode() == mode,
            State::New => self.base != State::Absent,
        };
        match wanted {
            Wanted::Open => is_of_base && self.base != self.index,
            Wanted::Modified => is_of_base,
            Wanted::All => true,
        }
    }

    /// Base against disk; none where they are the same.
    fn net(&self, path: &GitPath) -> Option<Change> {
        change(path, &self.base, &self.disk)
    }

    /// Base against index, where the index holds what neither HEAD nor the disk has.
    fn index_only(&self, path: &GitPath) -> Option<Change> {
        if self.index == self.head || self.index == self.disk {
            return None;
        }
        change(path, &self.base, &self.index)
    }
}

/// All names that differ anywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct States(pub(crate) BTreeMap<GitPath, Name>);

impl States {
    /// Puts the lists together. None where they do not tell all: a conflict.
    pub(crate) fn new(base_to_head: &[Change], status: &[Entry]) -> Option<Self> {
        if status.iter().any(|e| e.unmerged || e.from.is_some()) {
            return None;
        }
        let (new, known): (Vec<&Entry>, Vec<&Entry>) = status.iter().partition(|e| e.untracked);
        // Both lists are sorted, which makes this quick.
        let mut names: BTreeMap<GitPath, Name> = known
            .into_iter()
            .map(|entry| (entry.path.clone(), tracked(entry)))
            .chain(
                new.iter()
                    .map(|entry| (entry.path.clone(), untracked(entry))),
            )
            .collect();
        // Of a name that the index has dropped both is told, and the later word stands.
        for entry in status.iter().filter(|e| is_dropped(e)) {
            if let Some(name) = names.get_mut(&entry.path) {
                let disk = name.disk.clone();
                *name = Name {
                    disk,
                    ..tracked(entry)
                };
            }
        }
        for change in base_to_head {
            let now = State::new(change.new_mode, change.new_id.as_ref());
            let name = names.entry(change.path.clone());
            let name = name.or_insert_with(|| all(&now));
            name.base = State::new(change.old_mode, change.old_id.as_ref());
        }
        Some(Self(names))
    }

    /// Base against disk, by name. Renames are not paired.
    pub(crate) fn net(&self) -> Vec<Change> {
        self.0.iter().filter_map(|(path, n)| n.net(path)).collect()
    }

    /// Base against index, where the index holds what neither HEAD nor the disk has.
    pub(crate) fn index_only(&self) -> Vec<Change> {
        let changes = self.0.iter().filter_map(|(path, n)| n.index_only(path));
        changes.collect()
    }

    /// The names whose content on disk is wanted and not known.
    /// With what is known of their kind: nothing of those that are new.
    pub(crate) fn unnamed(&self, wanted: Wanted) -> Vec<(&GitPath, Option<Mode>)> {
        let names = self.0.iter().filter(|(_, n)| n.is_wanted(wanted));
        let kind = |disk: &State| Some(disk.mode()).filter(|_| *disk != State::New);
        names.map(|(path, n)| (path, kind(&n.disk))).collect()
    }

    /// Puts the contents on disk in, in the order of [`States::unnamed`].
    pub(crate) fn name(&mut self, wanted: Wanted, found: Vec<(Mode, ObjectId)>) {
        let names = self.0.values_mut().filter(|n| n.is_wanted(wanted));
        for (name, (mode, id)) in names.zip(found) {
            name.disk = State::Known(mode, id);
        }
    }
}

/// Which contents on disk are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Where base and disk can only be told apart by it: git says that it is not what the index
    /// has, but the index does not have what the base had.
    Open,
    /// Wherever the base has a file of that kind: git's word is not enough where it turns contents
    /// on their way in, for it goes by the size before that.
    Modified,
    /// All.
    All,
}

fn all(state: &State) -> Name {
    Name {
        base: state.clone(),
        head: state.clone(),
        index: state.clone(),
        disk: state.clone(),
    }
}

fn untracked(entry: &Entry) -> Name {
    Name {
        disk: if entry.is_folder {
            State::OnDisk(Mode::Submodule)
        } else {
            State::New
        },
        ..all(&State::Absent)
    }
}

/// Whether it is tracked in HEAD and not in the index.
fn is_dropped(entry: &Entry) -> bool {
    !entry.untracked && entry.staged && entry.sides.index_mode == Mode::Absent
}

fn tracked(entry: &Entry) -> Name {
    let sides = &entry.sides;
    let head = State::new(sides.head_mode, sides.head_id.as_ref());
    let index = State::new(sides.index_mode, sides.index_id.as_ref());
    let disk = match (entry.unstaged, sides.disk_mode) {
        (false, _) => index.clone(),
        (true, Mode::Absent) => State::Absent,
        (true, mode) => State::OnDisk(mode),
    };
    Name {
        base: head.clone(),
        head,
        index,
        disk,
    }
}

/// One state after another; none where they are the same.
fn change(path: &GitPath, old: &State, new: &State) -> Option<Change> {
    let (old_mode, new_mode) = (old.mode(), new.mode());
    let kind = match (old, new) {
        (State::Absent, State::Absent) => return None,
        (old, new) if old == new => return None,
        (State::Absent, _) => ChangeKind::Added,
        (_, State::Absent) => ChangeKind::Deleted,
        _ if old_mode != new_mode && !(old_mode.is_file() && new_mode.is_file()) => {
            ChangeKind::TypeChanged
        }
        _ => ChangeKind::Modified,
    };
    Some(Change {
        kind,
        path: path.clone(),
        from: None,
        old_mode,
        new_mode,
        old_id: old.id().cloned(),
        new_id: new.id().cloned(),
    })
}
