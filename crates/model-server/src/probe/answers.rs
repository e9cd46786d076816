//! What the routes of a server answered. Values only, so that every judgement is a unit test.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::errors::{CallError, Clock, ErrorClass, is_html};

/// One route's answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The reply, or why there was none.
    pub result: Result<Reply, CallError>,
    /// How long it took.
    pub took: Duration,
    /// How long ago it came, when the judgement is made.
    pub age: Duration,
}

/// A reply over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The `Content-Type`, or empty.
    pub content_type: String,
    /// The `Server`, or empty.
    pub server: String,
    /// What a proxy says about itself, or empty.
    pub proxy: String,
    /// Where it was redirected to without being followed, or empty.
    pub location: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Option<Value> {
        let body = self
            .body
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.body);
        serde_json::from_slice(body).ok()
    }

    /// Whether it is a web page.
    pub fn is_html(&self) -> bool {
        is_html(&self.content_type, &self.text())
    }
}

/// The answers of one round of asking, by route (`/health`, `/v1/models`, …).
#[derive(Debug, Clone, Default)]
pub struct Answers {
    by_route: BTreeMap<String, Answer>,
}

impl Answers {
    /// Adds an answer.
    pub fn insert(&mut self, route: impl Into<String>, answer: Answer) {
        self.by_route.insert(route.into(), answer);
    }

    /// Takes over all answers of another round.
    pub fn extend(&mut self, other: Self) {
        self.by_route.extend(other.by_route);
    }

    /// One route's answer.
    pub fn get(&self, route: &str) -> Option<&Answer> {
        self.by_route.get(route)
    }

    /// All routes and answers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Answer)> {
        self.by_route
            .iter()
            .map(|(route, answer)| (route.as_str(), answer))
    }

    /// One route's reply.
    pub fn reply(&self, route: &str) -> Option<&Reply> {
        self.get(route)?.result.as_ref().ok()
    }

    /// One route's status.
    pub fn status(&self, route: &str) -> Option<u16> {
        Some(self.reply(route)?.status)
    }

    /// One route's JSON, with status 200 only.
    pub fn json(&self, route: &str) -> Option<Value> {
        let reply = self.reply(route)?;
        (reply.status == 200).then(|| reply.json()).flatten()
    }

    /// One route's text, with status 200 only.
    pub fn text(&self, route: &str) -> Option<String> {
        let reply = self.reply(route)?;
        (reply.status == 200).then(|| reply.text())
    }

    /// Whether a route was asked, and nothing came although the connection stood.
    pub fn is_mute(&self, route: &str) -> bool {
        self.get(route)
            .is_some_and(|answer| matches!(&answer.result, Err(e) if is_silence(e)))
    }
}

/// Whether a call ended in silence on a connection that stood.
pub(crate) fn is_silence(error: &CallError) -> bool {
    matches!(
        error.class,
        ErrorClass::TimedOut(Clock::FirstByte | Clock::Idle | Clock::Request | Clock::Deadline)
    )
}

#[cfg(test)]
impl Answers {
    /// A round of answers for tests: route, status, body. A `Server` header may follow the status.
    pub(crate) fn of(table: &[(&str, u16, &str)]) -> Self {
        let mut answers = Self::default();
        for (route, status, body) in table {
            let content_type = if body.starts_with(['{', '[']) {
                "application/json"
            } else {
                "text/plain"
            };
            answers.reply_with(route, *status, content_type, "", body);
        }
        answers
    }

    pub(crate) fn reply_with(
        &mut self,
        route: &str,
        status: u16,
        content_type: &str,
        server: &str,
        body: &str,
    ) {
        self.insert(
            route,
            Answer {
                result: Ok(Reply {
                    status,
                    content_type: content_type.to_owned(),
                    server: server.to_owned(),
                    body: body.as_bytes().to_vec(),
                    ..Reply::default()
                }),
                took: Duration::from_millis(2),
                age: Duration::from_millis(1),
            },
        );
    }

    pub(crate) fn fail(&mut self, route: &str, class: ErrorClass) {
        self.insert(
            route,
            Answer {
                result: Err(CallError::new(class, "it failed")),
                took: Duration::from_secs(3),
                age: Duration::ZERO,
            },
        );
    }
}
