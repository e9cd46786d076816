//! A long-lived child: started now, watched later.

use std::io::{self, PipeReader};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use crate::group::Target;
use crate::sandbox::Report;
use crate::start::{self, Started};
use crate::supervise::read_what_is_there;
use crate::waiting::{self, Waker};
use crate::{Cancel, Command, ExitStatus, Identity, Leftover, Lines, SpawnError};

/// What a wait for a child ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// It has ended, and is reaped.
    Exited(ExitStatus),
    /// The deadline came first; it still runs.
    TimedOut,
    /// The run was cancelled; it still runs.
    Cancelled,
}

/// A running child with its group. Dropping it kills the group and reaps the child.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    target: Target,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    report: Option<PipeReader>,
    exit: Option<ExitStatus>,
    leftovers: Vec<Leftover>,
}

pub(crate) fn spawn(command: &Command) -> Result<Child, SpawnError> {
    let command = match &command.stdin {
        // Nobody would feed the bytes while the caller does other things.
        crate::Stdin::Bytes(_) => {
            return Err(SpawnError::Io {
                program: command.program.to_string_lossy().into_owned(),
                action: "give bytes on stdin to a long-lived child",
                source: io::Error::from(io::ErrorKind::Unsupported),
            });
        }
        _ => command,
    };
    let started = start::start(command, command.die_with_us.unwrap_or(false))?;
    let Started {
        child,
        target,
        stdout,
        stderr,
        report,
        ..
    } = started;
    Ok(Child {
        process: child,
        target,
        stdout,
        stderr,
        report,
        exit: None,
        leftovers: Vec::new(),
    })
}

impl Child {
    /// Its pid, which is also its group's unless it was placed in the caller's.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Its identity, or `None` where there is no `/proc`.
    pub fn identity(&self) -> Option<Identity> {
        Identity::of(self.pid())
    }

    /// Its stdout by lines, once; needs `Output::Capture`, whose limits do not matter here.
    pub fn lines(&mut self) -> Option<Lines> {
        self.stdout.take().map(Lines::new)
    }

    /// Its stderr by lines, once; needs `Output::Capture`.
    pub fn stderr_lines(&mut self) -> Option<Lines> {
        self.stderr.take().map(Lines::new)
    }

    /// How it ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.exit.is_none() && waiting::has_exited(self.target.pid) {
            self.reap()?;
        }
        Ok(self.exit)
    }

    /// Waits for its end, until a deadline (if any) or a cancellation.
    pub fn wait(&mut self, deadline: Option<Instant>, cancel: &Cancel) -> io::Result<Waited> {
        let waker = Waker::new(cancel)?;
        let pidfd = waiting::pidfd(self.target.pid);
        loop {
            if let Some(exit) = self.try_wait()? {
                return Ok(Waited::Exited(exit));
            }
            if cancel.is_cancelled() {
                return Ok(Waited::Cancelled);
            }
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Waited::TimedOut);
            }
            let waker_fd = PollFd::from_borrowed_fd(waker.as_fd(), PollFlags::IN);
            if let Some(pidfd) = &pidfd {
                waiting::poll(&mut [waker_fd, PollFd::new(pidfd, PollFlags::IN)], left)?;
            } else {
                let tick = left.map_or(waiting::TICK, |left| left.min(waiting::TICK));
                waiting::poll(&mut [waker_fd], Some(tick))?;
            }
        }
    }

    /// Sends a signal to its group, if it still runs.
    pub fn signal(&self, signal: i32) {
        if self.exit.is_none()
            && let Some(signal) = Signal::from_named_raw(signal)
        {
            self.target.signal(signal);
        }
    }

    /// Ends it: TERM, this much grace, KILL; then kills what is left of its group.
    pub fn terminate(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if self.try_wait()?.is_none() {
            self.target.signal(Signal::TERM);
            self.target.signal(Signal::CONT);
        }
        let never = Cancel::new();
        if let Waited::Exited(exit) = self.wait(Instant::now().checked_add(grace), &never)? {
            return Ok(exit);
        }
        self.target.signal(Signal::KILL);
        let patience = Duration::from_secs(5);
        match self.wait(Instant::now().checked_add(patience), &never)? {
            Waited::Exited(exit) => Ok(exit),
            Waited::TimedOut | Waited::Cancelled => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("process {} does not end even after KILL", self.pid()),
            )),
        }
    }

    /// What it had left behind when it ended. These processes are dead by now.
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }

    fn reap(&mut self) -> io::Result<()> {
        let status = self.process.wait()?.into();
        let report = self
            .report
            .take()
            .map(|pipe| Report::parse(&read_what_is_there(&pipe)));
        self.exit = Some(report.and_then(|report| report.exit).unwrap_or(status));
        self.leftovers = self.target.kill_rest();
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.try_wait(), Ok(None)) {
            self.target.signal(Signal::KILL);
            let _ = self.reap();
        }
    }
}
