//! One change between two trees, and the reader of `git diff-tree --raw -z`.

use crate::error::RepoError;
use crate::id::ObjectId;
use crate::path::GitPath;

/// The kind of a file, as git stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Not there.
    Absent,
    /// A plain file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Symlink,
    /// A commit of another repository: a submodule, or an embedded repository.
    Submodule,
    /// Something newer than this program.
    Other(u32),
}

impl Mode {
    pub(crate) const fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        u32::from_str_radix(text, 8).ok().map(Self::parse_number)
    }

    pub(crate) const fn parse_number(number: u32) -> Self {
        match number {
            0 => Self::Absent,
            0o100_644 | 0o100_664 => Self::File,
            0o100_755 => Self::Executable,
            0o120_000 => Self::Symlink,
            0o160_000 => Self::Submodule,
            other => Self::Other(other),
        }
    }
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or its mode changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name; `from` is the old one.
    Renamed,
    /// It is a copy of `from`, which is still there.
    Copied,
    /// It became another kind of thing (file, link, submodule).
    TypeChanged,
    /// It is in conflict.
    Unmerged,
}

/// A file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The name it has now (for a deletion: had).
    pub path: GitPath,
    /// The name it had, for renames and copies.
    pub from: Option<GitPath>,
    /// What it was.
    pub old_mode: Mode,
    /// What it is. (A file that is not tracked may also be a program or a link, unless its content
    /// was named.)
    pub new_mode: Mode,
    /// The content it had.
    pub old_id: Option<ObjectId>,
    /// The content it has.
    pub new_id: Option<ObjectId>,
}

impl Change {
    /// Every name that this change adds, alters or removes. The source of a copy is not one.
    pub fn touched(&self) -> impl Iterator<Item = &GitPath> {
        let old_name = self
            .from
            .as_ref()
            .filter(|_| self.kind == ChangeKind::Renamed);
        std::iter::once(&self.path).chain(old_name)
    }

    /// Whether only the mode changed, not the content.
    pub fn is_mode_only(&self) -> bool {
        self.kind == ChangeKind::Modified && self.old_id == self.new_id
    }
}

/// Reads `:oldmode newmode oldid newid STATUS\0path\0[path\0]` records.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<Change>, RepoError> {
    let mut fields = bytes.split(|b| *b == 0);
    let mut changes = Vec::new();
    while let Some(head) = fields.next() {
        if head.is_empty() {
            continue;
        }
        let record = header(head).ok_or_else(|| unreadable(head))?;
        let first = fields
            .next()
            .filter(|p| !p.is_empty())
            .ok_or_else(|| unreadable(head))?;
        let two_names = matches!(record.kind, ChangeKind::Renamed | ChangeKind::Copied);
        let second = if two_names {
            Some(
                fields
                    .next()
                    .filter(|p| !p.is_empty())
                    .ok_or_else(|| unreadable(head))?,
            )
        } else {
            None
        };
        changes.push(Change {
            path: GitPath::new(second.unwrap_or(first)),
            from: second.map(|_| GitPath::new(first)),
            ..record
        });
    }
    Ok(changes)
}

fn header(bytes: &[u8]) -> Option<Change> {
    let text = std::str::from_utf8(bytes).ok()?.strip_prefix(':')?;
    let mut words = text.split(' ');
    let mut next = || words.next();
    let (old_mode, new_mode) = (Mode::parse(next()?)?, Mode::parse(next()?)?);
    let (old_id, new_id) = (ObjectId::new(next()?)?, ObjectId::new(next()?)?);
    let kind = match next()?.as_bytes().first()? {
        b'A' => ChangeKind::Added,
        b'M' => ChangeKind::Modified,
        b'D' => ChangeKind::Deleted,
        b'R' => ChangeKind::Renamed,
        b'C' => ChangeKind::Copied,
        b'T' => ChangeKind::TypeChanged,
        b'U' => ChangeKind::Unmerged,
        _ => return None,
    };
    Some(Change {
        kind,
        path: GitPath::new([]),
        from: None,
        old_mode,
        new_mode,
        old_id: Some(old_id).filter(|id| !id.is_zero()),
        new_id: Some(new_id).filter(|id| !id.is_zero()),
    })
}

fn unreadable(record: &[u8]) -> RepoError {
    RepoError::Output {
        command: "diff-tree --raw -z".into(),
        what: format!("record `{}`", GitPath::new(record)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ChangeKind, Mode, parse};

    fn name() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(1u8..=255, 1..20)
    }

    proptest! {
        #[test]
        fn any_names_come_back_whole(old in name(), new in name(), other in name()) {
            let (a, b) = ("1".repeat(40), "0".repeat(40));
            let mut text = format!(":100644 120000 {a} {b} R087\0").into_bytes();
            for part in [&old, &new] {
                text.extend_from_slice(part);
                text.push(0);
            }
            text.extend_from_slice(format!(":000000 100755 {b} {a} A\0").as_bytes());
            text.extend_from_slice(&other);
            text.push(0);
            let changes = parse(&text).unwrap();
            prop_assert_eq!(changes.len(), 2);
            prop_assert_eq!(changes[0].kind, ChangeKind::Renamed);
            prop_assert_eq!(changes[0].path.as_bytes(), &new[..]);
            prop_assert_eq!(changes[0].from.as_ref().unwrap().as_bytes(), &old[..]);
            prop_assert_eq!(changes[0].new_mode, Mode::Symlink);
            prop_assert_eq!(&changes[0].new_id, &None);
            prop_assert_eq!(changes[1].path.as_bytes(), &other[..]);
        }

        #[test]
        fn no_input_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }

    #[test]
    fn a_cut_record_is_an_error() {
        let id = "1".repeat(40);
        for text in [
            format!(":100644 100644 {id} {id} M\0"),
            format!(":100644 100644 {id} {id} R100\0old\0"),
            format!(":100644 100644 {id} M\0a\0"),
            "nonsense\0a\0".to_owned(),
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
