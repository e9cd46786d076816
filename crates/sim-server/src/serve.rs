//! A chat request from its arrival to its last byte.

use std::io;

use serde_json::Value;

use crate::answer::Answer;
use crate::chat::Chat;
use crate::connection::{Connection, respond};
use crate::engine::{Stop, Ticket};
use crate::generate::{self, Output};
use crate::http::{Request, Response};
use crate::kinds::{Event, Reply, Stamp};
use crate::tokens;
use crate::world::{World, lock};

/// One chat request on its way.
struct Job<'a> {
    world: &'a World,
    request: &'a Request,
    stamp: Stamp,
    n: u64,
    chat: Chat,
    answer: Answer,
    prompt: u64,
    limit: u64,
}

/// Serves the `chat`-th chat request; `false` when the connection must end.
pub(crate) fn chat(
    connection: &mut Connection,
    world: &World,
    request: &Request,
    n: u64,
    chat_number: u64,
) -> io::Result<bool> {
    let mut stamp = World::stamp(n);
    if let Some(id) = request.header("x-request-id") {
        id.clone_into(&mut stamp.id);
    }
    let refuse = |connection: &mut Connection, mut response: Response| {
        world.config.kind.sign(&mut response, &stamp, request);
        world.close(n, "refused", Some(response.status));
        respond(connection, request, &response).map(|()| true)
    };
    let kind = world.config.kind;
    let chat = match kind.admit(&world.config, request) {
        Ok(chat) => chat,
        Err(refusal) => return refuse(connection, refusal),
    };
    let prompt_text = chat.prompt();
    let prompt = tokens::ids(&prompt_text);
    let count = prompt.len() as u64;
    world.amend(n, |record| record.prompt_tokens = Some(count));
    let limit = match kind.limit(&world.config, &chat, count) {
        Ok(limit) => limit,
        Err(refusal) => return refuse(connection, refusal),
    };
    let answer = lock(&world.model).answer(&chat, chat_number);
    world.amend(n, |record| record.rule = Some(answer.rule.clone()));
    if let Some(refusal) = &answer.refusal {
        let mut response = Response::json(refusal.status, &refusal.body);
        if let Some(after) = &refusal.retry_after {
            response = response.with("retry-after", after.clone());
        }
        return refuse(connection, response);
    }
    let Some(ticket) = world.engine.enqueue(prompt) else {
        return refuse(connection, kind.busy());
    };
    let job = Job {
        world,
        request,
        stamp: stamp.clone(),
        n,
        chat,
        answer,
        prompt: count,
        limit,
    };
    let ended = if job.chat.stream {
        job.stream(connection, ticket)
    } else {
        job.whole(connection, ticket)
    };
    match ended {
        Ok(keep) => Ok(keep),
        Err(error) => {
            world.close(n, "hung_up", None);
            Err(error)
        }
    }
}

/// How a request's time in the engine ended.
struct Ran {
    cached: u64,
    output: Output,
}

impl Job<'_> {
    /// Waits for a slot and writes what the model has to say, up to its first token.
    fn begin(&self, connection: &Connection, ticket: &mut Ticket<'_>) -> Result<Ran, Stop> {
        let mut gone = || connection.is_gone();
        let (slot, cached) = ticket.start(self.limit, &mut gone)?;
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
        let mut gone = || connection.is_gone();
        ticket.prefill(&mut gone)?;
        if let Some(gate) = &self.answer.hold {
            ticket.hold(gate, &mut gone)?;
        }
        ticket.wait(self.answer.wait, &mut gone)
    }

    fn reply<'r>(&'r self, ran: &'r Ran) -> Reply<'r> {
        let config = &self.world.config;
        let asked = Some(&self.chat.model).filter(|model| config.models.contains(model));
        let model = self
            .answer
            .model
            .as_ref()
            .or(asked)
            .unwrap_or(&config.models[0]);
        Reply {
            chat: &self.chat,
            output: &ran.output,
            stamp: &self.stamp,
            model,
            prompt: self.prompt,
            cached: ran.cached,
            usage: self.answer.usage.as_ref(),
        }
    }

    fn whole(&self, connection: &mut Connection, mut ticket: Ticket<'_>) -> io::Result<bool> {
        let kind = self.world.config.kind;
        let ran = self.begin(connection, &mut ticket).and_then(|ran| {
            self.prepare(connection, &mut ticket)?;
            let mut gone = || connection.is_gone();
            ticket.tokens(ran.output.tokens, self.answer.pace, &mut gone)?;
            if let Some(gate) = &self.answer.hold_end {
                ticket.hold(gate, &mut gone)?;
            }
            Ok(ran)
        });
        let (outcome, mut response) = match ran {
            Ok(ran) => {
                ticket.finish(ran.output.was_cut());
                self.note_output(&ran.output);
                (
                    "answered",
                    Response::json(200, &kind.document(&self.reply(&ran))),
                )
            }
            Err(Stop::Gone) => {
                self.world.close(self.n, "hung_up", None);
                return Ok(false);
            }
            Err(Stop::Aborted) => ("aborted", Response::json(500, &kind.aborted())),
        };
        drop(ticket);
        kind.sign(&mut response, &self.stamp, self.request);
        self.world.close(self.n, outcome, Some(response.status));
        respond(connection, self.request, &response)?;
        Ok(true)
    }

    fn stream(&self, connection: &mut Connection, mut ticket: Ticket<'_>) -> io::Result<bool> {
        let kind = self.world.config.kind;
        let mut head = kind.stream_head();
        kind.sign(&mut head, &self.stamp, self.request);
        let early = kind.headers_while_queued();
        if early {
            connection.send(&head.chunked_head())?;
            self.world.amend(self.n, |record| record.status = Some(200));
        }
        let ran = match self.begin(connection, &mut ticket) {
            Ok(ran) => ran,
            Err(stop) => return self.stop(connection, ticket, stop),
        };
        if !early {
            connection.send(&head.chunked_head())?;
            self.world.amend(self.n, |record| record.status = Some(200));
        }
        if let Err(stop) = self.prepare(connection, &mut ticket) {
            return self.stop(connection, ticket, stop);
        }
        self.note_output(&ran.output);
        let events = kind.events(&self.reply(&ran));
        let last = events.iter().rposition(|event| event.tokens > 0);
        for (at, event) in events.iter().enumerate() {
            if let Err(stop) = self.time(connection, &mut ticket, event, Some(at) == last) {
                return self.stop(connection, ticket, stop);
            }
            connection.chunk(&frame(&event.data))?;
        }
        ticket.finish(ran.output.was_cut());
        drop(ticket);
        self.world.close(self.n, "answered", Some(200));
        connection.chunk(b"data: [DONE]\n\n")?;
        connection.last_chunk()?;
        Ok(true)
    }

    /// Lets the time of an event's tokens pass.
    fn time(
        &self,
        connection: &Connection,
        ticket: &mut Ticket<'_>,
        event: &Event,
        last: bool,
    ) -> Result<(), Stop> {
        let mut gone = || connection.is_gone();
        if let Some(gate) = self.answer.hold_end.as_ref().filter(|_| last) {
            ticket.hold(gate, &mut gone)?;
        }
        ticket.tokens(event.tokens, self.answer.pace, &mut gone)
    }

    /// Ends a stream that the client left or the engine gave up.
    fn stop(
        &self,
        connection: &mut Connection,
        ticket: Ticket<'_>,
        stop: Stop,
    ) -> io::Result<bool> {
        drop(ticket);
        if stop == Stop::Gone {
            self.world.close(self.n, "hung_up", None);
            return Ok(false);
        }
        self.world.close(self.n, "aborted", None);
        connection.chunk(&frame(&self.world.config.kind.aborted()))?;
        connection.chunk(b"data: [DONE]\n\n")?;
        connection.last_chunk()?;
        Ok(true)
    }

    fn note_output(&self, output: &Output) {
        self.world.amend(self.n, |record| {
            record.completion_tokens = Some(output.tokens);
            record.finish = Some(output.finish.clone());
        });
    }
}

fn frame(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}
