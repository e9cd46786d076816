//! Answers that come as one document. Pure.

use serde_json::Value;

/// A body as JSON, as liberal as streams are read: behind a byte order mark, and with broken
/// characters replaced.
pub(crate) fn document(body: &[u8]) -> serde_json::Result<Value> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    serde_json::from_str(&String::from_utf8_lossy(body))
}

/// Whether a body that is no JSON is what came of an answer: cut off, or damaged on the way.
pub(crate) fn is_part_of_answer(body: &[u8], error: &serde_json::Error) -> bool {
    let begins = body.trim_ascii_start().starts_with(b"{");
    begins && (error.is_eof() || body.windows(9).any(|words| words == b"\"choices\""))
}
