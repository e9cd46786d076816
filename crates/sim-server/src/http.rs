//! HTTP/1.1 as small as a simulator needs it, and no politer.
//!
//! A ready-made server crate would refuse to send the broken bytes this program exists to send,
//! so reading a request and writing a response head are done here; bodies are written by the
//! callers, byte by byte where a fault asks for it.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read};

use serde_json::Value;

/// The largest request body that is read: far above any context window, far below memory.
const BODY_LIMIT: u64 = 256 << 20;
/// The largest head (request line and headers) that is read.
const HEAD_LIMIT: u64 = 256 << 10;

/// The content type of JSON, line by line.
pub(crate) const LINES: &str = "application/x-ndjson";

/// One request as it came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names are lower case; order and repetitions are kept.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The first header of that (lower-case) name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name)?;
        Some(found.1.as_str())
    }

    /// A parameter of the query, percent-decoded.
    pub(crate) fn param(&self, name: &str) -> Option<String> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| percent_decode(value))
    }

    /// Whether the client wants the connection closed after this answer.
    pub(crate) fn wants_close(&self) -> bool {
        self.header("connection")
            .is_some_and(|v| v.eq_ignore_ascii_case("close"))
    }
}

/// Reads the next request; `None` when the client closed the connection between requests.
pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut head = stream.take(HEAD_LIMIT);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(bad("request line"));
    };
    // A proxy-style target carries scheme and host; only the path matters here.
    let target = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => target,
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        ..Request::default()
    };
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(bad("headers"));
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| bad("header"))?;
        request
            .headers
            .push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Some(request))
}

/// Reads the body that belongs to `request`, by its length or in chunks.
pub(crate) fn read_body(stream: &mut impl BufRead, request: &mut Request) -> io::Result<()> {
    let chunked = request
        .header("transfer-encoding")
        .is_some_and(|v| v.eq_ignore_ascii_case("chunked"));
    if chunked {
        request.body = read_chunks(stream)?;
    } else if let Some(length) = request.header("content-length") {
        let length: u64 = length.parse().map_err(|_| bad("content-length"))?;
        if length > BODY_LIMIT {
            return Err(bad("content-length"));
        }
        stream.take(length).read_to_end(&mut request.body)?;
        if request.body.len() as u64 != length {
            return Err(bad("body"));
        }
    }
    Ok(())
}

fn read_chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.take(HEAD_LIMIT).read_line(&mut line)?;
        let size = line.trim().split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size, 16).map_err(|_| bad("chunk size"))?;
        if body.len() as u64 + size > BODY_LIMIT {
            return Err(bad("chunk size"));
        }
        stream.take(size).read_to_end(&mut body)?;
        let mut end = String::new();
        stream.take(HEAD_LIMIT).read_line(&mut end)?;
        if size == 0 {
            // Trailers, if any, end with an empty line that was just read or follows.
            return Ok(body);
        }
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("cannot read the {what} of a request"),
    )
}

fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes
            .get(at + 1..at + 3)
            .and_then(|two| std::str::from_utf8(two).ok());
        match (
            bytes[at],
            hex.and_then(|two| u8::from_str_radix(two, 16).ok()),
        ) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A response whose body is known in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn typed(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::empty(status)
            .with("content-type", content_type)
            .bytes(body)
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::typed(status, "application/json", body.to_string())
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn bytes(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Whether it announces the end of the connection.
    pub(crate) fn closes(&self) -> bool {
        let close = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close")
        };
        self.headers.iter().any(close)
    }

    /// Whether its body is JSON, line by line.
    pub(crate) fn is_lines(&self) -> bool {
        self.headers
            .iter()
            .any(|(name, value)| name == "content-type" && value == LINES)
    }

    /// The head of a response whose body has that many bytes.
    pub(crate) fn sized_head(&self, length: usize) -> Vec<u8> {
        self.render(&format!("content-length: {length}\r\n"))
    }

    /// The head of a response whose body ends with the connection.
    pub(crate) fn plain_head(&self) -> Vec<u8> {
        self.render("")
    }

    /// The head of a response that is sent in chunks.
    pub(crate) fn chunked_head(&self) -> Vec<u8> {
        self.render("transfer-encoding: chunked\r\n")
    }

    fn render(&self, framing: &str) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            // Writing to a string cannot fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str(framing);
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// The reason phrase that belongs to a status code.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Payload Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        507 => "Insufficient Storage",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Request {
        let mut input = text.as_bytes();
        let mut request = read(&mut input).unwrap().unwrap();
        read_body(&mut input, &mut request).unwrap();
        request
    }

    #[test]
    fn a_request_with_a_length_is_read_whole() {
        let request = parse("POST /a?x=1%202&y=z HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcREST");
        assert_eq!(
            (request.path.as_str(), request.body.as_slice()),
            ("/a", &b"abc"[..])
        );
        assert_eq!(request.param("x").as_deref(), Some("1 2"));
    }

    #[test]
    fn a_chunked_request_is_read_whole() {
        let request = parse(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
        );
        assert_eq!(request.body, b"abc");
    }

    #[test]
    fn a_closed_connection_is_not_an_error() {
        assert!(read(&mut &b""[..]).unwrap().is_none());
    }

    proptest::proptest! {
        #[test]
        fn reading_any_bytes_never_panics(bytes: Vec<u8>) {
            let mut input = bytes.as_slice();
            if let Ok(Some(mut request)) = read(&mut input) {
                let _ = read_body(&mut input, &mut request);
                let _ = request.param("x");
            }
        }
    }
}
