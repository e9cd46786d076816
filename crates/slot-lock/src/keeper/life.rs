//! The keeper's whole life.
//!
//! One instant needs care: slot-lock is killed after the command started and before its number was
//! sent. Between fork and exec the command's process has a copy of the pipe's sending end, which only
//! the exec closes. So when the keeper reads the end of the pipe, the command either never started
//! or runs with its own environment, and is found by the token in it.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open, setsid};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::{Lease, Limit, ORPHAN, Orders, WATCH, keeper_command, lease_path, standby};
use crate::clock::boot_ms;
use crate::ending::{self, GRACE};
use crate::environment::TOKEN;
use crate::identity::Identity;

/// How long a command that was started in the very moment slot-lock died is looked for. Its
/// environment becomes readable microseconds after the pipe was closed.
const SEARCHES: u32 = 20;
const SEARCH_PAUSE: Duration = Duration::from_millis(10);

/// A keeper that was split off becomes a program of its own when the command runs for longer: from
/// then on it is small, and whoever ends processes by slot-lock's command line does not meet it.
pub(crate) const BRIEF: Duration = Duration::from_millis(50);

/// The main function of a keeper that is a program of its own.
pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(2).collect();
    match words.first().map(String::as_str) {
        Some(ORPHAN) => {
            // The descriptors go on to the real keeper, which nobody waits for.
            let mut command = keeper_command();
            let started = command.args(&words[1..]).process_group(0).spawn();
            return ExitCode::from(u8::from(started.is_err()));
        }
        Some(WATCH) => {
            let pid = words.get(1).and_then(|word| word.parse().ok());
            let limit = words.get(2).and_then(|word| Orders::parse(word));
            let limit = limit.and_then(|orders| match orders {
                Orders::Limit(limit) => Some(limit),
                _ => None,
            });
            if let (Some(pid), Ok(process)) = (pid, rustix::io::dup(rustix::stdio::stdout())) {
                watch(pid, &process, limit);
            }
        }
        Some(crate::etcd::KEEPER) => return crate::etcd::keep(),
        _ => keep(Pipe::default()),
    }
    ExitCode::SUCCESS
}

/// Like [`keep`], for a keeper that was split off before there was anything to keep, and only when
/// the command turns out to take longer, or slot-lock is gone.
pub(super) fn keep_when_needed() -> u8 {
    standby::tell_ready();
    standby::sleep_while_brief();
    if let Some(read) = standby::receive() {
        keep(Pipe { read });
    }
    0
}

/// Sleeps on while slot-lock is there and the command is brief: most keepers of such commands are
/// dismissed without having woken at all. Their orders stay in the pipe.
pub(crate) fn sleep_while_brief() {
    let stdout = rustix::stdio::stdout();
    // No events asked for: only the end of slot-lock wakes us before the time is over.
    let mut fds = [PollFd::from_borrowed_fd(stdout, PollFlags::empty())];
    let limit = Timespec::try_from(BRIEF).ok();
    while let Err(rustix::io::Errno::INTR) = poll(&mut fds, limit.as_ref()) {}
}

/// Keeps what its standard input holds until its orders are fulfilled. Descriptor 0 is the locked
/// file, 1 the pipe; neither is used as what it usually is.
fn keep(mut pipe: Pipe) {
    let token = pipe.line().unwrap_or_default();
    let mut limit = None;
    loop {
        match pipe.line().as_deref().map(Orders::parse) {
            Some(Some(Orders::Limit(told))) => limit = Some(told),
            Some(Some(Orders::Watch { pid })) => {
                watch_by_pid(pid, limit);
                break;
            }
            Some(Some(Orders::Lease { expires_ms, holder })) => {
                lease(&token, expires_ms, holder);
                break;
            }
            // slot-lock was killed before it could tell.
            Some(None) | None => {
                if let Some(pid) = search(&token) {
                    watch_by_pid(pid, limit);
                }
                break;
            }
        }
    }
}

fn watch_by_pid(pid: i32, limit: Option<Limit>) {
    let Some(process) = open(pid) else { return };
    // This returns only when it fails; then we go on as we are.
    let _ = become_program(pid, &process, limit);
    watch(pid, &process, limit);
}

fn become_program(pid: i32, process: &OwnedFd, limit: Option<Limit>) -> std::io::Error {
    let process = match process.try_clone() {
        Ok(process) => process,
        Err(e) => return e,
    };
    let mut command = keeper_command();
    command.args([WATCH, &pid.to_string()]).stdout(process);
    command.args(limit.map(|limit| Orders::Limit(limit).to_string()));
    command.exec()
}

/// What comes through descriptor 1.
#[derive(Default)]
pub(crate) struct Pipe {
    read: Vec<u8>,
}

impl Pipe {
    /// Whether a whole line was read already.
    pub(crate) fn has_line(&self) -> bool {
        self.read.contains(&b'\n')
    }

    /// The next whole line; none when the pipe was closed before one came.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut piece = [0; 256];
        loop {
            if let Some(end) = self.read.iter().position(|b| *b == b'\n') {
                let line = self.read.drain(..=end).collect::<Vec<u8>>();
                return Some(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            match rustix::io::read(rustix::stdio::stdout(), &mut piece) {
                Ok(n @ 1..) => self.read.extend_from_slice(&piece[..n]),
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => return None,
            }
        }
    }
}

/// A process to wait for; none when it has ended.
pub(crate) fn open(pid: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// Waits for the command. Should it outlive its limit, which slot-lock itself would not let it, the
/// command is ended from here.
fn watch(pid: i32, process: &OwnedFd, limit: Option<Limit>) {
    let grace = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
    let mut stages = limit.into_iter().flat_map(|limit| {
        // slot-lock goes first, so that the two do not signal at once.
        let term = limit.deadline_ms.saturating_add(1_000);
        [(term, false), (term.saturating_add(grace), true)].map(|(at, kill)| (at, kill, limit))
    });
    let mut stage = stages.next();
    loop {
        let timer = stage.and_then(|(at_ms, ..)| timer(at_ms));
        if sleep(&[Some(process), timer.as_ref()]) == Some(0) {
            return;
        }
        if let Some((at_ms, kill, limit)) = stage
            && boot_ms() >= at_ms
        {
            ending::send(pid, limit.has_group, kill);
            stage = stages.next();
        }
    }
}

/// Waits until the lease ends: by time (renewals are read from its file) or with its holder.
fn lease(token: &str, mut expires_ms: u64, holder: Option<i32>) {
    // Nobody's terminal.
    let _ = setsid();
    let process = match holder {
        Some(pid) => match open(pid) {
            Some(process) => Some(process),
            None => return,
        },
        None => None,
    };
    let path = fs::read_link("/proc/self/fd/0").ok();
    let path = path.as_deref().and_then(lease_path);
    loop {
        let now = boot_ms();
        if now >= expires_ms {
            match path.as_deref().and_then(|path| Lease::read(path, token)) {
                Some(renewed) if renewed > now => expires_ms = renewed,
                _ => return,
            }
        }
        let Some(timer) = timer(expires_ms) else {
            return;
        };
        if sleep(&[process.as_ref(), Some(&timer)]) == Some(0) {
            return;
        }
    }
}

/// A timer on the clock that counts through suspend.
fn timer(at_ms: u64) -> Option<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC).ok()?;
    let at = Timespec {
        tv_sec: i64::try_from(at_ms / 1000).ok()?,
        // Zero would disarm it.
        tv_nsec: i64::try_from(at_ms % 1000).ok()? * 1_000_000 + 1,
    };
    let value = Itimerspec {
        it_interval: Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
        it_value: at,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &value).ok()?;
    Some(timer)
}

/// Sleeps until one of these is readable; its index, the first before others.
fn sleep(descriptors: &[Option<&OwnedFd>]) -> Option<usize> {
    let present = descriptors.iter().enumerate();
    let present: Vec<(usize, &OwnedFd)> = present.filter_map(|(i, fd)| Some((i, (*fd)?))).collect();
    let mut fds: Vec<PollFd<'_>> = present
        .iter()
        .map(|(_, fd)| PollFd::new(*fd, PollFlags::IN))
        .collect();
    while let Err(rustix::io::Errno::INTR) = poll(&mut fds, None) {}
    let ready = fds.iter().position(|fd| !fd.revents().is_empty())?;
    Some(present[ready].0)
}

/// Finds the command by the token in its environment: the oldest process that has it.
pub(crate) fn search(token: &str) -> Option<i32> {
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
            let identity = Identity::of_pid(u32::try_from(pid).ok()?)?;
            has_it.then_some((identity.start, pid))
        })
        .collect();
    found.sort_unstable();
    found.first().map(|(_, pid)| *pid)
}
