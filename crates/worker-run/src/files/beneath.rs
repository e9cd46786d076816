//! Opening files so that no symbolic link leads out of the work tree, not even one made meanwhile.
//!
//! The kernel does the resolving (`openat2` with `RESOLVE_BENEATH`), so there is no moment between
//! a check and the use in which a link could be swapped.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Files larger than this are not read whole.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Why a file cannot be opened; the text is what the model gets to read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// It does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// A link on the way leads out of the work tree.
    #[error("{0} leads out of the repository through a symbolic link")]
    Outside(String),
    /// It is a folder, a pipe or a device.
    #[error("{0} is not a regular file")]
    NotAFile(String),
    /// It is larger than what is read whole.
    #[error("{path} has {bytes} bytes, too many to read whole; use bash with head, tail or sed -n")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// The operating system refuses.
    #[error("{path}: {error}")]
    Os {
        /// The path.
        path: String,
        /// Its words.
        error: std::io::Error,
    },
}

/// The work tree, held open.
#[derive(Debug)]
pub(crate) struct Beneath {
    root: OwnedFd,
    canonical: PathBuf,
}

impl Beneath {
    /// Opens the work tree.
    pub(crate) fn open(root: &Path) -> std::io::Result<Self> {
        let canonical = root.canonicalize()?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&canonical, flags, Mode::empty())?;
        Ok(Self {
            root: fd,
            canonical,
        })
    }

    /// The work tree without symbolic links in its own path.
    pub(crate) fn root(&self) -> &Path {
        &self.canonical
    }

    /// The bytes of a regular file.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let fd = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let stat = rustix::fs::fstat(&fd).map_err(|e| os(path, e))?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
            return Err(FileError::NotAFile(path.into()));
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size > MAX_BYTES {
            return Err(FileError::TooLarge {
                path: path.into(),
                bytes: size,
            });
        }
        let mut bytes = Vec::new();
        File::from(fd)
            .take(MAX_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| FileError::Os {
                path: path.into(),
                error,
            })?;
        Ok(bytes)
    }

    /// Writes a file whole: to a temporary name beside it, then renamed. An existing file keeps its
    /// mode; missing folders are made. A link inside the work tree is followed, never replaced.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        let path = &self.through_links(path)?;
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (folder, name),
            None => (".", path.as_str()),
        };
        let folder = self.make_folders(folder)?;
        let at = |errno| os(path, errno);
        let mode = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
                if kind != rustix::fs::FileType::RegularFile {
                    return Err(FileError::NotAFile(path.clone()));
                }
                Mode::from_raw_mode(stat.st_mode & 0o7777)
            }
            Err(Errno::NOENT) => Mode::from_raw_mode(0o644),
            Err(error) => return Err(at(error)),
        };
        let temporary = format!(".{name}.baton-{}", std::process::id());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let written = rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(0o600))
            .map_err(at)
            .and_then(|fd| {
                let mut file = File::from(fd);
                file.write_all(bytes).map_err(|error| FileError::Os {
                    path: path.clone(),
                    error,
                })?;
                rustix::fs::fchmod(file.as_fd(), mode).map_err(at)?;
                rustix::fs::renameat(&folder, &temporary, &folder, name).map_err(at)
            });
        if written.is_err() {
            // What is left of a failed write must not stay in the work tree.
            let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        }
        written
    }

    /// The real path inside the work tree behind a link, or the path itself.
    fn through_links(&self, path: &str) -> Result<String, FileError> {
        match std::fs::canonicalize(self.canonical.join(path)) {
            Ok(real) => match real.strip_prefix(&self.canonical) {
                Ok(inside) => match inside.to_str() {
                    Some(inside) => Ok(inside.to_string()),
                    None => Err(FileError::Outside(path.into())),
                },
                Err(_) => Err(FileError::Outside(path.into())),
            },
            // It does not exist yet, or its link dangles: the kernel judges when it is opened.
            Err(_) => Ok(path.to_string()),
        }
    }

    /// Opens a folder, making those that are missing, one by one and each beneath the root.
    fn make_folders(&self, folder: &str) -> Result<OwnedFd, FileError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        match self.open_at(folder, flags) {
            Err(FileError::Missing(_)) => {}
            other => return other,
        }
        let (parent, name) = folder.rsplit_once('/').unwrap_or((".", folder));
        let parent = self.make_folders(parent)?;
        match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => self.open_at(folder, flags),
            Err(error) => Err(os(folder, error)),
        }
    }

    fn open_at(&self, path: &str, flags: OFlags) -> Result<OwnedFd, FileError> {
        match self.open_once(path, flags) {
            Err(Errno::XDEV) => {
                // An absolute link is refused even if it leads inside: try its real path.
                let real = self.through_links(path)?;
                if real == path {
                    return Err(FileError::Outside(path.into()));
                }
                self.open_once(&real, flags).map_err(|e| os(path, e))
            }
            other => other.map_err(|e| os(path, e)),
        }
    }

    fn open_once(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(
            &self.root,
            path,
            flags | OFlags::CLOEXEC,
            Mode::empty(),
            resolve,
        )
    }
}

fn os(path: &str, errno: Errno) -> FileError {
    match errno {
        Errno::NOENT | Errno::NOTDIR => FileError::Missing(path.into()),
        Errno::XDEV | Errno::LOOP => FileError::Outside(path.into()),
        Errno::ISDIR => FileError::NotAFile(path.into()),
        other => FileError::Os {
            path: path.into(),
            error: other.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Beneath, FileError};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn tree() -> (tempfile::TempDir, Beneath) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("ws/src")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/secret"), "s").unwrap();
        fs::write(dir.path().join("ws/src/a"), "a").unwrap();
        let beneath = Beneath::open(&dir.path().join("ws")).unwrap();
        (dir, beneath)
    }

    #[test]
    fn e14_a_folder_link_does_not_lead_out() {
        let (dir, beneath) = tree();
        symlink("../outside", dir.path().join("ws/outbox")).unwrap();
        symlink(
            dir.path().join("outside/secret"),
            dir.path().join("ws/file"),
        )
        .unwrap();
        for path in ["outbox/x", "outbox/deep/x", "file"] {
            assert!(
                matches!(beneath.write(path, b"x"), Err(FileError::Outside(_))),
                "{path}"
            );
        }
        assert!(matches!(
            beneath.read("outbox/secret"),
            Err(FileError::Outside(_))
        ));
        assert!(matches!(beneath.read("file"), Err(FileError::Outside(_))));
        assert_eq!(fs::read_dir(dir.path().join("outside")).unwrap().count(), 1);
        assert_eq!(fs::read(dir.path().join("outside/secret")).unwrap(), b"s");
    }

    #[test]
    fn e14_a_dangling_link_creates_nothing_outside() {
        let (dir, beneath) = tree();
        symlink("../outside/new", dir.path().join("ws/dangling")).unwrap();
        assert!(beneath.write("dangling", b"x").is_err());
        assert!(!dir.path().join("outside/new").exists());
    }

    #[test]
    fn e15_links_inside_and_missing_folders_are_fine() {
        let (dir, beneath) = tree();
        symlink("src", dir.path().join("ws/rel")).unwrap();
        symlink(dir.path().join("ws/src"), dir.path().join("ws/abs")).unwrap();
        symlink("src/a", dir.path().join("ws/link")).unwrap();
        assert_eq!(beneath.read("rel/a").unwrap(), b"a");
        assert_eq!(beneath.read("abs/a").unwrap(), b"a");
        beneath.write("link", b"b").unwrap();
        assert_eq!(fs::read(dir.path().join("ws/src/a")).unwrap(), b"b");
        assert!(dir.path().join("ws/link").is_symlink());
        beneath.write("new/deep/file", b"n").unwrap();
        assert_eq!(beneath.read("new/deep/file").unwrap(), b"n");
    }

    #[test]
    fn e15_the_root_itself_may_be_a_link() {
        let (dir, _) = tree();
        symlink(dir.path().join("ws"), dir.path().join("wslink")).unwrap();
        let beneath = Beneath::open(&dir.path().join("wslink")).unwrap();
        beneath.write("src/b", b"b").unwrap();
        assert_eq!(beneath.read("src/b").unwrap(), b"b");
    }

    #[test]
    fn a_mode_is_kept_and_no_temporary_file_stays() {
        let (dir, beneath) = tree();
        let path = dir.path().join("ws/src/a");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        beneath.write("src/a", b"new").unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o755
        );
        assert_eq!(fs::read_dir(dir.path().join("ws/src")).unwrap().count(), 1);
    }

    #[test]
    fn folders_and_pipes_are_not_read() {
        let (dir, beneath) = tree();
        assert!(matches!(beneath.read("src"), Err(FileError::NotAFile(_))));
        assert!(matches!(
            beneath.read("nothing"),
            Err(FileError::Missing(_))
        ));
        let pipe = dir.path().join("ws/pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(matches!(beneath.read("pipe"), Err(FileError::NotAFile(_))));
    }
}
