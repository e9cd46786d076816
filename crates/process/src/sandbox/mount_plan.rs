//! Arranging mounts: what goes where, decided before anything is done. Pure.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

/// A line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountPoint {
    pub(crate) path: PathBuf,
    /// The flags that a remount must repeat, or the kernel refuses it in a user namespace.
    pub(crate) flags: MountFlags,
    pub(crate) read_only: bool,
}

/// Parses `/proc/self/mountinfo`. Of mounts stacked on one path only the last can be reached.
pub(crate) fn parse(text: &[u8]) -> Vec<MountPoint> {
    let mut points: Vec<MountPoint> = Vec::new();
    for line in text.split(|b| *b == b'\n') {
        let fields: Vec<&[u8]> = line.split(|b| *b == b' ').collect();
        let (Some(path), Some(options)) = (fields.get(4), fields.get(5)) else {
            continue;
        };
        let path = PathBuf::from(OsString::from_vec(unescape(path)));
        let mut point = MountPoint {
            path,
            flags: MountFlags::empty(),
            read_only: false,
        };
        for option in options.split(|b| *b == b',') {
            match option {
                b"ro" => point.read_only = true,
                b"nosuid" => point.flags |= MountFlags::NOSUID,
                b"nodev" => point.flags |= MountFlags::NODEV,
                b"noexec" => point.flags |= MountFlags::NOEXEC,
                b"noatime" => point.flags |= MountFlags::NOATIME,
                b"nodiratime" => point.flags |= MountFlags::NODIRATIME,
                b"relatime" => point.flags |= MountFlags::RELATIME,
                _ => {}
            }
        }
        points.retain(|earlier| earlier.path != point.path);
        points.push(point);
    }
    points
}

/// The kernel writes blank, tab, newline and backslash as three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        if let (
            b'\\',
            [
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                after @ ..,
            ],
        ) = (first, tail)
        {
            bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    bytes
}

/// Puts paths into an order in which parents come first, without repetitions.
pub(crate) fn parents_first(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.into_iter().collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Whether a path lies in one of these folders (or is one).
pub(crate) fn is_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_of_stacked_mounts_counts() {
        let text = b"25 1 0:5 / /dev/shm rw,nosuid - tmpfs a rw\n\
                     26 25 0:6 / /dev/shm ro,relatime - tmpfs b rw\n";
        let want = MountPoint {
            path: "/dev/shm".into(),
            flags: MountFlags::RELATIME,
            read_only: true,
        };
        assert_eq!(parse(text), vec![want]);
    }

    #[test]
    fn escaped_blanks_are_blanks() {
        assert_eq!(unescape(br"/my\040disk\134x\n"), b"/my disk\\x\\n");
    }

    #[test]
    fn parents_come_before_children() {
        let paths = ["/b/c", "/a", "/b", "/a"].map(PathBuf::from);
        assert_eq!(
            parents_first(paths),
            ["/a", "/b", "/b/c"].map(PathBuf::from)
        );
    }

    proptest! {
        #[test]
        fn parse_never_panics(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
        }
    }
}
