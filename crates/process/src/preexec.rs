//! The one place with code between fork and exec.
//!
//! Only what std cannot do from outside happens here: a session of its own, and the kernel's
//! promise to end the child when we die. (What needs more, such as the sandbox, is done by a
//! single-threaded launcher *after* exec.)

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::sync::Arc;

use rustix::process::{Pid, Signal};

/// What the child does to itself before it becomes the program.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeforeExec {
    /// Start a new session.
    pub(crate) session: bool,
    /// The signal that the kernel sends to the child when the spawning thread ends.
    pub(crate) death_signal: Option<Signal>,
    /// Descriptors that the program inherits under their own numbers.
    pub(crate) inherit: Vec<Arc<OwnedFd>>,
}

impl BeforeExec {
    pub(crate) fn install(self, command: &mut std::process::Command) {
        if !self.session && self.death_signal.is_none() && self.inherit.is_empty() {
            return;
        }
        let parent = rustix::process::getpid();
        install(command, move || self.apply(parent));
    }

    /// Only system calls: no allocation, no lock, no panic.
    fn apply(&self, parent: Pid) -> io::Result<()> {
        if self.session {
            rustix::process::setsid()?;
        }
        #[cfg(target_os = "linux")]
        if let Some(signal) = self.death_signal {
            rustix::process::set_parent_process_death_signal(Some(signal))?;
            // We may have died before the line above took effect. A parent outside our PID
            // namespace shows as none, which is why only another *visible* parent counts.
            if rustix::process::getppid().is_some_and(|now| now != parent) {
                return Err(io::Error::from_raw_os_error(
                    rustix::io::Errno::SRCH.raw_os_error(),
                ));
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = parent;
        for fd in &self.inherit {
            rustix::io::fcntl_setfd(fd.as_ref(), rustix::io::FdFlags::empty())?;
        }
        Ok(())
    }
}

#[expect(
    unsafe_code,
    reason = "std offers no safe way to call setsid or prctl in the child"
)]
fn install(
    command: &mut std::process::Command,
    hook: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the hook runs in the forked child of a possibly multi-threaded process, where only
    // async-signal-safe calls are allowed. `BeforeExec::apply` is the only hook there is: it makes
    // the system calls setsid, prctl, getppid and fcntl, reads memory that was allocated before
    // the fork, and allocates, locks and frees nothing (its errors hold plain numbers).
    unsafe {
        command.pre_exec(hook);
    }
}
