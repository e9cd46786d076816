//! The work tree as facts: what changed, who owns it, and undoing what nobody may change.

use std::path::{Path, PathBuf};

use baton_protocol::Task;
use baton_repo::{GitPath, Globs, ObjectId, Repo, RepoError};

use crate::files::beneath::Beneath;
use crate::files::protect::is_check_file;
use crate::text::wreck::wrecked;

/// Whose a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The task may change it.
    Task,
    /// It is outside the scope.
    Nobody,
    /// A check rests on it, and the scope does not name it.
    Checks,
}

/// The work tree of one task.
#[derive(Debug)]
pub(crate) struct WorkTree {
    /// Git.
    pub(crate) repo: Repo,
    /// Safe access to files.
    pub(crate) beneath: Beneath,
    /// What the hand-off names as its base.
    pub(crate) base: String,
    base_tree: ObjectId,
    /// What the model is told of where it works, in a replay.
    shown: Option<PathBuf>,
    scope: Option<Globs>,
    named: Option<Globs>,
    writes: bool,
    commands: Vec<String>,
    /// Files that this very run writes: its events, its output.
    own: Vec<GitPath>,
}

/// What a command left changed, and what of it was undone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settled {
    /// The tree afterwards.
    pub(crate) tree: Option<String>,
    /// Changed paths that stay.
    pub(crate) kept: Vec<String>,
    /// Changed paths that were put back, and why.
    pub(crate) undone: Vec<(String, String)>,
}

impl WorkTree {
    /// Records the base and compiles the scope.
    pub(crate) fn new(repo: Repo, task: &Task, writes: bool) -> Result<Self, String> {
        let (base, base_tree) = if let Some(base) = &task.base {
            (base.clone(), said(repo.tree(base))?)
        } else {
            let recorded = said(repo.record_base())?;
            (recorded.name.as_str().to_string(), recorded.tree)
        };
        let beneath = Beneath::open(repo.root())
            .map_err(|error| format!("cannot open {}: {error}", repo.root().display()))?;
        let commands: Vec<String> = task.verify.iter().map(|v| v.command.clone()).collect();
        let globs =
            |patterns: &[String]| Globs::new(patterns).map_err(|e| format!("$.scope.write: {e}"));
        let scope = task.write_scope().map(globs).transpose()?;
        // Only a pattern that is itself about tests or build files names one.
        let naming: Vec<String> = task
            .write_scope()
            .unwrap_or_default()
            .iter()
            .filter(|p| is_check_file(p, &commands))
            .cloned()
            .collect();
        Ok(Self {
            base,
            base_tree,
            shown: None,
            beneath,
            scope,
            named: (!naming.is_empty()).then(|| globs(&naming)).transpose()?,
            writes,
            commands,
            own: Vec::new(),
            repo,
        })
    }

    /// The root, without links in its own path.
    pub(crate) fn root(&self) -> &Path {
        self.beneath.root()
    }

    /// The root as the model is told.
    pub(crate) fn shown(&self) -> &Path {
        self.shown.as_deref().unwrap_or_else(|| self.root())
    }

    /// Tells the model another root.
    pub(crate) fn show_as(&mut self, root: PathBuf) {
        self.shown = Some(root);
    }

    /// Leaves these files out of every comparison, as far as they lie in the work tree: nobody
    /// changed them but this run by writing about itself.
    pub(crate) fn leave_out(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let inside = files.into_iter().filter_map(|file| {
            let file = file.canonicalize().ok()?;
            Some(GitPath::from(
                file.strip_prefix(self.root()).ok()?.to_str()?,
            ))
        });
        let inside: Vec<GitPath> = inside.collect();
        self.own.extend(inside);
    }

    /// Whether this run writes the file itself.
    pub(crate) fn is_own(&self, path: &str) -> bool {
        self.own.contains(&GitPath::from(path))
    }

    /// The work tree as a tree hash.
    pub(crate) fn snapshot(&self) -> Result<ObjectId, String> {
        said(self.repo.snapshot())
    }

    /// The files that differ from the base.
    pub(crate) fn changed(&self, now: &ObjectId) -> Result<Vec<GitPath>, String> {
        self.between(&self.base_tree, now)
    }

    /// The paths that differ between two trees, both names of a rename.
    pub(crate) fn between(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<GitPath>, String> {
        let changes = said(self.repo.diff_trees(old, new))?;
        let mut paths: Vec<GitPath> = changes.iter().flat_map(|c| c.touched().cloned()).collect();
        paths.retain(|path| !self.own.contains(path));
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Whose a path is.
    pub(crate) fn owner(&self, path: &GitPath) -> Owner {
        if !self.writes || self.scope.as_ref().is_some_and(|s| !s.matches(path)) {
            return Owner::Nobody;
        }
        let text = path.to_str().unwrap_or_default();
        let named = self.named.as_ref().is_some_and(|n| n.matches(path));
        if named || !is_check_file(text, &self.commands) || !self.rests_on(path, text) {
            return Owner::Task;
        }
        Owner::Checks
    }

    /// Whether a check can have rested on the file: it was there, or it is read without being named.
    fn rests_on(&self, path: &GitPath, text: &str) -> bool {
        let name = text.rsplit('/').next().unwrap_or(text);
        let read_unasked = matches!(
            name,
            "conftest.py" | "pytest.ini" | "tox.ini" | "setup.cfg" | "sitecustomize.py"
        );
        read_unasked
            || matches!(
                self.repo.read_file(self.base_tree.as_str(), path),
                Ok(Some(_))
            )
    }

    /// After a command: keeps what the task may change, puts the rest back as it was in `before`.
    pub(crate) fn settle(&self, before: &ObjectId) -> Result<Settled, String> {
        let now = self.snapshot()?;
        let mut settled = Settled::default();
        let mut back = Vec::new();
        for path in self.between(before, &now)? {
            let name = path.to_string();
            let why = match self.owner(&path) {
                Owner::Task => self.wreck(before, &path),
                Owner::Nobody if !self.writes => Some("this role changes nothing".to_string()),
                Owner::Nobody => Some("it is outside the task's scope".to_string()),
                Owner::Checks => Some("it belongs to the checks".to_string()),
            };
            match why {
                None => settled.kept.push(name),
                Some(why) => {
                    settled.undone.push((name, why));
                    back.push(path);
                }
            }
        }
        settled.tree = Some(if back.is_empty() {
            now.as_str().to_string()
        } else {
            said(self.repo.restore(before.as_str(), &back))?;
            self.snapshot()?.as_str().to_string()
        });
        Ok(settled)
    }

    /// Puts back everything a check left behind; its names, if any.
    pub(crate) fn undo_all(&self, before: &ObjectId) -> Result<Vec<String>, String> {
        let now = self.snapshot()?;
        let paths = self.between(before, &now)?;
        if !paths.is_empty() {
            said(self.repo.restore(before.as_str(), &paths))?;
        }
        Ok(paths.iter().map(ToString::to_string).collect())
    }

    fn wreck(&self, before: &ObjectId, path: &GitPath) -> Option<String> {
        let old = self.repo.read_file(before.as_str(), path).ok()??;
        let new = self.beneath.read(path.to_str()?).ok()?;
        let (old, new) = (String::from_utf8(old).ok()?, String::from_utf8(new).ok()?);
        wrecked(path.to_str()?, &old, &new).map(|how| format!("it {how}"))
    }
}

/// Git's errors as words for a hand-off.
fn said<T>(result: Result<T, RepoError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}
