//! One worker: its files, its place, its process; or the one that still runs after a crash.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_cli::config::TraceMode;
use baton_process::{Command, Output, Waited, sibling};
use baton_protocol::{Handoff, HandoffStatus, ReadError, Reservation, Task, Timestamp, Usage};
use fs2::FileExt as _;

use crate::core::activity::{self, Activity};
use crate::core::decide;
use crate::core::job::{Attempt, Job, Start};
use crate::core::launch::Launcher;
use crate::core::names;
use crate::core::placing;
use crate::core::questions;
use crate::core::record::{JobKind, Record};
use crate::core::state::State;
use crate::core::{open_issues, urgency};

use super::context::{Context, Line};
use super::doer::{self, GRACE, SLACK};
use super::launch::{self, Trip};
use super::layout::make_folder;
use super::placement::{Candidates, candidates};
use super::stage::{self, exit_code, last_line};
use super::worktrees::{self, NotReady};

pub(super) const STDERR: &str = "stderr.log";
pub(super) const HANDOFF: &str = "handoff.json";
/// What the worker tells while it works.
pub(super) const EVENTS: &str = "events.jsonl";

/// Starts the job's worker (or finds the one that runs) and sees it to its end.
pub(crate) fn run(context: &Context, line: &Line, state: &State, job: &Job) -> Result<(), Failure> {
    let attempt = job.attempt();
    let folder = context
        .folder()
        .attempt(job.id(), attempt.number, attempt.placement);
    let start = match &attempt.start {
        Some(_) if started_before(&folder) => {
            return adopt(context, line, job, &folder);
        }
        Some(start) => start.clone(),
        None => {
            let start = plan_start(context, state, job);
            line.record(
                Some(job.id()),
                Record::Started {
                    attempt: attempt.number,
                    placement: attempt.placement,
                    base: start.base.clone(),
                    worktree: start.worktree.clone(),
                },
            )?;
            start
        }
    };
    make_folder(&folder)?;
    let end = begin(context, line, state, job, &start, &folder)?;
    finish(context, line, job, &folder, end)
}

/// A worker was started here before: its stderr file is made by its start.
fn started_before(folder: &Path) -> bool {
    folder.join(STDERR).exists()
}

fn plan_start(context: &Context, state: &State, job: &Job) -> Start {
    let attempt = job.attempt();
    let own_tree = job.kind == JobKind::Work && context.writes(&job.task.role);
    Start {
        at: Timestamp::now(),
        base: state.head.clone(),
        worktree: own_tree
            .then(|| names::worktree(&context.run, job.id(), attempt.number, attempt.placement)),
    }
}

/// How a worker ended, as far as its process tells.
pub(super) enum Ended {
    /// Its process ended with this code.
    Exit(i32),
    /// It was adopted, so its code is not known.
    Adopted,
    /// It was not started, because of this.
    Never {
        exit: Option<i32>,
        status: Option<HandoffStatus>,
        reason: String,
    },
    /// Its launcher, its host or the way to it was lost.
    Lost { exit: Option<i32>, reason: String },
    /// The run was stopped before it was started; nothing is on record and nothing is lost.
    Stopped,
}

pub(super) fn never(status: HandoffStatus, reason: impl Into<String>) -> Ended {
    Ended::Never {
        exit: None,
        status: Some(status),
        reason: reason.into(),
    }
}

fn begin(
    context: &Context,
    line: &Line,
    state: &State,
    job: &Job,
    start: &Start,
    folder: &Path,
) -> Result<Ended, Failure> {
    let attempt = job.attempt();
    let place = match &start.worktree {
        Some(name) => {
            match worktrees::ready(context, name, &start.base, &folder.join("setup.log")) {
                Ok((_, path)) => path,
                Err(NotReady::Environment(why)) => return Ok(never(HandoffStatus::Blocked, why)),
                Err(NotReady::Stopped) => return Ok(Ended::Stopped),
                Err(NotReady::Failed(failure)) => return Err(failure),
            }
        }
        None => review_place(context, state, job),
    };
    let mut task = document(job, attempt, start);
    context.lend(&mut task)?;
    write_task(folder, &task)?;
    match candidates(context, state, &task, attempt, folder, &place)? {
        Candidates::File(file) => {
            let Some(_seat) = context.seat(decide::seats(state)) else {
                return Ok(Ended::Stopped);
            };
            match Launcher::of(&state.settings, &context.config, &task.role) {
                None => spawn(context, state, job.kind, &task, folder, &place, &file),
                Some(launcher) => Trip {
                    context,
                    line,
                    state,
                    job,
                    start,
                    task: &task,
                    folder,
                    place: &place,
                    candidates: &file,
                    launcher: &launcher,
                }
                .run(),
            }
        }
        Candidates::None(ended) => Ok(ended),
    }
}

/// A reviewer looks at the run's branch, everybody else who only reads at the user's own tree.
fn review_place(context: &Context, state: &State, job: &Job) -> PathBuf {
    let integration = context.worktree(&format!("{}-integration", context.run));
    let wanted = job.kind == JobKind::Review && state.head != state.target.commit;
    if wanted && integration.exists() {
        integration
    } else {
        context.root().to_owned()
    }
}

/// The task as this attempt gets it.
fn document(job: &Job, attempt: &Attempt, start: &Start) -> Task {
    let mut task = match (&attempt.because, attempt.number) {
        (Some(reason), number) if number > 1 => questions::narrower(&job.task, number, reason),
        _ => job.task.clone(),
    };
    task.round = job.round;
    task.attempt = attempt.number;
    if start.worktree.is_some() {
        task.base = Some(start.base.clone());
    } else {
        // What only reads is measured against the tree as it is now, which may be dirty.
        task.base = None;
    }
    task
}

fn write_task(folder: &Path, task: &Task) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(task)
        .map_err(|e| Failure::internal(format!("cannot write the task {}: {e}", task.id)))?;
    stage::write(folder, "task.json", &text)
}

fn spawn(
    context: &Context,
    state: &State,
    kind: JobKind,
    task: &Task,
    folder: &Path,
    place: &Path,
    candidates: &Path,
) -> Result<Ended, Failure> {
    let file = |name: &str| {
        File::create(folder.join(name))
            .map_err(|e| Failure::internal(format!("cannot make {name} of {}: {e}", task.id)))
    };
    // The file's lock is shared with the worker through its stderr: the kernel holds it for exactly
    // as long as the worker lives, also when we are killed. That is how a resumed run asks.
    let stderr = file(STDERR)?;
    stderr
        .try_lock_exclusive()
        .map_err(|e| Failure::internal(format!("cannot lock the log of {}: {e}", task.id)))?;
    let queue = task.limits.queue_ms.unwrap_or(state.settings.queue_ms);
    let wait = format!("{queue}ms");
    let mut argv: Vec<std::ffi::OsString> = vec![sibling("slot-lock").into()];
    argv.push("--candidates".into());
    argv.push(candidates.into());
    let class = urgency::name(urgency::class(state.settings.class, kind));
    for (flag, value) in [("--wait", wait.as_str()), ("--class", class)] {
        argv.push(flag.into());
        argv.push(value.into());
    }
    argv.push("--report".into());
    argv.push(folder.join("reservation.json").into());
    argv.push("--".into());
    argv.push(sibling("worker-run").into());
    let mut files = vec![
        ("--task", folder.join("task.json")),
        ("--repo", place.to_owned()),
    ];
    if context.config.trace.mode != TraceMode::Off {
        files.push(("--events", folder.join(EVENTS)));
    }
    for (flag, value) in files {
        argv.push(flag.into());
        argv.push(value.into());
    }
    let program = argv.remove(0);
    let command = Command::new(&program)
        .args(&argv)
        .cwd(context.root())
        .stdout(Output::File(Arc::new(file(HANDOFF)?)))
        .stderr(Output::File(Arc::new(stderr)));
    let words: Vec<String> = std::iter::once(&program)
        .chain(&argv)
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    // By hand: sh command.txt, in the repository's root.
    stage::write(folder, "command.txt", &(shell_words(&words) + "\n"))?;
    if context.stop.is_cancelled() {
        return Ok(Ended::Stopped);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => {
            return Ok(Ended::Never {
                exit: Some(i32::from(e.exit_code())),
                status: None,
                reason: e.to_string(),
            });
        }
    };
    // The command holds our copy of the log's descriptor; only the worker's may keep the lock.
    drop(command);
    if let Some(identity) = child.identity() {
        doer::write(folder, &identity)?;
    }
    let wall = task.limits.wall();
    let deadline = Instant::now() + Duration::from_millis(queue) + wall + SLACK;
    let waited = child
        .wait(Some(deadline), &context.stop)
        .map_err(|e| Failure::internal(format!("cannot wait for the worker: {e}")))?;
    let exit = match waited {
        Waited::Exited(exit) => exit_code(exit),
        Waited::Cancelled | Waited::TimedOut => {
            let grace = if context.stop.is_urgent() {
                Duration::ZERO
            } else {
                GRACE
            };
            let exit = child
                .terminate(grace)
                .map_err(|e| Failure::internal(format!("cannot end the worker: {e}")))?;
            if waited == Waited::TimedOut {
                124
            } else {
                exit_code(exit)
            }
        }
    };
    Ok(Ended::Exit(exit))
}

/// A command line that a shell reads as these words.
pub(super) fn shell_words(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        // Only a NUL cannot be quoted, and no argument of a process holds one.
        shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Waits for a worker that an earlier orchestrate started. The kernel says whether it lives.
fn adopt(context: &Context, line: &Line, job: &Job, folder: &Path) -> Result<(), Failure> {
    let _seat = context.seat_of_running();
    if let Some(launch) = launch::launched(folder).filter(|l| l.folder.is_some()) {
        let ended = launch::adopt(context, line, job, folder, &launch)?;
        return finish(context, line, job, folder, ended);
    }
    let log = OpenOptions::new()
        .read(true)
        .write(true)
        .open(folder.join(STDERR))
        .map_err(|e| Failure::internal(format!("cannot open the log of {}: {e}", job.id())))?;
    let deadline = Instant::now() + job.task.limits.wall() + SLACK;
    while log.try_lock_exclusive().is_err() {
        let late = Instant::now() >= deadline;
        if late || context.stop.wait(Duration::from_millis(100)) {
            doer::end(folder);
            if late {
                break;
            }
        }
    }
    finish(context, line, job, folder, Ended::Adopted)
}

fn finish(
    context: &Context,
    line: &Line,
    job: &Job,
    folder: &Path,
    ended: Ended,
) -> Result<(), Failure> {
    let attempt = job.attempt().number;
    let record = match ended {
        Ended::Stopped => return Ok(()),
        Ended::Never {
            exit,
            status,
            reason,
        } => Record::Ended {
            attempt,
            exit,
            status,
            reason,
            provider: None,
            model: None,
            usage: Usage::default(),
            cost_usd: None,
            open: Vec::new(),
            lost: false,
        },
        Ended::Lost { exit, reason } => Record::Ended {
            attempt,
            exit,
            status: None,
            reason: crate::core::fallback::first_line(&reason, 1_000),
            provider: None,
            model: None,
            usage: Usage::default(),
            cost_usd: None,
            open: Vec::new(),
            lost: true,
        },
        Ended::Exit(code) => from_files(context, folder, attempt, Some(code)),
        Ended::Adopted => from_files(context, folder, attempt, None),
    };
    line.record(Some(job.id()), record)?;
    Ok(())
}

/// What the files of an attempt say: the parent reads the file, a missing one is an error.
fn from_files(context: &Context, folder: &Path, attempt: u32, exit: Option<i32>) -> Record {
    let handoff = handoff(folder);
    let reservation = reservation(folder);
    let stderr = std::fs::read_to_string(folder.join(STDERR)).unwrap_or_default();
    let (status, reason, mut usage) = match &handoff {
        Ok(handoff) => {
            let reason = if handoff.status_reason.is_empty() {
                &handoff.outcome
            } else {
                &handoff.status_reason
            };
            (Some(handoff.status), reason.clone(), handoff.usage.clone())
        }
        Err(ReadError::Relayed(document)) => (None, document.message.clone(), Usage::default()),
        Err(_) if !stderr.trim().is_empty() => (None, last_line(&stderr), Usage::default()),
        Err(error) => (None, error.to_string(), Usage::default()),
    };
    // The worker knows the server's queue, the reservation how long the slot was waited for.
    if let Some(waited) = reservation.as_ref().map(|r| r.waited_ms) {
        usage.queue_ms = Some(usage.queue_ms.unwrap_or(0).saturating_add(waited));
    }
    let provider = handoff
        .as_ref()
        .ok()
        .and_then(|h| h.provider.clone())
        .or_else(|| reservation.as_ref().and_then(|r| r.provider.clone()));
    let model = handoff
        .as_ref()
        .ok()
        .and_then(|h| h.model.clone())
        .or_else(|| reservation.as_ref().and_then(|r| r.model.clone()));
    let cost_usd = placing::cost(&context.config.providers, provider.as_deref(), &usage);
    Record::Ended {
        attempt,
        exit,
        status,
        reason: crate::core::fallback::first_line(&reason, 1_000),
        provider,
        model,
        usage,
        cost_usd,
        open: handoff
            .as_ref()
            .ok()
            .filter(|h| h.status == HandoffStatus::Completed)
            .map(open_issues::of)
            .unwrap_or_default(),
        lost: false,
    }
}

/// The hand-off an attempt left.
pub(crate) fn handoff(folder: &Path) -> Result<Handoff, ReadError> {
    let text = std::fs::read_to_string(folder.join(HANDOFF)).unwrap_or_default();
    baton_protocol::read(&text)
}

/// What the attempt's worker does or did, from its events.
pub(crate) fn activity(folder: &Path) -> Activity {
    activity::read(&events(folder), reservation(folder).as_ref())
}

/// The events of an attempt's worker, as it wrote them; nothing where they are not traced.
pub(crate) fn events(folder: &Path) -> String {
    std::fs::read_to_string(folder.join(EVENTS)).unwrap_or_default()
}

/// Forgets the events of an attempt.
pub(crate) fn forget_events(folder: &Path) {
    // What is not there, or cannot be removed, does no harm.
    let _ = std::fs::remove_file(folder.join(EVENTS));
}

fn reservation(folder: &Path) -> Option<Reservation> {
    let text = std::fs::read_to_string(folder.join("reservation.json")).ok()?;
    baton_protocol::read(&text).ok()
}
