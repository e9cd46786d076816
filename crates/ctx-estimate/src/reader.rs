//! Counting one stream in constant memory.

use std::io::{self, Read};

use baton_tokens::{Count, Meter, Tally, safe_cut};

/// How much is read at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// A NUL among the first bytes means binary, as git has it.
const BINARY_PROBE: usize = 8000;

/// What a stream holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// Text, possibly with broken places.
    Text(Text),
    /// No text: not counted.
    Binary,
    /// Text of two bytes a character, as some Windows programs write it: not counted.
    Utf16,
}

/// A counted text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// One count a meter.
    pub(crate) counts: Vec<Count>,
    /// Bytes that are no UTF-8, and where the first of them is.
    pub(crate) broken: Option<Broken>,
}

/// Where a text is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The offset of the first such byte.
    pub(crate) first_at: u64,
    /// How many there are.
    pub(crate) bytes: u64,
}

/// Counts streams, one after the other, in the same memory.
#[derive(Debug)]
pub(crate) struct Reader<'m> {
    tallies: Vec<Tally<'m>>,
    buffer: Vec<u8>,
}

impl<'m> Reader<'m> {
    /// Counts with these meters.
    pub(crate) fn new(meters: &'m [Meter]) -> Self {
        Self {
            tallies: meters.iter().map(Meter::tally).collect(),
            buffer: vec![0; CHUNK],
        }
    }

    /// Reads and counts a stream, once for all meters.
    pub(crate) fn measure(&mut self, mut source: impl Read) -> io::Result<Content> {
        let mut counting = Counting {
            tallies: &mut self.tallies,
            at: 0,
            broken: None,
        };
        let buffer = &mut self.buffer;
        let mut kept = 0;
        loop {
            let filled = kept + fill(&mut source, &mut buffer[kept..])?;
            let is_start = counting.at == 0 && kept == 0;
            if is_start && is_utf16(&buffer[..filled]) {
                return Ok(Content::Utf16);
            }
            if is_start && buffer[..filled.min(BINARY_PROBE)].contains(&0) {
                return Ok(Content::Binary);
            }
            let is_end = filled < buffer.len();
            let end = if is_end { filled } else { cut(buffer) };
            counting.feed(&buffer[..end]);
            buffer.copy_within(end..filled, 0);
            kept = filled - end;
            if is_end {
                return Ok(Content::Text(Text {
                    bytes: counting.at,
                    counts: counting.tallies.iter_mut().map(Tally::take).collect(),
                    broken: counting.broken,
                }));
            }
        }
    }
}

/// Reads until the buffer is full or the source has ended; says how much it got.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// UTF-16 begins with its byte-order mark, in either order (U+FEFF is two bytes that are no UTF-8).
fn is_utf16(start: &[u8]) -> bool {
    start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF])
}

struct Counting<'a, 'm> {
    tallies: &'a mut [Tally<'m>],
    at: u64,
    broken: Option<Broken>,
}

impl Counting<'_, '_> {
    fn feed(&mut self, bytes: &[u8]) {
        // Checking a whole text at once is faster than looking for its broken places.
        match std::str::from_utf8(bytes) {
            Ok(text) => self.feed_text(text),
            Err(_) => bytes.utf8_chunks().for_each(|chunk| {
                self.feed_text(chunk.valid());
                self.feed_broken(chunk.invalid().len());
            }),
        }
    }

    fn feed_text(&mut self, text: &str) {
        for tally in &mut *self.tallies {
            tally.push(text);
        }
        self.at += text.len() as u64;
    }

    fn feed_broken(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        for tally in &mut *self.tallies {
            tally.push_broken(bytes);
        }
        let first_at = self.at;
        let broken = self.broken.get_or_insert(Broken { first_at, bytes: 0 });
        broken.bytes += bytes as u64;
        self.at += bytes as u64;
    }
}

/// Where to cut a full buffer: where tokens end for certain, else at a line end, else between
/// characters.
fn cut(buffer: &[u8]) -> usize {
    safe_cut(buffer)
        .or_else(|| Some(buffer.iter().rposition(|byte| *byte == b'\n')? + 1))
        .unwrap_or_else(|| {
            // A character takes at most four bytes; what is left of one waits for the next chunk.
            let back = buffer.len().saturating_sub(3);
            let start = (back..buffer.len()).rev().find(|at| buffer[*at] >= 0xC0);
            start.filter(|at| *at > 0).unwrap_or(buffer.len())
        })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use baton_tokens::{Family, Meter};
    use proptest::prelude::*;

    use super::{Broken, Content, Reader, Text};

    fn measure(source: impl Read, meters: &[Meter]) -> Content {
        Reader::new(meters).measure(source).unwrap()
    }

    fn text(source: impl Read, meters: &[Meter]) -> Text {
        match measure(source, meters) {
            Content::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn binary_is_seen_early() {
        let meters = [Meter::of_family(Family::Qwen)];
        assert_eq!(
            measure(std::io::repeat(0), &meters),
            Content::Binary,
            "an endless stream of zeros ends at once"
        );
        assert_eq!(text(&b""[..], &meters).bytes, 0);
    }

    #[test]
    fn utf16_is_told_from_binary() {
        let meters = [Meter::of_family(Family::Qwen)];
        for text in [&b"\xff\xfeh\0i\0"[..], b"\xfe\xff\0h\0i"] {
            let content = measure(text, &meters);
            assert_eq!(content, Content::Utf16);
        }
    }

    #[test]
    fn broken_places_are_found_and_counted() {
        let meters = [Meter::of_family(Family::Unknown)];
        let found = text(&b"caf\xe9 au lait \xff"[..], &meters);
        assert_eq!(found.bytes, 14);
        let broken = Broken {
            first_at: 3,
            bytes: 2,
        };
        assert_eq!(found.broken, Some(broken));
        assert!(found.counts[0].upper_bound >= 14);
    }

    #[test]
    fn a_long_text_counts_like_its_parts_read_at_once() {
        let meters = [Meter::of_family(Family::Qwen)];
        let line = "the quick brown fox – jumps over 13 lazy dogs\n";
        let whole = line.repeat(50_000);
        let found = text(whole.as_bytes(), &meters);
        assert_eq!(found.bytes, whole.len() as u64);
        assert_eq!(found.counts[0], meters[0].count(&whole));
        assert_eq!(found.broken, None);
    }

    #[test]
    fn no_character_is_torn_where_there_is_no_good_cut() {
        let meters = [Meter::of_family(Family::Gemma)];
        let whole = "語".repeat(500_000);
        assert_eq!(text(whole.as_bytes(), &meters).broken, None);
    }

    #[test]
    fn a_reader_forgets_the_stream_before() {
        let meters = [Meter::of_family(Family::Qwen)];
        let mut reader = Reader::new(&meters);
        let mut measure = |text: &str| reader.measure(text.as_bytes()).unwrap();
        let long = "a line of text\n".repeat(100_000);
        let first = measure("short\n");
        assert_ne!(measure(&long), first);
        assert_eq!(measure("short\n"), first);
    }

    proptest! {
        #[test]
        fn any_bytes_are_measured(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let meters = [Meter::of_family(Family::Llama3)];
            match measure(&bytes[..], &meters) {
                Content::Binary => prop_assert!(bytes.contains(&0)),
                Content::Utf16 => prop_assert!(bytes[0] >= 0xFE),
                Content::Text(text) => {
                    prop_assert_eq!(text.bytes, bytes.len() as u64);
                    prop_assert_eq!(text.broken.is_some(), std::str::from_utf8(&bytes).is_err());
                }
            }
        }
    }
}
