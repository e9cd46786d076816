//! A thread that waits for a key (or all below a prefix) to be removed, and rings.

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
    fired: Arc<AtomicBool>,
    host: JsonHost,
}

impl Watch {
    /// Watches from this revision on, so nothing is missed that came after the look it belongs to.
    /// None when no thread or connection could be had; then the caller looks by itself.
    pub(super) fn start(
        client: &Arc<Client>,
        target: Target,
        from: i64,
        waker: &Waker,
    ) -> Option<Self> {
        let (host, headers) = client.stream_host()?;
        let fired = Arc::new(AtomicBool::new(false));
        let mut range = match &target {
            Target::Key(key) => json!({"key": encode(key.as_bytes())}),
            Target::Below(prefix) => below(prefix),
        };
        range["start_revision"] = from.to_string().into();
        range["filters"] = json!(["NOPUT"]);
        let asked = json!({"create_request": range});
        let (flag, bell, theirs) = (Arc::clone(&fired), waker.bell().ok()?, host.clone());
        let client = Arc::clone(client);
        let wait = move || {
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            let mut is_news = false;
            let limit = client.limit();
            let ended = theirs.stream("/v3/watch", &asked, &headers, limit, &mut |line| {
                is_news = is_over(line);
                !is_news
            });
            if !is_news {
                // The member died, or was cut off from the others.
                if ended.is_err() {
                    client.distrust_member();
                }
                std::thread::sleep(PAUSE);
            }
            flag.store(true, Ordering::Release);
            bell.ring();
        };
        let builder = std::thread::Builder::new().stack_size(512 * 1024);
        builder.spawn(wait).ok()?;
        Some(Self {
            target,
            fired,
            host,
        })
    }

    pub(super) fn has_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }

    pub(super) fn is_for(&self, target: &Target) -> bool {
        self.target == *target && !self.has_fired()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.host.stop();
    }
}

/// Whether a line of the stream says that there is something to look at: an event, or that the
/// watch is over (its revision was compacted away, the token expired).
fn is_over(line: &Value) -> bool {
    let result = &line["result"];
    let has_events = result["events"].as_array().is_some_and(|e| !e.is_empty());
    has_events || result["canceled"] == true || line["error"].is_object()
}

#[cfg(test)]
mod tests {
    use super::is_over;

    #[test]
    fn recorded_lines_of_a_watch_are_told_apart() {
        let over = |text: &str| is_over(&serde_json::from_str(text).unwrap());
        assert!(!over(
            r#"{"result":{"header":{"revision":"19"},"created":true}}"#
        ));
        assert!(over(
            r#"{"result":{"header":{"revision":"20"},"events":[{"type":"DELETE","kv":{"key":"cy8w","mod_revision":"20"}}]}}"#
        ));
        assert!(over(
            r#"{"result":{"header":{},"canceled":true,"compact_revision":"18"}}"#
        ));
        assert!(over(
            r#"{"result":{"header":{},"watch_id":"-1","created":true,"canceled":true,"cancel_reason":"etcdserver: user name is empty"}}"#
        ));
    }
}
