//! Writing a tree out as a repository of its own, for trying things on it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RepoError;
use crate::git::Git;
use crate::repo::Repo;

impl Repo {
    /// Writes a tree into an empty folder as a repository of its own, clean, on a branch `main`
    /// whose one new commit follows `HEAD`. Objects are shared, nothing in this repository changes
    /// (not even its list of work trees), and nothing done in the folder reaches back.
    ///
    /// Submodules stay empty, ignored files are not there: it is exactly the tree. Commands run
    /// there need to read [`Repo::object_folders`].
    pub fn materialise(&self, tree: &str, folder: &Path) -> Result<(), RepoError> {
        let tree = self.tree(tree)?;
        self.there(
            folder,
            ["init", "--quiet", "--template=", "--initial-branch=main"],
        )
        .ok()?;
        let info = folder.join(".git/objects/info");
        fs::create_dir_all(&info).map_err(RepoError::io(info.display().to_string()))?;
        let mut alternates = Vec::new();
        for objects in self.object_folders() {
            alternates.extend(crate::scratch::alternate_line(&objects));
            alternates.push(b'\n');
        }
        let file = info.join("alternates");
        fs::write(&file, alternates).map_err(RepoError::io(file.display().to_string()))?;
        let shallow = self.common_dir().join("shallow");
        if shallow.exists() {
            let copy = folder.join(".git/shallow");
            fs::copy(&shallow, &copy).map_err(RepoError::io(copy.display().to_string()))?;
        }
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
        Ok(())
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

    fn there<const N: usize>(&self, folder: &Path, args: [&str; N]) -> Git {
        Git::new(folder, args).cancel(self.cancel())
    }
}
