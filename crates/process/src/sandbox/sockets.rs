//! Sockets of other programs that a command could still see: they are put out of sight.
//!
//! Whoever can look up a socket's path may connect to it; Landlock holds that back only since its
//! ninth version. Homes, run directories and `/tmp` are emptied anyway. A database's socket in
//! `/var/lib` or a server's in the work tree is found in the kernel's list and covered.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::Policy;
use super::mount_plan::is_in;
use super::mounts::{existing, real};

/// More than these are not covered one by one: each costs a mount with every command.
const MOST: usize = 64;

/// The sockets that a command behind this policy could reach if nothing covered them.
pub(crate) fn in_sight(policy: &Policy) -> Vec<PathBuf> {
    let list = fs::read("/proc/net/unix").unwrap_or_default();
    let covers: Vec<PathBuf> = existing(&policy.cover).collect();
    let shown: Vec<PathBuf> = [&policy.read, &policy.write]
        .into_iter()
        .flat_map(|paths| existing(paths))
        .chain(policy.tmp.iter().filter_map(|tmp| real(tmp).ok()))
        .collect();
    let reached: Vec<PathBuf> = existing(&policy.reach).collect();
    let is_seen = |path: &Path| {
        let Ok(path) = real(path) else {
            return false;
        };
        if reached.contains(&path) {
            return false;
        }
        // Beneath a covered place only what is shown again can be seen.
        !is_in(&path, &covers) || innermost(&path, &shown) > innermost(&path, &covers)
    };
    let mut found: Vec<PathBuf> = listed(&list)
        .into_iter()
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket()))
        .filter(|path| is_seen(path))
        .collect();
    found.sort();
    found.dedup();
    found.truncate(MOST);
    found
}

/// How deep the deepest of the folders around a path lies; 0 where none is around it.
fn innermost(path: &Path, folders: &[PathBuf]) -> usize {
    let around = folders.iter().filter(|folder| path.starts_with(folder));
    around
        .map(|folder| folder.components().count())
        .max()
        .unwrap_or(0)
}

/// The paths in `/proc/net/unix`: after seven fields. Abstract names begin with `@`, and a name
/// that was given relative to some folder says nothing about where it is.
fn listed(list: &[u8]) -> Vec<PathBuf> {
    let lines = list.split(|b| *b == b'\n').skip(1);
    lines
        .filter_map(|line| {
            let at = line.windows(2).position(|pair| pair == b" /")?;
            Some(PathBuf::from(OsStr::from_bytes(&line[at + 1..])))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{innermost, listed};
    use proptest::prelude::*;
    use std::path::{Path, PathBuf};

    #[test]
    fn paths_are_read_and_other_names_are_not() {
        let list = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 17 /var/lib/mysql/my sql.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 18\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 19 @/tmp/.X11-unix/X0\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 20 here.sock\n\
            0000000000000000: 00000002 00000000 00010000 0005 01 21 /run/udev/control\n";
        assert_eq!(
            listed(list),
            ["/var/lib/mysql/my sql.sock", "/run/udev/control"].map(PathBuf::from)
        );
    }

    #[test]
    fn the_innermost_folder_decides() {
        let folders = ["/tmp", "/tmp/a/b", "/"].map(PathBuf::from);
        assert_eq!(innermost(Path::new("/tmp/a/b/c"), &folders), 4);
        assert_eq!(innermost(Path::new("/tmp/x"), &folders), 2);
        assert_eq!(innermost(Path::new("/x"), &folders[..1]), 0);
    }

    proptest! {
        #[test]
        fn any_list_is_read_without_a_panic(list: Vec<u8>) {
            let _ = listed(&list);
        }
    }
}
