//! `orchestrate clean`: work trees and branches of ended runs that hold nothing of their own.

use std::fmt::Write as _;

use baton_cli::{Failure, Output};
use baton_protocol::Exit;
use baton_repo::{Removal, Repo, Worktree};
use serde_json::json;

use crate::cli::Clean;
use crate::shell::layout::Layout;
use crate::shell::lock;
use crate::shell::worktrees::git_failure;

use super::place;

/// What would become of a work tree.
struct Found {
    path: std::path::PathBuf,
    removable: bool,
    why: String,
}

/// Lists, and with `--yes` removes. What holds work is always kept, and said.
pub(crate) fn clean(cli: &Clean, output: &Output) -> Result<Exit, Failure> {
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
    let ours: Vec<Worktree> = repo
        .worktrees()
        .map_err(|e| git_failure(&e))?
        .into_iter()
        .filter(|tree| is_ours(tree, &folder, &names))
        .collect();
    let found: Vec<Found> = ours.iter().map(|tree| judge(&repo, tree)).collect();
    let mut removed = Vec::new();
    let mut kept = Vec::new();
    for tree in &found {
        let entry = json!({"path": tree.path, "why": tree.why});
        if !tree.removable {
            kept.push(entry);
            continue;
        }
        if cli.yes {
            match repo.worktree_remove(&tree.path, Removal::Reachable) {
                Ok(()) => removed.push(entry),
                Err(e) => kept.push(json!({"path": tree.path, "why": e.to_string()})),
            }
        } else {
            removed.push(entry);
        }
    }
    let document = json!({
        "schema": "clean/1", "done": cli.yes, "removed": removed, "kept": kept,
    });
    output.document(&document, || text(&document, cli.yes))?;
    Ok(Exit::Yes)
}

fn is_ours(tree: &Worktree, folder: &std::path::Path, runs: &[String]) -> bool {
    let inside = tree.path.starts_with(folder)
        || folder
            .canonicalize()
            .is_ok_and(|real| tree.path.starts_with(real));
    let name = tree.path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    inside && runs.iter().any(|run| name.starts_with(run.as_str()))
}

fn judge(repo: &Repo, tree: &Worktree) -> Found {
    let found = |removable: bool, why: &str| Found {
        path: tree.path.clone(),
        removable,
        why: why.to_owned(),
    };
    if let Some(reason) = &tree.locked {
        return found(
            false,
            &format!("it is locked ({reason}); git worktree unlock PATH"),
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

fn text(document: &serde_json::Value, done: bool) -> String {
    let mut text = String::new();
    let verb = if done { "removed" } else { "would remove" };
    for (key, verb) in [("removed", verb), ("kept", "kept")] {
        for entry in document[key].as_array().into_iter().flatten() {
            let _ = writeln!(
                text,
                "{verb} {}: {}",
                entry["path"].as_str().unwrap_or_default(),
                entry["why"].as_str().unwrap_or_default()
            );
        }
    }
    if text.is_empty() {
        text.push_str("nothing to clean\n");
    } else if !done {
        text.push_str("do it with: orchestrate clean --yes\n");
    }
    text
}
