//! A thread that waits for a key (or anything below a prefix) to be removed, and rings.
//!
//! A watch from a revision that is past already is served by etcd only every 100 ms, until it has
//! caught up. Where that would hold up a slot the watch begins with what happens from now on, and
//! rings when it has begun: who looks then has missed nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_model_server::JsonHost;
use serde_json::{Value, json};

use super::client::Client;
use super::wire::{below, decode, encode, number};
use crate::waker::Waker;

/// After a stream that could not be had, this long passes before another is tried.
const PAUSE: Duration = Duration::from_millis(300);

/// What is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Key(String),
    Below(String),
    /// A slot that is given to us, and slots that become free without being given to anybody.
    Turn {
        grant: String,
        slots: String,
    },
}

impl Target {
    /// What is asked for, for each range that is watched.
    fn questions(&self, from: Option<i64>) -> Vec<Value> {
        let key = |key: &str| json!({"key": encode(key.as_bytes())});
        let ranges = match self {
            Self::Key(name) => vec![(key(name), "NOPUT")],
            Self::Below(prefix) => vec![(below(prefix), "NOPUT")],
            Self::Turn { grant, slots } => {
                vec![(key(grant), "NODELETE"), (below(slots), "NOPUT")]
            }
        };
        let question = |(mut range, filter): (Value, &str)| {
            if let Some(from) = from {
                range["start_revision"] = from.to_string().into();
            }
            range["filters"] = json!([filter]);
            json!({"create_request": range})
        };
        ranges.into_iter().map(question).collect()
    }
}

/// A watch; it ends with this.
#[derive(Debug)]
pub(super) struct Watch {
    target: Target,
    shared: Arc<Shared>,
    host: JsonHost,
}

#[derive(Debug, Default)]
struct Shared {
    has_news: AtomicBool,
    has_begun: AtomicBool,
    /// The text of what was given to us, and the revision it was given at.
    grant: Mutex<Option<(String, i64)>>,
    is_over: AtomicBool,
}

impl Watch {
    /// Watches from this revision on, so nothing is missed that came after the look it belongs to; or
    /// from now on, and then its beginning is news as well.
    /// None when no thread or connection could be had; then the caller looks by itself.
    pub(super) fn start(
        client: &Arc<Client>,
        target: Target,
        from: Option<i64>,
        waker: &Waker,
    ) -> Option<Self> {
        let (host, headers) = client.stream_host()?;
        let shared = Arc::new(Shared::default());
        let asked = target.questions(from);
        let (told, bell, theirs) = (Arc::clone(&shared), waker.bell().ok()?, host.clone());
        let client = Arc::clone(client);
        let wait = move || {
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            let mut is_canceled = false;
            let mut to_begin = asked.len();
            let limit = client.limit();
            let ended = theirs.stream("/v3/watch", &asked, &headers, limit, &mut |line| {
                let said = read(line);
                is_canceled = said == Some(News::Over);
                if said == Some(News::Begun) {
                    to_begin = to_begin.saturating_sub(1);
                }
                if let Some(grant) = grant_of(line) {
                    *told.grant.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant);
                }
                if said == Some(News::Event) {
                    told.has_news.store(true, Ordering::Release);
                    bell.ring();
                } else if said == Some(News::Begun) && to_begin == 0 && from.is_none() {
                    told.has_begun.store(true, Ordering::Release);
                    bell.ring();
                }
                !is_canceled
            });
            if !is_canceled {
                // The member died, or was cut off from the others.
                if ended.is_err() {
                    client.distrust_member();
                }
                std::thread::sleep(PAUSE);
            }
            told.is_over.store(true, Ordering::Release);
            told.has_news.store(true, Ordering::Release);
            bell.ring();
        };
        let builder = std::thread::Builder::new().stack_size(512 * 1024);
        builder.spawn(wait).ok()?;
        Some(Self {
            target,
            shared,
            host,
        })
    }

    /// Whether there was something to look at since the last call.
    pub(super) fn has_news(&self) -> bool {
        self.shared.has_news.swap(false, Ordering::AcqRel)
    }

    /// Whether it has begun since the last call, and not from a revision on: what was before that is
    /// to be looked at.
    pub(super) fn has_begun(&self) -> bool {
        self.shared.has_begun.swap(false, Ordering::AcqRel)
    }

    /// What was given to us.
    pub(super) fn grant(&self) -> Option<(String, i64)> {
        let mut grant = self
            .shared
            .grant
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        grant.take()
    }

    /// Whether this watch goes on and is for this.
    pub(super) fn is_for(&self, target: &Target) -> bool {
        self.target == *target && !self.shared.is_over.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.host.stop();
    }
}

/// What a line of the stream says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// From here on nothing is missed.
    Begun,
    /// Something was removed.
    Event,
    /// The watch is over (its revision was compacted away, the token expired).
    Over,
}

/// A slot that was given, where the line tells of one: only what is given is ever told of as written.
fn grant_of(line: &Value) -> Option<(String, i64)> {
    let events = line["result"]["events"].as_array()?;
    let event = events
        .iter()
        .find(|event| event["kv"]["value"].is_string())?;
    let text = String::from_utf8(decode(event["kv"]["value"].as_str()?)?).ok()?;
    Some((text, number(&event["kv"]["mod_revision"])))
}

fn read(line: &Value) -> Option<News> {
    let result = &line["result"];
    if result["canceled"] == true || line["error"].is_object() {
        Some(News::Over)
    } else if result["events"].as_array().is_some_and(|e| !e.is_empty()) {
        Some(News::Event)
    } else {
        (result["created"] == true).then_some(News::Begun)
    }
}

#[cfg(test)]
mod tests {
    use super::{News, Target, grant_of, read};

    #[test]
    fn recorded_lines_of_a_watch_are_told_apart() {
        for (text, news) in [
            (
                r#"{"result":{"header":{"revision":"19"},"created":true}}"#,
                News::Begun,
            ),
            (
                r#"{"result":{"header":{"revision":"20"},"events":[{"type":"DELETE","kv":{"key":"cy8w","mod_revision":"20"}}]}}"#,
                News::Event,
            ),
            (
                r#"{"result":{"header":{},"canceled":true,"compact_revision":"18"}}"#,
                News::Over,
            ),
            (
                r#"{"result":{"header":{},"watch_id":"-1","created":true,"canceled":true,"cancel_reason":"etcdserver: user name is empty"}}"#,
                News::Over,
            ),
        ] {
            let line = serde_json::from_str(text).unwrap();
            assert_eq!(read(&line), Some(news), "{text}");
        }
    }

    #[test]
    fn what_was_given_is_read_with_its_revision() {
        let line = r#"{"result":{"header":{"revision":"4"},"events":[{"kv":{"key":"Zy8x","create_revision":"4","mod_revision":"4","version":"1","value":"MCB7fQ=="}}]}}"#;
        let line = serde_json::from_str(line).unwrap();
        assert_eq!(grant_of(&line), Some(("0 {}".to_owned(), 4)));
        let line = r#"{"result":{"header":{"revision":"5"},"watch_id":"1","events":[{"type":"DELETE","kv":{"key":"c2xvdC8x","mod_revision":"5"}}]}}"#;
        assert_eq!(grant_of(&serde_json::from_str(line).unwrap()), None);
    }

    #[test]
    fn both_ranges_of_a_turn_are_watched_from_the_same_revision() {
        let target = Target::Turn {
            grant: "g/1".into(),
            slots: "slot/".into(),
        };
        let asked = target.questions(Some(7));
        let filters: Vec<_> = asked
            .iter()
            .map(|q| &q["create_request"]["filters"][0])
            .collect();
        assert_eq!(filters, ["NODELETE", "NOPUT"]);
        for question in &asked {
            assert_eq!(question["create_request"]["start_revision"], "7");
        }
        let now = Target::Key("k".into()).questions(None);
        assert_eq!(
            now[0]["create_request"]["start_revision"],
            serde_json::Value::Null
        );
    }
}
