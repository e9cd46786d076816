//! Waiting for several things at once: helper threads, signals, a child, time.
//!
//! One socket pair: whoever has something to tell writes a byte, also from a signal handler, and the
//! main thread sleeps in poll(2) on the other end. A signal that comes between a check and the sleep
//! is not lost, for its byte is there.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What a bell writes; signal handlers write another byte.
const RING: u8 = 1;

/// The receiving end, and the seed of sending ends.
#[derive(Debug)]
pub(crate) struct Waker {
    receive: UnixStream,
    send: UnixStream,
}

/// What ended a sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Woken {
    /// A signal came.
    pub(crate) by_signal: bool,
    /// The other descriptor became readable.
    pub(crate) by_other: bool,
}

/// A sending end.
#[derive(Debug)]
pub(crate) struct Bell(UnixStream);

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        let (receive, send) = UnixStream::pair()?;
        receive.set_nonblocking(true)?;
        send.set_nonblocking(true)?;
        Ok(Self { receive, send })
    }

    /// A sending end for a thread.
    pub(crate) fn bell(&self) -> io::Result<Bell> {
        self.send.try_clone().map(Bell)
    }

    /// A sending end for a signal handler.
    pub(crate) fn sender(&self) -> io::Result<UnixStream> {
        self.send.try_clone()
    }

    /// Sleeps until somebody rings, `other` becomes readable, or the time is over (none: no limit).
    pub(crate) fn sleep(&self, other: Option<BorrowedFd<'_>>, limit: Option<Duration>) -> Woken {
        let mut fds = vec![PollFd::from_borrowed_fd(
            self.receive.as_fd(),
            PollFlags::IN,
        )];
        if let Some(fd) = other {
            fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        }
        let limit = limit.and_then(|d| Timespec::try_from(d).ok());
        // An interrupted sleep is as good as one that was rung out of: the caller looks again.
        let _ = poll(&mut fds, limit.as_ref());
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let mut woken = Woken {
            by_signal: false,
            by_other: fds.get(1).is_some_and(is_ready),
        };
        if fds.first().is_some_and(is_ready) {
            let mut rung = [0u8; 64];
            while let Ok(n @ 1..) = (&self.receive).read(&mut rung) {
                woken.by_signal |= rung[..n].iter().any(|byte| *byte != RING);
            }
        }
        woken
    }
}

impl Bell {
    /// Wakes the main thread. A full socket means that it is being woken already.
    pub(crate) fn ring(&self) {
        let _ = (&self.0).write(&[RING]);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Waker;

    #[test]
    fn a_ring_before_the_sleep_is_not_lost() {
        let waker = Waker::new().unwrap();
        waker.bell().unwrap().ring();
        let start = Instant::now();
        assert!(!waker.sleep(None, Some(Duration::from_secs(20))).by_signal);
        assert!(start.elapsed() < Duration::from_secs(10));
        waker.sleep(None, Some(Duration::ZERO));
    }
}
