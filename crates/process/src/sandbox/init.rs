//! The init of the sandbox's PID namespace: starts the command, reaps whatever is orphaned,
//! reports how the command ended. When it ends, the kernel kills everything left in the namespace.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{DumpableBehavior, WaitOptions};

use super::coverage::Facts;
use super::launcher::{self, FAILED, Reporter};
use super::mounts;
use super::policy::Orders;
use super::report::{write_exit, write_leftover};
use crate::{ExitStatus, Leftover, procfs, waiting};

/// The work of the init. `alive` ends when the outer launcher does, which holds its other end.
pub(crate) fn main(orders: &Orders, reporter: &Reporter, facts: Facts, alive: &OwnedFd) -> u8 {
    // The kernel kills us when the outer launcher dies, but only if it dies after that was asked
    // for. If it was dead before, nobody holds the other end of this pipe any more.
    let mut fds = [PollFd::new(alive, PollFlags::IN)];
    let polled = waiting::poll(&mut fds, Some(Duration::ZERO));
    if polled.is_err() || !fds[0].revents().is_empty() {
        return FAILED;
    }
    if let Err(error) = rustix::process::setsid() {
        return reporter.failed("start a session in the sandbox", &error);
    }
    // Where the host masks parts of its /proc a fresh one is refused; the old one then shows
    // foreign processes, but Landlock and the namespace keep them out of reach.
    let _ = facts.mounts.then(mounts::mount_proc);
    if launcher::close_border(orders, reporter, facts).is_err() {
        return FAILED;
    }
    let Some(mut command) = launcher::command(orders) else {
        return 0;
    };
    // The command must not trace us or take our descriptors.
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    match command.spawn() {
        Ok(child) => wait_for(child.id(), reporter),
        Err(error) => {
            reporter.say(&format!(
                "exec {}",
                error.raw_os_error().unwrap_or_default()
            ));
            FAILED
        }
    }
}

/// Reaps until the command itself has ended.
fn wait_for(command: u32, reporter: &Reporter) -> u8 {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == command => {
                let exit = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => ExitStatus::Code(code),
                    (None, Some(signal)) => ExitStatus::Signal(signal),
                    (None, None) => continue,
                };
                report_leftovers(reporter);
                reporter.say(&write_exit(exit));
                return u8::try_from(exit.shell_code()).unwrap_or(FAILED);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return reporter.failed("wait in the sandbox", &error),
        }
    }
}

/// Names, at most, a screenful of what is about to be killed.
fn report_leftovers(reporter: &Reporter) {
    let own = i32::try_from(std::process::id()).unwrap_or(1);
    let left = procfs::pids().into_iter().filter(|pid| {
        *pid != own && procfs::stat(*pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
    });
    for pid in left.take(20) {
        let leftover = Leftover {
            pid: pid.unsigned_abs(),
            command: procfs::command_line(pid),
        };
        reporter.say(&write_leftover(&leftover));
    }
}
