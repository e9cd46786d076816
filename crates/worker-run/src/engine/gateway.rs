//! The only server an agent can reach: it forwards to the model server, one request at a time.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use baton_model_server::{CallError, ChatAnswer, Client, Clocks, ErrorClass, Tap, Usage};
use baton_process::Cancel;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Map, Value, json};

use super::allowance::Allowance;
use super::clamp::{Frame, clamp};
use super::http::{Request, begin_stream, read_request, send, send_error, send_json};
use crate::flag::Flag;
use crate::session::{End, tokens};

/// How long an agent may take to send a request, or to take in a piece of an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether the agent hung up.
const TICK: rustix::event::Timespec = rustix::event::Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// What the one who drives the agent hears.
#[derive(Debug)]
pub(crate) enum News {
    /// A request goes out.
    Request(Value),
    /// It was answered.
    Answer(Box<ChatAnswer>),
    /// It failed.
    Failed(String),
    /// A line of the agent's output.
    Line(Vec<u8>),
    /// The agent's process has ended.
    Ended(Box<Result<baton_process::Outcome, baton_process::SpawnError>>),
}

/// How the gateway asks.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) client: Client,
    pub(crate) frame: Frame,
    pub(crate) clocks: Clocks,
    pub(crate) flag: Flag,
    /// What the agent must show, where others could reach the gateway too.
    pub(crate) token: Option<String>,
}

#[derive(Debug)]
struct Shared {
    upstream: Upstream,
    allowance: Mutex<Allowance>,
    end: Mutex<Option<End>>,
    /// Held while a request is in flight: an agent has one slot, whatever it does beside.
    turn: Mutex<()>,
    /// Ends the agent.
    cancel: Cancel,
    news: SyncSender<News>,
    closing: AtomicBool,
}

/// A running gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    shared: Arc<Shared>,
    path: PathBuf,
    acceptor: Option<JoinHandle<()>>,
}

impl Gateway {
    /// Listens at a socket in a private folder. `cancel` is what it ends the agent with.
    pub(crate) fn open(
        path: &Path,
        upstream: Upstream,
        allowance: Allowance,
        cancel: Cancel,
        news: SyncSender<News>,
    ) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        let shared = Arc::new(Shared {
            upstream,
            allowance: Mutex::new(allowance),
            end: Mutex::default(),
            turn: Mutex::default(),
            cancel,
            news,
            closing: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        let acceptor = std::thread::Builder::new()
            .name("gateway".into())
            .spawn(move || accept(&listener, &serving))?;
        Ok(Self {
            shared,
            path: path.into(),
            acceptor: Some(acceptor),
        })
    }

    /// Why the agent was ended by the gateway, if it was.
    pub(crate) fn end(&self) -> Option<End> {
        lock(&self.shared.end).clone()
    }

    /// Requests and answers so far, and whether the server failed last.
    pub(crate) fn counts(&self) -> (u32, u32, bool) {
        let allowance = lock(&self.shared.allowance);
        (
            allowance.requests(),
            allowance.steps(),
            allowance.is_failing(),
        )
    }
}

impl Drop for Gateway {
    /// Nothing is accepted any more, and what is in flight is hung up on.
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        self.shared.cancel.cancel();
        let _ = UnixStream::connect(&self.path);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    let mut calls: Vec<JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        calls.retain(|call| !call.is_finished());
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        let call = std::thread::Builder::new()
            .name("gateway-call".into())
            // A broken connection is the agent's affair.
            .spawn(move || drop(shared.serve(stream)));
        calls.extend(call.ok());
    }
    for call in calls {
        let _ = call.join();
    }
}

impl Shared {
    fn serve(&self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let request = match read_request(&mut stream) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return send_error(
                    &mut stream,
                    400,
                    "invalid_request_error",
                    &error.to_string(),
                );
            }
            Err(error) => return Err(error),
        };
        if let Some(token) = &self.upstream.token {
            let shown = request.header("authorization").unwrap_or_default();
            if shown.strip_prefix("Bearer ") != Some(token) {
                let why = "this is the gateway of one task; use the key in OPENAI_API_KEY";
                return send_error(&mut stream, 401, "invalid_api_key", why);
            }
        }
        let path = request.path.trim_end_matches('/');
        match (request.method.as_str(), path) {
            ("POST", path) if path.ends_with("/chat/completions") => self.chat(stream, &request),
            ("GET", path) if path.ends_with("/models") => {
                send_json(&mut stream, 200, &self.models())
            }
            ("GET", "/health" | "/ping" | "/version") => send_json(&mut stream, 200, &json!({})),
            (method, path) => {
                let why = format!(
                    "{method} {path}: this gateway knows POST /v1/chat/completions and GET /v1/models"
                );
                send_error(&mut stream, 404, "not_found_error", &why)
            }
        }
    }

    fn models(&self) -> Value {
        let frame = &self.upstream.frame;
        let id = frame.model.as_deref().unwrap_or("default");
        json!({"object": "list", "data": [{
            "id": id, "object": "model", "created": 0, "owned_by": "baton", "max_model_len": frame.window}]})
    }

    fn chat(&self, mut stream: UnixStream, request: &Request) -> io::Result<()> {
        let Ok(Value::Object(body)) = serde_json::from_slice::<Value>(&request.body) else {
            let why = "the body is no JSON object";
            return send_error(&mut stream, 400, "invalid_request_error", why);
        };
        // One at a time: a title, a summary or a helper of the agent waits for its turn.
        let _turn = lock(&self.turn);
        let number = match lock(&self.allowance).admit() {
            Ok(number) => number,
            Err(end) => {
                let why = end.reason.clone();
                self.stop(end);
                return send_error(&mut stream, 429, "budget_spent", &why);
            }
        };
        let wishes = Wishes::of(&body);
        let prompt = tokens(&String::from_utf8_lossy(&request.body));
        let sent = match clamp(body, prompt, &self.upstream.frame) {
            Ok(sent) => sent,
            Err(why) => {
                let end = lock(&self.allowance).overflowed(&why);
                self.tell(News::Failed(why.clone()));
                if let Some(end) = end {
                    self.stop(end);
                }
                return send_error(&mut stream, 400, "BadRequestError", &why);
            }
        };
        self.tell(News::Request(json!({
            "number": number, "prompt_tokens": prompt, "max_tokens": sent["max_tokens"],
            "messages": sent["messages"].as_array().map_or(0, Vec::len),
            "tools": sent["tools"].as_array().map_or(0, Vec::len)})));
        self.forward(stream, &sent, wishes)
    }

    fn forward(&self, stream: UnixStream, body: &Value, wishes: Wishes) -> io::Result<()> {
        let call = self.cancel.child();
        let watched = stream.try_clone()?;
        let passing = Arc::new(Passing {
            stream: Mutex::new(stream),
            wishes,
            state: Mutex::default(),
        });
        let client = self.upstream.client.clone().with_tap(passing.clone());
        let over = AtomicBool::new(false);
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    if has_hung_up(&watched) {
                        call.cancel();
                        break;
                    }
                }
            });
            let _raised = self.upstream.flag.raise();
            let result = client.chat(body, &self.upstream.clocks, &call, &mut |_| {
                ControlFlow::Continue(())
            });
            over.store(true, Ordering::SeqCst);
            result
        });
        match result {
            Ok(answer) => {
                lock(&self.allowance).answered(answer.usage.as_ref().map_or(0, Usage::total));
                let sent = passing.finish(&answer);
                self.tell(News::Answer(Box::new(answer)));
                sent
            }
            Err(error) => {
                let end = lock(&self.allowance).failed(&error, Instant::now());
                self.tell(News::Failed(error.message.clone()));
                let sent = passing.fail(&error);
                if let Some(end) = end {
                    self.stop(end);
                }
                sent
            }
        }
    }

    fn stop(&self, end: End) {
        lock(&self.end).get_or_insert(end);
        self.cancel.cancel();
    }

    fn tell(&self, news: News) {
        // Nobody listens any more when the task is over.
        let _ = self.news.try_send(news);
    }
}

/// Waits a moment; whether the other side closed the connection.
fn has_hung_up(stream: &UnixStream) -> bool {
    let mut fds = [PollFd::new(stream, PollFlags::RDHUP)];
    poll(&mut fds, Some(&TICK)).is_ok_and(|n| n > 0)
        && fds[0]
            .revents()
            .intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR)
}

/// How the agent wants its answer.
#[derive(Debug, Clone, Copy)]
struct Wishes {
    streamed: bool,
    usage: bool,
}

impl Wishes {
    fn of(body: &Map<String, Value>) -> Self {
        let options = body.get("stream_options");
        Self {
            streamed: body.get("stream").and_then(Value::as_bool) == Some(true),
            usage: options.and_then(|o| o.get("include_usage")?.as_bool()) == Some(true),
        }
    }
}

/// One answer on its way to the agent.
#[derive(Debug)]
struct Passing {
    stream: Mutex<UnixStream>,
    wishes: Wishes,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    status: u16,
    content_type: String,
    /// The head of a stream went out; what comes is passed on.
    streaming: bool,
    /// What is not passed on yet.
    held: Vec<u8>,
}

impl Tap for Passing {
    fn head(&self, status: u16, content_type: &str) {
        let mut state = lock(&self.state);
        state.status = status;
        state.content_type = content_type.into();
        if status == 200 && content_type.contains("event-stream") && self.wishes.streamed {
            state.streaming = begin_stream(&mut *lock(&self.stream)).is_ok();
        }
    }

    fn bytes(&self, bytes: &[u8]) -> ControlFlow<()> {
        let mut state = lock(&self.state);
        state.held.extend_from_slice(bytes);
        if !state.streaming {
            return ControlFlow::Continue(());
        }
        let ready = events(&mut state.held, self.wishes.usage);
        let mut stream = lock(&self.stream);
        match stream.write_all(&ready).and_then(|()| stream.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl Passing {
    fn finish(&self, answer: &ChatAnswer) -> io::Result<()> {
        let state = lock(&self.state);
        let mut stream = lock(&self.stream);
        if state.streaming {
            stream.write_all(&state.held)?;
            return stream.flush();
        }
        if self.wishes.streamed {
            // The server did not stream; its own words are the best answer.
            return send(&mut *stream, state.status, &state.content_type, &state.held);
        }
        send_json(&mut *stream, 200, &whole(answer))
    }

    fn fail(&self, error: &CallError) -> io::Result<()> {
        let state = lock(&self.state);
        let mut stream = lock(&self.stream);
        if state.streaming {
            // What came was passed on; the connection ends without [DONE], as it did for us.
            return stream.flush();
        }
        if state.status >= 400 {
            return send(&mut *stream, state.status, &state.content_type, &state.held);
        }
        let status = match &error.class {
            ErrorClass::TimedOut(_) => 504,
            ErrorClass::Overflow { .. } => 400,
            _ => 502,
        };
        send_error(&mut *stream, status, "upstream_error", &error.message)
    }
}

/// Takes the whole events out of what is held. The one with the usage is left out where the agent
/// did not ask for it: some take an event without choices for a broken one.
fn events(held: &mut Vec<u8>, with_usage: bool) -> Vec<u8> {
    if with_usage {
        return std::mem::take(held);
    }
    let mut out = Vec::new();
    while let Some(end) = event_end(held) {
        let event: Vec<u8> = held.drain(..end).collect();
        let text = String::from_utf8_lossy(&event);
        let data = text.trim().strip_prefix("data:").map(str::trim);
        let is_usage = data
            .and_then(|data| serde_json::from_str::<Value>(data).ok())
            .is_some_and(|v| {
                v["choices"].as_array().is_some_and(Vec::is_empty) && v["usage"].is_object()
            });
        if !is_usage {
            out.extend_from_slice(&event);
        }
    }
    out
}

fn event_end(bytes: &[u8]) -> Option<usize> {
    let find = |what: &[u8]| {
        let at = bytes.windows(what.len()).position(|w| w == what)?;
        Some(at + what.len())
    };
    match (find(b"\n\n"), find(b"\r\n\r\n")) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// An answer in one piece, as OpenAI's servers write it.
fn whole(answer: &ChatAnswer) -> Value {
    let calls: Vec<Value> = answer
        .tool_calls
        .iter()
        .map(|call| {
            json!({"id": call.id, "type": "function",
                   "function": {"name": call.name, "arguments": call.arguments}})
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": answer.content});
    if let (Some(field), false) = (&answer.reasoning_field, answer.reasoning.is_empty()) {
        message[field.as_str()] = json!(answer.reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    let usage = answer.usage.map(|u| {
        json!({"prompt_tokens": u.prompt, "completion_tokens": u.completion, "total_tokens": u.total()})
    });
    json!({"id": answer.id, "object": "chat.completion", "created": 0, "model": answer.model,
           "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
           "usage": usage})
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::events;

    #[test]
    fn only_the_usage_nobody_asked_for_is_left_out() {
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n: ping\n\ndata: {\"choices\": [], \"usage\": {\"prompt_tokens\": 3}}\r\n\r\ndata: [DONE]\n\nrest";
        let mut held = stream.as_bytes().to_vec();
        let out = String::from_utf8(events(&mut held, false)).unwrap();
        assert!(out.contains("\"a\"") && out.contains("ping") && out.contains("[DONE]"));
        assert!(!out.contains("prompt_tokens"));
        assert_eq!(held, b"rest");
        let mut all = stream.as_bytes().to_vec();
        assert_eq!(events(&mut all, true), stream.as_bytes());
        assert!(all.is_empty());
    }
}
