//! Writing a tree out as a repository of its own, for trying things on it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RepoError;
use crate::git::Git;
use crate::id::ObjectId;
use crate::path::GitPath;
use crate::repo::Repo;

/// What a written-out tree borrows; it must live as long as the folder is used.
#[derive(Debug, Default)]
pub struct Borrowed {
    folders: Vec<PathBuf>,
    /// Submodules whose private snapshots were written out.
    held: Vec<Repo>,
    empty: Vec<GitPath>,
}

impl Borrowed {
    /// The folders of objects that git commands run in the copy need to read.
    pub fn object_folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Submodules whose content is nowhere on this machine: their folders are empty.
    pub fn empty_submodules(&self) -> &[GitPath] {
        &self.empty
    }

    fn take(&mut self, mut other: Self, below: &GitPath) {
        self.folders.append(&mut other.folders);
        self.held.append(&mut other.held);
        self.empty.extend(other.empty.iter().map(|p| below.join(p)));
    }
}

impl Repo {
    /// Writes a tree into an empty folder as a repository of its own, clean, on a branch `main`
    /// whose one new commit follows `HEAD`. Objects are shared, nothing in this repository changes
    /// (not even its list of work trees), and nothing done in the folder reaches back.
    ///
    /// Ignored files are not there: it is exactly the tree. A submodule that is checked out here
    /// (or was fetched before) is written out too: the commit the tree names, and where that is
    /// the one checked out, its uncommitted changes as well. Nothing is ever fetched.
    pub fn materialise(&self, tree: &str, folder: &Path) -> Result<Borrowed, RepoError> {
        let tree = self.tree(tree)?;
        let mut borrowed = self.begin(folder)?;
        let mut commit = self.there(
            folder,
            ["commit-tree", "-m", "the tree under test", tree.as_str()],
        );
        if let Some(head) = self.head()?.commit {
            commit = commit.arg("-p").arg(head.as_str());
        }
        let commit = commit
            .setting("user.name", "Baton")
            .setting("user.email", "baton@localhost")
            .ok()?
            .line();
        self.there(folder, ["reset", "--quiet", "--hard", &commit])
            .ok()?;
        for (path, id) in self.links_to_repositories(&tree)? {
            let below = folder.join(path.as_path());
            match self.submodule(&path, &id, &tree, &below)? {
                Some(other) => borrowed.take(other, &path),
                None => borrowed.empty.push(path),
            }
        }
        Ok(borrowed)
    }

    /// Writes out one submodule; none when its content is not on this machine.
    fn submodule(
        &self,
        path: &GitPath,
        id: &ObjectId,
        tree: &ObjectId,
        folder: &Path,
    ) -> Result<Option<Borrowed>, RepoError> {
        if let Some(sub) = self.checked_out(path)
            && sub.find(&format!("{id}^{{commit}}"))?.is_some()
        {
            return sub.written_at(id, folder).map(Some);
        }
        // Not checked out here, but the main work tree may have fetched it once.
        let names = self.submodule_names(tree.as_str())?;
        let name = names.iter().find(|(_, p)| p == path);
        // The name is the repository's to choose: it must not lead out of the folder of modules.
        let inside = |n: &str| !n.split('/').any(|part| matches!(part, "" | "." | ".."));
        let Some((name, _)) = name.filter(|(n, _)| inside(n)) else {
            return Ok(None);
        };
        let git_dir = self.common_dir().join("modules").join(name);
        let objects = git_dir.join("objects");
        let has = Git::new(&git_dir, ["cat-file", "-e", &format!("{id}^{{tree}}")])
            .cancel(self.cancel())
            .said();
        if !objects.is_dir() || !has.is_ok_and(|s| s.is_ok()) {
            return Ok(None);
        }
        let folders = vec![objects];
        self.make(folder, &folders, &git_dir.join("shallow"))?;
        self.there(folder, ["reset", "--quiet", "--hard", id.as_str()])
            .ok()?;
        Ok(Some(Borrowed {
            folders,
            ..Borrowed::default()
        }))
    }

    /// The submodule's repository, where it is checked out in this work tree.
    fn checked_out(&self, path: &GitPath) -> Option<Self> {
        let root = self.root().join(path.as_path());
        // Without a repository of its own the folder would be taken for a part of this one.
        fs::symlink_metadata(root.join(".git")).ok()?;
        let sub = Self::discover(&root).ok()?.with_cancel(self.cancel());
        let same = sub.root().canonicalize().ok()? == root.canonicalize().ok()?;
        same.then_some(sub)
    }

    /// A submodule at one of its commits, with its uncommitted changes where that one is HEAD.
    fn written_at(self, commit: &ObjectId, folder: &Path) -> Result<Borrowed, RepoError> {
        let is_head = self.head()?.commit.as_ref() == Some(commit);
        let tree = if is_head {
            self.snapshot()?
        } else {
            self.tree(commit.as_str())?
        };
        let mut borrowed = self.begin(folder)?;
        self.there(folder, ["reset", "--quiet", "--hard", commit.as_str()])
            .ok()?;
        if self.tree(commit.as_str())? != tree {
            // The files of the snapshot, over a HEAD that stays the commit the outer tree names.
            self.there(folder, ["read-tree", "--reset", "-u", tree.as_str()])
                .ok()?;
            self.there(folder, ["reset", "--quiet"]).ok()?;
        }
        for (path, id) in self.links_to_repositories(&tree)? {
            let below = folder.join(path.as_path());
            match self.submodule(&path, &id, &tree, &below)? {
                Some(other) => borrowed.take(other, &path),
                None => borrowed.empty.push(path),
            }
        }
        borrowed.held.push(self);
        Ok(borrowed)
    }

    /// The submodules of a tree and the commits it names.
    fn links_to_repositories(
        &self,
        tree: &ObjectId,
    ) -> Result<Vec<(GitPath, ObjectId)>, RepoError> {
        let said = self
            .reading(["ls-tree", "-r", "-z", "--full-tree", tree.as_str()])
            .ok()?;
        // `160000 commit ID\tpath`
        let records = said.stdout.split(|b| *b == 0);
        let links = records.filter_map(|record| {
            let rest = record.strip_prefix(b"160000 commit ")?;
            let tab = rest.iter().position(|b| *b == b'\t')?;
            let id = ObjectId::new(std::str::from_utf8(&rest[..tab]).ok()?)?;
            Some((GitPath::new(&rest[tab + 1..]), id))
        });
        Ok(links.collect())
    }

    /// Where the objects of this repository and of its private snapshots lie.
    pub fn object_folders(&self) -> Vec<PathBuf> {
        let private = self
            .scratch()
            .as_ref()
            .map(crate::scratch::Scratch::objects);
        std::iter::once(self.common_dir().join("objects"))
            .chain(private)
            .collect()
    }

    /// An empty repository in `folder` that reads this one's objects.
    fn begin(&self, folder: &Path) -> Result<Borrowed, RepoError> {
        let borrowed = Borrowed {
            folders: self.object_folders(),
            ..Borrowed::default()
        };
        let shallow = self.common_dir().join("shallow");
        self.make(folder, &borrowed.folders, &shallow)?;
        Ok(borrowed)
    }

    /// An empty repository that reads its objects elsewhere.
    fn make(&self, folder: &Path, objects: &[PathBuf], shallow: &Path) -> Result<(), RepoError> {
        fs::create_dir_all(folder).map_err(RepoError::io(folder.display().to_string()))?;
        let hash = match self.empty_tree()?.as_str().len() {
            64 => "--object-format=sha256",
            _ => "--object-format=sha1",
        };
        self.there(folder, ["init", "--quiet", "--template=", hash])
            .args(["--initial-branch=main"])
            .ok()?;
        let info = folder.join(".git/objects/info");
        fs::create_dir_all(&info).map_err(RepoError::io(info.display().to_string()))?;
        let mut alternates = Vec::new();
        for folder in objects {
            alternates.extend(crate::scratch::alternate_line(folder));
            alternates.push(b'\n');
        }
        let file = info.join("alternates");
        fs::write(&file, alternates).map_err(RepoError::io(file.display().to_string()))?;
        if shallow.exists() {
            let copy = folder.join(".git/shallow");
            fs::copy(shallow, &copy).map_err(RepoError::io(copy.display().to_string()))?;
        }
        Ok(())
    }

    fn there<const N: usize>(&self, folder: &Path, args: [&str; N]) -> Git {
        Git::new(folder, args).cancel(self.cancel())
    }
}
