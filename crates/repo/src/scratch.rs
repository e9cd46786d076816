//! Hashing a work tree without touching its repository: a private index, a private object folder.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;

use crate::error::RepoError;
use crate::git::Git;
use crate::id::ObjectId;
use crate::repo::{Repo, parse_id};

/// A folder outside the repository that holds what git would have written into it.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: TempDir,
    /// Which version of the real index the private one was copied from.
    copied_from: Option<(SystemTime, u64, u64)>,
}

impl Scratch {
    fn new() -> Result<Self, RepoError> {
        let dir = tempfile::Builder::new()
            .prefix("baton-repo-")
            .tempdir()
            .map_err(RepoError::io("cannot make a temporary folder"))?;
        let objects = dir.path().join("objects");
        fs::create_dir(&objects).map_err(RepoError::io(objects.display().to_string()))?;
        Ok(Self {
            dir,
            copied_from: None,
        })
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.dir.path().join("objects")
    }

    fn index(&self) -> PathBuf {
        self.dir.path().join("index")
    }
}

impl Repo {
    /// Hashes the work tree as it is now: uncommitted and untracked files included, ignored ones
    /// not. Nothing in the repository changes, so the tree is known to this `Repo` only; a tree
    /// others must find later is made by [`Repo::record_base`].
    ///
    /// Taking snapshots one after another is cheap: files that did not change are not read again.
    pub fn snapshot(&self) -> Result<ObjectId, RepoError> {
        let mut slot = self.scratch();
        let scratch = match &mut *slot {
            Some(scratch) => scratch,
            empty => empty.insert(Scratch::new()?),
        };
        let real = self.git_dir().join("index");
        let stamp = stamp(&real);
        let first = scratch.copied_from.is_none();
        if scratch.copied_from != stamp || stamp.is_none() {
            // Also when it was made anew: a file added with `git add --force` counts as tracked.
            self.copy_index(&real, &scratch.index())?;
            scratch.copied_from = stamp;
        }
        self.write_tree(&scratch.index(), Some(&scratch.objects()), first)
    }

    /// Copies the index so that it can be changed freely, without the flags that hide changes.
    pub(crate) fn copy_index(&self, real: &Path, copy: &Path) -> Result<(), RepoError> {
        match fs::copy(real, copy) {
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let _ = fs::remove_file(copy);
                return Ok(());
            }
            Err(e) => return Err(RepoError::io(real.display().to_string())(e)),
        }
        // Git distrusts entries as young as the index itself; a younger copy would lose that.
        let modified = fs::metadata(real).and_then(|m| m.modified());
        modified
            .and_then(|time| {
                fs::File::options()
                    .append(true)
                    .open(copy)?
                    .set_modified(time)
            })
            .map_err(RepoError::io(copy.display().to_string()))?;
        self.unhide(copy)
    }

    /// Clears assume-unchanged, and skip-worktree where the file exists: both make git look away.
    fn unhide(&self, index: &Path) -> Result<(), RepoError> {
        let listed = self
            .git(["ls-files", "-v", "-z"])
            .env("GIT_INDEX_FILE", index)
            .ok()?;
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        for entry in listed.stdout.split(|b| *b == 0) {
            let [tag, b' ', name @ ..] = entry else {
                continue;
            };
            if tag.is_ascii_lowercase() {
                assumed.extend_from_slice(name);
                assumed.push(0);
            }
            let path = crate::path::GitPath::new(name);
            let exists = || fs::symlink_metadata(self.root().join(path.as_path())).is_ok();
            if tag.eq_ignore_ascii_case(&b'S') && exists() {
                skipped.extend_from_slice(name);
                skipped.push(0);
            }
        }
        for (flag, names) in [
            ("--no-assume-unchanged", assumed),
            ("--no-skip-worktree", skipped),
        ] {
            if !names.is_empty() {
                self.git(["update-index", flag, "-z", "--stdin"])
                    .env("GIT_INDEX_FILE", index)
                    .stdin(names)
                    .ok()?;
            }
        }
        Ok(())
    }

    /// Brings an index up to the work tree and writes its tree.
    pub(crate) fn write_tree(
        &self,
        index: &Path,
        objects: Option<&Path>,
        first: bool,
    ) -> Result<ObjectId, RepoError> {
        let private = |git: Git| {
            let git = git.env("GIT_INDEX_FILE", index);
            match objects {
                // Nobody else reads these objects, and they live as long as this process.
                Some(objects) => git
                    .env("GIT_OBJECT_DIRECTORY", objects)
                    .env(
                        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                        alternate(&self.common_dir().join("objects")),
                    )
                    .setting("core.looseCompression", "0")
                    .setting("pack.compression", "0")
                    .setting("core.fsync", "none"),
                None => git,
            }
        };
        // An embedded repository without a commit cannot be added; all else still is.
        let mut add = private(self.git(["add", "--all", "--ignore-errors"]));
        if first {
            // Git writes what it calls big into one pack: one file instead of thousands. Later
            // snapshots add few objects, and many packs would slow down every look.
            add = add.setting("core.bigFileThreshold", "1");
        }
        let added = add.said()?;
        if !added.is_ok() && !added.stderr.contains("does not have a commit checked out") {
            return Err(added.into_error());
        }
        let tree = private(self.git(["write-tree"])).ok()?;
        parse_id(&tree)
    }
}

/// A folder as `GIT_ALTERNATE_OBJECT_DIRECTORIES` wants it: quoted, for a colon would part it.
pub(crate) fn alternate(folder: &Path) -> OsString {
    OsString::from_vec(alternate_line(folder))
}

/// A folder as `objects/info/alternates` and the variable want it, quoted as C quotes.
pub(crate) fn alternate_line(folder: &Path) -> Vec<u8> {
    let mut quoted = b"\"".to_vec();
    for byte in folder.as_os_str().as_bytes() {
        match byte {
            b'\n' => quoted.extend_from_slice(b"\\n"),
            b'"' | b'\\' => quoted.extend_from_slice(&[b'\\', *byte]),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

fn stamp(index: &Path) -> Option<(SystemTime, u64, u64)> {
    let data = fs::metadata(index).ok()?;
    Some((data.modified().ok()?, data.len(), data.ino()))
}
