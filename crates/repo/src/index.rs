//! What is read from an index file directly, without asking git: does it make git look away, and
//! which files does it hold?
//!
//! The layout is documented (gitformat-index). Whatever does not read exactly as documented is not
//! judged here, and git is asked.

use crate::id::ObjectId;
use crate::path::GitPath;
use crate::raw::Mode;

/// Where the mode of an entry stands, between times, device, inode before it and owner, size after.
const MODE: usize = 24;
/// The fixed part of an entry before its hash.
const FACTS: usize = 40;
/// In the flags: changes are not looked for.
const ASSUME_VALID: u16 = 0x8000;
/// In the flags: more flags follow.
const EXTENDED: u16 = 0x4000;
/// In the flags: which version of a file in conflict this is; 0 for all others.
const STAGE: u16 = 0x3000;
/// In the further flags: the file is taken as being there as recorded.
const SKIP_WORKTREE: u16 = 0x4000;

/// A file in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) path: GitPath,
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
}

/// Whether any entry is marked assume-unchanged or skip-worktree; none where only git can tell.
pub(crate) fn has_hidden(index: &[u8]) -> Option<bool> {
    let hides = |hash| {
        let mut hidden = false;
        walk(index, hash, |entry| hidden |= entry.is_hidden).map(|()| hidden)
    };
    [20, 32].into_iter().find_map(hides)
}

/// All files, in the order of their names; none where only git can tell, or where one is in
/// conflict. `hash` is the length of the names of objects.
pub(crate) fn files(index: &[u8], hash: usize) -> Option<Vec<File>> {
    let mut files = Vec::new();
    let mut is_whole = true;
    let mut name = Vec::new();
    walk(index, hash, |entry| {
        // Where only the end of a name is written, the rest is that of the name before.
        name.truncate(name.len().saturating_sub(entry.dropped));
        name.extend_from_slice(entry.name);
        let mode = Mode::parse_number(entry.mode);
        is_whole &= entry.stage == 0 && !matches!(mode, Mode::Absent | Mode::Other(_));
        files.push(File {
            path: GitPath::new(name.clone()),
            mode,
            id: ObjectId::from_bytes(entry.id),
        });
    })?;
    (is_whole && files.is_sorted_by(|a, b| a.path < b.path)).then_some(files)
}

/// One entry, as it is written.
struct Entry<'a> {
    mode: u32,
    id: &'a [u8],
    stage: u16,
    is_hidden: bool,
    /// How many bytes of the name before it end where this one differs.
    dropped: usize,
    name: &'a [u8],
}

/// Reads the index with hashes of this length, to its very end.
fn walk<'a>(index: &'a [u8], hash: usize, mut each: impl FnMut(&Entry<'a>)) -> Option<()> {
    let (head, rest) = index.split_at_checked(12)?;
    let version = u32_at(head, 4)?;
    if !head.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut rest, _checksum) = rest.split_at_checked(rest.len().checked_sub(hash)?)?;
    for _ in 0..u32_at(head, 8)? {
        let flags = u16_at(rest, FACTS + hash)?;
        let mut named = FACTS + hash + 2;
        let mut is_hidden = flags & ASSUME_VALID != 0;
        if version >= 3 && flags & EXTENDED != 0 {
            is_hidden |= u16_at(rest, named)? & SKIP_WORKTREE != 0;
            named += 2;
        }
        let mut dropped = usize::MAX;
        if version == 4 {
            let (number, length) = offset(rest.get(named..)?)?;
            dropped = number;
            named += length;
        }
        let end = named + rest.get(named..)?.iter().position(|b| *b == 0)?;
        each(&Entry {
            mode: u32_at(rest, MODE)?,
            id: rest.get(FACTS..FACTS + hash)?,
            stage: flags & STAGE,
            is_hidden,
            dropped,
            name: &rest[named..end],
        });
        let size = if version == 4 {
            end + 1
        } else {
            (end + 8) & !7
        };
        rest = rest.get(size..)?;
    }
    while !rest.is_empty() {
        let (name, size) = (rest.get(..4)?, u32_at(rest, 4)?);
        // Small letters mark what a reader must understand: entries of a shared index are not in
        // this file, whole folders of a sparse one are one entry.
        if !name.iter().all(u8::is_ascii_uppercase) {
            return None;
        }
        rest = rest.get(8 + usize::try_from(size).ok()?..)?;
    }
    Some(())
}

/// A number in bytes of seven bits, whose highest bit says that one follows; and how many bytes.
/// Each that follows begins where the shorter ones ended.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (i, byte) in bytes.iter().enumerate().take(8) {
        value = (value << 7) + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
        value += 1;
    }
    None
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(four))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_be_bytes(two))
}

#[cfg(test)]
mod tests {
    use super::{files, has_hidden, offset};
    use proptest::prelude::*;

    /// An index of one entry.
    fn index(version: u8, flags: u16, more: Option<u16>, name: &str, tail: &[u8]) -> Vec<u8> {
        let mut bytes = [b"DIRC\0\0\0".as_slice(), &[version], &[0, 0, 0, 1]].concat();
        bytes.extend([7; 40]);
        bytes.extend([9; 20]);
        bytes.extend(flags.to_be_bytes());
        bytes.extend(more.map(u16::to_be_bytes).into_iter().flatten());
        if version == 4 {
            bytes.push(0);
        }
        bytes.extend(name.as_bytes());
        bytes.push(0);
        while version < 4 && (bytes.len() - 12) % 8 != 0 {
            bytes.push(0);
        }
        bytes.extend(tail);
        bytes.extend([5; 20]);
        bytes
    }

    #[test]
    fn the_flags_are_found_in_every_version() {
        for version in [2, 3, 4] {
            let plain = index(version, 5, None, "a.txt", b"");
            assert_eq!(has_hidden(&plain), Some(false), "{version}");
            let assumed = index(version, 0x8005, None, "a.txt", b"TREE\0\0\0\x02ab");
            assert_eq!(has_hidden(&assumed), Some(true), "{version}");
        }
        for (more, hidden) in [(0x4000, true), (0x2000, false)] {
            for version in [3, 4] {
                let index = index(version, 0x4005, Some(more), "a.txt", b"");
                assert_eq!(has_hidden(&index), Some(hidden), "{version} {more:x}");
            }
        }
    }

    #[test]
    fn what_does_not_read_as_documented_is_left_to_git() {
        for odd in [
            index(5, 5, None, "a.txt", b""),
            index(2, 5, None, "a.txt", b"link\0\0\0\0"),
            index(2, 5, None, "a.txt", b"TREE\0\0\0\x09ab"),
            index(2, 5, None, "a.txt", b"x"),
            b"DIRC".to_vec(),
            Vec::new(),
        ] {
            assert_eq!(has_hidden(&odd), None);
        }
    }

    #[test]
    fn numbers_of_several_bytes_begin_where_the_shorter_ones_end() {
        assert_eq!(offset(&[0x7f, 1]), Some((127, 1)));
        assert_eq!(offset(&[0x80, 0x00]), Some((128, 2)));
        assert_eq!(offset(&[0xff, 0x7f]), Some((16_511, 2)));
        assert_eq!(offset(&[0x80]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, version in 2_u8..5) {
            let _ = has_hidden(&bytes);
            let _ = files(&bytes, 20);
            let _ = has_hidden(&index(version, 5, None, "a", &bytes));
        }
    }
}
