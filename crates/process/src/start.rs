//! Starting a command: its streams, its session, and what is said when that fails.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal};

use crate::group::Target;
use crate::preexec::{self, BeforeExec};
use crate::sandbox::{OUTER, Orders, Policy};
use crate::{Command, Output, Placement, SpawnError, Stdin};

/// The variable that marks everything one call started, for [`Command::hunt`].
const MARK: &str = "BATON_PROCESS_MARK";

/// A child that has been started, with our ends of its pipes.
pub(crate) struct Started {
    pub(crate) child: std::process::Child,
    pub(crate) target: Target,
    pub(crate) stdin: Option<(PipeWriter, Vec<u8>)>,
    pub(crate) stdout: Option<PipeReader>,
    pub(crate) stderr: Option<PipeReader>,
    /// Where a sandbox launcher reports.
    pub(crate) report: Option<PipeReader>,
}

/// The std form of program, arguments, environment and directory.
pub(crate) fn std_command(command: &Command) -> std::process::Command {
    let mut std_command = std::process::Command::new(&command.program);
    std_command.args(&command.args);
    surround(command, &mut std_command);
    std_command
}

/// Sets environment and directory.
fn surround(command: &Command, std_command: &mut std::process::Command) {
    if command.env_clear {
        std_command.env_clear();
    }
    for (name, value) in &command.env {
        match value {
            Some(value) => std_command.env(name, value),
            None => std_command.env_remove(name),
        };
    }
    if let Some(dir) = &command.cwd {
        std_command.current_dir(dir);
    }
}

/// The std form of a command behind the border: its launcher, and our end of the report pipe with
/// the other one.
fn launcher_command(
    command: &Command,
    policy: &Policy,
) -> io::Result<(std::process::Command, PipeReader, Arc<OwnedFd>)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    let writer = Arc::new(OwnedFd::from(writer));
    let mut words = vec![command.program.clone()];
    words.extend(command.args.iter().cloned());
    let orders = Orders {
        policy: policy.clone(),
        report: preexec::number(&writer),
        command: words,
    };
    let mut std_command = std::process::Command::new(&policy.launcher);
    std_command.arg(OUTER).args(orders.to_args());
    surround(command, &mut std_command);
    let tmp = policy.tmp.as_deref().unwrap_or(Path::new("/tmp"));
    for name in ["TMPDIR", "TMP", "TEMP"] {
        std_command.env(name, tmp);
    }
    Ok((std_command, reader, writer))
}

/// Starts the command with its streams, session and group.
pub(crate) fn start(command: &Command, die_with_us: bool) -> Result<Started, SpawnError> {
    let pipes = |error| io_error(command, "make a pipe", error);
    let (mut std_command, report, inherit) = match &command.sandbox {
        None => (std_command(command), None, Vec::new()),
        Some(policy) => {
            let (launcher, report, writer) = launcher_command(command, policy).map_err(pipes)?;
            (launcher, Some(report), vec![writer])
        }
    };
    let sandboxed = report.is_some();
    // The launcher's signals are its own affair, and the command gets a session either way.
    let placement = if sandboxed {
        Placement::Session
    } else {
        command.placement
    };

    let mut stdin = None;
    std_command.stdin(match &command.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Inherit => Stdio::inherit(),
        Stdin::File(file) => Stdio::from(file.try_clone().map_err(pipes)?),
        Stdin::Bytes(bytes) => {
            let (reader, writer) = io::pipe().map_err(pipes)?;
            rustix::io::ioctl_fionbio(&writer, true).map_err(|e| pipes(e.into()))?;
            stdin = Some((writer, bytes.clone()));
            Stdio::from(reader)
        }
    });
    let (out, out_again, stdout) = output(&command.stdout, command.merge_stderr).map_err(pipes)?;
    let (err, stderr) = if let Some(same) = out_again {
        (same, None)
    } else {
        let (err, _, reader) = output(&command.stderr, false).map_err(pipes)?;
        (err, reader)
    };
    std_command.stdout(out).stderr(err);

    if placement == Placement::Group {
        std_command.process_group(0);
    }
    let mark = (command.hunt || sandboxed).then(new_mark);
    if let Some(mark) = &mark {
        std_command.env(MARK, mark);
    }
    let death_signal = match (sandboxed, die_with_us) {
        (true, _) => Some(Signal::KILL),
        (false, true) => Some(Signal::TERM),
        (false, false) => None,
    };
    BeforeExec {
        session: placement == Placement::Session,
        death_signal,
        inherit,
        ..BeforeExec::default()
    }
    .install(&mut std_command);

    let child = std_command
        .spawn()
        .map_err(|error| spawn_error(command, error))?;
    let pid = Pid::from_child(&child);
    let mark = mark.map(|mark| format!("{MARK}={mark}"));
    let target = Target {
        pid,
        placement,
        mark,
    };
    Ok(Started {
        child,
        target,
        stdin,
        stdout,
        stderr,
        report,
    })
}

/// One output stream: the child's end, a second one for a merged stderr, and our end.
type OutputEnds = (Stdio, Option<Stdio>, Option<PipeReader>);

fn output(output: &Output, twice: bool) -> io::Result<OutputEnds> {
    match output {
        Output::Capture(_) => {
            let (reader, writer) = io::pipe()?;
            let again = if twice {
                Some(Stdio::from(writer.try_clone()?))
            } else {
                None
            };
            Ok((Stdio::from(writer), again, Some(reader)))
        }
        Output::File(file) => {
            let again = if twice {
                Some(Stdio::from(file.try_clone()?))
            } else {
                None
            };
            Ok((Stdio::from(file.try_clone()?), again, None))
        }
        Output::Null => Ok((Stdio::null(), twice.then(Stdio::null), None)),
        Output::Inherit => {
            let again = if twice {
                Some(Stdio::from(io::stdout().as_fd().try_clone_to_owned()?))
            } else {
                None
            };
            Ok((Stdio::inherit(), again, None))
        }
    }
}

fn new_mark() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |t| t.as_nanos());
    format!("{}-{nanos}-{count}", std::process::id())
}

pub(crate) fn io_error(command: &Command, action: &'static str, source: io::Error) -> SpawnError {
    let program = command.program.to_string_lossy().into_owned();
    SpawnError::Io {
        program,
        action,
        source,
    }
}

/// Says what is really missing: the kernel answers "no such file" for a program, for its
/// interpreter and for the working directory alike.
pub(crate) fn spawn_error(command: &Command, source: io::Error) -> SpawnError {
    let program = command.program.to_string_lossy().into_owned();
    if let Some(dir) = &command.cwd
        && let Err(source) = std::fs::read_dir(dir)
    {
        return SpawnError::WorkingDirectory {
            program,
            dir: dir.clone(),
            source,
        };
    }
    match source.kind() {
        io::ErrorKind::NotFound if std::path::Path::new(&command.program).is_file() => {
            let source = io::Error::new(source.kind(), "its interpreter is missing");
            SpawnError::NotExecutable { program, source }
        }
        io::ErrorKind::NotFound => SpawnError::NotFound { program },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ExecutableFileBusy => {
            SpawnError::NotExecutable { program, source }
        }
        _ if source.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            SpawnError::NotExecutable { program, source }
        }
        _ => SpawnError::Io {
            program,
            action: "start the process",
            source,
        },
    }
}
