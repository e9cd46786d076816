//! Server-sent events: bytes in, events out.
//!
//! Bytes are gathered to whole lines before they are decoded, so a character cut by a chunk border
//! stays whole. An event is given out as soon as its data is a complete JSON value or `[DONE]`;
//! the blank line that should follow is not waited for, since some servers keep the connection
//! open without sending it.

use serde::de::IgnoredAny;

/// One event: its data lines joined by a line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` field, or `error` for llama.cpp's old `error:` lines.
    pub name: Option<String>,
    /// The data.
    pub data: String,
}

/// A line that grows beyond the limit: not a stream any server of ours sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineTooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// What was seen besides events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SseCounts {
    /// Comment lines (heartbeats).
    pub comments: u32,
    /// Lines that are no field of an event.
    pub stray_lines: u32,
    /// JSON values without `data:` before them.
    pub bare_values: u32,
    /// Lines with bytes that are not UTF-8; those became U+FFFD.
    pub broken_utf8: u32,
}

/// Turns bytes into events, however they are cut.
#[derive(Debug)]
pub struct SseDecoder {
    input: Vec<u8>,
    taken: usize,
    line: Vec<u8>,
    skip_line_feed: bool,
    at_start: bool,
    name: Option<String>,
    data: Option<String>,
    counts: SseCounts,
    limit: usize,
}

/// The longest line and the most data one event may have.
const LIMIT: usize = 16 << 20;

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_limit(LIMIT)
    }
}

impl SseDecoder {
    /// A decoder that refuses lines and events longer than `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            input: Vec::new(),
            taken: 0,
            line: Vec::new(),
            skip_line_feed: false,
            at_start: true,
            name: None,
            data: None,
            counts: SseCounts::default(),
            limit,
        }
    }

    /// Takes the next bytes; [`SseDecoder::next_event`] gives the events they complete.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.drain(..self.taken);
        self.taken = 0;
        self.input.extend_from_slice(bytes);
    }

    /// The next event the bytes so far complete.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, LineTooLong> {
        while let Some(line) = self.next_line()? {
            if let Some(event) = self.take_line(&line) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The next whole line; what is left of the input goes to the unfinished one.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, LineTooLong> {
        let mut rest = self.input.get(self.taken..).unwrap_or_default();
        if self.skip_line_feed && !rest.is_empty() {
            self.skip_line_feed = false;
            if let Some(after) = rest.strip_prefix(b"\n") {
                rest = after;
                self.taken += 1;
            }
        }
        let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + end.unwrap_or(rest.len()) > self.limit {
            return Err(LineTooLong { limit: self.limit });
        }
        let Some(end) = end else {
            self.line.extend_from_slice(rest);
            self.taken = self.input.len();
            return Ok(None);
        };
        let (line, tail) = rest.split_at(end);
        self.line.extend_from_slice(line);
        self.skip_line_feed = tail.first() == Some(&b'\r');
        self.taken += end + 1;
        Ok(Some(std::mem::take(&mut self.line)))
    }

    /// The bytes have ended. Gives what an unfinished last line or event holds.
    pub fn finish(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty()
            && let Some(event) = self.take_line(&line)
        {
            return Some(event);
        }
        self.dispatch()
    }

    /// What was seen besides events.
    pub fn counts(&self) -> SseCounts {
        self.counts
    }

    fn take_line(&mut self, line: &[u8]) -> Option<SseEvent> {
        let line = if std::mem::take(&mut self.at_start) {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            return self.dispatch();
        }
        if line.first() == Some(&b':') {
            self.counts.comments += 1;
            return None;
        }
        let text = String::from_utf8_lossy(line);
        if std::str::from_utf8(line).is_err() {
            self.counts.broken_utf8 += 1;
        }
        // NDJSON: the value without `data:` before it.
        if self.data.is_none() && text.starts_with('{') && is_whole(&text) {
            self.counts.bare_values += 1;
            self.data = Some(text.into_owned());
            return self.dispatch();
        }
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    none => *none = Some(value.to_owned()),
                }
                self.data.as_deref().is_some_and(is_whole).then_some(())?;
                self.dispatch()
            }
            "event" => {
                self.name = Some(value.trim().to_owned());
                None
            }
            // Older llama.cpp servers report errors in a field of this name.
            "error" => {
                self.name = Some("error".to_owned());
                self.data = Some(value.to_owned());
                self.dispatch()
            }
            "id" | "retry" => None,
            _ => {
                self.counts.stray_lines += 1;
                None
            }
        }
    }

    /// Ends the event. Without data there is none, whatever other fields it had.
    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = self.name.take();
        let data = self.data.take()?;
        Some(SseEvent { name, data })
    }
}

fn is_whole(data: &str) -> bool {
    let data = data.trim();
    data == "[DONE]"
        || (data.starts_with('{')
            && data.ends_with('}')
            && serde_json::from_str::<IgnoredAny>(data).is_ok())
}
