//! An agent's standard output: all of it into a bounded file, its lines to whoever reads them, its
//! end into memory. However much comes, the pipe never fills and memory stays bounded.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{PipeReader, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sha2::{Digest as _, Sha256};

use super::gateway::News;

/// Bytes kept of the end.
const TAIL: usize = 64 << 10;
/// Bytes that go to the file.
const FILE: u64 = 64 << 20;
/// The longest line that is looked at.
const LINE: usize = 4 << 20;
/// After the agent has ended, the pipe is given up when it is silent for so long.
const DRAIN: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// What came of the output.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) tail: Vec<u8>,
    pub(crate) total: u64,
    pub(crate) sha256: String,
}

/// A reader at work.
#[derive(Debug)]
pub(crate) struct Outlet {
    thread: JoinHandle<Printed>,
    ended: Arc<AtomicBool>,
}

impl Outlet {
    /// Begins to read. Lines are sent only where `lines` is given.
    pub(crate) fn open(
        pipe: PipeReader,
        file: &Path,
        lines: Option<SyncSender<News>>,
    ) -> std::io::Result<Self> {
        let mut file = File::create(file)?;
        let ended = Arc::new(AtomicBool::new(false));
        let watch = Arc::clone(&ended);
        let thread = std::thread::Builder::new()
            .name("outlet".into())
            .spawn(move || read(pipe, &mut file, lines.as_ref(), &watch))?;
        Ok(Self { thread, ended })
    }

    /// The agent has ended: only what is there already is still read.
    pub(crate) fn drain(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// Whether all is read.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// What was printed. Nobody may wait for a line any more.
    pub(crate) fn finish(self) -> Printed {
        self.drain();
        self.thread.join().unwrap_or_default()
    }
}

fn read(
    mut pipe: PipeReader,
    file: &mut File,
    lines: Option<&SyncSender<News>>,
    ended: &AtomicBool,
) -> Printed {
    let mut digest = Sha256::new();
    let mut tail = VecDeque::new();
    let mut total = 0_u64;
    let mut line = Vec::new();
    let mut whole = true;
    let mut buffer = vec![0_u8; 64 << 10];
    loop {
        let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
        let was_over = ended.load(Ordering::SeqCst);
        let ready = poll(&mut fds, Some(&DRAIN)).unwrap_or(0);
        if ready == 0 {
            if was_over {
                break;
            }
            continue;
        }
        let n = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let bytes = &buffer[..n];
        digest.update(bytes);
        if total < FILE {
            let room = usize::try_from(FILE - total).unwrap_or(usize::MAX);
            let _ = file.write_all(&bytes[..n.min(room)]);
        }
        total += n as u64;
        tail.extend(bytes);
        let surplus = tail.len().saturating_sub(TAIL);
        tail.drain(..surplus);
        let Some(lines) = lines else { continue };
        for byte in bytes {
            if *byte != b'\n' {
                whole = line.len() < LINE;
                if whole {
                    line.push(*byte);
                }
                continue;
            }
            let done = std::mem::take(&mut line);
            // A reader that is gone needs no more lines; the pipe is still emptied.
            if whole && !done.is_empty() {
                let _ = lines.send(News::Line(done));
            }
        }
    }
    Printed {
        tail: tail.into(),
        total,
        sha256: baton_process::hex(&digest.finalize()),
    }
}
