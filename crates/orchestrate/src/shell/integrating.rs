//! Bringing one task's commit onto the run's branch: repeat it on the branch's head, verify again,
//! and only then move the branch. A conflict is a gap, not a crash.

use std::path::PathBuf;

use baton_cli::Failure;
use baton_protocol::{MergeState, VerifyCommand};
use baton_repo::{Integration, Removal, Repo};

use crate::core::job::{Commit, Job};
use crate::core::names;
use crate::core::record::Record;
use crate::core::state::State;

use super::context::{Context, Line};
use super::lock_files::{self, Picked};
use super::worktrees::{self, NotReady, git_failure};
use super::{acts, stage, worker};

/// Integrates the job's commit.
pub(crate) fn integrate(
    context: &Context,
    line: &Line,
    state: &State,
    job: &Job,
) -> Result<(), Failure> {
    let attempt = job.attempt();
    let (Some(start), Some(Commit::Made(commit))) = (&attempt.start, &attempt.commit) else {
        return Err(Failure::internal(format!(
            "task {} has no commit",
            job.id()
        )));
    };
    let (repo, tree) = match tree_at_head(context, &state.head) {
        Ok(tree) => tree,
        Err(NotReady::Stopped) => return Ok(()),
        Err(NotReady::Failed(failure)) => return Err(failure),
        Err(NotReady::Environment(why)) => {
            return refuse(context, line, job, commit, MergeState::CheckFailed, why);
        }
    };
    let picked = {
        let _one = context.trees();
        let settled = lock_files::is_settled_by_making;
        repo.cherry_pick_keeping(&start.base, commit, &settled)
            .map_err(|e| git_failure(&e))?
    };
    let (picked, kept) = picked;
    let mut head = match picked {
        Integration::Done(head) => head.as_str().to_owned(),
        Integration::Conflict(paths) => {
            let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
            let detail = format!("both changed {}", names.join(", "));
            return refuse(context, line, job, commit, MergeState::Conflict, detail);
        }
    };
    let renewed = lock_files::renew(
        context,
        &repo,
        &tree,
        &Picked {
            base: &start.base,
            commit,
            onto: &state.head,
            kept: &kept,
        },
        &acts::folder(context, job),
    )?;
    // Where nothing came between, the tree is the one that was checked a moment ago.
    let same = start.base == state.head && renewed.is_none();
    if let Some(renewed) = renewed {
        head = renewed;
    }
    if !same && let Some(failure) = verify_again(context, state, job, &tree)? {
        discard(context, &tree)?;
        if context.stop.is_cancelled() {
            return Ok(());
        }
        return refuse(context, line, job, commit, MergeState::CheckFailed, failure);
    }
    if context.stop.is_cancelled() {
        return Ok(());
    }
    line.record(
        Some(job.id()),
        Record::Integrated {
            commit: head.clone(),
            head: head.clone(),
        },
    )?;
    move_branch(context, &state.branch, &head)?;
    if let Some(tree) = acts::worktree(context, job) {
        // Its work is on the run's branch now; a tree that holds more is kept, and `clean` lists it.
        let _ = worktrees::remove_if_empty(context, &tree, &[commit]);
    }
    Ok(())
}

fn refuse(
    context: &Context,
    line: &Line,
    job: &Job,
    commit: &str,
    state: MergeState,
    detail: String,
) -> Result<(), Failure> {
    let attempt = job.attempt();
    let branch = names::kept_branch(&context.run, job.id(), attempt.number, attempt.placement);
    {
        let _one = context.trees();
        context
            .repo
            .create_branch(&branch, commit)
            .map_err(|e| git_failure(&e))?;
    }
    line.record(
        Some(job.id()),
        Record::NotIntegrated {
            state,
            detail,
            branch: Some(branch),
        },
    )?;
    if let Some(tree) = acts::worktree(context, job) {
        let _ = worktrees::remove_if_empty(context, &tree, &[commit]);
    }
    Ok(())
}

/// The integration tree, detached at the run's head. Whatever else is there was made by us in a step
/// that did not end, and is made again.
pub(crate) fn tree_at_head(context: &Context, head: &str) -> Result<(Repo, PathBuf), NotReady> {
    let name = format!("{}-integration", context.run);
    let path = context.worktree(&name);
    if path.exists() && !is_at(&path, head) {
        discard(context, &path)?;
    }
    let log = context.folder().path().join("integration-setup.log");
    worktrees::ready(context, &name, head, &log)
}

fn is_at(path: &std::path::Path, head: &str) -> bool {
    let Ok(repo) = Repo::discover(path) else {
        return false;
    };
    let there = repo.head().ok().and_then(|h| h.commit);
    there.is_some_and(|c| c.as_str() == head)
        && repo.operation_in_progress().is_none()
        && repo.dirty().is_ok_and(|d| d.is_empty())
}

/// Removes the integration tree: only the host works there, and what counts is on the branch.
pub(crate) fn discard(context: &Context, path: &std::path::Path) -> Result<(), Failure> {
    let _one = context.trees();
    if !path.exists() {
        return Ok(());
    }
    let removed = context.repo.worktree_remove(path, Removal::Discard);
    removed.map_err(|e| git_failure(&e))
}

/// The task's checks and those of everything integrated before it, on the integrated tree.
fn verify_again(
    context: &Context,
    state: &State,
    job: &Job,
    tree: &std::path::Path,
) -> Result<Option<String>, Failure> {
    let mut task = job.task.clone();
    task.base = Some(state.head.clone());
    task.verify = checks(state, job);
    let text = serde_json::to_string_pretty(&task)
        .map_err(|e| Failure::internal(format!("cannot write the task {}: {e}", task.id)))?;
    let folder = acts::folder(context, job);
    stage::write(&folder, "integration-task.json", &text)?;
    let mut handoff = worker::handoff(&folder)
        .map_err(|e| Failure::internal(format!("cannot read the hand-off again: {e}")))?;
    // The worker handed over its own tree; here it stands beside the work of others.
    handoff.tree = None;
    handoff.base = None;
    let text = serde_json::to_string(&handoff)
        .map_err(|e| Failure::internal(format!("cannot write the hand-off again: {e}")))?;
    stage::write(&folder, "integration-handoff.json", &text)?;
    let (pass, reasons) = acts::check(
        context,
        &folder,
        "integration-task.json",
        "integration-handoff.json",
        tree,
        "integration-verdict",
    )?;
    Ok((pass != Some(true)).then(|| reasons.join("; ")))
}

/// Every check of the integrated tasks and this one, each command once.
fn checks(state: &State, job: &Job) -> Vec<VerifyCommand> {
    let mut checks = job.task.verify.clone();
    for id in &state.integrated {
        for verify in state.job(id).map(|j| &j.task.verify).into_iter().flatten() {
            if !checks.iter().any(|c| c.command == verify.command) {
                checks.push(verify.clone());
            }
        }
    }
    checks
}

/// Moves the run's branch to a commit that descends from it; makes it when it is not there yet.
pub(crate) fn move_branch(context: &Context, branch: &str, to: &str) -> Result<(), Failure> {
    let _one = context.trees();
    let there = context.repo.branch(branch).map_err(|e| git_failure(&e))?;
    let moved = if there.is_none() {
        context.repo.create_branch(branch, to)
    } else {
        context.repo.fast_forward(branch, to)
    };
    moved.map_err(|e| git_failure(&e))
}
