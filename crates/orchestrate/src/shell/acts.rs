//! Performs one act. Whatever comes of it is written down through the engine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_cli::Failure;
use baton_protocol::{CheckVerdict, TaskId, Verdict};
use baton_repo::Repo;

use crate::core::commit_message::{Author, message};
use crate::core::decide::Act;
use crate::core::job::Job;
use crate::core::record::{JobKind, Record};
use crate::core::state::State;

use super::context::{Context, Line};
use super::{finishing, integrating, landing, planning, reviewing, stage, worker, worktrees};

/// The longest a check may take: its commands have their own limits below this.
pub(crate) const CHECK_LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// Performs the act. An error ends the run (it can be resumed); everything a run can live with is a
/// record.
pub(crate) fn perform(
    context: &Context,
    line: &Line,
    state: &State,
    act: &Act,
) -> Result<(), Failure> {
    let job = |id: &TaskId| {
        state
            .job(id)
            .ok_or_else(|| Failure::internal(format!("the journal knows no task {id}")))
    };
    match act {
        Act::AddPlanner => planning::add_planner(context, line, state),
        Act::AddExplorers => planning::add_explorers(context, line, state),
        Act::AddAnswer => planning::add_answer(context, line, state),
        Act::AddReviewers => reviewing::add(context, line, state),
        Act::AddSummary => finishing::add_summary(context, line, state),
        Act::PlanFromGoal => planning::from_goal(context, line, state),
        Act::PlanFromGaps => planning::from_gaps(line, state),
        Act::Run(id) => worker::run(context, line, state, job(id)?),
        Act::ReadPlan(id) => planning::read(context, line, state, job(id)?),
        Act::ReadReview => reviewing::read(context, line, state),
        Act::ReadSummary(id) => finishing::read_summary(context, line, job(id)?),
        Act::Judge(id) => judge(context, line, job(id)?),
        Act::Commit(id) => commit(context, line, job(id)?),
        Act::Integrate(id) => integrating::integrate(context, line, state, job(id)?),
        Act::Land => landing::land(context, line, state),
        Act::Finish(status) => finishing::finish(context, line, state, (*status).into()),
    }
}

/// The folder of the job's attempt that counts now.
pub(crate) fn folder(context: &Context, job: &Job) -> PathBuf {
    let attempt = job.attempt();
    context
        .folder()
        .attempt(job.id(), attempt.number, attempt.placement)
}

/// The work tree of the job's attempt.
pub(crate) fn worktree(context: &Context, job: &Job) -> Option<PathBuf> {
    let start = job.attempt().start.as_ref()?;
    Some(context.worktree(start.worktree.as_ref()?))
}

fn judge(context: &Context, line: &Line, job: &Job) -> Result<(), Failure> {
    let attempt = job.attempt().number;
    let Some(tree) = worktree(context, job) else {
        // A task that only reads has nothing that git could show.
        line.record(
            Some(job.id()),
            Record::Done {
                detail: "answered".into(),
            },
        )?;
        return Ok(());
    };
    let folder = folder(context, job);
    let (pass, reasons) = check(context, &folder, TASK, HANDOFF, &tree, "verdict")?;
    if context.stop.is_cancelled() {
        return Ok(());
    }
    line.record(
        Some(job.id()),
        Record::Judged {
            attempt,
            pass,
            reasons,
        },
    )?;
    Ok(())
}

/// The task as the worker got it, and what it handed over, in the attempt's folder.
const TASK: &str = "task.json";
const HANDOFF: &str = "handoff.json";

/// Runs handoff-check on a hand-off in `folder` against a work tree. No verdict is no pass.
pub(crate) fn check(
    context: &Context,
    folder: &Path,
    task: &str,
    handoff: &str,
    tree: &Path,
    keep: &str,
) -> Result<(Option<bool>, Vec<String>), Failure> {
    let handoff = std::fs::read_to_string(folder.join(handoff))
        .map_err(|e| Failure::internal(format!("cannot read the hand-off again: {e}")))?;
    let task = folder.join(task);
    let (task, shown) = (task.to_string_lossy(), tree.to_string_lossy());
    let mut args = vec!["--json", "--task", &task, "--repo", &shown, "--rerun"];
    let needed = worktrees::brought_along(context, tree)?;
    for path in &needed {
        args.extend(["--with", path]);
    }
    let staged = stage::run(
        context,
        "handoff-check",
        &args,
        Some(&handoff),
        folder,
        keep,
        CHECK_LIMIT,
    )?;
    Ok(match baton_protocol::read::<Verdict>(&staged.stdout) {
        Ok(verdict) => (verdict.pass, reasons(&verdict)),
        Err(error) => (
            None,
            vec![format!(
                "handoff-check gave no verdict (exit {}): {error}",
                staged.code
            )],
        ),
    })
}

/// The checks that do not hold, in words; with what the commands did.
fn reasons(verdict: &Verdict) -> Vec<String> {
    let failing = verdict
        .checks
        .iter()
        .filter(|c| matches!(c.verdict, CheckVerdict::Fail | CheckVerdict::Unknown))
        .map(|c| format!("{}: {}", c.id, c.detail));
    let mut reasons: Vec<String> = failing.collect();
    if reasons.is_empty() && verdict.pass != Some(true) {
        reasons.push("no check says why".into());
    }
    reasons
}

/// The host commits what the worker did. Workers make no commits; one that a crash kept us from
/// writing down is found again, because then HEAD is no longer the base.
fn commit(context: &Context, line: &Line, job: &Job) -> Result<(), Failure> {
    let attempt = job.attempt();
    let tree = worktree(context, job)
        .ok_or_else(|| Failure::internal(format!("task {} has no work tree", job.id())))?;
    let commit = commit_tree(context, job, &tree, None)?;
    line.record(
        Some(job.id()),
        Record::Committed {
            attempt: attempt.number,
            commit,
        },
    )?;
    Ok(())
}

/// Commits everything in a job's work tree; none when its base holds it all already.
pub(crate) fn commit_tree(
    context: &Context,
    job: &Job,
    tree: &Path,
    unfinished: Option<&str>,
) -> Result<Option<String>, Failure> {
    let git = |e: &baton_repo::RepoError| worktrees::git_failure(e);
    let attempt = job.attempt();
    let base = attempt.start.as_ref().map_or("", |s| s.base.as_str());
    let handoff = worker::handoff(&folder(context, job)).ok();
    let end = attempt.end.as_ref();
    let author = Author {
        run: &context.run,
        provider: end.and_then(|e| e.provider.as_deref()),
        model: end.and_then(|e| e.model.as_deref()),
    };
    let outcome = handoff.map(|h| h.outcome).unwrap_or_default();
    let mut message = message(&job.task, &outcome, &author);
    if let Some(why) = unfinished {
        message.subject = format!("Unfinished: {}", message.subject);
        message.body = format!("{}\n\nNot integrated: {why}", message.body);
    }
    let _one = context.trees();
    let repo = Repo::discover(tree).map_err(|e| git(&e))?;
    if tree.canonicalize().is_ok_and(|real| real != repo.root()) {
        return Err(Failure::internal(format!(
            "{} is not a tree of its own any more; it was left as it is",
            tree.display()
        )));
    }
    repo.commit_all(&message).map_err(|e| git(&e))?;
    let head = repo.head().map_err(|e| git(&e))?.commit;
    let made = head
        .map(|h| h.as_str().to_owned())
        .filter(|head| head != base);
    if let Some(commit) = &made
        && Repo::is_clone(tree)
    {
        let fetched = context.repo.fetch_from_clone(tree, commit);
        fetched.map_err(|e| git(&e))?;
    }
    Ok(made)
}

/// Whether a job writes to a tree of its own.
pub(crate) fn writes(job: &Job) -> bool {
    job.kind == JobKind::Work
        && job
            .attempt()
            .start
            .as_ref()
            .is_some_and(|s| s.worktree.is_some())
}
