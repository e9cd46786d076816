//! Naming contents as git names them, without git: blobs of files, and trees of names.
//!
//! Only for contents that git stores as they are on disk; who may say so is `as_is.rs`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::id::ObjectId;
use crate::path::GitPath;
use crate::raw::Mode;

/// The hash of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Sha1,
    Sha256,
}

impl Algorithm {
    /// The one a name was made with.
    pub(crate) fn of(id: &ObjectId) -> Self {
        if id.as_str().len() == 64 {
            Self::Sha256
        } else {
            Self::Sha1
        }
    }

    /// The bytes of a name.
    pub(crate) const fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// An object being named.
enum Hasher {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Hasher {
    fn new(algorithm: Algorithm, kind: &str, length: u64) -> Self {
        let mut hasher = match algorithm {
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
        };
        hasher.update(format!("{kind} {length}\0").as_bytes());
        hasher
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> ObjectId {
        match self {
            Self::Sha1(hasher) => ObjectId::from_bytes(&hasher.finalize()),
            Self::Sha256(hasher) => ObjectId::from_bytes(&hasher.finalize()),
        }
    }
}

/// A file to be named, as it is on disk.
pub(crate) struct OnDisk<'a> {
    pub(crate) path: &'a GitPath,
    /// What it must be; none: whatever it is.
    pub(crate) mode: Option<Mode>,
    /// Whether git may turn its line ends; it then must have none of the kind that is turned.
    pub(crate) turned: bool,
}

/// Below this many files a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 64;

/// What the files are and the names of their contents, in their order. None: one is gone, changes under our eyes, is
/// no file, or has line ends that git would turn.
pub(crate) fn blobs(
    root: &Path,
    algorithm: Algorithm,
    files: &[OnDisk<'_>],
) -> Option<Vec<(Mode, ObjectId)>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(files.len() / WORTH_A_THREAD).max(1);
    let part = files.len().div_ceil(threads).max(1);
    let name_all = |files: &[OnDisk<'_>]| -> Option<Vec<(Mode, ObjectId)>> {
        let mut buffer = vec![0; 64 << 10];
        let blobs = files.iter().map(|f| blob(root, algorithm, f, &mut buffer));
        blobs.collect()
    };
    thread::scope(|scope| {
        let mut parts = files.chunks(part);
        let mine = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|p| scope.spawn(move || name_all(p))).collect();
        let mut blobs = name_all(mine)?;
        for other in others {
            blobs.append(&mut other.join().ok()??);
        }
        Some(blobs)
    })
}

fn blob(
    root: &Path,
    algorithm: Algorithm,
    file: &OnDisk<'_>,
    buffer: &mut [u8],
) -> Option<(Mode, ObjectId)> {
    let full = root.join(file.path.as_path());
    let data = fs::symlink_metadata(&full).ok()?;
    let is = kind(&data)?;
    let mode = file.mode.unwrap_or(is);
    let id = match mode {
        Mode::Symlink if is == Mode::Symlink => {
            let target = fs::read_link(&full).ok()?;
            let target = target.as_os_str().as_bytes();
            let mut hasher = Hasher::new(algorithm, "blob", target.len() as u64);
            hasher.update(target);
            hasher.finish()
        }
        Mode::File | Mode::Executable if is.is_file() => {
            let mut open = File::open(&full).ok()?;
            content(&mut open, data.len(), algorithm, file.turned, buffer).ok()??
        }
        _ => return None,
    };
    Some((mode, id))
}

/// What git takes a file for; none for what it does not track.
fn kind(data: &fs::Metadata) -> Option<Mode> {
    Some(match data.file_type() {
        kind if kind.is_symlink() => Mode::Symlink,
        kind if !kind.is_file() => return None,
        _ if data.permissions().mode() & 0o100 != 0 => Mode::Executable,
        _ => Mode::File,
    })
}

/// The name of exactly `length` bytes; none where there are more or fewer.
fn content(
    source: &mut impl io::Read,
    length: u64,
    algorithm: Algorithm,
    turned: bool,
    buffer: &mut [u8],
) -> io::Result<Option<ObjectId>> {
    let mut hasher = Hasher::new(algorithm, "blob", length);
    let mut seen = 0;
    // Not one byte beyond: a file that grows faster than it is read has no end.
    let mut source = source.take(length + 1);
    loop {
        let count = match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if count == 0 {
            return Ok((seen == length).then(|| hasher.finish()));
        }
        let piece = &buffer[..count];
        if turned && piece.contains(&b'\r') {
            return Ok(None);
        }
        hasher.update(piece);
        seen += count as u64;
    }
}

/// One name of a tree, with its content.
pub(crate) struct Leaf<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) mode: Mode,
    pub(crate) id: &'a ObjectId,
}

/// The tree of these files, which are sorted by the bytes of their names. None: a mode or a name
/// that git would not write.
pub(crate) fn tree(algorithm: Algorithm, leaves: &[Leaf<'_>]) -> Option<ObjectId> {
    below(algorithm, leaves, 0)
}

/// The tree of what lies below a folder whose name, with its slash, has this length.
///
/// Git sorts a folder as if its name ended in a slash, which is the order of the whole names.
fn below(algorithm: Algorithm, leaves: &[Leaf<'_>], prefix: usize) -> Option<ObjectId> {
    let mut text = Vec::new();
    let mut rest = leaves;
    while let Some(first) = rest.first() {
        let name = first.path.get(prefix..).filter(|n| !n.is_empty())?;
        let (mode, name, id) = if let Some(end) = name.iter().position(|b| *b == b'/') {
            if end == 0 {
                return None;
            }
            let folder = &first.path[..=prefix + end];
            let inside = rest.iter().take_while(|l| l.path.starts_with(folder));
            let (inside, after) = rest.split_at(inside.count());
            rest = after;
            (
                "40000",
                &name[..end],
                below(algorithm, inside, folder.len())?,
            )
        } else {
            rest = &rest[1..];
            (octal(first.mode)?, name, first.id.clone())
        };
        text.extend_from_slice(mode.as_bytes());
        text.push(b' ');
        text.extend_from_slice(name);
        text.push(0);
        text.extend_from_slice(&id.to_bytes()?);
    }
    let mut hasher = Hasher::new(algorithm, "tree", text.len() as u64);
    hasher.update(&text);
    Some(hasher.finish())
}

const fn octal(mode: Mode) -> Option<&'static str> {
    Some(match mode {
        Mode::File => "100644",
        Mode::Executable => "100755",
        Mode::Symlink => "120000",
        Mode::Submodule => "160000",
        Mode::Absent | Mode::Other(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, Leaf, OnDisk, blobs, content, tree};
    use crate::id::ObjectId;
    use crate::path::GitPath;
    use crate::raw::Mode;

    fn id(hex: &str) -> ObjectId {
        ObjectId::new(hex).unwrap()
    }

    fn named(bytes: &[u8], length: u64, turned: bool) -> Option<ObjectId> {
        let mut source = bytes;
        content(&mut source, length, Algorithm::Sha1, turned, &mut [0; 3]).unwrap()
    }

    #[test]
    fn contents_have_the_names_git_gives_them() {
        let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        assert_eq!(named(b"", 0, false), Some(id(empty)));
        let hello = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert_eq!(named(b"hello\n", 6, true), Some(id(hello)));
        let mut source = &b"hello\n"[..];
        let found = content(&mut source, 6, Algorithm::Sha256, false, &mut [0; 64]).unwrap();
        let hello = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        assert_eq!(found, Some(id(hello)));
    }

    #[test]
    fn a_file_that_changes_or_would_be_turned_has_no_name() {
        assert_eq!(named(b"hello\n", 5, false), None);
        assert_eq!(named(b"hello\n", 7, false), None);
        assert_eq!(named(b"hello\r\n", 7, true), None);
        assert!(named(b"hello\r\n", 7, false).is_some());
    }

    #[test]
    fn trees_have_the_names_git_gives_them() {
        assert_eq!(
            tree(Algorithm::Sha1, &[]),
            Some(id("4b825dc642cb6eb9a060e54bf8d69288fbee4904"))
        );
        let content = id("ce013625030ba8dba906f756967f9e9ca394464a");
        let leaf = |path: &'static str, mode| Leaf {
            path: path.as_bytes(),
            mode,
            id: &content,
        };
        // `a.txt` sorts before `a/` and `a0` after it.
        let leaves = [
            leaf("a.txt", Mode::File),
            leaf("a/b/c", Mode::Executable),
            leaf("a/d", Mode::Symlink),
            leaf("a0", Mode::File),
        ];
        assert_eq!(
            tree(Algorithm::Sha1, &leaves),
            Some(id("5cd3964f72165d2e163152d5cb5276236c9ccdc5"))
        );
        assert_eq!(tree(Algorithm::Sha1, &[leaf("a", Mode::Absent)]), None);
        assert_eq!(tree(Algorithm::Sha1, &[leaf("a//b", Mode::File)]), None);
    }

    #[test]
    fn many_files_keep_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<GitPath> = (0..300).map(|i| GitPath::new(format!("f{i}"))).collect();
        for path in &paths {
            std::fs::write(dir.path().join(path.as_path()), path.as_bytes()).unwrap();
        }
        let on_disk = |path| OnDisk {
            path,
            mode: None,
            turned: false,
        };
        let files: Vec<OnDisk<'_>> = paths.iter().map(on_disk).collect();
        let ids = blobs(dir.path(), Algorithm::Sha1, &files).unwrap();
        for (path, (mode, id)) in paths.iter().zip(&ids) {
            assert_eq!(*mode, Mode::File);
            let length = path.as_bytes().len() as u64;
            assert_eq!(named(path.as_bytes(), length, false).as_ref(), Some(id));
        }
        std::fs::remove_file(dir.path().join("f250")).unwrap();
        assert_eq!(blobs(dir.path(), Algorithm::Sha1, &files), None);
    }
}
