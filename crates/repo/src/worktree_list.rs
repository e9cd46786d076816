//! The list of a repository's work trees.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use crate::error::RepoError;
use crate::id::ObjectId;
use crate::repo::Repo;

/// One work tree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Where it is, or was.
    pub path: PathBuf,
    /// The commit checked out there.
    pub head: Option<ObjectId>,
    /// The branch checked out there, without `refs/heads/`; none when detached.
    pub branch: Option<String>,
    /// Why it is locked (may be empty); none when it is not.
    pub locked: Option<String>,
    /// Why git would prune its entry; none when it would not.
    pub prunable: Option<String>,
    /// Whether its folder is gone.
    pub missing: bool,
    /// Whether it is the entry of a bare repository.
    pub bare: bool,
}

impl Repo {
    /// Every work tree, the main one first.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, RepoError> {
        let said = self.git(["worktree", "list", "--porcelain", "-z"]).ok()?;
        let mut trees = parse(&said.stdout);
        for tree in &mut trees {
            tree.missing = !tree.path.exists();
        }
        Ok(trees)
    }
}

/// Reads `attribute[ value]\0…\0\0` records; attributes of a newer git are skipped.
fn parse(bytes: &[u8]) -> Vec<Worktree> {
    let mut trees: Vec<Worktree> = Vec::new();
    for field in bytes.split(|b| *b == 0) {
        let cut = field.iter().position(|b| *b == b' ').unwrap_or(field.len());
        let (name, value) = field.split_at(cut);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if name == b"worktree" {
            trees.push(Worktree {
                path: PathBuf::from(OsString::from_vec(value.to_vec())),
                head: None,
                branch: None,
                locked: None,
                prunable: None,
                missing: false,
                bare: false,
            });
        }
        let Some(tree) = trees.last_mut() else {
            continue;
        };
        let text = String::from_utf8_lossy(value).into_owned();
        match name {
            b"HEAD" => tree.head = ObjectId::new(&text).filter(|id| !id.is_zero()),
            b"branch" => tree.branch = text.strip_prefix("refs/heads/").map(str::to_owned),
            b"locked" => tree.locked = Some(text),
            b"prunable" => tree.prunable = Some(text),
            b"bare" => tree.bare = true,
            _ => {}
        }
    }
    trees
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn every_kind_of_entry_is_read() {
        let id = "1".repeat(40);
        let text = format!(
            "worktree /r\0HEAD {id}\0branch refs/heads/feat/x\0\0\
             worktree /a b\n\0HEAD {id}\0detached\0locked on a\ndisk\0\0\
             worktree /c\0HEAD {id}\0branch refs/heads/c\0locked\0prunable gone\0new-thing 1\0\0"
        );
        let trees = parse(text.as_bytes());
        assert_eq!(trees.len(), 3);
        assert_eq!(trees[0].branch.as_deref(), Some("feat/x"));
        assert_eq!(trees[1].path.to_str(), Some("/a b\n"));
        assert_eq!(trees[1].branch, None);
        assert_eq!(trees[1].locked.as_deref(), Some("on a\ndisk"));
        assert_eq!(trees[2].locked.as_deref(), Some(""));
        assert_eq!(trees[2].prunable.as_deref(), Some("gone"));
    }
}
