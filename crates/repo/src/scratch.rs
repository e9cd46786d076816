//! Hashing a work tree without touching its repository: a private index, a private object folder.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;

use crate::error::RepoError;
use crate::footprint::Footprint;
use crate::git::Git;
use crate::id::ObjectId;
use crate::repo::{Repo, parse_id};

/// After so many looks at a disk that did not tell enough, git is asked at once.
const VAIN_LOOKS: u8 = 3;

/// A folder outside the repository that holds what git would have written into it.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: TempDir,
    /// Which version of the real index the private one was copied from.
    copied_from: Option<(SystemTime, u64, u64)>,
    /// Whether the work tree was compared with the commit that is checked out.
    is_compared: bool,
    /// Whether anything was hashed.
    has_hashed: bool,
    /// The disk at the last snapshot, and what the snapshot was.
    known: Option<(Footprint, ObjectId)>,
    /// How often looking at the disk did not tell enough here.
    vain_looks: u8,
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
            is_compared: false,
            has_hashed: false,
            known: None,
            vain_looks: 0,
        })
    }

    /// The one of a repository, made when it is first needed.
    fn opened(slot: &mut Option<Self>) -> Result<&mut Self, RepoError> {
        match slot {
            Some(scratch) => Ok(scratch),
            empty => Ok(empty.insert(Self::new()?)),
        }
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
    /// Taking snapshots one after another is cheap: files that did not change are not read again,
    /// and where nothing changed, git is not even asked.
    pub fn snapshot(&self) -> Result<ObjectId, RepoError> {
        let mut slot = self.scratch();
        let scratch = Scratch::opened(&mut slot)?;
        // Before git reads them: what changes meanwhile must differ from this.
        let may_look = scratch.vain_looks < VAIN_LOOKS;
        let print = may_look.then(|| self.footprint()).flatten();
        scratch.vain_looks += u8::from(may_look && print.is_none());
        let known = match (&scratch.known, &print) {
            (Some((last, tree)), Some(now)) if last.is_as(now) => Some(tree.clone()),
            _ => None,
        };
        let tree = known.map_or_else(|| self.hashed(scratch), Ok)?;
        scratch.known = print.map(|print| (print, tree.clone()));
        Ok(tree)
    }

    /// Takes in what was found without a snapshot, so that it need not be looked for again.
    pub(crate) fn knows(&self, print: Option<Footprint>, tree: &ObjectId) -> Result<(), RepoError> {
        let mut slot = self.scratch();
        let scratch = Scratch::opened(&mut slot)?;
        scratch.is_compared = true;
        scratch.known = print.map(|print| (print, tree.clone()));
        Ok(())
    }

    /// The work tree and the files that rule what git sees of it.
    pub(crate) fn footprint(&self) -> Option<Footprint> {
        let rulers = ["config", "info/exclude", "info/attributes"];
        let mut rulers: Vec<PathBuf> = rulers
            .iter()
            .map(|name| self.common_dir().join(name))
            .collect();
        rulers.push(self.git_dir().join("index"));
        Footprint::take(self.root(), &rulers, SystemTime::now())
    }

    /// The work tree as git hashes it.
    fn hashed(&self, scratch: &mut Scratch) -> Result<ObjectId, RepoError> {
        let real = self.git_dir().join("index");
        let stamp = stamp(&real);
        if scratch.copied_from != stamp || stamp.is_none() {
            // Also when it was made anew: a file added with `git add --force` counts as tracked.
            self.copy_index(&real, &scratch.index())?;
            scratch.copied_from = stamp;
        }
        if !std::mem::replace(&mut scratch.is_compared, true)
            && let Some(tree) = self.clean_tree(&scratch.index())?
        {
            return Ok(tree);
        }
        let first = !scratch.has_hashed;
        scratch.has_hashed = true;
        self.write_tree(&scratch.index(), Some(&scratch.objects()), first)
    }

    /// The tree of the commit that is checked out, if the work tree is the same.
    fn clean_tree(&self, index: &Path) -> Result<Option<ObjectId>, RepoError> {
        match self.status_of(index)? {
            (status, Some(head)) if status.is_empty() => self.tree_of(&head).map(Some),
            _ => Ok(None),
        }
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
        let bytes = fs::read(index).map_err(RepoError::io(index.display().to_string()))?;
        if crate::index::has_hidden(&bytes) == Some(false) {
            return Ok(());
        }
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
        let mut add = private(self.git(["add", "--all", "--sparse", "--ignore-errors"]));
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
