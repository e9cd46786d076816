//! Bounded capture: the first and the last bytes, how many there were, their digest.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// How much of an output to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Bytes kept from the beginning.
    pub head: usize,
    /// Bytes kept from the end, after the head.
    pub tail: usize,
    /// A file that gets the whole output (created or emptied).
    pub file: Option<PathBuf>,
    /// At most this many bytes go into that file: an endless `yes` must not fill the disk.
    pub file_limit: u64,
}

impl Default for Capture {
    /// 16 KiB from either end; no file.
    fn default() -> Self {
        Self {
            head: 16 << 10,
            tail: 16 << 10,
            file: None,
            file_limit: 64 << 20,
        }
    }
}

impl Capture {
    /// Everything up to `limit` bytes: for programs whose whole output is the point. What came
    /// after shows in [`Captured::omitted`].
    pub fn all(limit: usize) -> Self {
        Self {
            head: limit,
            tail: 0,
            ..Self::default()
        }
    }

    /// Also write the whole output to this file.
    #[must_use]
    pub fn to_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }
}

/// What was captured of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, not overlapping the head.
    pub tail: Vec<u8>,
    /// How many bytes came in all.
    pub total: u64,
    /// SHA-256 of all of them, in hexadecimal.
    pub sha256: String,
    /// The file that holds the output, if one was asked for.
    pub file: Option<PathBuf>,
    /// Whether that file stops short of the end.
    pub file_truncated: bool,
}

impl Captured {
    /// How many bytes between head and tail were dropped.
    pub fn omitted(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// All bytes, if none was dropped.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        (self.omitted() == 0).then(|| [self.head.as_slice(), &self.tail].concat())
    }

    /// The output as text: bytes that are not UTF-8 become U+FFFD, and a line says what is missing
    /// in the middle.
    pub fn text(&self) -> String {
        if let Some(bytes) = self.bytes() {
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        let head = String::from_utf8_lossy(whole_end(&self.head));
        let tail = String::from_utf8_lossy(whole_start(&self.tail));
        let place = match &self.file {
            Some(file) if !self.file_truncated => format!("; all of it: {}", file.display()),
            Some(file) => format!("; the first part of it: {}", file.display()),
            None => String::new(),
        };
        format!(
            "{head}\n[… {} of {} bytes left out{place} …]\n{tail}",
            self.omitted(),
            self.total
        )
    }
}

/// Drops a character that the cut has broken at the end.
fn whole_end(bytes: &[u8]) -> &[u8] {
    for back in 1..=bytes.len().min(4) {
        let start = bytes.len() - back;
        let byte = bytes[start];
        if byte & 0b1100_0000 != 0b1000_0000 {
            let needs = match byte {
                0xC0..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF7 => 4,
                _ => 1,
            };
            return if needs > back { &bytes[..start] } else { bytes };
        }
    }
    bytes
}

/// Drops the rest of a character that the cut has broken at the start.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let broken = bytes
        .iter()
        .take(3)
        .take_while(|b| **b & 0b1100_0000 == 0b1000_0000)
        .count();
    &bytes[broken..]
}

/// Bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Takes an output piece by piece and keeps its bounds.
pub(crate) struct Keeper {
    limits: Capture,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    digest: Sha256,
    file: Option<File>,
    file_truncated: bool,
}

impl Keeper {
    pub(crate) fn new(limits: Capture) -> io::Result<Self> {
        let file = limits.file.as_ref().map(File::create).transpose()?;
        Ok(Self {
            limits,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            digest: Sha256::new(),
            file,
            file_truncated: false,
        })
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.write_file(bytes);
        self.total += bytes.len() as u64;
        let room = self.limits.head - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.limits.tail)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.limits.tail);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// A full disk costs the rest of the file, not the command's result.
    fn write_file(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = self.limits.file_limit.saturating_sub(self.total);
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let written = !self.file_truncated && file.write_all(&bytes[..fits]).is_ok();
        self.file_truncated |= !written || fits < bytes.len();
    }

    pub(crate) fn finish(self) -> Captured {
        Captured {
            head: self.head,
            tail: self.tail.into(),
            total: self.total,
            sha256: hex(&self.digest.finalize()),
            file: self.limits.file,
            file_truncated: self.file_truncated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keep(head: usize, tail: usize, pieces: &[&[u8]]) -> Captured {
        let mut keeper = Keeper::new(Capture {
            head,
            tail,
            ..Capture::default()
        })
        .unwrap();
        for piece in pieces {
            keeper.push(piece);
        }
        keeper.finish()
    }

    #[test]
    fn a_short_output_is_whole() {
        let kept = keep(4, 4, &[b"abc", b"def"]);
        assert_eq!(kept.text(), "abcdef");
        assert_eq!(kept.omitted(), 0);
    }

    #[test]
    fn b09_a_long_output_keeps_both_ends_and_says_what_is_missing() {
        let kept = keep(3, 3, &[b"aaaaabbbbb", b"ccccc"]);
        assert_eq!(kept.text(), "aaa\n[… 9 of 15 bytes left out …]\nccc");
    }

    #[test]
    fn b11_bytes_that_are_not_utf8_are_shown_safely() {
        assert_eq!(keep(10, 0, &[b"\xf0ok"]).text(), "\u{fffd}ok");
    }

    #[test]
    fn a_cut_does_not_break_a_character() {
        let kept = keep(4, 4, &["aaäöü…üöäbb".as_bytes()]);
        assert!(!kept.text().contains('\u{fffd}'), "{}", kept.text());
    }

    #[test]
    fn the_digest_is_of_all_bytes() {
        let whole = keep(100, 0, &[b"hello"]).sha256;
        assert_eq!(keep(1, 1, &[b"he", b"llo"]).sha256, whole);
        assert_eq!(
            whole,
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        );
    }

    #[test]
    fn b10_the_file_holds_everything_up_to_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let limits = Capture {
            head: 1,
            tail: 1,
            file_limit: 5,
            ..Capture::default()
        };
        let mut keeper = Keeper::new(limits.to_file(&path)).unwrap();
        keeper.push(b"abc");
        keeper.push(b"defg");
        let kept = keeper.finish();
        assert_eq!(std::fs::read(path).unwrap(), b"abcde");
        assert!(kept.file_truncated);
    }

    proptest! {
        #[test]
        fn head_and_tail_are_the_ends_of_the_output(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..10),
            head in 0_usize..30, tail in 0_usize..30,
        ) {
            let refs: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let all = pieces.concat();
            let kept = keep(head, tail, &refs);
            prop_assert_eq!(kept.total, all.len() as u64);
            prop_assert!(all.starts_with(&kept.head) && all.ends_with(&kept.tail));
            prop_assert!(kept.head.len() <= head && kept.tail.len() <= tail);
            if all.len() <= head + tail {
                prop_assert_eq!(kept.bytes(), Some(all));
            } else {
                prop_assert_eq!((kept.head.len(), kept.tail.len()), (head, tail));
            }
            let _ = kept.text();
        }
    }
}
