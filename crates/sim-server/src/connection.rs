//! One client connection: requests in, responses out, one after the other.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::engine::{Snapshot, Stop};
use crate::fault::{Act, Effect, Fault};
use crate::http::{self, Request, Response};
use crate::kinds::{Memory, Route, Visit};
use crate::transport::{Tls, Transport};
use crate::wire::Body;
use crate::world::{World, lock};
use crate::{control, serve};

/// An idle connection is closed after this time, as real servers do it.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Between two looks whether a model can be loaded now.
const BRING: Duration = Duration::from_millis(20);
/// Looks before a client is told that the model is there although it is not.
const BRINGS: usize = 3000;

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The bare socket under it, to look at without reading.
    socket: TcpStream,
    input: BufReader<Transport>,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, tls: Option<&Tls>) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(KEEP_ALIVE))?;
        let input = BufReader::new(Transport::new(socket.try_clone()?, tls)?);
        Ok(Self { socket, input })
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.get_mut().write_all(bytes)?;
        self.input.get_mut().flush()
    }

    /// Sends some bytes of a body, cut and framed as the body wants it.
    pub(crate) fn pieces(&mut self, bytes: &[u8], body: &Body) -> io::Result<()> {
        for piece in bytes.chunks(body.piece.unwrap_or(bytes.len()).max(1)) {
            if !body.stream || body.unframed {
                self.send(piece)?;
                continue;
            }
            let mut framed = format!("{:x}\r\n", piece.len()).into_bytes();
            framed.extend_from_slice(piece);
            framed.extend_from_slice(b"\r\n");
            self.send(&framed)?;
        }
        Ok(())
    }

    /// Ends a body that was sent in chunks.
    pub(crate) fn last_chunk(&mut self) -> io::Result<()> {
        self.send(b"0\r\n\r\n")
    }

    /// Makes the coming close a reset.
    pub(crate) fn reset(&self) -> io::Result<()> {
        Ok(rustix::net::sockopt::set_socket_linger(
            &self.socket,
            Some(Duration::ZERO),
        )?)
    }

    /// Whether the client hung up. A byte that waits to be read means it did not; but behind TLS
    /// such a byte belongs to the client's good-bye, for it has nothing else to say now.
    pub(crate) fn is_gone(&self) -> bool {
        if !self.input.buffer().is_empty() || self.socket.set_nonblocking(true).is_err() {
            return false;
        }
        let mut byte = [0];
        let peeked = self.socket.peek(&mut byte);
        let _ = self.socket.set_nonblocking(false);
        match peeked {
            Ok(count) => count == 0 || self.input.get_ref().is_tls(),
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

    /// Does what a fault does in place of an answer. `None` when the answer follows after all,
    /// else whether the connection goes on.
    pub(crate) fn perform(
        &mut self,
        world: &World,
        request: &Request,
        n: u64,
        fault: &Fault,
        act: Act,
    ) -> io::Result<Option<bool>> {
        world.amend(n, |record| record.faults.push(fault.name.to_owned()));
        match act {
            Act::Send(mut response, signed) => {
                if signed {
                    world
                        .config
                        .kind
                        .server()
                        .sign(&mut response, &World::stamp(n), request);
                }
                world.close(n, "refused", Some(response.status));
                respond(self, request, &response).map(Some)
            }
            Act::Silence(gate) => {
                let waited = world
                    .engine
                    .wait_at(gate, &mut || self.is_gone().then_some(Stop::Gone));
                if waited.is_ok() {
                    return Ok(None);
                }
                world.close(n, "hung_up", None);
                Ok(Some(false))
            }
            Act::Close => {
                world.close(n, "broken", None);
                Ok(Some(false))
            }
            Act::Reset => {
                world.close(n, "broken", None);
                self.reset()?;
                Ok(Some(false))
            }
        }
    }
}

/// Serves a connection to its end.
pub(crate) fn serve(socket: TcpStream, world: &World, tls: Option<&Tls>) {
    // Whatever breaks a connection ends it; there is nobody to tell.
    let _ = serve_all(socket, world, tls);
}

fn serve_all(socket: TcpStream, world: &World, tls: Option<&Tls>) -> io::Result<()> {
    let mut connection = Connection::new(socket, tls)?;
    while let Some(mut request) = connection.next()? {
        if let Some(path) = request.path.strip_prefix(&world.config.prefix) {
            request.path = path.to_owned();
        } else if !request.path.starts_with("/sim/") {
            let nothing = Response::typed(404, "text/plain", "404 page not found");
            respond(&mut connection, &request, &nothing)?;
            continue;
        }
        let keep = if request.path.starts_with("/sim/") {
            let response = control::answer(world, &request);
            respond(&mut connection, &request, &response)?
        } else {
            answer(&mut connection, world, &request)?
        };
        if !keep || request.wants_close() {
            break;
        }
    }
    Ok(())
}

/// Answers one request of the simulated server; `false` when the connection must end.
fn answer(connection: &mut Connection, world: &World, request: &Request) -> io::Result<bool> {
    let server = world.config.kind.server();
    let is_chat = request.method == "POST"
        && ["/chat/completions", "/api/chat", "/api/generate"]
            .iter()
            .any(|end| request.path.ends_with(end));
    let (n, chat) = world.note(request, is_chat);
    let stamp = World::stamp(n);
    let now = world.engine.snapshot();
    let visit = Visit {
        config: &world.config,
        request,
        now: &now,
        stamp: &stamp,
    };
    let faults = lock(&world.faults).on_path(&request.path);
    for fault in &faults {
        if let Effect::Route(act) = fault.effect
            && let Some(act) = act(&visit)
            && let Some(keep) = connection.perform(world, request, n, fault, act)?
        {
            return Ok(keep);
        }
    }
    let key = world.config.api_key.as_deref();
    let refusal = key.and_then(|key| server.check_key(key, request).err());
    let route = refusal.map_or_else(|| server.route(&visit), Route::Now);
    let mut response = match route {
        Route::Now(response) => response,
        Route::Chat => return serve::chat(connection, world, request, n, chat),
        Route::Memory(what, response) => {
            remember(world, &what);
            response
        }
    };
    for fault in &faults {
        if let Effect::Edit(change) = fault.effect {
            change(&visit, &mut response);
            world.amend(n, |record| record.faults.push(fault.name.to_owned()));
        }
    }
    server.sign(&mut response, &stamp, request);
    let outcome = if response.status < 400 {
        "answered"
    } else {
        "refused"
    };
    world.close(n, outcome, Some(response.status));
    respond(connection, request, &response)
}

/// Does to the models in memory what a route asks for.
fn remember(world: &World, what: &Memory) {
    match what {
        Memory::Load(model) => world.engine.load(model),
        Memory::Unload => world.engine.unload(),
        Memory::Bring(model) => {
            let there = |now: &Snapshot| now.resident.as_ref() == Some(model);
            for _ in 0..BRINGS {
                if world.engine.wait_until(BRING, there) {
                    break;
                }
                world.engine.load(model);
            }
        }
    }
}

/// Sends a response (a HEAD request gets no body); `false` when it announced the end.
pub(crate) fn respond(
    connection: &mut Connection,
    request: &Request,
    response: &Response,
) -> io::Result<bool> {
    let mut bytes = response.sized_head(response.body.len());
    if request.method != "HEAD" {
        bytes.extend_from_slice(&response.body);
    }
    connection.send(&bytes)?;
    Ok(!response.closes())
}
