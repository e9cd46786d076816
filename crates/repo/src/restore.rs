//! Undoing stray changes: putting files of the work tree back as a tree has them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path};

use crate::error::RepoError;
use crate::path::GitPath;
use crate::repo::Repo;

/// What [`Repo::restore`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Files that have their old content again.
    pub restored: Vec<GitPath>,
    /// Files the tree does not have, which are gone now.
    pub removed: Vec<GitPath>,
}

impl Repo {
    /// Makes the named files of the work tree what they are in `tree`; those it does not have are
    /// removed. The repository's index and every other file stay as they are.
    pub fn restore(&self, tree: &str, paths: &[GitPath]) -> Result<Restored, RepoError> {
        let dir = tempfile::tempdir().map_err(RepoError::io("cannot make a temporary folder"))?;
        let index = dir.path().join("index");
        self.reading(["read-tree", tree])
            .env("GIT_INDEX_FILE", &index)
            .ok()?;
        let listed = self
            .git(["ls-files", "-z"])
            .env("GIT_INDEX_FILE", &index)
            .ok()?;
        let known: BTreeSet<&[u8]> = listed.stdout.split(|b| *b == 0).collect();
        let mut done = Restored::default();
        for path in paths {
            check(path)?;
            if known.contains(path.as_bytes()) {
                done.restored.push(path.clone());
            } else if self.remove(path)? {
                done.removed.push(path.clone());
            }
        }
        if !done.restored.is_empty() {
            let mut names = Vec::new();
            for path in &done.restored {
                names.extend_from_slice(path.as_bytes());
                names.push(0);
            }
            self.reading(["checkout-index", "--force", "-z", "--stdin"])
                .env("GIT_INDEX_FILE", &index)
                .stdin(names)
                .ok()?;
        }
        Ok(done)
    }

    /// Removes a file of the work tree and the folders it leaves empty. A name that leads through
    /// a symbolic link is not inside the work tree, so it is left alone.
    fn remove(&self, path: &GitPath) -> Result<bool, RepoError> {
        let full = self.root().join(path.as_path());
        let parents: Vec<&Path> = full
            .ancestors()
            .skip(1)
            .take_while(|p| *p != self.root())
            .collect();
        if parents.iter().any(|p| p.is_symlink()) {
            return Ok(false);
        }
        let Ok(kind) = fs::symlink_metadata(&full) else {
            return Ok(false);
        };
        let removed = if kind.is_dir() {
            fs::remove_dir_all(&full)
        } else {
            fs::remove_file(&full)
        };
        removed.map_err(RepoError::io(format!("cannot remove {path}")))?;
        for parent in parents {
            if fs::remove_dir(parent).is_err() {
                break;
            }
        }
        Ok(true)
    }
}

/// Only names inside the work tree and outside its git folder.
fn check(path: &GitPath) -> Result<(), RepoError> {
    let mut parts = path.as_path().components();
    let inside = parts.all(|c| match c {
        Component::Normal(name) => !name.eq_ignore_ascii_case(OsStr::new(".git")),
        _ => false,
    });
    if inside && !path.as_bytes().is_empty() {
        return Ok(());
    }
    Err(RepoError::Refused(format!(
        "{path} is not a file of the work tree; it was not restored"
    )))
}
