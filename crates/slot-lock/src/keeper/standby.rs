//! A keeper that holds nothing yet.
//!
//! To split a process off takes longer than all the rest between the end of one command and the
//! start of the next, so whoever is next in line does it while waiting. The locked file is handed
//! over through a socket: from the moment it was sent it is held by the keeper as well, even if the
//! keeper has not run since, for what travels in a socket is open.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, recvmsg, sendmsg, shutdown,
};
use rustix::process::Pid;

use super::{Keeper, Process, life};

/// A keeper is ready in a fraction of this, or the machine is busy and it does not matter.
const READY_LIMIT: Duration = Duration::from_secs(1);

/// A keeper to be; ended when it is not needed.
#[derive(Debug)]
pub(crate) struct Standby {
    /// None once it holds something.
    pid: Option<Pid>,
    line: OwnedFd,
}

impl Standby {
    /// Splits one off.
    pub(crate) fn start() -> io::Result<Self> {
        let (ours, its) = UnixStream::pair()?;
        let nothing = File::open("/dev/null")?;
        let pid = baton_process::split(nothing.into(), its.into(), life::keep_when_needed)?;
        Ok(Self {
            pid: Some(pid),
            line: ours.into(),
        })
    }

    /// Waits until it closed its copies of our descriptors: it would hold our locks on.
    pub(crate) fn until_ready(&self) {
        let mut fds = [PollFd::new(&self.line, PollFlags::IN)];
        let limit = Timespec::try_from(READY_LIMIT).ok();
        while let Err(Errno::INTR) = poll(&mut fds, limit.as_ref()) {}
    }

    /// Makes it hold a locked file, for the acquisition of this token.
    pub(crate) fn hold(mut self, locked: &File, token: &str) -> io::Result<Keeper> {
        let line = format!("{token}\n");
        let descriptors = [locked.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut attached = SendAncillaryBuffer::new(&mut space);
        attached.push(SendAncillaryMessage::ScmRights(&descriptors));
        let text = [IoSlice::new(line.as_bytes())];
        // A line this short goes whole or not at all.
        while let Err(e) = sendmsg(&self.line, &text, &mut attached, SendFlags::NOSIGNAL) {
            if e != Errno::INTR {
                return Err(e.into());
            }
        }
        let line = File::from(self.line.try_clone()?);
        let pid = self.pid.take();
        let process = pid.map(Process::Split);
        let process = process.ok_or_else(|| io::Error::other("the keeper is gone"))?;
        Ok(Keeper { process, line })
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        if let Some(pid) = self.pid.take() {
            Process::Split(pid).dismiss();
        }
    }
}

/// On the keeper's side, tells that our copies of slot-lock's descriptors are closed.
pub(super) fn tell_ready() {
    let _ = shutdown(rustix::stdio::stdout(), Shutdown::Write);
}

/// On the keeper's side, sleeps until slot-lock is gone or has no more to say. What it said stays in
/// the socket meanwhile: most keepers are dismissed without having woken at all.
pub(super) fn sleep_while_brief() {
    // No events are asked for: only the end of the other side wakes us.
    let mut fds = [PollFd::from_borrowed_fd(
        rustix::stdio::stdout(),
        PollFlags::empty(),
    )];
    while let Err(Errno::INTR) = poll(&mut fds, None) {}
}

/// On the keeper's side, makes the file that was handed over our standard input. What came with it;
/// none when we were never given any.
pub(super) fn receive() -> Option<Vec<u8>> {
    let mut text = [0; 256];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut pieces = [IoSliceMut::new(&mut text)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        match recvmsg(rustix::stdio::stdout(), &mut pieces, &mut attached, flags) {
            Err(Errno::INTR) => {}
            Err(_) => return None,
            Ok(received) => break received.bytes,
        }
    };
    let mut files = attached.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let file = files.next()?.next()?;
    rustix::stdio::dup2_stdin(&file).ok()?;
    Some(text.get(..received)?.to_vec())
}
