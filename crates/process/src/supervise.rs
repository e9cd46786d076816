//! Running a command to its end: one loop over its exit, its pipes, its limits and the
//! cancellation. No helper threads.

use std::io::Read;
use std::time::Instant;

use rustix::process::Signal;

use crate::phase::{Action, Facts, Limits, Phase, Reason};
use crate::sandbox::{Coverage, Report};
use crate::space::{self, Watch};
use crate::start::{Started, io_error, spawn_error, start};
use crate::streams::{Feed, Streams};
use crate::waiting::{self, Waker};
use crate::{Cancel, Command, ExitStatus, Outcome, SpawnError};

/// Runs the command to its end.
pub(crate) fn run(command: &Command, cancel: &Cancel) -> Result<Outcome, SpawnError> {
    let watch = |error| io_error(command, "watch the process", error);
    let waker = Waker::new(cancel).map_err(watch)?;
    let mut streams = Streams::new(command)?;
    let room = command.space.as_ref().map(Watch::new);
    let begun = Instant::now();
    let started = start(command, command.die_with_us.unwrap_or(true))?;
    let Started {
        mut child,
        mut target,
        stdin,
        stdout,
        stderr,
        report,
    } = started;
    streams.stdin = stdin.map(Feed::new);
    streams.stdout.pipe = stdout;
    streams.stderr.pipe = stderr;
    let limits = Limits {
        // A limit beyond the clock's range is no limit.
        deadline: command.timeout.and_then(|limit| begun.checked_add(limit)),
        grace: command.grace,
        drain: command.drain,
    };

    let pidfd = waiting::pidfd(target.pid);
    let mut phase = Phase::Running;
    let mut reason = None;
    let mut duration = None;
    let mut no_space: Option<String> = None;
    loop {
        let now = Instant::now();
        if no_space.is_none() && duration.is_none() {
            no_space = room.as_ref().and_then(Watch::spent);
        }
        let exited = duration.is_some() || waiting::has_exited(target.pid);
        let facts = Facts {
            now,
            exited,
            cancelled: cancel.is_cancelled(),
            urgent: cancel.is_urgent(),
            no_space: no_space.is_some(),
            pipes_open: streams.is_open(),
        };
        let (next, action) = phase.step(facts, limits);
        phase = next;
        match action {
            Action::Wait(limit) => {
                let watched = if duration.is_some() {
                    None
                } else {
                    pidfd.as_ref()
                };
                let limit = if room.is_some() {
                    Some(limit.map_or(space::TICK, |l| l.min(space::TICK)))
                } else {
                    limit
                };
                let limit = match (watched, duration) {
                    // Without a pidfd, and with the process still running: look again soon.
                    (None, None) => Some(limit.map_or(waiting::TICK, |l| l.min(waiting::TICK))),
                    _ => limit,
                };
                if let Err(error) = streams.wait(watched, &waker, limit) {
                    target.signal(Signal::KILL);
                    let _ = child.wait();
                    return Err(watch(error));
                }
            }
            Action::Terminate(why) => {
                reason = Some(why);
                target.signal(Signal::TERM);
                // A stopped process acts on TERM only when it is continued.
                target.signal(Signal::CONT);
            }
            Action::Kill => target.signal(Signal::KILL),
            Action::Drain => {
                duration = Some(now - begun);
                streams.stdin = None;
            }
            Action::GiveUp => {
                return Err(SpawnError::Stuck {
                    program: command.program.to_string_lossy().into_owned(),
                    pid: child.id(),
                });
            }
            Action::Finish => break,
        }
    }
    let status: ExitStatus = child.wait().map_err(watch)?.into();
    let report = report.map(|pipe| Report::parse(&read_what_is_there(&pipe)));
    let no_space = no_space.filter(|_| reason == Some(Reason::Space));
    if report.as_ref().is_some_and(|report| report.exit.is_some()) {
        // The init has ended, and its namespace with it: nobody is left to be looked for, and
        // a walk through all processes costs more than many a command.
        target.mark = None;
    }
    let mut leftovers = target.kill_rest();
    streams.sweep();
    let (exit, sandbox) = match report {
        None => (status, None),
        Some(report) => {
            leftovers.extend(report.leftovers.iter().cloned());
            let (exit, coverage) = judge_report(command, &report, status, reason.is_some())?;
            (exit, Some(coverage))
        }
    };
    Ok(Outcome {
        exit,
        timed_out: reason == Some(Reason::TimeLimit),
        cancelled: reason == Some(Reason::Cancelled),
        no_space,
        stdout: streams.stdout.finish(),
        stderr: streams.stderr.finish(),
        duration: duration.unwrap_or_default(),
        leftovers,
        sandbox,
    })
}

/// What a launcher's report says about how the command ended, and what stood around it.
fn judge_report(
    command: &Command,
    report: &Report,
    status: ExitStatus,
    ended_by_us: bool,
) -> Result<(ExitStatus, Coverage), SpawnError> {
    let program = command.program.to_string_lossy().into_owned();
    if let Some(number) = report.exec_error {
        return Err(spawn_error(
            command,
            std::io::Error::from_raw_os_error(number),
        ));
    }
    if let Some(reason) = &report.failure {
        return Err(SpawnError::Sandbox {
            program,
            reason: reason.clone(),
        });
    }
    let (Some(facts), Some(policy)) = (report.facts, &command.sandbox) else {
        if ended_by_us {
            return Ok((status, Coverage::default()));
        }
        let reason = format!(
            "{} is not a sandbox launcher ({status}); its main must call launcher_main_if_asked",
            command
                .sandbox
                .as_ref()
                .map_or_else(String::new, |p| p.launcher.display().to_string()),
        );
        return Err(SpawnError::Sandbox { program, reason });
    };
    let exit = match report.exit {
        Some(exit) => exit,
        // With an init the report tells the exit, unless the init itself was killed.
        None if facts.pid && !ended_by_us && !command.program.is_empty() => {
            let reason = format!("the sandbox's init was killed ({status})");
            return Err(SpawnError::Sandbox { program, reason });
        }
        None => status,
    };
    Ok((exit, Coverage::judge(facts, policy)))
}

/// The bytes in a pipe that nobody writes to any more, or that we do not want to wait for.
pub(crate) fn read_what_is_there(mut pipe: &std::io::PipeReader) -> String {
    let mut bytes = Vec::new();
    // Whatever error ends the reading, what came before it counts.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
