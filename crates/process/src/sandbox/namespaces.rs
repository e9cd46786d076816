//! Leaving the host's namespaces.

use std::fs;
use std::io;

use rustix::thread::UnshareFlags;

use crate::preexec;

/// Which namespaces are our own now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Entered {
    pub(crate) user: bool,
    pub(crate) pid: bool,
    pub(crate) mount: bool,
    pub(crate) net: bool,
}

/// Enters all that the kernel allows; what it refuses stays false.
///
/// With the right to (root), directly; else through a user namespace, in which we are who we were.
/// A PID namespace takes in the next *child*, not us.
pub(crate) fn enter(network: bool) -> Entered {
    let mut entered = Entered::default();
    if preexec::unshare(UnshareFlags::NEWNS).is_ok() {
        entered.mount = true;
    } else if enter_user_namespace().is_ok() {
        entered.user = true;
        entered.mount = preexec::unshare(UnshareFlags::NEWNS).is_ok();
    } else {
        return entered;
    }
    entered.pid = preexec::unshare(UnshareFlags::NEWPID).is_ok();
    // System V IPC and POSIX queues; nothing is promised about them, so nothing is recorded.
    let _ = preexec::unshare(UnshareFlags::NEWIPC);
    entered.net = network && preexec::unshare(UnshareFlags::NEWNET).is_ok();
    entered
}

fn enter_user_namespace() -> io::Result<()> {
    let uid = rustix::process::getuid().as_raw();
    let gid = rustix::process::getgid().as_raw();
    preexec::unshare(UnshareFlags::NEWUSER)?;
    // Without giving up setgroups an unprivileged process may not map its group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}
