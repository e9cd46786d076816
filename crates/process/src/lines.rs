//! Reading a child's output line by line, without ever waiting for ever.

use std::io::{self, PipeReader};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};

use crate::Cancel;
use crate::waiting::{self, Waker};

/// A longer line is handed out in pieces: memory stays bounded.
const LONGEST: usize = 1 << 20;

/// The lines of a pipe.
#[derive(Debug)]
pub struct Lines {
    pipe: Option<PipeReader>,
    split: Splitter,
}

/// What came next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLine {
    /// A line, without its end. The last one may have had none.
    Line(Vec<u8>),
    /// Nothing more comes.
    End,
    /// The deadline came first.
    TimedOut,
    /// The run was cancelled.
    Cancelled,
}

impl Lines {
    pub(crate) fn new(pipe: PipeReader) -> Self {
        Self {
            pipe: Some(pipe),
            split: Splitter::default(),
        }
    }

    /// The next line, until a deadline (if any) or a cancellation.
    pub fn next_line(
        &mut self,
        deadline: Option<Instant>,
        cancel: &Cancel,
    ) -> io::Result<NextLine> {
        let waker = Waker::new(cancel)?;
        loop {
            if let Some(line) = self.split.next() {
                return Ok(NextLine::Line(line));
            }
            let Some(pipe) = &self.pipe else {
                return Ok(self.split.rest().map_or(NextLine::End, NextLine::Line));
            };
            if cancel.is_cancelled() {
                return Ok(NextLine::Cancelled);
            }
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            let mut fds = [
                PollFd::new(pipe, PollFlags::IN),
                PollFd::from_borrowed_fd(waker.as_fd(), PollFlags::IN),
            ];
            waiting::poll(&mut fds, left)?;
            if fds[0].revents().is_empty() {
                if left.is_some_and(|left| left.is_zero()) {
                    return Ok(NextLine::TimedOut);
                }
                continue;
            }
            let mut buffer = [0_u8; 16 << 10];
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.split.push(&buffer[..count]),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Cuts bytes into lines.
#[derive(Debug, Default)]
struct Splitter {
    bytes: Vec<u8>,
    /// Up to here there is no line end.
    searched: usize,
}

impl Splitter {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        if let Some(end) = self.bytes[self.searched..].iter().position(|b| *b == b'\n') {
            let end = self.searched + end;
            let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            self.searched = 0;
            return Some(line);
        }
        self.searched = self.bytes.len();
        if self.bytes.len() >= LONGEST {
            self.searched = 0;
            return Some(std::mem::take(&mut self.bytes));
        }
        None
    }

    fn rest(&mut self) -> Option<Vec<u8>> {
        self.searched = 0;
        (!self.bytes.is_empty()).then(|| std::mem::take(&mut self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            text in "[ab\n]{0,60}", cuts in prop::collection::vec(0_usize..61, 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut split = Splitter::default();
            let mut lines = Vec::new();
            for pair in cuts.windows(2) {
                split.push(&text.as_bytes()[pair[0]..pair[1]]);
                lines.extend(std::iter::from_fn(|| split.next()));
            }
            lines.extend(split.rest());
            let want: Vec<Vec<u8>> = text.lines().map(|l| l.as_bytes().to_vec()).collect();
            prop_assert_eq!(lines, want);
        }
    }

    #[test]
    fn an_endless_line_comes_in_pieces() {
        let mut split = Splitter::default();
        split.push(&vec![b'x'; LONGEST]);
        assert_eq!(split.next().map(|l| l.len()), Some(LONGEST));
    }
}
