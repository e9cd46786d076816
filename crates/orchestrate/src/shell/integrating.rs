//! Bringing one task's commit onto the run's branch: repeat it on the branch's head, verify again,
//! and only then move the branch. A conflict is a gap, not a crash.

use std::path::PathBuf;

use baton_cli::Failure;
use baton_protocol::{MergeState, VerifyCommand};
use baton_repo::{Integration, Removal, Repo};

use crate::core::job::{Commit, Job, Phase};
use crate::core::names;
use crate::core::record::Record;
use crate::core::state::State;

use super::context::{Context, Line};
use super::lock_files::{self, Picked};
use super::worktrees::{self, NotReady, git_failure};
use super::{acts, stage, worker};

/// The most tasks whose commits are verified together, after so many: each verification repeats the
/// checks of all that came before. Where the groups grow with what is there, a plan of hundreds of
/// steps repeats each check a handful of times, and not once for every few steps after it.
fn together(integrated: usize) -> usize {
    (integrated / 4).max(8)
}

/// Integrates the job's commit. Those of other jobs that wait behind it come with it: one commit
/// each, one verification of what they make together. Where that fails, nothing of it is kept and
/// half of them try, down to the job alone: each failure is told of the job that caused it.
pub(crate) fn integrate(
    context: &Context,
    line: &Line,
    state: &State,
    job: &Job,
) -> Result<(), Failure> {
    let waiting: Vec<&Job> = state
        .jobs
        .iter()
        .filter(|other| matches!(other.phase(), Phase::Committed(Some(_))))
        .take(together(state.integrated.len()))
        .collect();
    let mut group = &waiting[..];
    while group.len() > 1 && group[0].id() == job.id() {
        match bring(context, line, state, group)? {
            Brought::Refused(..) if !context.stop.is_cancelled() => {
                group = &group[..group.len() / 2];
            }
            _ => return Ok(()),
        }
    }
    match bring(context, line, state, &[job])? {
        Brought::Refused(why, detail) if !context.stop.is_cancelled() => {
            refuse(context, line, job, why, detail)
        }
        _ => Ok(()),
    }
}

/// What came of bringing commits onto the branch.
enum Brought {
    /// They (or the first of them) are there.
    Done,
    /// The run stops; nothing is on record.
    Stopped,
    /// The first conflicts, or their checks fail.
    Refused(MergeState, String),
}

/// A commit repeated on top of what was integrated before it.
struct Placed<'a> {
    job: &'a Job,
    head: String,
}

fn bring(context: &Context, line: &Line, state: &State, jobs: &[&Job]) -> Result<Brought, Failure> {
    let (repo, tree) = match tree_at_head(context, &state.head) {
        Ok(tree) => tree,
        Err(NotReady::Stopped) => return Ok(Brought::Stopped),
        Err(NotReady::Failed(failure)) => return Err(failure),
        Err(NotReady::Environment(why)) => {
            return Ok(Brought::Refused(MergeState::CheckFailed, why));
        }
    };
    let mut placed: Vec<Placed<'_>> = Vec::new();
    // Where nothing came between, the tree is the one that was checked a moment ago.
    let mut checked = true;
    for job in jobs {
        let onto = placed.last().map_or(&state.head, |p| &p.head).clone();
        let (base, commit) = made(job)?;
        let (picked, kept) = {
            let _one = context.trees();
            let settled = lock_files::is_settled_by_making;
            repo.cherry_pick_keeping(base, commit, &settled)
                .map_err(|e| git_failure(&e))?
        };
        let head = match picked {
            Integration::Done(head) => head.as_str().to_owned(),
            Integration::Conflict(paths) if placed.is_empty() => {
                let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
                let detail = format!("both changed {}", names.join(", "));
                return Ok(Brought::Refused(MergeState::Conflict, detail));
            }
            // Its own turn comes, on what is then there.
            Integration::Conflict(_) => break,
        };
        let picked = Picked {
            base,
            commit,
            onto: &onto,
            kept: &kept,
        };
        let folder = acts::folder(context, job);
        let renewed = lock_files::renew(context, &repo, &tree, &picked, &folder)?;
        checked &= base == onto && renewed.is_none();
        placed.push(Placed {
            job,
            head: renewed.unwrap_or(head),
        });
    }
    if !checked && let Some(failure) = verify_again(context, state, &placed, &tree)? {
        discard(context, &tree)?;
        return Ok(Brought::Refused(MergeState::CheckFailed, failure));
    }
    if context.stop.is_cancelled() {
        return Ok(Brought::Stopped);
    }
    for Placed { job, head } in &placed {
        line.record(
            Some(job.id()),
            Record::Integrated {
                commit: head.clone(),
                head: head.clone(),
            },
        )?;
    }
    if let Some(last) = placed.last() {
        move_branch(context, &state.branch, &last.head)?;
    }
    for Placed { job, .. } in &placed {
        if let Some(tree) = acts::worktree(context, job) {
            // Its work is on the run's branch now; a tree that holds more is kept, and `clean` lists it.
            let _ = worktrees::remove_if_empty(context, &tree, &[made(job)?.1]);
        }
    }
    Ok(Brought::Done)
}

/// Where a job's work began, and its commit.
fn made(job: &Job) -> Result<(&str, &str), Failure> {
    let attempt = job.attempt();
    match (&attempt.start, &attempt.commit) {
        (Some(start), Some(Commit::Made(commit))) => Ok((&start.base, commit)),
        _ => Err(Failure::internal(format!(
            "task {} has no commit",
            job.id()
        ))),
    }
}

fn refuse(
    context: &Context,
    line: &Line,
    job: &Job,
    state: MergeState,
    detail: String,
) -> Result<(), Failure> {
    let attempt = job.attempt();
    let (_, commit) = made(job)?;
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

/// The tasks' checks and those of everything integrated before them, on the integrated tree. The
/// tasks stand as one there: what all of them own and changed.
fn verify_again(
    context: &Context,
    state: &State,
    placed: &[Placed<'_>],
    tree: &std::path::Path,
) -> Result<Option<String>, Failure> {
    let Some(first) = placed.first() else {
        return Ok(None);
    };
    let mut task = first.job.task.clone();
    context.lend(&mut task)?;
    task.base = Some(state.head.clone());
    task.verify = checks(state, placed);
    let folder = acts::folder(context, first.job);
    let read = |job: &Job| {
        worker::handoff(&acts::folder(context, job))
            .map_err(|e| Failure::internal(format!("cannot read the hand-off again: {e}")))
    };
    let mut handoff = read(first.job)?;
    for Placed { job, .. } in &placed[1..] {
        let own = job.write_scope().iter().cloned();
        if let Some(scope) = &mut task.scope {
            scope.write.get_or_insert_default().extend(own);
        }
        handoff.files_changed.extend(read(job)?.files_changed);
    }
    let text = serde_json::to_string_pretty(&task)
        .map_err(|e| Failure::internal(format!("cannot write the task {}: {e}", task.id)))?;
    stage::write(&folder, "integration-task.json", &text)?;
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

/// Every check of the integrated tasks and these, each command once.
fn checks(state: &State, placed: &[Placed<'_>]) -> Vec<VerifyCommand> {
    let mut checks: Vec<VerifyCommand> = Vec::new();
    let before = state.integrated.iter().filter_map(|id| state.job(id));
    for job in placed.iter().map(|p| p.job).chain(before) {
        for verify in &job.task.verify {
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
