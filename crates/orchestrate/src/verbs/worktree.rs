//! `orchestrate worktree`: work trees for people and their agents, beside those of runs.

use std::path::{Path, PathBuf};

use baton_cli::{Failure, Output, config};
use baton_process::Cancel;
use baton_protocol::{Exit, TaskId, Timestamp};
use baton_repo::{Removal, Repo, Worktree};
use serde_json::{Value, json};

use crate::cli_worktree::{Cleanup, Create, Push, What, WorktreeArgs};
use crate::core::worktree_state::{Made, Owner, Phase, Seen, State, kept, state};
use crate::shell::context::Context;
use crate::shell::layout::{Layout, make_folder};
use crate::shell::worktrees::{self, NotReady, git_failure};
use crate::shell::{made_trees, strays};

use super::worktree_text::text;
use super::{place, pull_request};

/// Does what is asked.
pub(crate) fn worktree(cli: &WorktreeArgs, output: &Output) -> Result<Exit, Failure> {
    let cancel = place::signals()?;
    let here = place::repository()?;
    let site = Site::find(here)?;
    let mut exit = Exit::Yes;
    let document = match &cli.what {
        What::List => {
            let trees: Vec<Value> = site.trees()?.iter().map(Tree::document).collect();
            json!({"schema": "worktrees/1", "action": "list", "root": site.root(), "trees": trees})
        }
        What::Status(named) => {
            let tree = site.find_tree(&named.name)?;
            if !matches!(tree.state, State::Ready) {
                exit = Exit::No;
            }
            json!({"schema": "worktrees/1", "action": "status", "root": site.root(), "trees": [tree.document()]})
        }
        What::Create(asked) => site.create(asked, &cancel, output)?,
        What::Push(asked) => site.push(asked, &cancel)?,
        What::Cleanup(asked) => {
            let document = site.cleanup(asked)?;
            let kept = document["kept"].as_array().is_some_and(|k| !k.is_empty());
            if kept && !asked.names.is_empty() {
                exit = Exit::No;
            }
            document
        }
    };
    output.document(&document, || text(&document))?;
    Ok(exit)
}

/// The repository as a whole, wherever in it we were started.
struct Site {
    /// The main work tree.
    repo: Repo,
    config: config::Config,
    env: baton_cli::Environment,
    redactor: baton_cli::Redactor,
    made: Vec<Made>,
    runs: Vec<String>,
}

/// One work tree with all that is known of it.
struct Tree {
    name: String,
    path: PathBuf,
    owner: Owner,
    state: State,
    why: String,
    listed: Option<Worktree>,
    made: Option<Made>,
    dirty: Vec<String>,
    submodules: Vec<String>,
    /// Commits that the branch of the main work tree does not hold, and the other way round.
    ahead_behind: Option<(u64, u64)>,
}

impl Tree {
    fn document(&self) -> Value {
        let listed = self.listed.as_ref();
        let (owner, run) = match &self.owner {
            Owner::Main => ("main", None),
            Owner::Ours => ("worktree", None),
            Owner::Run(run) => ("run", Some(run)),
            Owner::Foreign => ("foreign", None),
        };
        json!({
            "name": self.name,
            "path": self.path,
            "state": self.state,
            "why": self.why,
            "owner": owner,
            "run": run,
            "branch": listed.and_then(|l| l.branch.clone()),
            "head": listed.and_then(|l| l.head.as_ref()).map(ToString::to_string),
            "base": self.made.as_ref().map(|m| m.base.clone()),
            "created_at": self.made.as_ref().map(|m| m.created_at.clone()),
            "locked": listed.and_then(|l| l.locked.clone()),
            "missing": listed.is_some_and(|l| l.missing),
            "dirty": self.dirty,
            "empty_submodules": self.submodules,
            "ahead": self.ahead_behind.map(|(a, _)| a),
            "behind": self.ahead_behind.map(|(_, b)| b),
        })
    }
}

impl Site {
    fn find(here: Repo) -> Result<Self, Failure> {
        // State and configuration belong to the main work tree, which git lists first.
        let main = if here.is_linked() {
            let trees = here.worktrees().map_err(|e| git_failure(&e))?;
            match trees.first().filter(|t| !t.bare && t.path.exists()) {
                Some(tree) => Repo::discover(&tree.path).map_err(|e| git_failure(&e))?,
                None => here,
            }
        } else {
            here
        };
        let (loaded, env) = place::configuration(&main)?;
        let redactor = loaded.redactor(&env);
        Ok(Self {
            made: made_trees::all(main.common_dir()),
            runs: Layout::new(main.root()).run_names(),
            config: loaded.config,
            env,
            redactor,
            repo: main,
        })
    }

    /// Where new ones are made.
    fn root(&self) -> PathBuf {
        self.repo.root().join(&self.config.worktree.root)
    }

    fn trees(&self) -> Result<Vec<Tree>, Failure> {
        let listed = self.repo.worktrees().map_err(|e| git_failure(&e))?;
        let mut trees = Vec::new();
        let mut known: Vec<&str> = Vec::new();
        for (i, tree) in listed.into_iter().enumerate() {
            let git_dir = (!tree.missing)
                .then(|| Repo::discover(&tree.path).ok())
                .flatten()
                .map(|r| r.git_dir().display().to_string());
            let made = self.made.iter().find(|m| {
                let same_place = Path::new(&m.path) == tree.path;
                let same_entry = m.git_dir.is_some() && m.git_dir == git_dir;
                same_place || same_entry
            });
            known.extend(made.map(|m| m.name.as_str()));
            let owner = self.owner(i, &tree, made);
            trees.push(self.look(tree, made, owner));
        }
        for made in &self.made {
            if !known.contains(&made.name.as_str()) {
                let seen = Seen {
                    exists: Path::new(&made.path).exists(),
                    ..Seen::default()
                };
                let (state, why) = state(Some(made), &seen);
                trees.push(Tree {
                    name: made.name.clone(),
                    path: made.path.clone().into(),
                    owner: Owner::Ours,
                    state,
                    why,
                    listed: None,
                    made: Some(made.clone()),
                    dirty: Vec::new(),
                    submodules: Vec::new(),
                    ahead_behind: None,
                });
            }
        }
        Ok(trees)
    }

    fn owner(&self, at: usize, tree: &Worktree, made: Option<&Made>) -> Owner {
        if at == 0 {
            return Owner::Main;
        }
        if made.is_some() {
            return Owner::Ours;
        }
        let name = tree.path.file_name().and_then(|n| n.to_str());
        let root = self.root();
        let inside = tree.path.starts_with(&root)
            || root
                .canonicalize()
                .is_ok_and(|real| tree.path.starts_with(real));
        let run = self
            .runs
            .iter()
            .find(|run| inside && name.is_some_and(|n| n.starts_with(run.as_str())));
        run.map_or(Owner::Foreign, |run| Owner::Run(run.clone()))
    }

    fn look(&self, tree: Worktree, made: Option<&Made>, owner: Owner) -> Tree {
        let mut seen = Seen {
            listed: true,
            exists: !tree.missing,
            branch: tree.branch.clone(),
            ..Seen::default()
        };
        let moved = made.filter(|m| Path::new(&m.path) != tree.path);
        if moved.is_some() {
            seen.listed_at = Some(tree.path.display().to_string());
        }
        let stray = tree.missing.then(|| strays::moved_to(&tree.path)).flatten();
        seen.moved_to = stray.map(|path| path.display().to_string());
        let (mut submodules, mut ahead_behind) = (Vec::new(), None);
        if !tree.missing && !tree.bare {
            match Repo::discover(&tree.path) {
                Ok(repo) if repo.root() == tree.path => {
                    seen.operation = repo.operation_in_progress().map(str::to_owned);
                    match repo.dirty() {
                        Ok(dirty) => {
                            seen.dirty = dirty.iter().map(|e| e.path.to_string()).collect();
                        }
                        Err(e) => seen.unreadable = Some(e.to_string()),
                    }
                    submodules = empty_submodules(&repo);
                }
                Ok(_) => seen.unreadable = Some("its folder is no work tree any more".into()),
                // Among them: it belongs to another user, in git's own words.
                Err(e) => seen.unreadable = Some(e.to_string()),
            }
            let target = self.repo.head().ok().and_then(|h| h.commit);
            if let (Some(target), Some(head)) = (target, &tree.head) {
                let counted = self.repo.ahead_behind(head.as_str(), target.as_str());
                ahead_behind = counted.ok();
            }
        }
        let (state, why) = state(made, &seen);
        let name = made.map_or_else(
            || {
                let name = tree.path.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            },
            |m| m.name.clone(),
        );
        Tree {
            name,
            path: tree.path.clone(),
            owner,
            state,
            why,
            listed: Some(tree),
            made: made.cloned(),
            dirty: seen.dirty,
            submodules,
            ahead_behind,
        }
    }

    /// By name, or by path.
    fn find_tree(&self, wanted: &str) -> Result<Tree, Failure> {
        let path = Path::new(wanted).canonicalize().ok();
        let mut found: Vec<Tree> = self
            .trees()?
            .into_iter()
            .filter(|t| {
                t.name == wanted || Some(&t.path) == path.as_ref() || t.path == Path::new(wanted)
            })
            .collect();
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(Failure::usage(format!(
                "there is no work tree `{wanted}`; see: orchestrate worktree list"
            ))),
            _ => Err(Failure::usage(format!(
                "`{wanted}` is the name of {} work trees; name the path",
                found.len()
            ))),
        }
    }

    fn create(&self, asked: &Create, cancel: &Cancel, output: &Output) -> Result<Value, Failure> {
        let name = &asked.name;
        TaskId::new(name.as_str()).map_err(|_| {
            Failure::usage(format!(
                "`{name}` is no name for a work tree: use letters, digits, `.`, `_` and `-`"
            ))
        })?;
        let root = self.root();
        make_folder(&root)?;
        Layout::new(self.repo.root()).prepare()?;
        let root = root
            .canonicalize()
            .map_err(|e| Failure::config(format!("[worktree] root {}: {e}", root.display())))?;
        let path = root.join(name);
        let old = self.made.iter().find(|m| m.name == *name);
        let unfinished = old.is_some_and(|m| m.phase == Phase::Pending);
        if path.exists() || (old.is_some() && !unfinished) {
            return Err(Failure::usage(format!(
                "there is a work tree `{name}` at {}; look: orchestrate worktree status {name}",
                path.display()
            )));
        }
        let branch = asked
            .branch
            .clone()
            .unwrap_or_else(|| format!("baton/{name}"));
        let base = self.repo.commit(&asked.from).map_err(|e| match e {
            baton_repo::RepoError::UnknownRevision(_) => Failure::usage(format!("--from: {e}")),
            e => git_failure(&e),
        })?;
        let existing = self.repo.branch(&branch).map_err(|e| git_failure(&e))?;
        if existing.is_some() && asked.branch.is_none() && !unfinished {
            return Err(Failure::usage(format!(
                "the branch `{branch}` exists; check it out with --branch {branch}, or name another"
            )));
        }
        let mut made = Made {
            name: name.clone(),
            path: path.display().to_string(),
            branch: branch.clone(),
            base: base.as_str().to_owned(),
            created_at: Timestamp::now().to_string(),
            phase: Phase::Pending,
            git_dir: None,
            trouble: None,
        };
        made_trees::write(self.repo.common_dir(), &made)?;
        let tree = if existing.is_some() {
            self.repo.worktree_of_branch(&path, &branch)
        } else {
            self.repo.worktree_add(&path, Some(&branch), base.as_str())
        };
        let tree = tree.map_err(|e| {
            // Nothing was made, so nothing is pending.
            let _ = made_trees::remove(self.repo.common_dir(), name);
            git_failure(&e)
        })?;
        made.git_dir = Some(tree.git_dir().display().to_string());
        made_trees::write(self.repo.common_dir(), &made)?;
        self.furnish(&path, cancel)?;
        made.phase = Phase::Made;
        made_trees::write(self.repo.common_dir(), &made)?;
        let empty = empty_submodules(&tree);
        if !empty.is_empty() {
            output.note(&format!(
                "submodules are empty in it: {}; git -C {} submodule update --init",
                empty.join(", "),
                path.display()
            ));
        }
        let site = Self {
            made: made_trees::all(self.repo.common_dir()),
            repo: Repo::discover(self.repo.root()).map_err(|e| git_failure(&e))?,
            config: self.config.clone(),
            env: self.env.clone(),
            redactor: self.redactor.clone(),
            runs: self.runs.clone(),
        };
        let tree = site.find_tree(name)?;
        Ok(
            json!({"schema": "worktrees/1", "action": "create", "root": site.root(), "trees": [tree.document()]}),
        )
    }

    /// [worktree] copy and setup, as for a worker.
    fn furnish(&self, path: &Path, cancel: &Cancel) -> Result<(), Failure> {
        let config = &self.config.worktree;
        if config.copy.is_empty() && config.setup.is_empty() {
            return Ok(());
        }
        let context = Context::new(
            "worktree".into(),
            Repo::discover(self.repo.root()).map_err(|e| git_failure(&e))?,
            self.config.clone(),
            self.env.clone(),
            self.redactor.clone(),
            cancel.child(),
        );
        let log = tempfile::Builder::new()
            .prefix("baton-setup-")
            .suffix(".log")
            .tempfile()
            .map_err(|e| Failure::internal(format!("cannot write a temporary file: {e}")))?;
        worktrees::furnish(&context, path, log.path()).map_err(|e| match e {
            NotReady::Environment(why) => Failure::config(format!(
                "{why}; the work tree {} is there, pending",
                path.display()
            )),
            NotReady::Stopped => Failure::interrupted(cancel.signal().unwrap_or(2)),
            NotReady::Failed(failure) => failure,
        })
    }

    fn push(&self, asked: &Push, cancel: &Cancel) -> Result<Value, Failure> {
        let tree = self.find_tree(&asked.name)?;
        let refuse = |why: &str| {
            Err(Failure::usage(format!(
                "`{}` is not pushed: {why}",
                asked.name
            )))
        };
        match &tree.owner {
            Owner::Ours => {}
            Owner::Main => return refuse("it is the repository's own work tree; git push"),
            Owner::Run(_) => return refuse("it belongs to a run, which integrates its own work"),
            Owner::Foreign => return refuse("`worktree create` did not make it"),
        }
        match tree.state {
            State::Ready | State::CleanupFailed => {}
            State::Dirty => return refuse(&format!("commit first; {}", tree.why)),
            _ => return refuse(&tree.why),
        }
        let Some(branch) = tree.listed.as_ref().and_then(|l| l.branch.clone()) else {
            return refuse("no branch is checked out there");
        };
        if !asked.confirm {
            return refuse(&format!(
                "this sends `{branch}` to {}, where others see it; if it is meant, add --confirm",
                asked.remote
            ));
        }
        pull_request::push(&self.repo, &asked.remote, &branch, cancel)?;
        Ok(
            json!({"schema": "worktrees/1", "action": "push", "name": tree.name, "remote": asked.remote,
            "branch": branch, "head": tree.listed.as_ref().and_then(|l| l.head.as_ref()).map(ToString::to_string)}),
        )
    }

    fn cleanup(&self, asked: &Cleanup) -> Result<Value, Failure> {
        let trees = if asked.names.is_empty() {
            let mut all = self.trees()?;
            all.retain(|t| t.owner == Owner::Ours);
            all
        } else {
            let found: Result<Vec<Tree>, Failure> =
                asked.names.iter().map(|n| self.find_tree(n)).collect();
            found?
        };
        let (mut removed, mut kept_trees) = (Vec::new(), Vec::new());
        for tree in &trees {
            let entry = |why: &str| {
                json!({"name": tree.name, "path": tree.path, "state": tree.state, "why": why,
                    "branch": tree.made.as_ref().map(|m| m.branch.clone())})
            };
            let locked = tree.listed.as_ref().and_then(|l| l.locked.as_deref());
            if let Some(why) = kept(&tree.owner, tree.state, &tree.why, locked) {
                kept_trees.push(entry(&why));
                continue;
            }
            if asked.confirm {
                match self.remove(tree) {
                    Ok(()) => removed.push(entry("")),
                    Err(why) => kept_trees.push(entry(&why)),
                }
            } else {
                removed.push(entry(""));
            }
        }
        Ok(
            json!({"schema": "worktrees/1", "action": "cleanup", "done": asked.confirm,
            "removed": removed, "kept": kept_trees}),
        )
    }

    /// Removes one that may go. A failure is recorded, so that `list` shows it.
    fn remove(&self, tree: &Tree) -> Result<(), String> {
        let common = self.repo.common_dir();
        let gone = match &tree.listed {
            Some(listed) => self
                .repo
                .worktree_remove(&listed.path, Removal::Reachable)
                .map_err(|e| e.to_string()),
            None => Ok(()),
        };
        match (gone, &tree.made) {
            (Ok(()), _) => made_trees::remove(common, &tree.name).map_err(|e| e.message),
            (Err(why), Some(made)) => {
                let failed = Made {
                    phase: Phase::CleanupFailed,
                    trouble: Some(why.clone()),
                    ..made.clone()
                };
                made_trees::write(common, &failed).map_err(|e| e.message)?;
                Err(why)
            }
            (Err(why), None) => Err(why),
        }
    }
}

/// Submodules that a work tree declares and does not have checked out.
fn empty_submodules(repo: &Repo) -> Vec<String> {
    let declared = repo.submodule_paths("HEAD").unwrap_or_default();
    let empty = declared
        .into_iter()
        .filter(|p| !repo.root().join(p.as_path()).join(".git").exists());
    empty.map(|p| p.to_string()).collect()
}
