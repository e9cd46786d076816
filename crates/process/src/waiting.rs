//! Waiting for processes and pipes together, wakeable by a cancellation.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, Timespec};
use rustix::process::{Pid, WaitId, WaitIdOptions};

use crate::{Cancel, CancelGuard};

/// Where the kernel has no pidfd we look this often.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// A descriptor that becomes readable when the process ends; `None` where the kernel has none.
pub(crate) fn pidfd(pid: Pid) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
}

/// Whether our child has ended. It is not reaped: its pid and group stay reserved.
pub(crate) fn has_exited(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match rustix::process::waitid(WaitId::Pid(pid), options) {
        Ok(status) => status.is_some(),
        // Interrupted: not known yet. No such child: somebody else reaped it, so it has ended.
        Err(error) => error == rustix::io::Errno::CHILD,
    }
}

/// `poll` with a limit; an interruption counts as a wake-up.
pub(crate) fn poll(fds: &mut [PollFd<'_>], limit: Option<Duration>) -> io::Result<()> {
    let spec = limit.map(|limit| Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    });
    match rustix::event::poll(fds, spec.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Turns a cancellation into a readable descriptor.
pub(crate) struct Waker {
    reader: PipeReader,
    _guard: CancelGuard,
}

impl Waker {
    pub(crate) fn new(cancel: &Cancel) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        let writer: Arc<PipeWriter> = Arc::new(writer);
        let guard = cancel.on_cancel(Box::new(move || {
            // A few bytes in all, so the pipe cannot fill; the reader outlives the guard.
            let _ = writer.as_ref().write(&[1]);
        }));
        Ok(Self {
            reader,
            _guard: guard,
        })
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// Takes the wake-ups that have come, so that the next `poll` waits again.
    pub(crate) fn clear(&self) {
        let mut bytes = [0; 16];
        let _ = rustix::io::read(&self.reader, &mut bytes);
    }
}
