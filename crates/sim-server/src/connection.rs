//! One client connection: requests in, responses out, one after the other.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::http::{self, Request, Response};
use crate::kinds::Route;
use crate::world::World;
use crate::{control, serve};

/// An idle connection is closed after this time, as real servers do it.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    input: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(KEEP_ALIVE))?;
        let input = BufReader::new(stream.try_clone()?);
        Ok(Self { stream, input })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends one piece of a chunked body.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.send(&framed)
    }

    pub(crate) fn last_chunk(&mut self) -> io::Result<()> {
        self.send(b"0\r\n\r\n")
    }

    /// Whether the client hung up. A byte that waits to be read means it did not.
    pub(crate) fn is_gone(&self) -> bool {
        if !self.input.buffer().is_empty() || self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let mut byte = [0];
        let peeked = self.stream.peek(&mut byte);
        let _ = self.stream.set_nonblocking(false);
        match peeked {
            Ok(count) => count == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    fn next(&mut self) -> io::Result<Option<Request>> {
        let Some(mut request) = http::read(&mut self.input)? else {
            return Ok(None);
        };
        if request
            .header("expect")
            .is_some_and(|v| v.eq_ignore_ascii_case("100-continue"))
        {
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        http::read_body(&mut self.input, &mut request)?;
        Ok(Some(request))
    }
}

/// Serves a connection to its end.
pub(crate) fn serve(stream: TcpStream, world: &World) {
    // Whatever breaks a connection ends it; there is nobody to tell.
    let _ = serve_all(stream, world);
}

fn serve_all(stream: TcpStream, world: &World) -> io::Result<()> {
    let mut connection = Connection::new(stream)?;
    while let Some(request) = connection.next()? {
        if request.path.starts_with("/sim/") {
            let response = control::answer(world, &request);
            respond(&mut connection, &request, &response)?;
        } else if !answer(&mut connection, world, &request)? {
            break;
        }
        if request.wants_close() {
            break;
        }
    }
    Ok(())
}

/// Answers one request of the simulated server; `false` when the connection must end.
fn answer(connection: &mut Connection, world: &World, request: &Request) -> io::Result<bool> {
    let kind = world.config.kind;
    let is_chat = request.method == "POST" && request.path.ends_with("/chat/completions");
    let (n, chat) = world.note(request, is_chat);
    let stamp = World::stamp(n);
    let refusal = kind.key_ok(&world.config, request).err();
    let route = match refusal {
        Some(refusal) => Route::Now(refusal),
        None => kind.route(&world.config, request, &world.engine.snapshot(), &stamp),
    };
    match route {
        Route::Now(mut response) => {
            kind.sign(&mut response, &stamp, request);
            world.close(
                n,
                if response.status < 400 {
                    "answered"
                } else {
                    "refused"
                },
                Some(response.status),
            );
            respond(connection, request, &response)?;
            Ok(true)
        }
        Route::Chat => serve::chat(connection, world, request, n, chat),
    }
}

/// Sends a response; a HEAD request gets no body.
pub(crate) fn respond(
    connection: &mut Connection,
    request: &Request,
    response: &Response,
) -> io::Result<()> {
    let mut bytes = response.head();
    if request.method != "HEAD" {
        bytes.extend_from_slice(&response.body);
    }
    connection.send(&bytes)
}
