//! Our ends of a command's pipes, moved without ever blocking.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use crate::capture::Keeper;
use crate::start::io_error;
use crate::waiting::{self, Waker};
use crate::{Captured, Command, Output, SpawnError};

/// Our ends of the three streams.
pub(crate) struct Streams {
    pub(crate) stdin: Option<Feed>,
    pub(crate) stdout: Intake,
    pub(crate) stderr: Intake,
}

/// Bytes on their way into the command.
pub(crate) struct Feed {
    pipe: PipeWriter,
    bytes: Vec<u8>,
    sent: usize,
}

/// Bytes on their way out.
pub(crate) struct Intake {
    pub(crate) pipe: Option<PipeReader>,
    keeper: Option<Keeper>,
}

impl Feed {
    pub(crate) fn new((pipe, bytes): (PipeWriter, Vec<u8>)) -> Self {
        Self {
            pipe,
            bytes,
            sent: 0,
        }
    }
}

impl Streams {
    pub(crate) fn new(command: &Command) -> Result<Self, SpawnError> {
        let intake = |output: &Output| match output {
            Output::Capture(limits) => Keeper::new(limits.clone()).map(Some),
            Output::Inherit | Output::Null | Output::File(_) => Ok(None),
        };
        let file = |error| io_error(command, "create the file for the whole output", error);
        let stdout = Intake {
            pipe: None,
            keeper: intake(&command.stdout).map_err(file)?,
        };
        let separate = !command.merge_stderr;
        let keeper = if separate {
            intake(&command.stderr).map_err(file)?
        } else {
            None
        };
        Ok(Self {
            stdin: None,
            stdout,
            stderr: Intake { pipe: None, keeper },
        })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Waits for whatever comes first, and moves the bytes that are ready.
    pub(crate) fn wait(
        &mut self,
        pidfd: Option<&OwnedFd>,
        waker: &Waker,
        limit: Option<Duration>,
    ) -> io::Result<()> {
        let [woken, fed, out, err] = {
            let entries: [(Option<BorrowedFd<'_>>, PollFlags); 5] = [
                (Some(waker.as_fd()), PollFlags::IN),
                (
                    self.stdin.as_ref().map(|feed| feed.pipe.as_fd()),
                    PollFlags::OUT,
                ),
                (self.stdout.pipe.as_ref().map(AsFd::as_fd), PollFlags::IN),
                (self.stderr.pipe.as_ref().map(AsFd::as_fd), PollFlags::IN),
                (pidfd.map(AsFd::as_fd), PollFlags::IN),
            ];
            let mut fds: Vec<PollFd<'_>> = entries
                .iter()
                .filter_map(|(fd, flags)| fd.map(|fd| PollFd::from_borrowed_fd(fd, *flags)))
                .collect();
            waiting::poll(&mut fds, limit)?;
            let mut results = fds.iter().map(|fd| !fd.revents().is_empty());
            let mut ready = [false; 4];
            for (slot, (fd, _)) in ready.iter_mut().zip(&entries) {
                *slot = fd.is_some() && results.next() == Some(true);
            }
            ready
        };
        if woken {
            waker.clear();
        }
        if fed {
            self.feed();
        }
        if out {
            self.stdout.read()?;
        }
        if err {
            self.stderr.read()?;
        }
        Ok(())
    }

    /// Writes what the pipe takes. A command that does not read its input is not our problem.
    fn feed(&mut self) {
        let Some(feed) = &mut self.stdin else { return };
        match feed.pipe.write(&feed.bytes[feed.sent..]) {
            Ok(sent) => {
                feed.sent += sent;
                if feed.sent == feed.bytes.len() {
                    self.stdin = None;
                }
            }
            Err(error) if is_not_ready(&error) => {}
            Err(_) => self.stdin = None,
        }
    }

    /// Takes what the killed leftovers had written. Bounded: something that escaped us may go on
    /// writing for ever.
    pub(crate) fn sweep(&mut self) {
        for intake in [&mut self.stdout, &mut self.stderr] {
            for _ in 0..32 {
                let Some(pipe) = &intake.pipe else { break };
                let mut fds = [PollFd::new(pipe, PollFlags::IN)];
                let ready = waiting::poll(&mut fds, Some(Duration::ZERO)).is_ok()
                    && !fds[0].revents().is_empty();
                if !ready || intake.read().is_err() {
                    break;
                }
            }
        }
    }
}

impl Intake {
    fn read(&mut self) -> io::Result<()> {
        let Some(pipe) = &self.pipe else {
            return Ok(());
        };
        let mut buffer = [0_u8; 16 << 10];
        match rustix::io::read(pipe, &mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                if let Some(keeper) = &mut self.keeper {
                    keeper.push(&buffer[..count]);
                }
            }
            Err(error) if is_not_ready(&error.into()) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Captured {
        self.keeper.map(Keeper::finish).unwrap_or_default()
    }
}

fn is_not_ready(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
