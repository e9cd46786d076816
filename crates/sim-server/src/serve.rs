//! A chat request from its arrival to its last byte.

use std::io;

use crate::answer::Answer;
use crate::chat::Chat;
use crate::connection::{Connection, respond};
use crate::engine::{Stop, Ticket, simulated_ms};
use crate::fault::{Effect, Fault};
use crate::generate::{self, Output};
use crate::http::{Request, Response};
use crate::kinds::{Reply, Server, Stamp};
use crate::tokens;
use crate::wire::{Body, Data, End, Frame, Pause};
use crate::world::{World, lock};

/// One chat request on its way.
struct Job<'a> {
    world: &'a World,
    server: &'static dyn Server,
    request: &'a Request,
    stamp: Stamp,
    n: u64,
    chat: Chat,
    answer: Answer,
    faults: Vec<&'static Fault>,
    prompt: u64,
    limit: u64,
}

/// Serves the `number`-th chat request; `false` when the connection must end.
pub(crate) fn chat(
    connection: &mut Connection,
    world: &World,
    request: &Request,
    n: u64,
    number: u64,
) -> io::Result<bool> {
    let server = world.config.kind.server();
    let mut stamp = World::stamp(n);
    if let Some(id) = request.header("x-request-id") {
        id.clone_into(&mut stamp.id);
    }
    let refuse = |connection: &mut Connection, mut response: Response| {
        server.sign(&mut response, &stamp, request);
        world.close(n, "refused", Some(response.status));
        respond(connection, request, &response)
    };
    let mut chat = match server.admit(&world.config, request) {
        Ok(chat) => chat,
        Err(refusal) => return refuse(connection, refusal),
    };
    let mut faults = lock(&world.faults).on_chat(number);
    for fault in &faults {
        match fault.effect {
            Effect::Engine(freeze) => world.engine.freeze(freeze),
            Effect::Whole => chat.stream = false,
            Effect::Chat(act) => {
                if let Some(act) = act(&chat, &world.config)
                    && let Some(keep) = connection.perform(world, request, n, fault, act)?
                {
                    return Ok(keep);
                }
            }
            _ => {}
        }
    }
    let mut prompt = tokens::ids(&chat.prompt());
    let whole = prompt.len() as u64;
    world.amend(n, |record| record.prompt_tokens = Some(whole));
    let limit = match server.limit(&world.config, &chat, whole) {
        Ok(limit) => limit,
        Err(refusal) => return refuse(connection, refusal),
    };
    // What is cut off without a word is the front.
    let kept = server.kept(&world.config, &chat, whole).min(whole);
    prompt.drain(..prompt.len() - usize::try_from(kept).unwrap_or(prompt.len()));
    let mut answer = lock(&world.model).answer(&chat, number);
    faults.extend(
        answer
            .faults
            .iter()
            .filter_map(|name| crate::fault::find(name)),
    );
    for fault in &faults {
        if let Effect::Answer(change) = fault.effect {
            change(&mut answer);
        }
    }
    world.amend(n, |record| {
        record.rule = Some(answer.rule.clone());
        record
            .faults
            .extend(faults.iter().map(|fault| fault.name.to_owned()));
        record.faults.dedup();
    });
    if let Some(refusal) = &answer.refusal {
        let mut response = Response::json(refusal.status, &refusal.body);
        if let Some(after) = &refusal.retry_after {
            response = response.with("retry-after", after.clone());
        }
        return refuse(connection, response);
    }
    let Some(ticket) = world
        .engine
        .enqueue(prompt, server.answering(&world.config, &chat.model))
    else {
        return refuse(connection, server.busy());
    };
    let stamp = stamp.clone();
    let job = Job {
        world,
        server,
        request,
        stamp,
        n,
        chat,
        answer,
        faults,
        prompt: kept,
        limit,
    };
    match job.run(connection, ticket) {
        Ok(keep) => Ok(keep),
        Err(error) => {
            world.close(n, "hung_up", None);
            Err(error)
        }
    }
}

/// What a request got in the engine.
struct Ran {
    cached: u64,
    output: Output,
}

impl Job<'_> {
    fn run(&self, connection: &mut Connection, mut ticket: Ticket<'_>) -> io::Result<bool> {
        // What faults make of the head must be known before there is a body.
        let shape = self.shape(Data::Events(Vec::new()));
        let early = self.chat.stream && self.server.early_headers() && shape.stream;
        if early {
            self.head(connection, &shape)?;
        }
        let ran = match self.begin(connection, &mut ticket) {
            Ok(ran) => ran,
            Err(stop) => return self.stop(connection, ticket, stop, early.then_some(&shape)),
        };
        let late = self.chat.stream && !early && shape.stream;
        if late {
            self.head(connection, &shape)?;
        }
        if let Err(stop) = self.prepare(connection, &mut ticket) {
            return self.stop(connection, ticket, stop, (early || late).then_some(&shape));
        }
        self.world.amend(self.n, |record| {
            record.completion_tokens = Some(ran.output.tokens);
            record.finish = Some(ran.output.finish.clone());
        });
        let reply = self.reply(&ran);
        let data = if self.chat.stream {
            Data::Events(self.server.events(&reply))
        } else {
            Data::Document(self.server.document(&reply))
        };
        let body = self.shape(data);
        if !(early || late) && body.stream {
            self.head(connection, &body)?;
        }
        self.send(connection, ticket, &ran, &body)
    }

    /// Renders data under the head of this kind, with all faults applied.
    fn shape(&self, mut data: Data) -> Body {
        for fault in &self.faults {
            if let Effect::Data(change) = fault.effect {
                change(&mut data, &self.world.config);
            }
        }
        let mut head = match data {
            Data::Document(_) => Response::empty(200).with("content-type", "application/json"),
            Data::Events(_) => self.server.stream_head(&self.chat),
        };
        self.server.sign(&mut head, &self.stamp, self.request);
        let mut body = Body::new(head, data);
        for fault in &self.faults {
            if let Effect::Bytes(change) = fault.effect {
                change(&mut body);
            }
        }
        body
    }

    fn head(&self, connection: &mut Connection, body: &Body) -> io::Result<()> {
        self.world.amend(self.n, |record| record.status = Some(200));
        let head = if body.unframed {
            body.head.plain_head()
        } else {
            body.head.chunked_head()
        };
        connection.send(&head)
    }

    /// Whether a client that leaves now would not be noticed.
    fn deaf(&self, queued: bool) -> bool {
        let deaf = self
            .faults
            .iter()
            .any(|fault| matches!(fault.effect, Effect::Deaf));
        deaf && (queued || !self.chat.stream)
    }

    /// Waits for a slot and writes what the model has to say, up to its first token.
    fn begin(&self, connection: &Connection, ticket: &mut Ticket<'_>) -> Result<Ran, Stop> {
        let (slot, cached) =
            ticket.start(self.limit, &mut || !self.deaf(true) && connection.is_gone())?;
        let now = self.world.now_ms();
        self.world.amend(self.n, |record| {
            record.slot = Some(slot);
            record.cached_tokens = Some(cached);
            record.started_ms = Some(now);
        });
        Ok(Ran {
            cached,
            output: generate::write(&self.answer, &self.chat, self.limit),
        })
    }

    /// Reads the prompt and passes the gate and the wait a script put before the first token.
    fn prepare(&self, connection: &Connection, ticket: &mut Ticket<'_>) -> Result<(), Stop> {
        let mut gone = || !self.deaf(false) && connection.is_gone();
        ticket.prefill(&mut gone)?;
        if let Some(gate) = &self.answer.hold {
            ticket.hold(gate, &mut gone)?;
        }
        ticket.wait(self.answer.wait, &mut gone)
    }

    fn reply<'r>(&'r self, ran: &'r Ran) -> Reply<'r> {
        let config = &self.world.config;
        let honest = self.server.answering(config, &self.chat.model);
        let running = self.world.engine.snapshot().running;
        let (prompt_ms, answer_ms) = simulated_ms(
            self.prompt.saturating_sub(ran.cached),
            ran.output.tokens,
            running,
        );
        Reply {
            chat: &self.chat,
            output: &ran.output,
            stamp: &self.stamp,
            model: self.answer.model.as_deref().unwrap_or(honest),
            prompt: self.prompt,
            cached: ran.cached,
            usage: self.answer.usage.as_ref(),
            prompt_ms,
            answer_ms,
        }
    }

    /// Sends the frames in the time their tokens take.
    fn send(
        &self,
        connection: &mut Connection,
        ticket: Ticket<'_>,
        ran: &Ran,
        body: &Body,
    ) -> io::Result<bool> {
        let mut ticket = Some(ticket);
        // A document is paid for as a whole, before its head.
        let unpaid = if body.stream { 0 } else { ran.output.tokens };
        let last = body
            .frames
            .iter()
            .rposition(|frame| frame.tokens > 0)
            .unwrap_or(0);
        for (at, frame) in body.frames.iter().enumerate() {
            let tokens = if at == 0 {
                frame.tokens + unpaid
            } else {
                frame.tokens
            };
            if let Some(mut running) = ticket.take() {
                if let Err(stop) = self.pass(connection, &mut running, frame, tokens, at == last) {
                    return self.stop(connection, running, stop, body.stream.then_some(body));
                }
                // The slot is free before the client can know that the answer is complete, and who
                // sees it free finds the record closed.
                if at == last && body.end != End::Reset {
                    self.close_record(body);
                    running.finish(ran.output.was_cut());
                } else {
                    ticket = Some(running);
                }
            }
            if at == 0 && !body.stream {
                let length = body.declared.unwrap_or_else(|| body.length());
                self.world.amend(self.n, |record| record.status = Some(200));
                let head = if body.unframed {
                    body.head.plain_head()
                } else {
                    body.head.sized_head(length)
                };
                connection.send(&head)?;
            }
            connection.pieces(&frame.bytes, body)?;
        }
        drop(ticket);
        self.end(connection, body)
    }

    /// Waits for what a frame waits for.
    fn pass(
        &self,
        connection: &Connection,
        ticket: &mut Ticket<'_>,
        frame: &Frame,
        tokens: u64,
        last: bool,
    ) -> Result<(), Stop> {
        let mut gone = || !self.deaf(false) && connection.is_gone();
        if let Some(gate) = self.answer.hold_end.as_ref().filter(|_| last) {
            ticket.hold(gate, &mut gone)?;
        }
        ticket.tokens(tokens, self.answer.pace, &mut gone)?;
        match frame.pause {
            Pause::None => Ok(()),
            Pause::For(time) => ticket.wait(time, &mut gone),
            // A gate nobody knows the name of: only the client can end this.
            Pause::Forever => ticket.hold("\0never", &mut gone),
        }
    }

    fn close_record(&self, body: &Body) {
        let outcome = if body.end == End::Clean {
            "answered"
        } else {
            "broken"
        };
        self.world.close(self.n, outcome, Some(200));
    }

    fn end(&self, connection: &mut Connection, body: &Body) -> io::Result<bool> {
        let broken = body.end != End::Clean;
        self.close_record(body);
        match body.end {
            End::Clean if body.stream && !body.unframed => connection.last_chunk()?,
            End::Clean | End::Drop => {}
            End::Reset => connection.reset()?,
            End::Open => {
                let _ = self.world.engine.wait_at("\0never", &mut || {
                    connection.is_gone().then_some(Stop::Gone)
                });
            }
        }
        Ok(!broken && !body.unframed && !body.close_after)
    }

    /// Ends a request that the client left or the engine gave up; `begun` is the stream it is in.
    fn stop(
        &self,
        connection: &mut Connection,
        ticket: Ticket<'_>,
        stop: Stop,
        begun: Option<&Body>,
    ) -> io::Result<bool> {
        let (outcome, status) = match stop {
            Stop::Gone => ("hung_up", None),
            Stop::Aborted => ("aborted", Some(500)),
        };
        self.world.close(self.n, outcome, status);
        drop(ticket);
        if stop == Stop::Gone {
            return Ok(false);
        }
        let (error, done) = self.server.aborted();
        let Some(body) = begun else {
            let mut response = Response::json(500, &error);
            self.server.sign(&mut response, &self.stamp, self.request);
            return respond(connection, self.request, &response);
        };
        connection.pieces(format!("data: {error}\n\n").as_bytes(), body)?;
        if done {
            connection.pieces(crate::wire::DONE, body)?;
        }
        connection.last_chunk()?;
        Ok(true)
    }
}
