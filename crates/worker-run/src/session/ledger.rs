//! What happened, for the hand-off.

use std::collections::{BTreeMap, BTreeSet};

use baton_model_server::ChatAnswer;
use baton_protocol::{Receipt, Usage};
use serde_json::Value;

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

    /// Takes in what an answer cost.
    pub(crate) fn answered(&mut self, answer: &ChatAnswer) {
        fn add(sum: &mut Option<u64>, more: Option<u64>) {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0) + more);
            }
        }
        self.usage.prefill_ms += answer.timing.first_event_ms;
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
