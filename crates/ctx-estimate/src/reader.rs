//! Counting one stream in constant memory.

use std::io::{self, Read};

use baton_tokens::{Count, Tally, safe_cut};

/// How much is read at a time, in bytes.
const CHUNK: u64 = 1 << 20;

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

/// Reads and counts a stream, once for all tallies.
pub(crate) fn measure(mut source: impl Read, tallies: &mut [Tally<'_>]) -> io::Result<Content> {
    let mut counting = Counting {
        tallies,
        at: 0,
        broken: None,
    };
    let mut buffer = Vec::new();
    let mut first = true;
    loop {
        let read = source.by_ref().take(CHUNK).read_to_end(&mut buffer)?;
        if first && is_utf16(&buffer) {
            return Ok(Content::Utf16);
        }
        if first && buffer.iter().take(BINARY_PROBE).any(|byte| *byte == 0) {
            return Ok(Content::Binary);
        }
        first = false;
        let end = if read == 0 {
            buffer.len()
        } else {
            cut(&buffer)
        };
        counting.feed(&buffer[..end]);
        buffer.drain(..end);
        if read == 0 {
            return Ok(Content::Text(Text {
                bytes: counting.at,
                counts: counting.tallies.iter_mut().map(Tally::take).collect(),
                broken: counting.broken,
            }));
        }
    }
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
        for chunk in bytes.utf8_chunks() {
            for tally in &mut *self.tallies {
                tally.push(chunk.valid());
                tally.push_broken(chunk.invalid().len());
            }
            self.at += chunk.valid().len() as u64;
            let invalid = chunk.invalid().len() as u64;
            if invalid > 0 {
                let first_at = self.at;
                let broken = self.broken.get_or_insert(Broken { first_at, bytes: 0 });
                broken.bytes += invalid;
                self.at += invalid;
            }
        }
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

    use super::{Broken, Content, Tally, Text, measure};

    fn tallies(meters: &[Meter]) -> Vec<Tally<'_>> {
        meters.iter().map(Meter::tally).collect()
    }

    fn text(source: impl Read, meters: &[Meter]) -> Text {
        match measure(source, &mut tallies(meters)).unwrap() {
            Content::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn binary_is_seen_early() {
        let meters = [Meter::of_family(Family::Qwen)];
        assert_eq!(
            measure(std::io::repeat(0), &mut tallies(&meters)).unwrap(),
            Content::Binary,
            "an endless stream of zeros ends at once"
        );
        assert_eq!(text(&b""[..], &meters).bytes, 0);
    }

    #[test]
    fn utf16_is_told_from_binary() {
        let meters = [Meter::of_family(Family::Qwen)];
        for text in [&b"\xff\xfeh\0i\0"[..], b"\xfe\xff\0h\0i"] {
            let content = measure(text, &mut tallies(&meters)).unwrap();
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

    proptest! {
        #[test]
        fn any_bytes_are_measured(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let meters = [Meter::of_family(Family::Llama3)];
            match measure(&bytes[..], &mut tallies(&meters)).unwrap() {
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
