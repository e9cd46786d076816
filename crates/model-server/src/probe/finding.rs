//! What one kind of server tells about itself, before the verdict.

use baton_protocol::{ContextSource, Model, ModelState, ServerKind, SignalSource, Slots, Speed};
use serde_json::{Map, Value};

/// How far a server is from answering, by its own signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It can answer; the reason says what that rests on.
    Ready(String),
    /// The model is being loaded.
    Loading(String),
    /// It answers after a cold start.
    Sleeping(String),
    /// Asleep, and a request does not wake it.
    Dormant(String),
    /// The engine is dead or the model failed to load.
    Failed(String),
    /// Nothing proves that it can answer.
    Unknown(String),
}

/// What was found out.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) kind: ServerKind,
    pub(crate) version: Option<String>,
    pub(crate) readiness: Readiness,
    pub(crate) models: Vec<Model>,
    pub(crate) slots: Slots,
    pub(crate) speed: Speed,
    /// Counters that move while the engine works, added up.
    pub(crate) progress: Option<f64>,
    /// A long prompt is being read: its counters move in steps as long as a batch takes.
    pub(crate) is_reading: bool,
    /// Numbers worth showing: name and value.
    pub(crate) numbers: Vec<(&'static str, Value)>,
}

impl Finding {
    /// A finding without anything but a kind.
    pub(crate) fn new(kind: ServerKind, readiness: Readiness) -> Self {
        Self {
            kind,
            version: None,
            readiness,
            models: Vec::new(),
            slots: Slots::default(),
            speed: Speed::default(),
            progress: None,
            is_reading: false,
            numbers: Vec::new(),
        }
    }

    /// Notes a number as a signal, where it is known.
    pub(crate) fn number(&mut self, name: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.numbers.push((name, value.into()));
        }
    }
}

/// A model of which only the name is known.
pub(crate) fn model(id: impl Into<String>, state: ModelState) -> Model {
    Model {
        id: id.into(),
        state,
        last_error: None,
        max_model_len: None,
        usable_context: None,
        usable_context_source: None,
        pool_tokens: None,
        other: Map::new(),
    }
}

/// Lowers a model's usable context. Zero and less is no context: unknown, never unlimited.
pub(crate) fn limit(model: &mut Model, tokens: Option<u64>, source: ContextSource) {
    let Some(tokens) = tokens.filter(|t| *t > 0) else {
        return;
    };
    if model.usable_context.is_none_or(|known| tokens < known) {
        model.usable_context = Some(tokens);
        model.usable_context_source = Some(source);
    }
}

/// Lowers a known usable context to the pool. A pool alone is an upper bound and no window.
pub(crate) fn cap(model: &mut Model) {
    if model.usable_context.is_some() {
        limit(model, model.pool_tokens, ContextSource::KvPool);
    }
}

/// Slots of which all numbers are known from the server.
pub(crate) fn exact_slots(total: u32, in_flight: Option<u32>, waiting: Option<u32>) -> Slots {
    Slots {
        total: Some(total),
        in_flight,
        waiting,
        free: in_flight.map(|used| free(total, used, waiting)),
        source: SignalSource::Exact,
    }
}

/// Free slots. Whoever waits will have the next one.
pub(crate) fn free(total: u32, in_flight: u32, waiting: Option<u32>) -> u32 {
    if waiting.is_some_and(|n| n > 0) {
        return 0;
    }
    total.saturating_sub(in_flight)
}
