//! A store of commits without a work tree: what a host keeps of a repository that is elsewhere, so
//! that its history need not come again with every task.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::bundle::{Opened, take_in};
use crate::error::RepoError;
use crate::git::Git;
use crate::id::ObjectId;
use crate::repo::Repo;

/// The references that keep what has come.
const KEPT: &str = "refs/baton/base";

/// So many bases are named to the sender; more would not make the next bundle smaller.
const NAMED: usize = 32;

/// The file that says where history ends.
const SHALLOW: &str = "shallow";

/// So often others may write it at the same time.
const TRIES: usize = 8;

/// With more packs than this they are put together.
const MOST_PACKS: usize = 64;

/// A bare repository that only grows.
#[derive(Debug)]
pub struct Depot {
    path: PathBuf,
    /// Shared by all who use it: packs are put together only when nobody does.
    lock: File,
}

impl Depot {
    /// Opens it, or makes it. Several may do so at once.
    pub fn open(path: &Path) -> Result<Self, RepoError> {
        if path.join("HEAD").is_file() {
            return Self::locked(path);
        }
        let parent = path.parent().unwrap_or(path);
        std::fs::create_dir_all(parent).map_err(RepoError::io(format!(
            "cannot make the folder {}",
            parent.display()
        )))?;
        Git::new(parent, ["init", "--quiet", "--bare", "--template="])
            .arg(path)
            .ok()?;
        Self::locked(path)
    }

    fn locked(path: &Path) -> Result<Self, RepoError> {
        let cannot = || RepoError::io(format!("cannot lock {}", path.display()));
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("baton.lock"))
            .map_err(cannot())?;
        let depot = Self {
            path: path.to_owned(),
            lock,
        };
        if depot.packs() > MOST_PACKS && depot.lock.try_lock().is_ok() {
            depot.git(&["repack", "-a", "-d", "-q"]).ok()?;
        }
        depot.lock.lock_shared().map_err(cannot())?;
        Ok(depot)
    }

    fn packs(&self) -> usize {
        let entries = std::fs::read_dir(self.path.join("objects/pack"));
        let names = entries.into_iter().flatten().flatten();
        names
            .filter(|e| e.path().extension().is_some_and(|x| x == "pack"))
            .count()
    }

    fn git(&self, args: &[&str]) -> Git {
        Git::new(&self.path, args)
    }

    /// The bases that came with earlier tasks, the newest first.
    pub fn have(&self) -> Result<Vec<ObjectId>, RepoError> {
        let said = self
            .git(&["for-each-ref", "--sort=-creatordate"])
            .arg(format!("--count={NAMED}"))
            .arg("--format=%(objectname)")
            .arg(KEPT)
            .ok()?;
        let text = String::from_utf8_lossy(&said.stdout);
        Ok(text.lines().filter_map(ObjectId::new).collect())
    }

    /// Takes a bundle in, and keeps `base` for later.
    pub fn take_in(&self, bundle: &Path, base: &ObjectId) -> Result<(), RepoError> {
        let bundle = Opened::open(bundle)?;
        self.end_history_at(bundle.edge())?;
        take_in(&|args: &[&str]| self.git(args), bundle, false)?;
        self.keep(base)
    }

    /// These commits have no parents here, as they have none in the shallow clone they come from.
    fn end_history_at(&self, edge: &[ObjectId]) -> Result<(), RepoError> {
        let path = self.path.join(SHALLOW);
        let cannot = || RepoError::io(format!("cannot write {}", path.display()));
        for _ in 0..TRIES {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let mut ids: Vec<&str> = text.lines().collect();
            let known = ids.len();
            ids.extend(edge.iter().map(ObjectId::as_str));
            ids.sort_unstable();
            ids.dedup();
            if ids.len() == known {
                return Ok(());
            }
            // Another may do the same just now: what it adds is not lost.
            let mut file = tempfile::NamedTempFile::new_in(&self.path).map_err(cannot())?;
            writeln!(file, "{}", ids.join("\n")).map_err(cannot())?;
            file.persist(&path).map_err(|e| cannot()(e.error))?;
        }
        Ok(())
    }

    /// Keeps a commit that is here.
    pub fn keep(&self, base: &ObjectId) -> Result<(), RepoError> {
        self.git(&["update-ref"])
            .args([&format!("{KEPT}/{base}"), base.as_str()])
            .ok()
            .map(|_| ())
    }

    /// A clone at a commit, detached, that knows no remote. Objects are linked where they can be.
    pub fn check_out(&self, path: &Path, commit: &ObjectId) -> Result<Repo, RepoError> {
        if self.path.join(SHALLOW).exists() {
            return self.borrow(path, commit);
        }
        Git::new(&self.path, ["clone", "--quiet", "--local", "--no-tags"])
            .args(["--no-checkout", "--template="])
            .setting("protocol.file.allow", "always")
            .arg("--")
            .arg(&self.path)
            .arg(path)
            .ok()?;
        let git = |args: &[&str]| Git::new(path, args);
        git(&["remote", "remove", "origin"]).ok()?;
        git(&["checkout", "--quiet", "--detach", commit.as_str()]).ok()?;
        Repo::discover(path)
    }

    /// The same where history ends early: git clones such a repository only by its branches, of which
    /// there are none here, so the new one looks its objects up in this one.
    fn borrow(&self, path: &Path, commit: &ObjectId) -> Result<Repo, RepoError> {
        Git::new(&self.path, ["init", "--quiet", "--template="])
            .arg(path)
            .ok()?;
        let there = path.join(".git");
        let cannot = || RepoError::io(format!("cannot write {}", there.display()));
        let info = there.join("objects/info");
        std::fs::create_dir_all(&info).map_err(cannot())?;
        let objects = self.path.join("objects");
        let mut alternates = objects.as_os_str().as_encoded_bytes().to_vec();
        alternates.push(b'\n');
        std::fs::write(info.join("alternates"), alternates).map_err(cannot())?;
        std::fs::copy(self.path.join(SHALLOW), there.join(SHALLOW)).map_err(cannot())?;
        let head = ["checkout", "--quiet", "--detach", commit.as_str()];
        Git::new(path, head).ok()?;
        Repo::discover(path)
    }
}
