//! The end of a run: leftovers kept on branches, the report, the work trees that hold nothing.

use std::path::Path;

use baton_cli::Failure;
use baton_cli::config::TraceMode;
use baton_protocol::{Handoff, Run, RunStatus, TaskId, Verdict};

use crate::core::job::{Attempt, Commit, Fate, Job};
use crate::core::record::{JobKind, Record};
use crate::core::state::State;
use crate::core::{markdown, names, questions, report, trace};

use super::context::{Context, Line};
use super::layout::RunFolder;
use super::worktrees::git_failure;
use super::{acts, integrating, stage, worker, worktrees};

/// Writes the report and ends the run.
pub(crate) fn finish(
    context: &Context,
    line: &Line,
    state: &State,
    status: RunStatus,
) -> Result<(), Failure> {
    let mut state = state.clone();
    if !matches!(
        status,
        RunStatus::Halted | RunStatus::Interrupted | RunStatus::BudgetSpent
    ) {
        keep_leftovers(context, line, &mut state)?;
    }
    if !state.integrated.is_empty() {
        integrating::move_branch(context, &state.branch, &state.head)?;
    }
    let text = write_report(context, &state, status)?;
    stage::write(context.folder().path(), "report.md", &text)?;
    leave_trace(context, &state)?;
    line.record(None, Record::RunEnded { status })?;
    if status == RunStatus::Completed {
        let tree = context.worktree(&format!("{}-integration", context.run));
        if tree.exists() {
            integrating::discard(context, &tree)?;
        }
    }
    Ok(())
}

/// What stays of the workers' events: a summary in numbers beside them, or nothing.
fn leave_trace(context: &Context, state: &State) -> Result<(), Failure> {
    let folder = context.folder();
    let files =
        |job: &Job, attempt: &Attempt| folder.attempt(job.id(), attempt.number, attempt.placement);
    match context.config.trace.mode {
        TraceMode::Off => {}
        TraceMode::Memory => {
            let attempts = state.jobs.iter().flat_map(|job| {
                let number = |attempt: &Attempt| files(job, attempt);
                job.attempts.iter().map(number).collect::<Vec<_>>()
            });
            attempts.for_each(|folder| worker::forget_events(&folder));
        }
        TraceMode::Snapshot => {
            let now = baton_protocol::Timestamp::now();
            let events = |job: &Job, attempt: &Attempt| worker::events(&files(job, attempt));
            let trace = trace::trace(&context.run, state, wall_ms(state, now), &events);
            let text = serde_json::to_string_pretty(&trace)
                .map_err(|e| Failure::internal(format!("cannot write the trace: {e}")))?;
            stage::write(folder.path(), "trace.json", &(text + "\n"))?;
        }
    }
    Ok(())
}

fn write_report(context: &Context, state: &State, status: RunStatus) -> Result<String, Failure> {
    let now = baton_protocol::Timestamp::now();
    let run = make(&context.run, &context.folder(), state, status, now);
    let value = serde_json::to_value(&run)
        .map_err(|e| Failure::internal(format!("cannot write the report: {e}")))?;
    let value = context.redactor.value(value);
    let json = serde_json::to_string_pretty(&value)
        .map_err(|e| Failure::internal(format!("cannot write the report: {e}")))?;
    stage::write(context.folder().path(), "report.json", &(json + "\n"))?;
    Ok(context.redactor.text(&markdown::render(&run)).into_owned())
}

/// The report from the state and the files of the run's folder.
pub(crate) fn make(
    run: &str,
    folder: &RunFolder,
    state: &State,
    status: RunStatus,
    now: baton_protocol::Timestamp,
) -> Run {
    let leavings = |task: &TaskId, attempt: u32| {
        let placement = state
            .job(task)
            .and_then(|j| j.attempts.iter().find(|a| a.number == attempt))
            .map_or(1, |a| a.placement);
        leavings(&folder.attempt(task, attempt, placement))
    };
    report::report(run, state, status, wall_ms(state, now), &leavings)
}

/// How long the run has taken.
pub(crate) fn wall_ms(state: &State, now: baton_protocol::Timestamp) -> u64 {
    let since = state
        .started_at
        .and_then(|at| now.system_time().duration_since(at.system_time()).ok())
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn leavings(folder: &Path) -> (Option<Handoff>, Option<Verdict>) {
    let verdict = std::fs::read_to_string(folder.join("verdict.json"))
        .ok()
        .and_then(|text| baton_protocol::read(&text).ok());
    (worker::handoff(folder).ok(), verdict)
}

/// Work that was not integrated is committed to a branch of its own; then its tree can go.
fn keep_leftovers(context: &Context, line: &Line, state: &mut State) -> Result<(), Failure> {
    let jobs: Vec<Job> = state.jobs.clone();
    for job in jobs.iter().filter(|j| acts::writes(j)) {
        for number in 1..=job.attempt().number {
            let Some(past) = attempt_of(job, number) else {
                continue;
            };
            keep_one(context, line, state, &past)?;
        }
    }
    Ok(())
}

/// The job as it was when this attempt counted.
fn attempt_of(job: &Job, number: u32) -> Option<Job> {
    let mut past = job.clone();
    past.attempts.retain(|a| a.number <= number);
    if past.attempts.last()?.number != number {
        return None;
    }
    past.attempt().start.as_ref()?;
    Some(past)
}

fn keep_one(context: &Context, line: &Line, state: &mut State, job: &Job) -> Result<(), Failure> {
    let attempt = job.attempt();
    let last = state
        .job(job.id())
        .is_none_or(|j| j.attempt().number == attempt.number);
    let Some(tree) = acts::worktree(context, job).filter(|t| t.exists()) else {
        return Ok(());
    };
    let integrated = last && job.fate.is_good();
    let reason = match &job.fate {
        Fate::GivenUp { reason, .. } if last => reason.as_str(),
        _ => "a second attempt was made",
    };
    if integrated {
        let commit = match &attempt.commit {
            Some(Commit::Made(commit)) => Some(commit.clone()),
            _ => None,
        };
        let base = attempt.start.as_ref().map(|s| s.base.clone());
        let safe: Vec<&str> = commit.iter().chain(&base).map(String::as_str).collect();
        let _ = worktrees::remove_if_empty(context, &tree, &safe);
        return Ok(());
    }
    let commit = acts::commit_tree(context, job, &tree, Some(reason))?;
    if let Some(commit) = &commit
        && attempt.kept.is_none()
    {
        let branch = names::kept_branch(&context.run, job.id(), attempt.number, attempt.placement);
        {
            let _one = context.trees();
            let made = context.repo.create_branch(&branch, commit);
            made.map_err(|e| git_failure(&e))?;
        }
        let record = Record::Kept {
            attempt: attempt.number,
            branch,
        };
        line.record(Some(job.id()), record.clone())?;
        state.apply(&crate::core::record::Entry {
            at: baton_protocol::Timestamp::now(),
            task: Some(job.id().clone()),
            record,
        });
    }
    let base = attempt.start.as_ref().map(|s| s.base.clone());
    let safe: Vec<&str> = commit.iter().chain(&base).map(String::as_str).collect();
    let _ = worktrees::remove_if_empty(context, &tree, &safe);
    Ok(())
}

pub(crate) fn add_summary(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    let now = baton_protocol::Timestamp::now();
    let run = make(
        &context.run,
        &context.folder(),
        state,
        RunStatus::Completed,
        now,
    );
    let facts: String = markdown::render(&run).chars().take(12_000).collect();
    let role = context.role("explore", "planner");
    let id = TaskId::new("summary").map_err(Failure::internal)?;
    line.record(
        None,
        Record::JobAdded {
            kind: JobKind::Summary,
            round: state.round,
            document: Box::new(questions::summary(id, role, &state.goal, &facts)),
        },
    )?;
    Ok(())
}

pub(crate) fn read_summary(context: &Context, line: &Line, job: &Job) -> Result<(), Failure> {
    let text = worker::handoff(&acts::folder(context, job))
        .ok()
        .map(|h| h.outcome)
        .filter(|text| !text.trim().is_empty());
    line.record(Some(job.id()), Record::Summed { text })?;
    Ok(())
}
