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
    /// True: a signal came.
    pub(crate) fn sleep(&self, other: Option<BorrowedFd<'_>>, limit: Option<Duration>) -> bool {
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
        let mut signalled = false;
        let mut rung = [0u8; 64];
        while let Ok(n @ 1..) = (&self.receive).read(&mut rung) {
            signalled |= rung[..n].iter().any(|byte| *byte != RING);
        }
        signalled
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
        assert!(!waker.sleep(None, Some(Duration::from_secs(20))));
        assert!(start.elapsed() < Duration::from_secs(10));
        waker.sleep(None, Some(Duration::ZERO));
    }
}
