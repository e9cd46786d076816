//! Naming contents as git names them, without git: blobs of files, and trees of names.
//!
//! Only for contents that git stores as they are on disk; who may say so is `as_is.rs`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::OFlags;
use rustix::io::Errno;
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

/// A file as it is on disk, named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
    /// Whether it has a carriage return, which git may drop on the way in.
    pub(crate) has_returns: bool,
}

/// Below this many files a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 64;

/// What the files are and the names of their contents, in their order; of each is told what it
/// must be (none: whatever it is). None: one is gone, changes under our eyes, or is no file; or
/// meanwhile it was said that nobody wants to know any more.
pub(crate) fn blobs(
    root: &Path,
    algorithm: Algorithm,
    files: &[(&GitPath, Option<Mode>)],
    is_vain: &AtomicBool,
) -> Option<Vec<Blob>> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(files.len() / WORTH_A_THREAD).max(1);
    let part = files.len().div_ceil(threads).max(1);
    let name_all = |files: &[(&GitPath, Option<Mode>)]| -> Option<Vec<Blob>> {
        let mut reader = Reader {
            root,
            algorithm,
            folder: None,
            buffer: vec![0; 64 << 10],
            is_vain,
        };
        let blobs = files.iter().map(|(path, mode)| reader.blob(path, *mode));
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

/// Reads one file after another, as few looks at each as can be.
struct Reader<'a> {
    root: &'a Path,
    algorithm: Algorithm,
    /// The folder of the file before, by its name.
    folder: Option<(Vec<u8>, OwnedFd)>,
    buffer: Vec<u8>,
    is_vain: &'a AtomicBool,
}

impl Reader<'_> {
    fn blob(&mut self, path: &GitPath, wanted: Option<Mode>) -> Option<Blob> {
        if self.is_vain.load(Ordering::Relaxed) {
            return None;
        }
        let bytes = path.as_bytes();
        let cut = bytes.iter().rposition(|b| *b == b'/').map_or(0, |i| i + 1);
        let (folder, name) = bytes.split_at(cut);
        let folder = self.folder(folder)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        match rustix::fs::openat(folder, name, flags, rustix::fs::Mode::empty()) {
            Ok(open) => self.file(&mut File::from(open), wanted),
            Err(Errno::LOOP) if wanted.is_none_or(|w| w == Mode::Symlink) => {
                let target = rustix::fs::readlinkat(folder, name, Vec::new()).ok()?;
                let target = target.as_bytes();
                let mut hasher = Hasher::new(self.algorithm, "blob", target.len() as u64);
                hasher.update(target);
                Some(Blob {
                    mode: Mode::Symlink,
                    id: hasher.finish(),
                    has_returns: false,
                })
            }
            Err(_) => None,
        }
    }

    /// Files of one folder mostly follow one another.
    fn folder(&mut self, name: &[u8]) -> Option<&OwnedFd> {
        if self.folder.as_ref().is_none_or(|(known, _)| known != name) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let full = self.root.join(OsStr::from_bytes(name));
            let open = rustix::fs::open(full, flags, rustix::fs::Mode::empty()).ok()?;
            self.folder = Some((name.to_vec(), open));
        }
        self.folder.as_ref().map(|(_, open)| open)
    }

    fn file(&mut self, open: &mut File, wanted: Option<Mode>) -> Option<Blob> {
        let data = open.metadata().ok()?;
        let is = kind(&data)?;
        let mode = wanted.unwrap_or(is);
        if !mode.is_file() {
            return None;
        }
        let go_on = || !self.is_vain.load(Ordering::Relaxed);
        let found = content(open, data.len(), self.algorithm, &mut self.buffer, go_on);
        let (id, has_returns) = found.ok()??;
        Some(Blob {
            mode,
            id,
            has_returns,
        })
    }
}

/// What git takes an open file for; none for what it does not track.
fn kind(data: &fs::Metadata) -> Option<Mode> {
    Some(match data.file_type() {
        kind if !kind.is_file() => return None,
        _ if data.permissions().mode() & 0o100 != 0 => Mode::Executable,
        _ => Mode::File,
    })
}

/// The name of exactly `length` bytes, and whether a carriage return is among them; none where
/// there are more or fewer, or nobody wants to go on.
fn content(
    source: &mut impl io::Read,
    length: u64,
    algorithm: Algorithm,
    buffer: &mut [u8],
    go_on: impl Fn() -> bool,
) -> io::Result<Option<(ObjectId, bool)>> {
    let mut hasher = Hasher::new(algorithm, "blob", length);
    let (mut seen, mut has_returns) = (0, false);
    // Not one byte beyond: a file that grows faster than it is read has no end.
    let mut source = source.take(length + 1);
    while go_on() {
        let count = match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let piece = &buffer[..count];
        has_returns |= piece.contains(&b'\r');
        hasher.update(piece);
        seen += count as u64;
        // Where less came than was asked for, a file has no more.
        if count == 0 || (seen == length && count < buffer.len()) {
            return Ok((seen == length).then(|| (hasher.finish(), has_returns)));
        }
    }
    Ok(None)
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
    use std::sync::atomic::AtomicBool;

    use super::{Algorithm, Leaf, blobs, content, tree};
    use crate::id::ObjectId;
    use crate::path::GitPath;
    use crate::raw::Mode;

    fn id(hex: &str) -> ObjectId {
        ObjectId::new(hex).unwrap()
    }

    fn read(bytes: &[u8], length: u64) -> Option<(ObjectId, bool)> {
        let mut source = bytes;
        content(&mut source, length, Algorithm::Sha1, &mut [0; 3], || true).unwrap()
    }

    fn named(bytes: &[u8], length: u64) -> Option<ObjectId> {
        read(bytes, length).map(|(id, _)| id)
    }

    #[test]
    fn contents_have_the_names_git_gives_them() {
        let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        assert_eq!(named(b"", 0), Some(id(empty)));
        let hello = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert_eq!(named(b"hello\n", 6), Some(id(hello)));
        let mut source = &b"hello\n"[..];
        let found = content(&mut source, 6, Algorithm::Sha256, &mut [0; 64], || true).unwrap();
        let hello = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        assert_eq!(found, Some((id(hello), false)));
    }

    #[test]
    fn a_file_that_changes_has_no_name_and_line_ends_are_told() {
        assert_eq!(named(b"hello\n", 5), None);
        assert_eq!(named(b"hello\n", 7), None);
        assert_eq!(read(b"hello\n", 6).map(|r| r.1), Some(false));
        assert_eq!(read(b"hello\r\n", 7).map(|r| r.1), Some(true));
        let given_up = content(&mut &b"x"[..], 1, Algorithm::Sha1, &mut [0; 3], || false);
        assert_eq!(given_up.unwrap(), None);
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
        std::os::unix::fs::symlink("f0", dir.path().join("link")).unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::write(dir.path().join("d/f"), "f0").unwrap();
        let (link, inner) = (GitPath::from("link"), GitPath::from("d/f"));
        let mut files: Vec<(&GitPath, Option<Mode>)> = paths.iter().map(|p| (p, None)).collect();
        files.extend([(&link, None), (&inner, Some(Mode::Executable))]);
        let run =
            |files: &[_], vain| blobs(dir.path(), Algorithm::Sha1, files, &AtomicBool::new(vain));
        let found = run(&files, false).unwrap();
        for (path, blob) in paths.iter().zip(&found) {
            assert_eq!(blob.mode, Mode::File);
            let length = path.as_bytes().len() as u64;
            assert_eq!(named(path.as_bytes(), length).as_ref(), Some(&blob.id));
        }
        let [to_first, inner] = &found[300..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (to_first.mode, inner.mode),
            (Mode::Symlink, Mode::Executable)
        );
        assert!(to_first.id == found[0].id && inner.id == found[0].id);
        assert_eq!(run(&files, true), None, "nobody wants to know");
        assert_eq!(run(&[(&link, Some(Mode::File))], false), None);
        std::fs::remove_file(dir.path().join("f250")).unwrap();
        assert_eq!(run(&files, false), None);
    }
}
