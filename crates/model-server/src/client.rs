//! The client: one request at a time, bounded and cancellable.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use baton_process::Cancel;
use serde_json::Value;

use crate::clocks::Clocks;
use crate::document::{document, is_part_of_answer};
use crate::errors::{CallError, Clock, ErrorClass, Reply, classify, classify_stream_error};
use crate::net::{Endpoint, Exchange, Head, Order, Piece, Wire};
use crate::replay::prepare;
use crate::stream::{
    Assembly, ChatAnswer, SseCounts, SseDecoder, Step, StreamEvent, Timing, whole_answer,
};
use crate::tap::{RawReply, Tap, serve};

/// The most a whole answer may have, in bytes.
const ANSWER_LIMIT: usize = 256 << 20;
/// How much of a body is kept that is not a stream: errors, counts, model lists.
pub(crate) const BODY_LIMIT: usize = 16 << 20;

/// How long a stream may stay open after its finish reason.
const ENDING_PAUSE: Duration = Duration::from_secs(5);

/// Called with every event of a stream; `Break` ends the request at once.
pub type OnEvent<'a> = &'a mut dyn FnMut(&StreamEvent) -> ControlFlow<()>;

/// Speaks to one model server.
#[derive(Debug, Clone)]
pub struct Client {
    endpoint: Endpoint,
    tap: Option<Arc<dyn Tap>>,
}

/// A body that came in one piece.
#[derive(Debug, Clone)]
pub(crate) struct Whole {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

/// One request with its clocks, as seen from the caller's side of the channel.
struct Call<'a> {
    url: String,
    clocks: &'a Clocks,
    cancel: &'a Cancel,
    started: Instant,
    last_event: Option<Instant>,
    /// A finish reason came: what follows (usage, `[DONE]`) follows at once or never.
    is_ending: bool,
    wire: Receiver<Wire>,
    tap: Option<&'a dyn Tap>,
}

impl Client {
    /// A client for an endpoint. Nothing is sent yet.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            tap: None,
        }
    }

    /// The same client, with somebody who sees its chat exchanges.
    #[must_use]
    pub fn with_tap(mut self, tap: Arc<dyn Tap>) -> Self {
        self.tap = Some(tap);
        self
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a chat completion and streams its answer.
    ///
    /// `request` is the body; `stream` and `stream_options` are set here, and history that servers
    /// refuse (`content: null`, empty arrays) is mended and counted in `repairs`. A stream that
    /// ends early is an error of class [`ErrorClass::Cut`], with what had come as `partial`.
    pub fn chat(
        &self,
        request: &Value,
        clocks: &Clocks,
        cancel: &Cancel,
        on_event: OnEvent<'_>,
    ) -> Result<ChatAnswer, CallError> {
        let (body, mended) = prepare(request);
        let order = Order {
            url: self.endpoint.at_api("/chat/completions"),
            body: Some(body.to_string().into_bytes()),
            connect: clocks.connect,
            limit: ANSWER_LIMIT,
        };
        let tap = self.tap.as_deref();
        let answer = self.exchange(order, clocks, cancel, tap, |call, head| {
            call.stream(&head, on_event)
        });
        if let Some(tap) = tap {
            tap.end(answer.as_ref().err());
        }
        let mut answer = answer?;
        for what in mended {
            *answer.repairs.entry(what.to_owned()).or_default() += 1;
        }
        Ok(answer)
    }

    /// Asks a route below the server's root and reads the whole body.
    pub(crate) fn whole(
        &self,
        url: String,
        body: Option<&Value>,
        clocks: &Clocks,
        cancel: &Cancel,
    ) -> Result<Whole, CallError> {
        let order = Order {
            url,
            body: body.map(|b| b.to_string().into_bytes()),
            connect: clocks.connect,
            limit: BODY_LIMIT,
        };
        self.exchange(order, clocks, cancel, None, |call, head| {
            let body = call.body()?;
            Ok(Whole { head, body })
        })
    }

    fn exchange<T>(
        &self,
        order: Order,
        clocks: &Clocks,
        cancel: &Cancel,
        tap: Option<&dyn Tap>,
        then: impl FnOnce(&mut Call<'_>, Head) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let url = order.url.clone();
        let (sender, wire) = sync_channel::<Wire>(64);
        let waker = sender.clone();
        let guard = cancel.on_cancel(Box::new(move || {
            // A full channel means the reader is awake anyway.
            let _ = waker.try_send((0, Piece::Wake, Instant::now()));
        }));
        let started = Instant::now();
        let own = tap.and_then(|tap| tap.request(order.body.as_deref().unwrap_or_default()));
        let exchange = match own {
            Some(RawReply {
                error: Some(error), ..
            }) => return Err(error),
            Some(reply) => {
                serve(reply, &sender);
                None
            }
            None => Some(
                Exchange::start(&self.endpoint, order, 0, sender)
                    .map_err(|failure| failure.into_error(&url))?,
            ),
        };
        let mut call = Call {
            url,
            clocks,
            cancel,
            started,
            last_event: None,
            is_ending: false,
            wire,
            tap,
        };
        let result = match call.next()? {
            Piece::Head(head) => then(&mut call, head),
            Piece::Failed(failure) => Err(failure.into_error(&call.url)),
            _ => Err(call.cut("it ended before its headers")),
        };
        drop(guard);
        drop(exchange);
        result
    }
}

impl Call<'_> {
    /// The next piece; an error when a clock runs out or the caller cancels.
    fn next(&mut self) -> Result<Piece, CallError> {
        loop {
            if self.cancel.is_cancelled() {
                let message = format!("{}: cancelled", self.url);
                return Err(CallError::new(ErrorClass::Cancelled, message));
            }
            let next = self.next_clock();
            let received = match next {
                None => self.wire.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some((at, _)) => {
                    let left = at.saturating_duration_since(Instant::now());
                    self.wire.recv_timeout(left)
                }
            };
            match received {
                Ok((_, Piece::Wake, _)) => {}
                Ok((_, piece, _)) => {
                    self.show(&piece)?;
                    return Ok(piece);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(Piece::End),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some((_, clock)) = next {
                        return Err(self.timed_out(clock));
                    }
                }
            }
        }
    }

    fn show(&self, piece: &Piece) -> Result<(), CallError> {
        let Some(tap) = self.tap else { return Ok(()) };
        match piece {
            Piece::Head(head) => tap.head(head.status, &head.content_type),
            Piece::Bytes(bytes) if tap.bytes(bytes).is_break() => {
                let message = format!("{}: given up", self.url);
                return Err(CallError::new(ErrorClass::Cancelled, message));
            }
            _ => {}
        }
        Ok(())
    }

    fn next_clock(&self) -> Option<(Instant, Clock)> {
        let next = self.clocks.next(self.started, self.last_event);
        let Some(end) = self
            .last_event
            .filter(|_| self.is_ending)
            .map(|at| at + ENDING_PAUSE)
        else {
            return next;
        };
        match next {
            Some((at, clock)) if at < end => Some((at, clock)),
            _ => Some((end, Clock::Idle)),
        }
    }

    fn timed_out(&self, clock: Clock) -> CallError {
        let limit = self.clocks.limit(clock).map(words).unwrap_or_default();
        let what = match clock {
            Clock::Connect => format!("no connection within {limit}"),
            Clock::FirstByte => format!(
                "nothing came within {limit} of sending the request (it waits in the server's \
                 queue, or reads a long prompt)"
            ),
            Clock::Idle => format!("the stream went silent for {limit}"),
            Clock::Request => format!("not finished within {limit}"),
            Clock::Deadline => "the time for it is over".to_owned(),
        };
        CallError::new(ErrorClass::TimedOut(clock), format!("{}: {what}", self.url))
    }

    fn cut(&self, why: &str) -> CallError {
        let message = format!("{}: the answer was cut off: {why}", self.url);
        CallError::new(ErrorClass::Cut, message)
    }

    fn body(&mut self) -> Result<Vec<u8>, CallError> {
        let mut body = Vec::new();
        loop {
            match self.next()? {
                Piece::Bytes(bytes) => body.extend_from_slice(&bytes),
                Piece::End => return Ok(body),
                Piece::Failed(failure) => return Err(failure.into_error(&self.url)),
                Piece::TooLarge => return Err(self.too_large()),
                Piece::Head(_) | Piece::Wake => {}
            }
        }
    }

    fn too_large(&self) -> CallError {
        let message = format!(
            "{}: the answer does not end (over the size limit)",
            self.url
        );
        CallError::new(ErrorClass::TooLarge, message)
    }

    fn refused(&self, head: &Head, body: &[u8]) -> CallError {
        let mut error = classify(&Reply {
            url: &self.url,
            status: head.status,
            content_type: &head.content_type,
            retry_after: &head.retry_after,
            proxy: &head.proxy,
            body,
        });
        if (300..400).contains(&head.status) {
            error.class = ErrorClass::NotApi;
            error.retryable = false;
            error.message = format!(
                "{} redirects to {} ({}), which is not followed: set the base URL to it",
                self.url, head.location, head.status
            );
        }
        error
    }

    fn stream(&mut self, head: &Head, on_event: OnEvent<'_>) -> Result<ChatAnswer, CallError> {
        let headers = self.started.elapsed();
        // Declared gzip is decoded below us, and its header taken away.
        if !matches!(head.encoding.as_str(), "" | "identity") {
            let message = format!(
                "{}: the body is `{}`-encoded, which was not asked for: look for a proxy that \
                 compresses",
                self.url, head.encoding
            );
            return Err(CallError::new(ErrorClass::NotApi, message).with_status(head.status));
        }
        let is_stream = ["event-stream", "ndjson", "jsonl"]
            .iter()
            .any(|kind| head.content_type.contains(kind));
        if head.status != 200 || !is_stream {
            let body = self.body()?;
            return self.not_a_stream(head, &body);
        }
        if on_event(&StreamEvent::Accepted).is_break() {
            return Ok(Assembly::default().finish(SseCounts::default(), true));
        }
        let mut answer = self.events(on_event)?;
        answer.timing.headers_ms = millis(headers);
        Ok(answer)
    }

    /// A server that did not stream: an error, a page, or a whole answer.
    fn not_a_stream(&self, head: &Head, body: &[u8]) -> Result<ChatAnswer, CallError> {
        let parsed = document(body);
        if head.status == 200
            && let Err(error) = &parsed
            && is_part_of_answer(body, error)
        {
            return Err(self.cut(&format!("the document is not whole: {error}")));
        }
        if head.status == 200
            && let Ok(value) = &parsed
            && (value.get("choices").is_some() || value.get("error").is_some())
        {
            let mut answer =
                whole_answer(value).map_err(|error| classify_stream_error(&error, &self.url))?;
            *answer.repairs.entry("not_streamed".to_owned()).or_default() += 1;
            answer.timing = Timing {
                total_ms: millis(self.started.elapsed()),
                ..Timing::default()
            };
            return Ok(answer);
        }
        // Some servers stream without saying so in the content type.
        if head.status == 200 && body.starts_with(b"data:") {
            let mut decoder = SseDecoder::default();
            let mut assembly = Assembly::default();
            assembly.note("stream_without_content_type");
            decoder.push(body);
            while let Some(event) = decoder
                .next_event()
                .map_err(|_| self.too_large())?
                .or_else(|| decoder.finish())
            {
                match assembly.push(&event) {
                    Step::More(_) => {}
                    Step::Done => break,
                    Step::Error(error) => return Err(classify_stream_error(&error, &self.url)),
                }
            }
            let whole = assembly.is_whole();
            let answer = assembly.finish(decoder.counts(), false);
            return if whole {
                Ok(answer)
            } else {
                Err(self.cut("no [DONE]").with_partial(answer))
            };
        }
        Err(self.refused(head, body))
    }

    fn events(&mut self, on_event: OnEvent<'_>) -> Result<ChatAnswer, CallError> {
        let mut decoder = SseDecoder::default();
        let mut assembly = Assembly::default();
        let mut first = None;
        let mut head_bytes = Vec::new();
        let ending = 'reading: loop {
            let piece = match self.next() {
                Ok(piece) => piece,
                // The reason to end was given, and only [DONE] is missing: this is no cut.
                Err(error)
                    if assembly.is_whole() && error.class == ErrorClass::TimedOut(Clock::Idle) =>
                {
                    break Ok(false);
                }
                Err(error) => break Err(error),
            };
            let ended = match piece {
                Piece::Bytes(bytes) => {
                    if head_bytes.len() < 512 {
                        head_bytes.extend(bytes.iter().take(512));
                        if head_bytes.starts_with(&[0x1f, 0x8b]) {
                            break Err(self.refused(&Head::default(), &head_bytes));
                        }
                    }
                    decoder.push(&bytes);
                    false
                }
                Piece::End => true,
                Piece::Failed(_) if assembly.is_whole() => break Ok(false),
                Piece::Failed(failure) => break Err(failure.into_error(&self.url)),
                Piece::TooLarge => break Err(self.too_large()),
                Piece::Head(_) | Piece::Wake => continue,
            };
            loop {
                let event = match decoder.next_event() {
                    Ok(Some(event)) => event,
                    Ok(None) if ended => match decoder.finish() {
                        Some(event) => event,
                        None => break,
                    },
                    Ok(None) => break,
                    Err(_) => break 'reading Err(self.too_large()),
                };
                let now = Instant::now();
                first.get_or_insert(now);
                self.last_event = Some(now);
                match assembly.push(&event) {
                    Step::Done => break 'reading Ok(false),
                    Step::Error(error) => {
                        break 'reading Err(classify_stream_error(&error, &self.url));
                    }
                    Step::More(happened) => {
                        self.is_ending = assembly.is_whole();
                        if happened.iter().any(|event| on_event(event).is_break()) {
                            break 'reading Ok(true);
                        }
                    }
                }
            }
            if ended && !assembly.is_whole() {
                let why = if head_bytes.is_empty() {
                    "the server closed the connection before the first byte".to_owned()
                } else if assembly.has_something() {
                    "the stream ended without a finish reason and without [DONE]".to_owned()
                } else {
                    let text = String::from_utf8_lossy(&head_bytes);
                    format!(
                        "the stream ended without an answer; it begins: {}",
                        crate::errors::head(&text)
                    )
                };
                break Err(self.cut(&why));
            }
            if ended {
                break Ok(false);
            }
        };
        let timing = self.timing(first);
        match ending {
            Ok(stopped) => {
                let mut answer = assembly.finish(decoder.counts(), stopped);
                answer.timing = timing;
                Ok(answer)
            }
            Err(error) if assembly.has_something() => {
                let mut partial = assembly.finish(decoder.counts(), true);
                partial.timing = timing;
                Err(error.with_partial(partial))
            }
            Err(error) => Err(error),
        }
    }

    fn timing(&self, first: Option<Instant>) -> Timing {
        let first = first.unwrap_or(self.started);
        let last = self.last_event.unwrap_or(first);
        Timing {
            headers_ms: 0,
            first_event_ms: millis(first.saturating_duration_since(self.started)),
            decode_ms: millis(last.saturating_duration_since(first)),
            total_ms: millis(self.started.elapsed()),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn words(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
