//! The shell of a probe: asks routes side by side until a deadline.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use baton_process::Cancel;
use baton_protocol::{Provider, ServerKind};

use super::answers::{Answer, Answers, Reply};
use super::detect::detect;
use super::judge::{Asked, is_suspicious, judge};
use super::routes;
use crate::errors::{CallError, Clock, ErrorClass};
use crate::net::{Endpoint, Exchange, Head, Order, Piece, Wire};

/// The most that is read of one route's answer.
const PROBE_BODY_LIMIT: usize = 4 << 20;
/// Before a second look at a server whose queue does not move.
const SECOND_LOOK: Duration = Duration::from_millis(300);
/// Rounds of asking; each may need what the one before found.
const ROUNDS: usize = 4;

/// How to probe.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// What is known of the provider.
    pub asked: Asked,
    /// The limit for everything together.
    pub timeout: Duration,
    /// Samples to take; two or more find an engine that does not move.
    pub samples: u32,
    /// The time between two samples; it is not part of `timeout`.
    pub interval: Duration,
    /// Whether it matters how busy the server is. Where it does not, routes that tell nothing else
    /// are left out.
    pub load: bool,
}

impl ProbeOptions {
    /// One sample within three seconds.
    pub fn new(id: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self {
            asked: Asked {
                id: id.into(),
                base_url: base_url.into(),
                ..Asked::default()
            },
            timeout: Duration::from_secs(3),
            samples: 1,
            interval: Duration::from_secs(2),
            load: true,
        }
    }
}

/// Asks a server everything that is worth asking, and judges it.
///
/// It never sends a completion, never wakes a sleeping model and never loads one. Whatever hangs,
/// it returns within the time limit (and the intervals between samples).
pub fn probe(endpoint: &Endpoint, options: &ProbeOptions, cancel: &Cancel) -> Provider {
    let started = Instant::now();
    let first = sample(endpoint, options, started + options.timeout, cancel);
    let mut samples = vec![first];
    let mut wait = options.interval;
    let mut wanted = options.samples.max(1) as usize;
    let mut span = Duration::ZERO;
    let mut provider = judge(&options.asked, &samples, span);
    let left = options.timeout.saturating_sub(started.elapsed());
    if wanted == 1 && is_suspicious(&provider) && left > SECOND_LOOK * 2 {
        wanted = 2;
        wait = SECOND_LOOK;
    }
    let first_at = Instant::now();
    while samples.len() < wanted && !provider.signals.is_empty() && !cancel.wait(wait) {
        let Some(last) = samples.last() else { break };
        let routes = routes::again(last);
        if routes.is_empty() {
            break;
        }
        let mut next = last.clone();
        next.extend(ask(
            endpoint,
            &routes,
            Instant::now() + options.timeout.min(left),
            cancel,
        ));
        samples.push(next);
        span = first_at.elapsed();
        provider = judge(&options.asked, &samples, span);
    }
    provider
}

/// Asks `/health` alone: the cheap question of someone who waits.
///
/// The status of whatever answered; none when nothing did within the limit.
pub fn knock(endpoint: &Endpoint, limit: Duration, cancel: &Cancel) -> Option<u16> {
    let routes = ["/health".to_owned()];
    ask(endpoint, &routes, Instant::now() + limit, cancel).status("/health")
}

/// One round after another, until nothing is left to ask.
fn sample(
    endpoint: &Endpoint,
    options: &ProbeOptions,
    deadline: Instant,
    cancel: &Cancel,
) -> Answers {
    let forced = options.asked.kind;
    let mut answers = Answers::default();
    let mut routes: Vec<String> = routes::FIRST
        .iter()
        // LiteLLM's /health sends a request to every model behind it.
        .filter(|route| !(forced == Some(ServerKind::LiteLlm) && **route == "/health"))
        .map(|route| (*route).to_owned())
        .collect();
    for _ in 0..ROUNDS {
        let round = ask(endpoint, &routes, deadline, cancel);
        let dead = round.iter().all(|(_, answer)| answer.result.is_err());
        answers.extend(round);
        if dead || cancel.is_cancelled() {
            break;
        }
        let kind = forced.or_else(|| detect(&answers));
        routes = routes::next(kind, &answers);
        routes.retain(|route| options.load || !routes::only_load(kind, route));
        if routes.is_empty() {
            break;
        }
    }
    answers
}

/// An exchange in flight and what has come of it.
struct Flight {
    route: String,
    url: String,
    _exchange: Option<Exchange>,
    head: Option<Head>,
    body: Vec<u8>,
    done: Option<(Result<(), CallError>, Instant)>,
}

/// Asks several routes side by side. Every route has an answer in the end, if only a timeout.
pub(crate) fn ask(
    endpoint: &Endpoint,
    routes: &[String],
    deadline: Instant,
    cancel: &Cancel,
) -> Answers {
    let started = Instant::now();
    let left = deadline.saturating_duration_since(started);
    let (sender, wire) = sync_channel::<Wire>(routes.len() * 8 + 8);
    let waker = sender.clone();
    let guard = cancel.on_cancel(Box::new(move || {
        let _ = waker.try_send((0, Piece::Wake, Instant::now()));
    }));
    let mut flights: BTreeMap<usize, Flight> = BTreeMap::new();
    for (number, route) in routes.iter().enumerate() {
        let url = match route.strip_prefix("/v1") {
            Some(rest) => endpoint.at_api(rest),
            None => endpoint.at_root(route),
        };
        let order = Order {
            url: url.clone(),
            body: None,
            // Shorter than the deadline, so that "no connection" and "no answer" stay apart.
            connect: left.mul_f64(0.8).max(Duration::from_millis(1)),
            limit: PROBE_BODY_LIMIT,
        };
        let started = Exchange::start(endpoint, order, number, sender.clone());
        let (exchange, done) = match started {
            Ok(exchange) => (Some(exchange), None),
            Err(failure) => (None, Some((Err(failure.into_error(&url)), Instant::now()))),
        };
        let flight = Flight {
            route: route.clone(),
            url,
            _exchange: exchange,
            head: None,
            body: Vec::new(),
            done,
        };
        flights.insert(number, flight);
    }
    drop(sender);
    while flights.values().any(|f| f.done.is_none()) && !cancel.is_cancelled() {
        let left = deadline.saturating_duration_since(Instant::now());
        match wire.recv_timeout(left) {
            Ok((number, piece, at)) => {
                if let Some(flight) = flights.get_mut(&number) {
                    flight.take(piece, at);
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    drop(guard);
    let mut answers = Answers::default();
    for flight in flights.into_values() {
        let route = flight.route.clone();
        answers.insert(route, flight.answer(started, left, cancel.is_cancelled()));
    }
    answers
}

impl Flight {
    fn take(&mut self, piece: Piece, at: Instant) {
        match piece {
            Piece::Head(head) => self.head = Some(head),
            Piece::Bytes(bytes) => self.body.extend_from_slice(&bytes),
            Piece::End | Piece::TooLarge => self.done = Some((Ok(()), at)),
            Piece::Failed(failure) => self.done = Some((Err(failure.into_error(&self.url)), at)),
            Piece::Wake => {}
        }
    }

    fn answer(self, started: Instant, limit: Duration, cancelled: bool) -> Answer {
        let now = Instant::now();
        let (result, at) = self.done.unwrap_or_else(|| {
            let error = if cancelled {
                CallError::new(ErrorClass::Cancelled, format!("{}: cancelled", self.url))
            } else {
                CallError::new(
                    ErrorClass::TimedOut(Clock::Deadline),
                    format!(
                        "{}: no answer within {:.1} s",
                        self.url,
                        limit.as_secs_f64()
                    ),
                )
            };
            (Err(error), now)
        });
        let head = self.head.unwrap_or_default();
        let body = self.body;
        Answer {
            result: result.map(|()| Reply {
                status: head.status,
                content_type: head.content_type,
                server: head.server,
                proxy: head.proxy,
                location: head.location,
                body,
            }),
            took: at.saturating_duration_since(started),
            age: now.saturating_duration_since(at),
        }
    }
}
