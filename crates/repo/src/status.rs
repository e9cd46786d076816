//! The reader of `git status --porcelain=v2 -z`.

use crate::error::RepoError;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::raw::Mode;

/// What a submodule's own work tree looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SubmoduleState {
    /// It has another commit checked out than the index records.
    pub moved: bool,
    /// It has changes to tracked files.
    pub modified: bool,
    /// It has untracked files.
    pub untracked: bool,
}

/// One line of the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name it has now.
    pub path: GitPath,
    /// The name it had, when it was renamed or copied.
    pub from: Option<GitPath>,
    /// Whether the index differs from HEAD.
    pub staged: bool,
    /// Whether the work tree differs from the index.
    pub unstaged: bool,
    /// Whether git does not track it.
    pub untracked: bool,
    /// Whether it is a folder, which git does not look into: a repository of its own.
    pub is_folder: bool,
    /// Whether it is in conflict.
    pub unmerged: bool,
    /// The state of its work tree, when it is a submodule.
    pub submodule: Option<SubmoduleState>,
    /// What it is in HEAD, in the index and on disk.
    pub(crate) sides: Sides,
}

/// A tracked name at three points. What is on disk has no id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) head_mode: Mode,
    pub(crate) head_id: Option<ObjectId>,
    pub(crate) index_mode: Mode,
    pub(crate) index_id: Option<ObjectId>,
    pub(crate) disk_mode: Mode,
}

impl Sides {
    const NONE: Self = Self {
        head_mode: Mode::Absent,
        head_id: None,
        index_mode: Mode::Absent,
        index_id: None,
        disk_mode: Mode::Absent,
    };
}

/// Reads every record. `#` headers and kinds of a newer git are skipped, as its manual asks.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<Entry>, RepoError> {
    let mut fields = bytes.split(|b| *b == 0);
    let mut entries = Vec::new();
    while let Some(record) = fields.next() {
        let entry = match record.first() {
            Some(b'1') => tracked(record, 8, None),
            Some(b'2') => tracked(record, 9, Some(fields.next().unwrap_or_default())),
            Some(b'u') => tracked(record, 10, None).map(|e| Entry {
                staged: false,
                unstaged: true,
                ..e
            }),
            Some(b'?') => untracked(record),
            _ => continue,
        };
        entries.push(entry.ok_or_else(|| RepoError::Output {
            command: "status --porcelain=v2 -z".into(),
            what: format!("record `{}`", GitPath::new(record)),
        })?);
    }
    Ok(entries)
}

/// The names that git ignores: files, and whole folders with a slash behind them.
pub(crate) fn ignored(bytes: &[u8]) -> Vec<GitPath> {
    let records = bytes.split(|b| *b == 0);
    let names = records.filter_map(|record| record.strip_prefix(b"! "));
    names.map(GitPath::new).collect()
}

/// The commit that is checked out, of a status with `--branch`; none before the first one.
pub(crate) fn head(bytes: &[u8]) -> Option<ObjectId> {
    let headers = bytes.split(|b| *b == 0);
    let mut oids = headers.filter_map(|record| record.strip_prefix(b"# branch.oid "));
    ObjectId::new(std::str::from_utf8(oids.next()?).ok()?)
}

/// `1 XY sub mH mI mW hH hI path`, `2 … Xscore path\0from`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`:
/// the name is field `n`.
fn tracked(record: &[u8], n: usize, from: Option<&[u8]>) -> Option<Entry> {
    let fields: Vec<&[u8]> = record.splitn(n + 1, |b| *b == b' ').collect();
    let text = |i: usize| std::str::from_utf8(fields.get(i)?).ok();
    let [x, y] = *fields.get(1)? else { return None };
    let path = *fields.get(n)?;
    if path.is_empty() || from.is_some_and(<[u8]>::is_empty) {
        return None;
    }
    let unmerged = n == 10;
    let mode = |i: usize| Mode::parse(text(i)?);
    let id = |i: usize| Some(ObjectId::new(text(i)?)?.some());
    // A conflict has three versions in the index, and none of them is the one that counts.
    let sides = if unmerged {
        Sides {
            disk_mode: mode(6)?,
            ..Sides::NONE
        }
    } else {
        Sides {
            head_mode: mode(3)?,
            head_id: id(6)?,
            index_mode: mode(4)?,
            index_id: id(7)?,
            disk_mode: mode(5)?,
        }
    };
    Some(Entry {
        path: GitPath::new(path),
        from: from.map(GitPath::new),
        staged: *x != b'.',
        unstaged: *y != b'.',
        untracked: false,
        is_folder: false,
        unmerged,
        submodule: submodule(fields.get(2)?),
        sides,
    })
}

fn untracked(record: &[u8]) -> Option<Entry> {
    // A folder with its own repository ends in a slash; its name does not.
    let name = record.strip_prefix(b"? ")?;
    let folder = name.strip_suffix(b"/");
    let name = folder.unwrap_or(name);
    (!name.is_empty()).then(|| Entry {
        path: GitPath::new(name),
        from: None,
        staged: false,
        unstaged: false,
        untracked: true,
        is_folder: folder.is_some(),
        unmerged: false,
        submodule: None,
        sides: Sides::NONE,
    })
}

fn submodule(field: &[u8]) -> Option<SubmoduleState> {
    match field {
        [b'S', moved, modified, untracked] => Some(SubmoduleState {
            moved: *moved == b'C',
            modified: *modified == b'M',
            untracked: *untracked == b'U',
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ignored, parse};
    use crate::path::GitPath;

    const IDS: &str =
        "1111111111111111111111111111111111111111 2222222222222222222222222222222222222222";

    #[test]
    fn headers_and_kinds_of_a_newer_git_are_skipped() {
        let text = format!(
            "# branch.oid x\0! ignored\0x new kind\x001 M. N... 100644 100644 100644 {IDS} a b\0? c d/\0"
        );
        let entries = parse(text.as_bytes()).unwrap();
        assert_eq!(ignored(text.as_bytes()), [GitPath::from("ignored")]);
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].path.as_bytes(), b"a b");
        assert!(entries[0].staged && !entries[0].unstaged);
        assert_eq!(entries[1].path.as_bytes(), b"c d");
    }

    #[test]
    fn conflicts_and_submodules_are_told() {
        let three = format!("{IDS} 3333333333333333333333333333333333333333");
        let text = format!(
            "u UU N... 100644 100644 100644 100644 {three} both\x001 .M S.MU 160000 160000 160000 {IDS} sub\0"
        );
        let entries = parse(text.as_bytes()).unwrap();
        assert!(entries[0].unmerged && entries[0].path.as_bytes() == b"both");
        let sub = entries[1].submodule.unwrap();
        assert!(!sub.moved && sub.modified && sub.untracked);
    }

    proptest! {
        #[test]
        fn any_names_come_back_whole(
            old in proptest::collection::vec(1u8..=255, 1..20),
            new in proptest::collection::vec(1u8..=255, 1..20),
        ) {
            let mut text = format!("2 .R N... 100644 100644 100644 {IDS} R100 ").into_bytes();
            text.extend_from_slice(&new);
            text.push(0);
            text.extend_from_slice(&old);
            text.push(0);
            let entries = parse(&text).unwrap();
            prop_assert_eq!(entries.len(), 1);
            prop_assert_eq!(entries[0].path.as_bytes(), &new[..]);
            prop_assert_eq!(entries[0].from.as_ref().unwrap().as_bytes(), &old[..]);
            prop_assert!(entries[0].unstaged && !entries[0].staged);
        }

        #[test]
        fn no_input_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
