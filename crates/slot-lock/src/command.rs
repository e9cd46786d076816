//! Running the command: it has stdin, stdout and the terminal; signals are passed on; its exit code
//! is ours.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use baton_protocol::Exit;
use rustix::process::{Pid, PidfdFlags, kill_process, kill_process_group, pidfd_open};

use crate::clock::boot_ms;
use crate::ending::{self, GRACE};
use crate::environment::Change;
use crate::keeper::{BRIEF, Limit};
use crate::signals::{Signals, is_from_terminal, named};
use crate::store::{End, Held};
use crate::waker::Waker;

/// How often the end is looked for where the kernel does not tell it.
const POLL: Duration = Duration::from_millis(10);

/// The command with its changed environment.
pub(crate) fn prepare(words: &[OsString], changes: Vec<Change>) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments);
    for (name, value) in changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(command)
}

/// Replaces this process by the command; returns only when that fails.
pub(crate) fn replace(mut command: Command) -> io::Error {
    command.exec()
}

/// Whether we own a terminal's foreground: the command then shares our group with it.
pub(crate) fn owns_terminal() -> bool {
    is_from_terminal(signal_hook::consts::SIGINT)
}

/// The command while it runs.
pub(crate) struct Supervision<'a> {
    pub(crate) child: &'a mut Child,
    pub(crate) waker: &'a Waker,
    pub(crate) signals: &'a Signals,
    /// When it is ended.
    pub(crate) limit: Option<Limit>,
    /// It leads a process group of its own.
    pub(crate) has_group: bool,
    /// Its slot.
    pub(crate) held: &'a dyn Held,
    /// Tells people.
    pub(crate) tell: &'a dyn Fn(&str),
}

/// How often a slot that may be lost is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

impl Supervision<'_> {
    /// Waits for the command, passing signals on. It is ended when its time is over.
    pub(crate) fn run(&mut self) -> io::Result<Exit> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // Without a pidfd (an old kernel) the end is looked for.
        let ended = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let mut stage = Stage::Running;
        let mut is_lost = false;
        let mut settles_at = Some(Instant::now() + BRIEF);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(match stage {
                    Stage::Running => exit_of(status),
                    Stage::Asked(_) | Stage::Killed if is_lost => Exit::TryAgain,
                    Stage::Asked(_) | Stage::Killed => Exit::TimeLimit,
                });
            }
            for signal in self.signals.take() {
                self.pass_on(signal);
            }
            let care = self.held.care();
            for note in &care.notes {
                (self.tell)(note);
            }
            let now = boot_ms();
            is_lost |= matches!(stage, Stage::Running)
                && care.end.is_some_and(|end| now >= end.term_ms)
                && self.limit.is_none_or(|limit| now < limit.deadline_ms);
            stage = self.enforce(stage, care.end);
            let mut pause = stage
                .next_ms(self.limit, care.end)
                .map(|at| Duration::from_millis(at.saturating_sub(boot_ms()).saturating_add(1)));
            if care.look_again {
                pause = Some(pause.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN));
            }
            if ended.is_none() {
                pause = Some(POLL);
            }
            if let Some(at) = settles_at {
                let left = at.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    self.held.settle();
                    settles_at = None;
                } else {
                    pause = Some(pause.unwrap_or(left).min(left));
                }
            }
            let woken = self.waker.sleep(ended.as_ref().map(AsFd::as_fd), pause);
            if woken.by_other {
                self.held.open_up();
            }
        }
    }

    fn pass_on(&self, number: i32) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let (Some(pid), Some(signal)) = (pid, named(number)) else {
            return;
        };
        // It is not reaped yet, so the number is still its own.
        if self.has_group {
            let _ = kill_process_group(pid, signal);
        } else if !is_from_terminal(number) {
            let _ = kill_process(pid, signal);
        }
    }

    /// TERM when the time is over, KILL after a grace.
    fn enforce(&self, stage: Stage, end: Option<End>) -> Stage {
        let next = stage.next_ms(self.limit, end);
        if next.is_none_or(|at| boot_ms() < at) {
            return stage;
        }
        let pid = i32::try_from(self.child.id()).unwrap_or(0);
        let kill = matches!(stage, Stage::Asked(_));
        ending::send(pid, self.has_group, kill);
        if kill {
            Stage::Killed
        } else {
            Stage::Asked(boot_ms())
        }
    }
}

/// How far the ending of a command has come.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Running,
    /// TERM was sent, at this time.
    Asked(u64),
    Killed,
}

impl Stage {
    /// When the next signal is due, in milliseconds since boot.
    fn next_ms(self, limit: Option<Limit>, end: Option<End>) -> Option<u64> {
        let grace = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
        let both = match self {
            Self::Running => [limit.map(|l| l.deadline_ms), end.map(|e| e.term_ms)],
            Self::Asked(at) => [Some(at.saturating_add(grace)), end.map(|e| e.kill_ms)],
            Self::Killed => [None, None],
        };
        both.into_iter().flatten().min()
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Command(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, Some(signal)) => Exit::Signal(u8::try_from(signal).unwrap_or(0)),
        (None, None) => Exit::Internal,
    }
}

/// The exit code and the words for a command that could not be started.
pub(crate) fn start_failure(words: &[OsString], error: &io::Error) -> (Exit, String) {
    let name = words
        .first()
        .map(|w| w.to_string_lossy())
        .unwrap_or_default();
    match error.kind() {
        ErrorKind::NotFound => (
            Exit::NotFound,
            format!("{name}: command not found; is it installed and in PATH?"),
        ),
        ErrorKind::PermissionDenied => (
            Exit::CannotExecute,
            format!("{name}: cannot be executed: {error}; is it a program, with the x bit set?"),
        ),
        _ => (
            Exit::CannotExecute,
            format!("{name}: cannot be executed: {error}"),
        ),
    }
}
