//! A thread that waits for a key (or anything below a prefix) to be removed, and rings.
//!
//! A watch from a revision that is past already is served by etcd only every 100 ms, until it has
//! caught up. Where that would hold up a slot the watch begins with what happens from now on, and
//! rings when it has begun: who looks then has missed nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_model_server::JsonHost;
use serde_json::{Value, json};

use super::client::Client;
use super::wire::{below, encode};
use crate::waker::Waker;

/// After a stream that could not be had, this long passes before another is tried.
const PAUSE: Duration = Duration::from_millis(300);

/// What is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Key(String),
    Below(String),
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
        let mut range = match &target {
            Target::Key(key) => json!({"key": encode(key.as_bytes())}),
            Target::Below(prefix) => below(prefix),
        };
        if let Some(from) = from {
            range["start_revision"] = from.to_string().into();
        }
        range["filters"] = json!(["NOPUT"]);
        let asked = json!({"create_request": range});
        let (told, bell, theirs) = (Arc::clone(&shared), waker.bell().ok()?, host.clone());
        let client = Arc::clone(client);
        let wait = move || {
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            let mut is_canceled = false;
            let limit = client.limit();
            let ended = theirs.stream("/v3/watch", &asked, &headers, limit, &mut |line| {
                let said = read(line);
                is_canceled = said == Some(News::Over);
                if said == Some(News::Event) || (said == Some(News::Begun) && from.is_none()) {
                    told.has_news.store(true, Ordering::Release);
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
    use super::{News, read};

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
}
