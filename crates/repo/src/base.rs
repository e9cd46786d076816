//! The point a piece of work is measured against.

use crate::error::RepoError;
use crate::id::ObjectId;
use crate::repo::{Repo, parse_id};

/// The subject of a recorded base; tells it from an ordinary commit.
const SUBJECT: &str = "baton: work tree at the start of a task";

/// The state some work started from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The files at the start, uncommitted ones included.
    pub tree: ObjectId,
    /// What HEAD was at the start.
    pub head: HeadAtBase,
    /// When the commit of the start was made, in seconds since 1970; none where that is not known.
    pub at: Option<i64>,
    /// The tree HEAD had at the start, where it is known.
    pub(crate) start: Option<ObjectId>,
}

/// A work tree that [`Repo::base`] finds again under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The commit to ask for.
    pub name: ObjectId,
    /// The files at that time.
    pub tree: ObjectId,
}

/// What HEAD was when the work started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadAtBase {
    /// This commit.
    Commit(ObjectId),
    /// There was no commit yet.
    Unborn,
    /// Only a tree was recorded, and no commit of this branch has it. Work that was committed
    /// and then undone in the work tree cannot be seen.
    Unknown,
}

impl Repo {
    /// Records the work tree as it is now, so that another process can measure against it later.
    ///
    /// A clean work tree is recorded already, by the commit that is checked out. Otherwise the
    /// answer is a commit that no branch holds: its tree is the work tree (uncommitted and
    /// untracked files included, ignored ones not), its parent is HEAD. Only objects are added to
    /// the repository; no index, reference or file changes. The same state gives the same name.
    /// (`git gc` drops it after two weeks.)
    pub fn record_base(&self) -> Result<Recorded, RepoError> {
        let print = self.footprint();
        let look = self.look()?;
        if let (true, Some(head)) = (look.status.is_empty(), &look.head) {
            let tree = self.tree_of(head)?;
            self.knows(print, &tree)?;
            let name = head.clone();
            return Ok(Recorded { name, tree });
        }
        let tree = self.write_tree(&look.index, None, false)?;
        let mut commit = self.git(["commit-tree", tree.as_str(), "-m", SUBJECT]);
        if let Some(head) = &look.head {
            commit = commit.arg("-p").arg(head.as_str());
        }
        for name in [
            "GIT_AUTHOR_NAME",
            "GIT_AUTHOR_EMAIL",
            "GIT_COMMITTER_NAME",
            "GIT_COMMITTER_EMAIL",
        ] {
            commit = commit.env(name, "baton");
        }
        // A fixed date: the name depends on the content only.
        let commit = commit
            .env("GIT_AUTHOR_DATE", "@0 +0000")
            .env("GIT_COMMITTER_DATE", "@0 +0000")
            .ok()?;
        let name = parse_id(&commit)?;
        self.knows(print, &tree)?;
        Ok(Recorded { name, tree })
    }

    /// What a base recorded in a task means: a commit, a recorded work tree, or a bare tree.
    pub fn base(&self, name: &str) -> Result<Base, RepoError> {
        // The commit and the one before it: what was recorded has HEAD of that time there.
        let said = self
            .reading(["log", "-n2", "--first-parent", "-z", "--no-show-signature"])
            .args(["--format=%H%n%T%n%P%n%s%n%ct", "--end-of-options"])
            .arg(format!("{name}^{{commit}}"))
            .said()?;
        if !said.is_ok() {
            let tree = self.tree(name)?;
            let head = self.commit_with_tree(&tree)?;
            let start = match &head {
                HeadAtBase::Commit(_) => Some(tree.clone()),
                HeadAtBase::Unborn | HeadAtBase::Unknown => None,
            };
            return Ok(Base {
                tree,
                head,
                start,
                at: None,
            });
        }
        let text = String::from_utf8_lossy(&said.stdout);
        let mut commits = text.split('\0');
        let mut lines = commits.next().unwrap_or_default().lines();
        let mut id = || ObjectId::new(lines.next()?.split(' ').next()?);
        let (Some(commit), Some(tree), parent) = (id(), id(), id()) else {
            return Err(RepoError::UnknownRevision(name.to_owned()));
        };
        let time = |line: Option<&str>| line?.trim().parse().ok();
        if lines.next() != Some(SUBJECT) {
            return Ok(Base {
                at: time(lines.next()),
                start: Some(tree.clone()),
                tree,
                head: HeadAtBase::Commit(commit),
            });
        }
        let before: Vec<&str> = commits.next().unwrap_or_default().lines().collect();
        Ok(Base {
            tree,
            at: time(before.get(4).copied()),
            start: before.get(1).copied().and_then(ObjectId::new),
            head: parent.map_or(HeadAtBase::Unborn, HeadAtBase::Commit),
        })
    }

    /// HEAD as a base; the empty tree before the first commit.
    pub fn base_of_head(&self) -> Result<Base, RepoError> {
        if let Some(commit) = self.head()?.commit {
            return self.base(commit.as_str());
        }
        let tree = self.empty_tree()?;
        Ok(Base {
            at: None,
            start: Some(tree.clone()),
            tree,
            head: HeadAtBase::Unborn,
        })
    }

    /// The newest of the last thousand commits that has exactly this tree.
    fn commit_with_tree(&self, tree: &ObjectId) -> Result<HeadAtBase, RepoError> {
        if self.head()?.commit.is_none() {
            return Ok(HeadAtBase::Unborn);
        }
        let said = self
            .git([
                "log",
                "-n",
                "1000",
                "--no-show-signature",
                "--format=%H %T",
                "HEAD",
            ])
            .ok()?;
        let text = String::from_utf8_lossy(&said.stdout);
        let found = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(_, t)| *t == tree.as_str())
            .and_then(|(commit, _)| ObjectId::new(commit));
        Ok(found.map_or(HeadAtBase::Unknown, HeadAtBase::Commit))
    }
}
