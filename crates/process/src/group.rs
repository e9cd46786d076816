//! Reaching a command and everything it started.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal};

use crate::{Placement, procfs, waiting};

/// A process that a command left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its pid.
    pub pid: u32,
    /// Its command line, as far as it could be read.
    pub command: String,
}

/// A running command as the target of signals.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) pid: Pid,
    pub(crate) placement: Placement,
    /// `NAME=VALUE` in the environment of everything the command started.
    pub(crate) mark: Option<String>,
}

impl Target {
    /// Signals the whole group (or, in our own group, the process alone).
    /// Must not be called once the process has been reaped.
    pub(crate) fn signal(&self, signal: Signal) {
        // The only error that can come is "no such process", which is what we want.
        let _ = match self.placement {
            Placement::Session | Placement::Group => {
                rustix::process::kill_process_group(self.pid, signal)
            }
            Placement::Caller => rustix::process::kill_process(self.pid, signal),
        };
    }

    /// Kills what is left after the process itself was reaped, and waits until it is gone.
    ///
    /// A group that still has members keeps its number reserved, and an empty group's number is
    /// handed out again only after all other pids: the check right after the reaping is sound.
    pub(crate) fn kill_rest(&self) -> Vec<Leftover> {
        let grouped = self.placement != Placement::Caller;
        let group_left = grouped && rustix::process::test_kill_process_group(self.pid).is_ok();
        if !group_left && self.mark.is_none() {
            return Vec::new();
        }
        let mut found = Vec::new();
        // A process may fork while we walk, so walk until nothing is found.
        for _ in 0..20 {
            let round = self.find();
            if round.is_empty() {
                break;
            }
            for (pid, fd) in &round {
                found.push(Leftover {
                    pid: pid.as_raw_nonzero().get().unsigned_abs(),
                    command: procfs::command_line(pid.as_raw_nonzero().get()),
                });
                kill(*pid, fd.as_ref());
            }
            wait_gone(&round, Duration::from_secs(1));
        }
        if group_left && found.is_empty() {
            // No /proc to name them by: the group still gets its KILL.
            let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
        }
        found.dedup();
        found
    }

    fn find(&self) -> Vec<(Pid, Option<OwnedFd>)> {
        let mut found = Vec::new();
        for raw in procfs::pids() {
            let Some(pid) = Pid::from_raw(raw) else {
                continue;
            };
            // The descriptor is opened before the check, so that it is the checked process that
            // gets the signal and not a later one with its number.
            if self.owns(raw) {
                let fd = waiting::pidfd(pid);
                if self.owns(raw) {
                    found.push((pid, fd));
                }
            }
        }
        found
    }

    fn owns(&self, pid: i32) -> bool {
        let Some(stat) = procfs::stat(pid) else {
            return false;
        };
        if matches!(stat.state, 'Z' | 'X') {
            return false;
        }
        let ours = self.pid.as_raw_nonzero().get();
        (self.placement != Placement::Caller && stat.group == ours)
            || (self.placement == Placement::Session && stat.session == ours)
            || self
                .mark
                .as_ref()
                .is_some_and(|m| procfs::has_in_environment(pid, m.as_bytes()))
    }
}

fn kill(pid: Pid, fd: Option<&OwnedFd>) {
    #[cfg(target_os = "linux")]
    if let Some(fd) = fd {
        let _ = rustix::process::pidfd_send_signal(fd, Signal::KILL);
        return;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = fd;
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

/// Waits until all of these have ended (as zombies of somebody else they count as ended).
fn wait_gone(processes: &[(Pid, Option<OwnedFd>)], limit: Duration) {
    let deadline = Instant::now() + limit;
    for (_, fd) in processes {
        let Some(fd) = fd else { continue };
        let mut fds = [PollFd::new(fd, PollFlags::IN)];
        let left = deadline.saturating_duration_since(Instant::now());
        let _ = waiting::poll(&mut fds, Some(left));
    }
}
