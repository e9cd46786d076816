//! Running the command: it has stdin, stdout and the terminal; signals are passed on; its exit code
//! is ours.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use baton_protocol::Exit;
use rustix::process::{Pid, PidfdFlags, kill_process, pidfd_open};

use crate::environment::Change;
use crate::signals::{Signals, is_from_terminal, named};
use crate::waker::Waker;

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

/// Waits for the command, passing signals on.
pub(crate) fn supervise(child: &mut Child, waker: &Waker, signals: &Signals) -> io::Result<Exit> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // Without a pidfd (an old kernel) the end is looked for, below.
    let ended = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let pause = ended
        .is_none()
        .then_some(std::time::Duration::from_millis(10));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(exit_of(status));
        }
        for signal in signals.take() {
            if let (Some(pid), Some(sig), false) = (pid, named(signal), is_from_terminal(signal)) {
                // It is not reaped yet, so the number is still its own.
                let _ = kill_process(pid, sig);
            }
        }
        waker.sleep(ended.as_ref().map(AsFd::as_fd), pause);
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
