//! Frames: how documents and bundles travel through a launcher's stdin and stdout.
//!
//! A frame is a line `baton-launch/1 KIND TOKEN BYTES`, that many bytes, and a line break. Whatever
//! else stands in the stream (a banner, a greeting, a shell's echo) is noise and passed over: a frame
//! begins on a line of its own and carries the token of the placement it belongs to.

use std::io::{self, BufRead, Read, Write};

/// What every frame begins with.
const MAGIC: &str = "baton-launch/1";

/// The same without its version.
const NAME: &str = "baton-launch/";

/// A line longer than this is noise.
const LONGEST_LINE: u64 = 512;

/// The most bytes of a frame that is a document.
pub const LONGEST_DOCUMENT: u64 = 256 << 20;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// There: a `launch/1`.
    Launch,
    /// There: variables with keys, as a JSON object. They stand in no file.
    Variables,
    /// Both ways: a git bundle.
    Bundle,
    /// Both ways: nothing; the sender lives.
    Alive,
    /// Back: a `launched/1`.
    Launched,
    /// Back: an `event/1` of the worker.
    Event,
    /// Back: the `reservation/1` of the slot it took there.
    Reservation,
    /// Back: the `handoff/1`.
    Handoff,
    /// Back, and last: a `landed/1`.
    Landed,
    /// A kind of a later version; it is passed over.
    Unknown,
}

const KINDS: [(FrameKind, &str); 9] = [
    (FrameKind::Launch, "launch"),
    (FrameKind::Variables, "variables"),
    (FrameKind::Bundle, "bundle"),
    (FrameKind::Alive, "alive"),
    (FrameKind::Launched, "launched"),
    (FrameKind::Event, "event"),
    (FrameKind::Reservation, "reservation"),
    (FrameKind::Handoff, "handoff"),
    (FrameKind::Landed, "landed"),
];

impl FrameKind {
    fn parse(word: &str) -> Self {
        KINDS
            .iter()
            .find(|(_, name)| *name == word)
            .map_or(Self::Unknown, |(kind, _)| *kind)
    }

    fn name(self) -> &'static str {
        KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("unknown", |(_, name)| *name)
    }
}

/// The head of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameHead {
    /// What it holds.
    pub kind: FrameKind,
    /// The placement it belongs to.
    pub token: String,
    /// How many bytes follow its line.
    pub bytes: u64,
}

/// What a line of the stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameLine {
    /// A frame begins.
    Head(FrameHead),
    /// A frame of another version begins.
    OtherVersion(String),
    /// A frame begins, but a terminal has changed the line: bytes would not come through.
    Terminal,
    /// Nothing of ours.
    Noise,
}

/// Whether a text can be a token: it stands in a frame's line and in names of files.
pub fn is_token(text: &str) -> bool {
    (1..=200).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// What a line (without its line break) is.
pub fn read_frame_line(line: &[u8]) -> FrameLine {
    let Ok(text) = std::str::from_utf8(line) else {
        return FrameLine::Noise;
    };
    let (text, had_return) = match text.strip_suffix('\r') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let words: Vec<&str> = text.split(' ').collect();
    let [magic, kind, token, bytes] = words.as_slice() else {
        return FrameLine::Noise;
    };
    if *magic != MAGIC {
        let version = magic.strip_prefix(NAME);
        let is_number = |v: &str| !v.is_empty() && v.chars().all(|c| c.is_ascii_digit());
        return match version {
            Some(version) if is_number(version) => FrameLine::OtherVersion((*magic).to_owned()),
            _ => FrameLine::Noise,
        };
    }
    let plain = !bytes.is_empty() && bytes.chars().all(|c| c.is_ascii_digit());
    match bytes.parse() {
        Ok(bytes) if plain && is_token(token) => {
            if had_return {
                return FrameLine::Terminal;
            }
            FrameLine::Head(FrameHead {
                kind: FrameKind::parse(kind),
                token: (*token).to_owned(),
                bytes,
            })
        }
        _ => FrameLine::Noise,
    }
}

/// The line that begins a frame. A line break goes before it, as noise may have left a line open.
pub fn frame_head(kind: FrameKind, token: &str, bytes: u64) -> String {
    format!("\n{MAGIC} {} {token} {bytes}\n", kind.name())
}

/// Writes a whole frame and flushes it.
pub fn write_frame(
    to: &mut impl Write,
    kind: FrameKind,
    token: &str,
    payload: &[u8],
) -> io::Result<()> {
    let bytes = u64::try_from(payload.len()).unwrap_or(u64::MAX);
    let mut whole = frame_head(kind, token, bytes).into_bytes();
    whole.extend_from_slice(payload);
    whole.push(b'\n');
    to.write_all(&whole)?;
    to.flush()
}

/// The next line of a stream that is not noise; none at its end. The first lines of noise are kept in
/// `noise`, for people who look for the reason of a failure.
pub fn next_frame(from: &mut impl BufRead, noise: &mut Noise) -> io::Result<Option<FrameLine>> {
    let mut is_whole = true;
    loop {
        let mut line = Vec::new();
        let count = from
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(None);
        }
        let begins = is_whole;
        is_whole = line.ends_with(b"\n");
        if is_whole {
            line.pop();
        }
        // A head that was cut off has no bytes after it either.
        let found = if begins && is_whole {
            read_frame_line(&line)
        } else {
            FrameLine::Noise
        };
        match found {
            FrameLine::Noise => noise.add(&line),
            found => return Ok(Some(found)),
        }
    }
}

/// Copies the bytes of a frame. An early end of the stream is an error.
pub fn copy_payload(from: &mut impl BufRead, bytes: u64, to: &mut impl Write) -> io::Result<()> {
    let copied = io::copy(&mut from.by_ref().take(bytes), to)?;
    if copied == bytes {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("the stream ends after {copied} of {bytes} bytes of a frame"),
    ))
}

/// The bytes of a frame that holds a document.
pub fn read_payload(from: &mut impl BufRead, bytes: u64) -> io::Result<Vec<u8>> {
    if bytes > LONGEST_DOCUMENT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a document of {bytes} bytes is not believed"),
        ));
    }
    let mut payload = Vec::new();
    copy_payload(from, bytes, &mut payload)?;
    Ok(payload)
}

/// What stood in a stream besides frames: the beginning of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noise(Vec<String>);

impl Noise {
    fn add(&mut self, line: &[u8]) {
        const MOST: usize = 20;
        let text = String::from_utf8_lossy(line);
        let text: String = text.trim().chars().take(200).collect();
        if !text.is_empty() && self.0.len() < MOST {
            self.0.push(text);
        }
    }

    /// The lines.
    pub fn lines(&self) -> &[String] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::{
        FrameHead, FrameKind, FrameLine, Noise, frame_head, next_frame, read_frame_line,
        read_payload, write_frame,
    };

    fn frames(bytes: &[u8]) -> (Vec<(FrameHead, Vec<u8>)>, Noise) {
        let mut from = BufReader::with_capacity(7, bytes);
        let mut noise = Noise::default();
        let mut found = Vec::new();
        while let Some(line) = next_frame(&mut from, &mut noise).unwrap() {
            if let FrameLine::Head(head) = line {
                let payload = read_payload(&mut from, head.bytes).unwrap();
                found.push((head, payload));
            }
        }
        (found, noise)
    }

    #[test]
    fn frames_are_found_between_banners() {
        let mut stream = b"Welcome to box2!\nLast login: today\nprompt> ".to_vec();
        write_frame(&mut stream, FrameKind::Launched, "t-1", b"{\"a\":1}").unwrap();
        stream.extend_from_slice(b"baton-launch/1 is not a frame here\n");
        write_frame(&mut stream, FrameKind::Landed, "t-1", b"\nx\n").unwrap();
        let (found, noise) = frames(&stream);
        let kinds: Vec<FrameKind> = found.iter().map(|(h, _)| h.kind).collect();
        assert_eq!(kinds, [FrameKind::Launched, FrameKind::Landed]);
        assert_eq!(found[1].1, b"\nx\n");
        assert_eq!(noise.lines()[0], "Welcome to box2!");
    }

    #[test]
    fn other_versions_and_terminals_are_told_apart_from_noise() {
        assert_eq!(
            read_frame_line(b"baton-launch/2 launched t 5"),
            FrameLine::OtherVersion("baton-launch/2".into())
        );
        assert_eq!(
            read_frame_line(b"baton-launch/1 launched t 5\r"),
            FrameLine::Terminal
        );
        for noise in [
            "baton-launch/1 launched t",
            "baton-launch/1 launched t -5",
            "baton-launch/1 launched ../t 5",
            "baton-launch/x launched t 5",
            " baton-launch/1 launched t 5",
            "",
        ] {
            assert_eq!(
                read_frame_line(noise.as_bytes()),
                FrameLine::Noise,
                "{noise}"
            );
        }
    }

    #[test]
    fn a_stream_that_is_cut_off_is_an_error_or_an_end() {
        let mut stream = Vec::new();
        write_frame(&mut stream, FrameKind::Handoff, "t", b"0123456789").unwrap();
        let cut = &stream[..stream.len() - 5];
        let mut from = BufReader::new(cut);
        let head = next_frame(&mut from, &mut Noise::default()).unwrap();
        assert!(matches!(head, Some(FrameLine::Head(_))), "{head:?}");
        assert!(read_payload(&mut from, 10).is_err());
        // Within the head's line there is no frame yet.
        let mut from = BufReader::new(&stream[..10]);
        assert_eq!(next_frame(&mut from, &mut Noise::default()).unwrap(), None);
        assert!(read_payload(&mut BufReader::new(&b""[..]), u64::MAX).is_err());
    }

    proptest! {
        #[test]
        fn frames_come_through_any_noise(
            noise in proptest::collection::vec(any::<u8>(), 0..600),
            payload in proptest::collection::vec(any::<u8>(), 0..600),
        ) {
            let mut stream = noise;
            write_frame(&mut stream, FrameKind::Bundle, "t.1-p2", &payload).unwrap();
            stream.extend_from_slice(b"logout\n");
            let (found, _) = frames(&stream);
            let last = found.last().unwrap();
            prop_assert_eq!(&last.1, &payload);
        }

        #[test]
        fn any_line_is_read(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_frame_line(&line);
        }

        #[test]
        fn a_head_is_read_as_it_was_written(bytes in any::<u64>()) {
            let head = frame_head(FrameKind::Event, "run-1.t", bytes);
            let line = head.trim_matches('\n').as_bytes();
            let expected = FrameHead { kind: FrameKind::Event, token: "run-1.t".into(), bytes };
            prop_assert_eq!(read_frame_line(line), FrameLine::Head(expected));
        }
    }
}
