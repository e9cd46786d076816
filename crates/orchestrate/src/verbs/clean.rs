//! `orchestrate clean`: work trees and branches of ended runs that hold nothing of their own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use baton_cli::{Failure, Output};
use baton_protocol::{Clean, CleanEntry, Exit, SchemaTag};
use baton_repo::{Removal, Repo, Worktree};

use crate::cli;
use crate::core::state::State;
use crate::shell::journal::peek;
use crate::shell::layout::Layout;
use crate::shell::worktrees::git_failure;
use crate::shell::{lock, strays};

use super::place;

/// What was found, and whether it may go.
struct Found {
    what: What,
    removable: bool,
    why: String,
}

enum What {
    Tree(PathBuf),
    Clone(PathBuf),
    Branch { name: String, into: String },
}

/// Lists, and with `--yes` removes. What holds work is always kept, and said.
pub(crate) fn clean(cli: &cli::Clean, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let (loaded, _) = place::configuration(&repo)?;
    let layout = Layout::new(repo.root());
    if let Some(who) = lock::holder(repo.common_dir()) {
        return Err(Failure::try_again(format!(
            "run {who} works on this repository; clean when it has ended"
        )));
    }
    let folder = repo.root().join(&loaded.config.worktree.root);
    let names = layout.run_names();
    let mut document = Clean {
        schema: SchemaTag::new(),
        done: cli.yes,
        removed: Vec::new(),
        kept: Vec::new(),
    };
    // Trees first: a branch that one of them has checked out cannot go before it.
    take(
        &repo,
        trees(&repo, &folder, &names)?,
        cli.yes,
        &mut document,
    );
    take(
        &repo,
        branches(&repo, &layout, &names)?,
        cli.yes,
        &mut document,
    );
    output.document(&document, || text(&document))?;
    Ok(Exit::Yes)
}

fn take(repo: &Repo, found: Vec<Found>, really: bool, document: &mut Clean) {
    for mut found in found {
        let mut gone = found.removable;
        if gone && really {
            let removed = match &found.what {
                What::Tree(path) => repo.worktree_remove(path, Removal::Reachable),
                What::Clone(path) => repo.clone_remove(path, &[]),
                What::Branch { name, into } => repo.delete_branch(name, into),
            };
            if let Err(error) = removed {
                gone = false;
                found.why = error.to_string();
            }
        }
        let (path, branch) = match found.what {
            What::Tree(path) | What::Clone(path) => (Some(path.display().to_string()), None),
            What::Branch { name, .. } => (None, Some(name)),
        };
        let list = if gone {
            &mut document.removed
        } else {
            &mut document.kept
        };
        list.push(CleanEntry {
            path,
            branch,
            why: found.why,
        });
    }
}

fn trees(repo: &Repo, folder: &Path, runs: &[String]) -> Result<Vec<Found>, Failure> {
    let known = repo.worktrees().map_err(|e| git_failure(&e))?;
    let ours = known
        .iter()
        .filter(|tree| is_ours(&tree.path, folder, runs));
    let mut found: Vec<Found> = ours.map(|tree| judge(repo, tree)).collect();
    let mut others: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && is_ours(path, folder, runs))
        .filter(|path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            !known
                .iter()
                .any(|tree| tree.path == real || tree.path == *path)
        })
        .collect();
    others.sort();
    found.extend(others.into_iter().map(|path| judge_clone(repo, path)));
    Ok(found)
}

fn is_ours(path: &Path, folder: &Path, runs: &[String]) -> bool {
    let inside = path.starts_with(folder)
        || folder
            .canonicalize()
            .is_ok_and(|real| path.starts_with(real));
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    inside && runs.iter().any(|run| name.starts_with(run.as_str()))
}

fn judge(repo: &Repo, tree: &Worktree) -> Found {
    let found = |removable: bool, why: &str| Found {
        what: What::Tree(tree.path.clone()),
        removable,
        why: why.to_owned(),
    };
    if let Some(reason) = &tree.locked {
        return found(
            false,
            &format!("it is locked ({reason}); git worktree unlock PATH"),
        );
    }
    if let Some(path) = tree.missing.then(|| strays::moved_to(&tree.path)).flatten() {
        return found(
            false,
            &format!(
                "it was moved to {path}, and git does not know; write: git worktree repair {path}",
                path = path.display()
            ),
        );
    }
    if tree.missing {
        return found(true, "its folder is gone");
    }
    let here = match Repo::discover(&tree.path) {
        Ok(here) => here,
        Err(e) => return found(false, &e.to_string()),
    };
    match here.dirty() {
        Ok(dirty) if dirty.is_empty() => {}
        Ok(dirty) => {
            let names: Vec<String> = dirty.iter().take(5).map(|e| e.path.to_string()).collect();
            return found(false, &format!("uncommitted: {}", names.join(", ")));
        }
        Err(e) => return found(false, &e.to_string()),
    }
    let Some(head) = &tree.head else {
        return found(true, "it has no commit and no file");
    };
    match repo.is_reachable(head.as_str()) {
        Ok(true) => found(true, "clean, and a branch holds its commit"),
        Ok(false) => found(
            false,
            &format!("no branch holds its commit {head}; keep it: git branch NAME {head}"),
        ),
        Err(e) => found(false, &e.to_string()),
    }
}

fn judge_clone(repo: &Repo, path: PathBuf) -> Found {
    let (removable, why) = if Repo::is_clone(&path) {
        match repo.clone_holds(&path, &[]) {
            Ok(None) => (true, "clean, and a branch holds its commits".to_owned()),
            Ok(Some(why)) => (false, why),
            Err(e) => (false, e.to_string()),
        }
    } else {
        let why = "it is neither a work tree nor a clone; look at it";
        (false, why.to_owned())
    };
    Found {
        what: What::Clone(path),
        removable,
        why,
    }
}

/// The branches of runs. One goes when the branch the run was for holds all of it.
fn branches(repo: &Repo, layout: &Layout, runs: &[String]) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for run in runs {
        let Ok(entries) = peek(&layout.run(run).journal()) else {
            continue;
        };
        let state = State::replay(&entries);
        let into = state.target.branch;
        let there = repo.branch(&into).map_err(|e| git_failure(&e))?.is_some();
        for name in repo
            .branches_below(&format!("baton/{run}"))
            .map_err(|e| git_failure(&e))?
        {
            let merged = there
                && repo
                    .is_ancestor(&name, &into)
                    .map_err(|e| git_failure(&e))?;
            let (removable, why) = if state.status.is_none() {
                (
                    false,
                    "its run has not ended; go on with: orchestrate resume".to_owned(),
                )
            } else if merged {
                (true, format!("`{into}` holds all of it"))
            } else {
                (false, format!("`{into}` does not hold its commits"))
            };
            found.push(Found {
                what: What::Branch {
                    name,
                    into: into.clone(),
                },
                removable,
                why,
            });
        }
    }
    Ok(found)
}

fn text(document: &Clean) -> String {
    let mut text = String::new();
    let verb = if document.done {
        "removed"
    } else {
        "would remove"
    };
    for (list, verb) in [(&document.removed, verb), (&document.kept, "kept")] {
        for entry in list {
            let name = entry.path.as_deref().or(entry.branch.as_deref());
            // Writing into a String cannot fail, so the result is not looked at.
            let _ = writeln!(text, "{verb} {}: {}", name.unwrap_or_default(), entry.why);
        }
    }
    if text.is_empty() {
        text.push_str("nothing to clean\n");
    } else if !document.done && !document.removed.is_empty() {
        text.push_str("do it with: orchestrate clean --yes\n");
    }
    text
}
