//! What a worker does, from the events it writes: where it is, how fast, and how the time was spent.

use baton_protocol::{Event, Reservation};
use serde_json::Value;

/// What a stretch of time went into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spent {
    /// Waiting for a slot.
    Queue,
    /// From a request to its first token.
    Prefill,
    /// From the first to the last token.
    Decode,
    /// The model's own calls: reading, editing, commands.
    Tools,
    /// Checks.
    Check,
}

impl Spent {
    pub(crate) const ALL: [Self; 5] = [
        Self::Queue,
        Self::Prefill,
        Self::Decode,
        Self::Tools,
        Self::Check,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Tools => "tools",
            Self::Check => "check",
        }
    }
}

/// A stretch of time, in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub what: Spent,
    pub from_ms: u64,
    pub to_ms: u64,
}

/// What is known of a worker.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Activity {
    /// The slot's index and how many there are.
    pub slot: Option<(u32, u32)>,
    pub provider: Option<String>,
    pub model: Option<String>,
    /// Requests sent.
    pub step: u64,
    /// The rate of the last answer.
    pub tokens_per_s: Option<f64>,
    /// How full the context was at the last request.
    pub context_percent: Option<u64>,
    /// The type of the last event.
    pub last: Option<String>,
    pub spans: Vec<Span>,
}

/// Reads a worker's events and its reservation. Lines that cannot be read (the last may be half
/// written) are passed over: this is for looking, not for deciding.
pub(crate) fn read(events: &str, reservation: Option<&Reservation>) -> Activity {
    let mut activity = Activity::default();
    if let Some(held) = reservation {
        activity.slot = held.slot.zip(held.slots);
        activity.provider.clone_from(&held.provider);
        activity.model.clone_from(&held.model);
        if let Some(at) = held.acquired_at {
            activity.add(Spent::Queue, millis(at), held.waited_ms);
        }
    }
    let mut context = None;
    let mut before = u64::MAX;
    for line in events.lines() {
        let Ok(event) = baton_protocol::read::<Event>(line) else {
            continue;
        };
        let number = |key: &str| event.data.get(key).and_then(Value::as_u64);
        let at = millis(event.at);
        match event.kind.as_str() {
            "start" => context = number("context_tokens"),
            "request" => {
                activity.step += 1;
                activity.context_percent = number("prompt_tokens")
                    .zip(context)
                    .filter(|(_, context)| *context > 0)
                    .map(|(used, context)| used * 100 / context);
            }
            "answer" => {
                let decode = number("decode_ms").unwrap_or(0);
                activity.add(Spent::Decode, at, decode);
                let first = number("first_event_ms").unwrap_or(0);
                activity.add(Spent::Prefill, at.saturating_sub(decode), first);
                let tokens = event.data["usage"]["completion_tokens"].as_u64();
                if let Some(tokens) = tokens
                    && decode > 0
                {
                    // Counts of one answer stay far below 2^53.
                    #[expect(clippy::cast_precision_loss, reason = "small counts")]
                    let rate = tokens as f64 * 1000.0 / decode as f64;
                    activity.tokens_per_s = Some(rate);
                }
            }
            // A call's event comes at its end; it began when what was before it ended.
            "tool" => activity.add(Spent::Tools, at, at.saturating_sub(before)),
            "check" => activity.add(Spent::Check, at, number("duration_ms").unwrap_or(0)),
            _ => {}
        }
        before = at;
        activity.last = Some(event.kind);
    }
    activity.spans.sort_by_key(|s| s.from_ms);
    activity
}

impl Activity {
    /// A stretch that ended at `to` and took `took`.
    fn add(&mut self, what: Spent, to_ms: u64, took: u64) {
        if took > 0 {
            self.spans.push(Span {
                what,
                from_ms: to_ms.saturating_sub(took),
                to_ms,
            });
        }
    }
}

/// Milliseconds since the epoch.
pub(crate) fn millis(at: baton_protocol::Timestamp) -> u64 {
    at.system_time()
        .duration_since(std::time::UNIX_EPOCH)
        .map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Spent, read};

    const EVENTS: &str = r#"{"schema":"event/1","at":"2026-11-30T12:00:00Z","run":null,"task":"t","type":"start","context_tokens":1000}
{"schema":"event/1","at":"2026-11-30T12:00:01Z","run":null,"task":"t","type":"request","number":1,"prompt_tokens":250}
{"schema":"event/1","at":"2026-11-30T12:00:05Z","run":null,"task":"t","type":"answer","usage":{"completion_tokens":90},"first_event_ms":2000,"decode_ms":2000}
{"schema":"event/1","at":"2026-11-30T12:00:06Z","run":null,"task":"t","type":"check","duration_ms":1000}
{"schema":"event/1","at":"2026-11-3"#;

    #[test]
    fn a_worker_s_events_say_where_it_is_and_how_fast() {
        let activity = read(EVENTS, None);
        assert_eq!(activity.step, 1);
        assert_eq!(activity.context_percent, Some(25));
        assert_eq!(activity.tokens_per_s, Some(45.0));
        assert_eq!(activity.last.as_deref(), Some("check"));
        let kinds: Vec<Spent> = activity.spans.iter().map(|s| s.what).collect();
        assert_eq!(kinds, [Spent::Prefill, Spent::Decode, Spent::Check]);
    }

    #[test]
    fn no_events_are_no_activity() {
        assert_eq!(read("", None).last, None);
        assert_eq!(read("rubbish\n", None).step, 0);
    }
}
