//! The keeper: a second process that shares the lock, so that killing slot-lock frees nothing.
//!
//! It is started before the command, has the locked slot file as its standard input and learns the
//! command's process by a pipe. It ends when the command has ended. What the command leaves behind
//! (a daemon) is not waited for.
//!
//! One instant needs care: slot-lock is killed after the command started and before its number was
//! sent. Between fork and exec the command's process has a copy of the pipe's sending end, which only
//! the exec closes. So when the keeper reads the end of the pipe, the command either never started
//! or runs with its own environment, and is found by the token in it.

use std::fs::{self, File};
use std::io::{self, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::environment::TOKEN;

/// The hidden first argument that makes slot-lock a keeper.
pub(crate) const ARGUMENT: &str = "__keeper";

/// How long a command that was started in the very moment slot-lock died is looked for. Its
/// environment becomes readable microseconds after the pipe was closed.
const SEARCHES: u32 = 20;
const SEARCH_PAUSE: Duration = Duration::from_millis(10);

/// The keeper as slot-lock sees it.
#[derive(Debug)]
pub(crate) struct Keeper {
    process: Child,
    pipe: PipeWriter,
}

impl Keeper {
    /// Starts a keeper that shares this locked file.
    pub(crate) fn start(locked: File, token: &str) -> io::Result<Self> {
        let (receive, mut pipe) = io::pipe()?;
        writeln!(pipe, "{token}")?;
        // This very program, also when its file was replaced meanwhile.
        let process = Command::new("/proc/self/exe")
            .arg0("slot-lock")
            .arg(ARGUMENT)
            .env_clear()
            .stdin(locked)
            .stdout(receive)
            .stderr(Stdio::null())
            // Ctrl-C is meant for the command, not for the keeper.
            .process_group(0)
            .spawn()?;
        Ok(Self { process, pipe })
    }

    /// Tells it the command's process.
    pub(crate) fn watch(&mut self, pid: u32) -> io::Result<()> {
        writeln!(self.pipe, "{pid}")
    }

    /// Ends it; the lock was given back already.
    pub(crate) fn dismiss(mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The keeper's whole life.
pub(crate) fn main() -> ExitCode {
    // Descriptor 0 is the locked file, 1 the pipe; neither is used as what it usually is.
    let mut text = Vec::new();
    let mut piece = [0; 256];
    let mut ended = false;
    while text.split(|b| *b == b'\n').count() < 3 && !ended {
        match rustix::io::read(rustix::stdio::stdout(), &mut piece) {
            Ok(0) => ended = true,
            Ok(n) => text.extend_from_slice(&piece[..n]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => ended = true,
        }
    }
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines();
    let token = lines.next().unwrap_or_default();
    let pid = match lines.next().and_then(|pid| pid.parse().ok()) {
        Some(pid) => Some(pid),
        None => search(token),
    };
    if let Some(pid) = pid {
        wait_for_end(pid);
    }
    ExitCode::SUCCESS
}

fn wait_for_end(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else {
        return;
    };
    // It has ended already when it cannot be opened.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    let mut fds = [PollFd::new(&process, PollFlags::IN)];
    while let Err(rustix::io::Errno::INTR) = poll(&mut fds, None) {}
}

/// Finds the command by the token in its environment: the oldest process that has it.
fn search(token: &str) -> Option<i32> {
    if token.is_empty() {
        return None;
    }
    let wanted = format!("{TOKEN}={token}");
    for _ in 0..SEARCHES {
        if let Some(pid) = oldest_with(wanted.as_bytes()) {
            return Some(pid);
        }
        std::thread::sleep(SEARCH_PAUSE);
    }
    None
}

fn oldest_with(wanted: &[u8]) -> Option<i32> {
    let mut found: Vec<(u64, i32)> = fs::read_dir("/proc")
        .ok()?
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            let has_it = environment.split(|b| *b == 0).any(|v| v == wanted);
            let identity = crate::identity::Identity::of_pid(u32::try_from(pid).ok()?)?;
            has_it.then_some((identity.start, pid))
        })
        .collect();
    found.sort_unstable();
    found.first().map(|(_, pid)| *pid)
}
