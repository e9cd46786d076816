//! What happened, for the hand-off.

use std::collections::{BTreeMap, BTreeSet};

use baton_model_server::ChatAnswer;
use baton_protocol::{Receipt, ServerKind, Usage};
use serde_json::Value;

use super::waits::server_queue;

/// The facts collected on the way.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// What it cost.
    pub(crate) usage: Usage,
    /// What was repaired, by kind.
    pub(crate) repairs: BTreeMap<String, u32>,
    /// Proof of every command.
    pub(crate) receipts: Vec<Receipt>,
    /// What the reader should know.
    pub(crate) notes: Vec<String>,
    /// Files the model was shown.
    pub(crate) files_read: BTreeSet<String>,
    /// The model's last words, or its answer.
    pub(crate) outcome: String,
    /// Its structured answer.
    pub(crate) result: Value,
    /// The model that answered, in the server's word.
    pub(crate) model: Option<String>,
    queue_ms: u64,
    queue_unknown: bool,
}

impl Ledger {
    /// Counts one repair.
    pub(crate) fn repaired(&mut self, kind: &str) {
        *self.repairs.entry(kind.to_string()).or_default() += 1;
    }

    /// Adds a note unless it is there already.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Prompt and completion tokens over all requests, as far as the server told.
    pub(crate) fn tokens(&self) -> u64 {
        self.usage.prompt_tokens.unwrap_or(0) + self.usage.completion_tokens.unwrap_or(0)
    }

    /// Adds a wait in the server's queue. One that cannot be told leaves the sum unknown.
    pub(crate) fn queued(&mut self, ms: Option<u64>) {
        match ms {
            Some(ms) => self.queue_ms += ms,
            None => self.queue_unknown = true,
        }
        self.usage.queue_ms = (!self.queue_unknown).then_some(self.queue_ms);
    }

    /// Takes in what an answer cost.
    pub(crate) fn answered(&mut self, kind: Option<ServerKind>, answer: &ChatAnswer) {
        fn add(sum: &mut Option<u64>, more: Option<u64>) {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0) + more);
            }
        }
        let queued = server_queue(kind, answer);
        self.queued(queued);
        self.usage.prefill_ms += answer
            .timing
            .first_event_ms
            .saturating_sub(queued.unwrap_or(0));
        self.usage.decode_ms += answer.timing.decode_ms;
        if let Some(usage) = &answer.usage {
            add(&mut self.usage.prompt_tokens, Some(usage.prompt));
            add(&mut self.usage.completion_tokens, Some(usage.completion));
            add(&mut self.usage.cached_tokens, usage.cached);
            add(&mut self.usage.reasoning_tokens, usage.reasoning);
        }
        for (kind, times) in &answer.repairs {
            *self.repairs.entry(kind.clone()).or_default() += times;
        }
        if answer.model.is_some() {
            self.model.clone_from(&answer.model);
        }
    }
}
