//! The keeper: a second process that shares the lock, so that killing slot-lock frees nothing.
//!
//! It is started before the command, has the locked slot file as its standard input and learns by a
//! pipe what to wait for: the command's end, or (for `slot-lock acquire`) the end of a lease. What
//! the command leaves behind (a daemon) is not waited for.
//!
//! For a command it is split off as a mere copy of slot-lock, which costs little, and becomes a
//! program of its own only when the command turns out to take longer. Whoever is the next to get a
//! slot splits it off while waiting and hands it the locked file when the slot is won.

mod lease;
mod life;
mod orders;
mod standby;

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

pub(crate) use lease::{Lease, lease_path};
pub(crate) use life::{BRIEF, Pipe, main, open, search, sleep_while_brief};
pub(crate) use orders::{Limit, Orders};
pub(crate) use standby::Standby;

use crate::identity::Identity;

/// The hidden first argument that makes slot-lock a keeper.
pub(crate) const ARGUMENT: &str = "__keeper";

/// The second argument of a keeper that starts the real one and ends.
pub(crate) const ORPHAN: &str = "orphan";

/// The second argument of a keeper that was split off and watches a command: its descriptor 1 is
/// that process.
const WATCH: &str = "watch";

/// The second argument of a keeper that leaves our session, which only works outside a group of
/// its own.
pub(crate) const DETACHED: &str = "detached";

/// The keeper as slot-lock sees it.
#[derive(Debug)]
pub(crate) struct Keeper {
    process: Process,
    /// The end of a pipe or a socket; it is told what to do through it.
    line: File,
}

/// A keeper's process.
#[derive(Debug)]
pub(crate) enum Process {
    /// A copy of us.
    Split(Pid),
    /// A program that was started.
    Started(Child),
}

impl Process {
    /// Ends it.
    pub(crate) fn dismiss(self) {
        match self {
            Self::Split(pid) => {
                // It is not reaped yet, so the number is still its own.
                let _ = kill_process(pid, Signal::KILL);
                while let Err(rustix::io::Errno::INTR) = waitpid(Some(pid), WaitOptions::empty()) {}
            }
            Self::Started(mut process) => {
                let _ = process.kill();
                let _ = process.wait();
            }
        }
    }
}

/// This very program as a keeper.
pub(crate) fn keeper_command() -> Command {
    // This very program, also when its file was replaced meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("slot-lock")
        .arg(ARGUMENT)
        .env_clear()
        .stderr(Stdio::null());
    command
}

/// Writes one line in one piece.
fn tell(mut to: &File, line: impl fmt::Display) -> io::Result<()> {
    to.write_all(format!("{line}\n").as_bytes())
}

impl Keeper {
    /// Splits off a keeper that shares this locked file.
    pub(crate) fn start(locked: &File, token: &str) -> io::Result<Self> {
        Standby::start()?.hold(locked, token)
    }

    /// Starts a keeper that outlives us; it makes itself a session of its own.
    pub(crate) fn start_detached(locked: File, token: &str) -> io::Result<Self> {
        Self::start_with(&[DETACHED], locked, token)
    }

    /// Starts a keeper that is nobody's child: for a process that becomes another program, which
    /// must not meet a child it did not start.
    pub(crate) fn start_orphan(locked: File, token: &str) -> io::Result<Self> {
        let mut keeper = Self::start_with(&[ORPHAN], locked, token)?;
        if let Process::Started(process) = &mut keeper.process {
            process.wait()?;
        }
        Ok(keeper)
    }

    fn start_with(arguments: &[&str], locked: File, token: &str) -> io::Result<Self> {
        let (receive, send) = io::pipe()?;
        let line = File::from(OwnedFd::from(send));
        tell(&line, token)?;
        let mut command = keeper_command();
        command.args(arguments).stdin(locked).stdout(receive);
        if arguments == [DETACHED] {
            command.current_dir("/");
        } else {
            // Ctrl-C is meant for the command, not for the keeper.
            command.process_group(0);
        }
        let process = Process::Started(command.spawn()?);
        Ok(Self { process, line })
    }

    /// Tells it what to wait for.
    pub(crate) fn order(&self, orders: &Orders) -> io::Result<()> {
        tell(&self.line, orders)
    }

    /// There is nothing more to tell, and it is worth its while to act on what it was told.
    pub(crate) fn settle(&self) {
        // To one that was started as a program a pipe leads, which it reads at once.
        let _ = rustix::net::shutdown(&self.line, rustix::net::Shutdown::Write);
    }

    /// Who it is.
    pub(crate) fn identity(&self) -> Option<Identity> {
        Identity::of_pid(match &self.process {
            Process::Split(pid) => u32::try_from(pid.as_raw_nonzero().get()).ok()?,
            Process::Started(process) => process.id(),
        })
    }

    /// Ends it; the lock was given back already.
    pub(crate) fn dismiss(self) {
        self.process.dismiss();
    }
}
