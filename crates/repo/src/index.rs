//! The one question that is read from an index file directly: does it make git look away?
//!
//! The layout is documented (gitformat-index). Whatever does not read exactly as documented is not
//! judged here, and git is asked.

/// The fixed part of an entry before its hash: times, device, inode, mode, owner, size.
const FACTS: usize = 40;
/// In the flags: changes are not looked for.
const ASSUME_VALID: u16 = 0x8000;
/// In the flags: more flags follow.
const EXTENDED: u16 = 0x4000;
/// In the further flags: the file is taken as being there as recorded.
const SKIP_WORKTREE: u16 = 0x4000;

/// Whether any entry is marked assume-unchanged or skip-worktree; none where only git can tell.
pub(crate) fn has_hidden(index: &[u8]) -> Option<bool> {
    [20, 32].into_iter().find_map(|hash| walk(index, hash))
}

/// Reads the index with hashes of this length, to its very end.
fn walk(index: &[u8], hash: usize) -> Option<bool> {
    let (head, rest) = index.split_at_checked(12)?;
    let version = u32_at(head, 4)?;
    if !head.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut rest, _checksum) = rest.split_at_checked(rest.len().checked_sub(hash)?)?;
    let mut hidden = false;
    for _ in 0..u32_at(head, 8)? {
        let flags = u16_at(rest, FACTS + hash)?;
        let mut named = FACTS + hash + 2;
        hidden |= flags & ASSUME_VALID != 0;
        if version >= 3 && flags & EXTENDED != 0 {
            hidden |= u16_at(rest, named)? & SKIP_WORKTREE != 0;
            named += 2;
        }
        if version == 4 {
            // How much of the last name to drop: bytes whose highest bit says that one follows.
            named += 1 + rest.get(named..)?.iter().position(|b| b & 0x80 == 0)?;
        }
        let end = named + rest.get(named..)?.iter().position(|b| *b == 0)?;
        let size = if version == 4 {
            end + 1
        } else {
            (end + 8) & !7
        };
        rest = rest.get(size..)?;
    }
    while !rest.is_empty() {
        let (name, size) = (rest.get(..4)?, u32_at(rest, 4)?);
        // Entries of a shared index are not in this file.
        if name == b"link" || !name.iter().all(u8::is_ascii_alphabetic) {
            return None;
        }
        rest = rest.get(8 + usize::try_from(size).ok()?..)?;
    }
    Some(hidden)
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
    use super::has_hidden;
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

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, version in 2_u8..5) {
            let _ = has_hidden(&bytes);
            let _ = has_hidden(&index(version, 5, None, "a", &bytes));
        }
    }
}
