//! When the window is full: what is known is kept, the rest becomes a summary.

use baton_protocol::HandoffStatus;

use super::{End, Session};

impl Session<'_> {
    /// The window, in tokens: told by the slot, the configuration, or learned from an error.
    pub(crate) fn window(&self) -> Option<u64> {
        match (self.learned_window, self.job.provider.context) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The server says that the request is too long: learn its window and make room, once.
    pub(crate) fn overflowed(&mut self, limit: Option<u64>, message: &str) -> Result<(), End> {
        let known = self.window();
        if let Some(limit) = limit {
            self.learned_window = Some(known.map_or(limit, |w| w.min(limit)));
        }
        self.overflow_message = Some(message.to_string());
        self.compact()
    }

    /// Makes room, or ends the task.
    pub(crate) fn compact(&mut self) -> Result<(), End> {
        let message = self.overflow_message.clone().unwrap_or_else(|| {
            format!(
                "the next request has about {} tokens, the window {}",
                self.talk.estimate(),
                self.window().unwrap_or(0)
            )
        });
        Err(End::new(HandoffStatus::Overflow, message))
    }
}
