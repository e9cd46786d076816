//! Opening lock files so that other users, root and sticky directories work, or are told why not.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::store::StoreError;

/// How often a file may vanish between two calls before we give up.
const TRIES: usize = 16;

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // Read and write: some network file systems refuse an exclusive lock on a read-only descriptor.
    // A symbolic link somebody laid in a shared directory is not followed.
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    options.read(true).write(true).custom_flags(no_follow);
    options
}

/// Opens a file that exists.
pub(super) fn open(path: &Path) -> io::Result<File> {
    options().open(path)
}

/// Opens a file, making it where it does not exist. True: it was made.
///
/// It is first opened without `O_CREAT`: in a sticky directory the kernel refuses `O_CREAT` on
/// another user's file even to root (`fs.protected_regular`). The mode is set after creation,
/// because the umask would take the group's rights away.
pub(super) fn open_or_create(path: &Path, mode: u32) -> io::Result<(File, bool)> {
    for _ in 0..TRIES {
        match open(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            result => return result.map(|file| (file, false)),
        }
        match options().create_new(true).mode(mode).open(path) {
            Ok(file) => {
                file.set_permissions(Permissions::from_mode(mode))?;
                return Ok((file, true));
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("it is removed again and again"))
}

/// Whether the path still leads to the open file: a lock on a removed file protects nothing.
pub(super) fn is_same(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => open.dev() == named.dev() && open.ino() == named.ino(),
        _ => false,
    }
}

/// An error about a file, with the way out where there is a known one.
pub(super) fn failed(path: &Path, what: &'static str, source: io::Error) -> StoreError {
    StoreError::File {
        path: path.to_owned(),
        what,
        hint: hint(path, &source),
        source,
    }
}

fn hint(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => permission_hint(path),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; free some space there, or set BATON_LOCK_DIR to another directory".into()
        }
        ErrorKind::ReadOnlyFilesystem => "; set BATON_LOCK_DIR to a directory you can write".into(),
        ErrorKind::NotADirectory => {
            "; a part of the path is a file; set BATON_LOCK_DIR to a directory".into()
        }
        _ if error.raw_os_error() == Some(40) => {
            "; it is a symbolic link, which is not followed there".into()
        }
        _ => String::new(),
    }
}

fn permission_hint(path: &Path) -> String {
    let sticky = path
        .parent()
        .and_then(|dir| dir.metadata().ok())
        .is_some_and(|m| m.mode() & 0o1000 != 0);
    match path.metadata() {
        Ok(m) => {
            let rule = if sticky {
                "; in a sticky directory the kernel may refuse another user's file (sysctl fs.protected_regular)"
            } else {
                ""
            };
            format!(
                "; it belongs to user {} with mode {:o}: share slots in a directory of mode 2770 of a \
                 common group (for example /run/baton), or set BATON_LOCK_DIR to your own{rule}",
                m.uid(),
                m.mode() & 0o7777
            )
        }
        Err(_) => "; set BATON_LOCK_DIR to a directory you can write".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{is_same, open_or_create};

    #[test]
    fn l06_an_open_file_that_was_removed_or_replaced_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("slot-0");
        let (file, made) = open_or_create(&path, 0o600).unwrap();
        assert!(made && is_same(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_same(&file, &path));
        let (other, made) = open_or_create(&path, 0o600).unwrap();
        assert!(made && is_same(&other, &path) && !is_same(&file, &path));
        assert!(!open_or_create(&path, 0o600).unwrap().1);
    }
}
