//! Exact counts from the server, where an estimate could decide wrongly.

use std::time::Duration;

use baton_model_server::Clocks;
use baton_protocol::ServerKind;

use super::Session;
use crate::harness::space::MARGIN;

/// Counting takes milliseconds, also on a busy server.
const PATIENCE: Duration = Duration::from_secs(10);

impl Session<'_> {
    /// Every request is counted here, with an upper bound. Where that bound leaves it open whether
    /// the request and its whole answer fit, the server counts. Far from the window nothing is asked.
    pub(crate) fn count_near_the_window(&mut self) {
        let (Some(window), Some(kind)) = (self.window(), self.served.kind) else {
            return;
        };
        let size = self.talk.size();
        let worst = size.most + MARGIN + self.reserve() + self.job.bounds.output_tokens;
        let counts = matches!(
            kind,
            ServerKind::Vllm
                | ServerKind::LlamaCpp
                | ServerKind::LlamaCppRouter
                | ServerKind::LlamaSwap
                | ServerKind::Skein
        );
        if !size.is_uncertain() || worst <= window || !counts {
            return;
        }
        let count = match self.counts_to_replay.pop_front() {
            Some(count) => count,
            None => self
                .client
                .count_tokens_within(kind, &self.body(1), &Clocks::all(PATIENCE), self.cancel)
                .ok(),
        };
        self.counts.push(count);
        // A server that does not count leaves the bound, which then decides.
        if let Some(count) = count {
            self.talk.counted_exactly(count);
        }
    }
}
