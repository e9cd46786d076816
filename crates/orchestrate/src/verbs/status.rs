//! `orchestrate status`: every row is a process and a log.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use baton_cli::{Failure, Format, Output};
use baton_protocol::{
    Exit, RunState, RunStatus, SchemaTag, Status, StatusGoal, StatusRun, StatusTask, TaskState,
    Timestamp,
};

use crate::cli;
use crate::core::job::{Job, Phase};
use crate::core::report::stage;
use crate::core::state::State;
use crate::core::{status_text, trace};
use crate::shell::desk::can_go_on;
use crate::shell::goal_store::GoalStore;
use crate::shell::journal::peek;
use crate::shell::layout::{Layout, RunFolder};
use crate::shell::{doer, finishing, lock, loops, worker};

use super::place;

/// How often a watched status is looked at.
const TICK: Duration = Duration::from_secs(1);

/// Goes to the upper left corner and clears what is below.
const CLEAR: &[u8] = b"\x1b[H\x1b[J";

/// Prints the runs and their tasks.
pub(crate) fn status(cli: &cli::Status, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let layout = Layout::new(repo.root());
    let look = || {
        let holder = lock::holder(repo.common_dir());
        Status {
            goal: goal(&layout, repo.common_dir()),
            ..look(&layout, holder.as_deref(), cli.all)
        }
    };
    if !cli.watch {
        let status = look();
        output.document(&status, || status_text::render(&status))?;
        return Ok(Exit::Yes);
    }
    let signals = place::signals()?;
    let redraws = output.format() == Format::Text && std::io::stdout().is_terminal();
    let mut shown = None;
    loop {
        let status = look();
        let essence = essence(&status);
        if redraws || shown.as_ref() != Some(&essence) {
            if redraws {
                output.raw(CLEAR)?;
            }
            output.document(&status, || status_text::render(&status))?;
            shown = Some(essence);
        }
        if output.is_closed() {
            return Ok(Exit::Yes);
        }
        if signals.wait(TICK) {
            return Err(Failure::interrupted(signals.signal().unwrap_or(2)));
        }
    }
}

/// A status without what changes by itself.
fn essence(status: &Status) -> Status {
    let mut status = status.clone();
    status.checked_at = Timestamp::new(std::time::UNIX_EPOCH);
    for run in &mut status.runs {
        run.elapsed_ms = 0;
        for task in &mut run.tasks {
            task.silent_ms = None;
            task.elapsed_ms = None;
        }
    }
    status
}

fn look(layout: &Layout, holder: Option<&str>, all: bool) -> Status {
    let now = Timestamp::now();
    let names = layout.run_names();
    let mut runs = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let folder = layout.run(name);
        let last = index + 1 == names.len();
        match peek(&folder.journal()) {
            Ok(entries) => {
                let state = State::replay(&entries);
                let works = holder.is_some_and(|who| who.starts_with(name.as_str()));
                if all || last || works || state.status.is_none() {
                    runs.push(run(name, &folder, &state, works, now));
                }
            }
            Err(failure) => {
                let mut unreadable = run(name, &folder, &State::empty(), false, now);
                unreadable.state = RunState::Unreadable;
                unreadable.detail = Some(failure.message);
                unreadable.next = None;
                runs.push(unreadable);
            }
        }
    }
    Status {
        schema: SchemaTag::new(),
        checked_at: now,
        goal: None,
        runs,
    }
}

/// The long-lived goal and who works on it; none when there is none.
fn goal(layout: &Layout, git_dir: &Path) -> Option<StatusGoal> {
    match GoalStore::new(layout, git_dir).read() {
        Ok(None) => None,
        Ok(Some(goal)) => Some(StatusGoal {
            state: serde_json::to_value(goal.status)
                .ok()
                .and_then(|v| v.as_str().map(str::to_owned))
                .unwrap_or_default(),
            objective: goal.objective,
            reason: goal.reason,
            continuations: goal.continuations,
            works: loops::holder(git_dir, super::goal::LOOP),
        }),
        Err(failure) => Some(StatusGoal {
            objective: String::new(),
            state: "unreadable".into(),
            reason: Some(failure.message),
            continuations: 0,
            works: None,
        }),
    }
}

fn run(name: &str, folder: &RunFolder, state: &State, works: bool, now: Timestamp) -> StatusRun {
    let how = match state.status {
        Some(status) if !works => ended(status),
        _ if works => RunState::Working,
        _ => RunState::Killed,
    };
    // What was killed before it began is not gone on with, it is started again.
    let stopped = matches!(
        how,
        RunState::Killed | RunState::Halted | RunState::Interrupted | RunState::BudgetSpent
    );
    let waits = !works && state.status.is_some() && can_go_on(state);
    let resumable = state.started_at.is_some() && (stopped || waits);
    let until = if works || state.status.is_none() && how != RunState::Killed {
        now
    } else {
        state.last_at.unwrap_or(now)
    };
    StatusRun {
        run: name.to_owned(),
        state: how,
        detail: None,
        next: resumable.then(|| format!("orchestrate resume {name}")),
        goal: state.goal.clone(),
        round: state.round,
        started_at: state.started_at,
        elapsed_ms: finishing::wall_ms(state, until),
        tasks: state.jobs.iter().map(|job| row(folder, job, now)).collect(),
        folder: folder.path().display().to_string(),
        report: folder.report_text().display().to_string(),
    }
}

const fn ended(status: RunStatus) -> RunState {
    match status {
        RunStatus::Completed => RunState::Completed,
        RunStatus::Incomplete => RunState::Incomplete,
        RunStatus::Failed => RunState::Failed,
        RunStatus::Halted => RunState::Halted,
        RunStatus::Interrupted => RunState::Interrupted,
        RunStatus::BudgetSpent => RunState::BudgetSpent,
        RunStatus::NeedsPerson => RunState::NeedsPerson,
    }
}

fn row(folder: &RunFolder, job: &Job, now: Timestamp) -> StatusTask {
    let attempt = job.attempt();
    let files = folder.attempt(job.id(), attempt.number, attempt.placement);
    let running = matches!(job.phase(), Phase::Running);
    let activity = worker::activity(&files);
    let process = doer::read(&files).filter(|i| running && i.is_alive());
    let since = |at: std::time::SystemTime| {
        let took = now.system_time().duration_since(at).unwrap_or_default();
        u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
    };
    let silent = std::fs::metadata(files.join("events.jsonl"))
        .and_then(|m| m.modified())
        .ok()
        .filter(|_| running)
        .map(since);
    let started = attempt.start.as_ref().map(|s| s.at.system_time());
    StatusTask {
        task: job.id().clone(),
        role: job.task.role.clone(),
        state: if running && process.is_none() {
            TaskState::Preparing
        } else {
            stage(job)
        },
        attempt: attempt.number,
        pid: process.map(|p| p.pid),
        provider: activity.provider,
        model: activity.model,
        placement: attempt.placement,
        launcher: attempt.placed.as_ref().map(|p| p.launcher.clone()),
        host: attempt.placed.as_ref().and_then(|p| p.host.clone()),
        slot: activity.slot.map(|(slot, _)| slot).filter(|_| running),
        slots: activity.slot.map(|(_, slots)| slots),
        step: activity.step,
        tokens_per_s: activity.tokens_per_s,
        context_percent: activity.context_percent,
        doing: activity.last.filter(|_| running),
        silent_ms: silent,
        elapsed_ms: trace::elapsed_ms(attempt).or(started.filter(|_| running).map(since)),
        folder: files.display().to_string(),
    }
}
