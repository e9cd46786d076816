//! As much of HTTP/1.1 as a server for one local client needs.

use std::io::{self, Read, Write};

use serde_json::{Value, json};

/// The longest head.
const HEAD: usize = 64 << 10;
/// The longest body: a long history with pictures.
const BODY: usize = 64 << 20;

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path without the query.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(n, _)| n == name);
        found.next().map(|(_, value)| value.as_str())
    }
}

/// Reads one request. `None` is a connection that was closed unused.
pub(crate) fn read_request(stream: &mut (impl Read + Write)) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = find(&bytes, b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > HEAD {
            return Err(bad("the head is too long"));
        }
        if !more(stream, &mut bytes)? {
            return if bytes.is_empty() {
                Ok(None)
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut request = parse_head(&head).ok_or_else(|| bad("this is not HTTP"))?;
    let mut rest = bytes.split_off(end + 4);
    if request
        .header("expect")
        .is_some_and(|v| v.eq_ignore_ascii_case("100-continue"))
    {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let chunked = request
        .header("transfer-encoding")
        .is_some_and(|v| v.to_ascii_lowercase().contains("chunked"));
    if chunked {
        request.body = read_chunks(stream, &mut rest)?;
        return Ok(Some(request));
    }
    let length: usize = match request.header("content-length") {
        Some(text) => text.trim().parse().map_err(|_| bad("a wrong length"))?,
        None => 0,
    };
    if length > BODY {
        return Err(bad("the body is too long"));
    }
    while rest.len() < length {
        if !more(stream, &mut rest)? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    rest.truncate(length);
    request.body = rest;
    Ok(Some(request))
}

fn parse_head(head: &str) -> Option<Request> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return None;
    }
    let headers = lines
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_string()))
        })
        .collect::<Option<_>>()?;
    Some(Request {
        method: method.into(),
        path: target.split('?').next().unwrap_or(target).into(),
        headers,
        body: Vec::new(),
    })
}

fn read_chunks(stream: &mut impl Read, rest: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = find(rest, b"\r\n") {
                break at;
            }
            if rest.len() > HEAD {
                return Err(bad("a wrong chunk"));
            }
            if !more(stream, rest)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16).map_err(|_| bad("a wrong chunk"))?;
        rest.drain(..end + 2);
        if size == 0 {
            return Ok(body);
        }
        if size > BODY || body.len() + size > BODY {
            return Err(bad("the body is too long"));
        }
        while rest.len() < size + 2 {
            if !more(stream, rest)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        body.extend(rest.drain(..size));
        rest.drain(..2);
    }
}

fn more(stream: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0_u8; 16 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(n) => {
                bytes.extend_from_slice(&buffer[..n]);
                return Ok(true);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Answers with JSON and ends the connection.
pub(crate) fn send_json(stream: &mut impl Write, status: u16, body: &Value) -> io::Result<()> {
    send(
        stream,
        status,
        "application/json",
        body.to_string().as_bytes(),
    )
}

/// Answers with an error as OpenAI's servers word it.
pub(crate) fn send_error(
    stream: &mut impl Write,
    status: u16,
    kind: &str,
    message: &str,
) -> io::Result<()> {
    let error = json!({"message": message, "type": kind, "param": null, "code": status});
    send_json(stream, status, &json!({ "error": error }))
}

/// Answers with a body of any type.
pub(crate) fn send(
    stream: &mut impl Write,
    status: u16,
    content_type: &str,
    body: &[u8],
) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        phrase(status),
        body.len()
    )?;
    stream.write_all(body)?;
    stream.flush()
}

/// Begins a stream that ends with the connection.
pub(crate) fn begin_stream(stream: &mut impl Write) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n",
    )?;
    stream.flush()
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Answer",
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, read_request};
    use proptest::prelude::*;
    use std::io::{Cursor, Read, Write};

    /// A stream that gives its bytes in small pieces.
    struct Pieces(Cursor<Vec<u8>>, usize, Vec<u8>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.2.write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn read(text: &str, size: usize) -> std::io::Result<Option<Request>> {
        read_request(&mut Pieces(Cursor::new(text.into()), size, Vec::new()))
    }

    #[test]
    fn a_body_comes_by_length_or_in_chunks() {
        let one = "POST /v1/chat?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
        let two = "POST /v1/chat HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
        for size in [1, 3, 1000] {
            for text in [one, two] {
                let request = read(text, size).unwrap().unwrap();
                assert_eq!(request.body, b"hello");
                assert_eq!(request.path, "/v1/chat");
            }
        }
        assert_eq!(read("", 9).unwrap(), None);
        assert!(read("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel", 9).is_err());
        assert!(read("nonsense\r\n\r\n", 9).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_an_error(text in ".{0,200}", size in 1_usize..50) {
            let _ = read(&text, size);
            let _ = read(&format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{text}"), size);
        }
    }
}
