//! Running a command to its end: one loop over its exit, its pipes, its limits and the
//! cancellation. No helper threads.

use std::time::Instant;

use rustix::process::Signal;

use crate::phase::{Action, Facts, Limits, Phase, Reason};
use crate::start::{Started, io_error, start};
use crate::streams::{Feed, Streams};
use crate::waiting::{self, Waker};
use crate::{Cancel, Command, Outcome, SpawnError};

/// Runs the command to its end.
pub(crate) fn run(command: &Command, cancel: &Cancel) -> Result<Outcome, SpawnError> {
    let watch = |error| io_error(command, "watch the process", error);
    let waker = Waker::new(cancel).map_err(watch)?;
    let mut streams = Streams::new(command)?;
    let begun = Instant::now();
    let started = start(command, command.die_with_us.unwrap_or(true))?;
    let Started {
        mut child,
        target,
        stdin,
        stdout,
        stderr,
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
    loop {
        let now = Instant::now();
        let exited = duration.is_some() || waiting::has_exited(target.pid);
        let facts = Facts {
            now,
            exited,
            cancelled: cancel.is_cancelled(),
            urgent: cancel.is_urgent(),
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
    let exit = child.wait().map_err(watch)?.into();
    let leftovers = target.kill_rest();
    streams.sweep();
    Ok(Outcome {
        exit,
        timed_out: reason == Some(Reason::TimeLimit),
        cancelled: reason == Some(Reason::Cancelled),
        stdout: streams.stdout.finish(),
        stderr: streams.stderr.finish(),
        duration: duration.unwrap_or_default(),
        leftovers,
    })
}
