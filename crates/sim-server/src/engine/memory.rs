//! Which model is in memory, on servers that load a model when it is asked for.

use std::time::Instant;

use super::Rules;
use super::state::State;

/// The gate that ends a load before its time.
const GATE: &str = "load";

/// A model on its way into memory.
#[derive(Debug, Clone)]
pub(crate) struct Loading {
    pub(crate) model: String,
    until: Instant,
}

impl State {
    /// Ends a load whose time is over, and forgets a model that was idle for too long.
    pub(super) fn tidy_memory(&mut self, now: Instant, rules: &Rules) {
        if let Some(loading) = &self.loading {
            let released = self.gates.get_mut(GATE).filter(|open| **open > 0);
            let is_released = released.map(|open| *open -= 1).is_some();
            if is_released || loading.until <= now {
                self.resident = Some(loading.model.clone());
                self.loading = None;
                self.used_at = now;
            }
        }
        if self.busy().next().is_some() || !self.queue.is_empty() {
            self.used_at = now;
        }
        if let Some(keep) = rules.keep_alive
            && now.saturating_duration_since(self.used_at) >= keep
        {
            self.unload();
        }
    }

    /// Whether a model is in memory; begins to load it where that can be. What a load throws out
    /// takes its prefixes with it.
    pub(super) fn bring(&mut self, model: &str, rules: &Rules, now: Instant) -> bool {
        if self.resident.as_deref() == Some(model) {
            return true;
        }
        let in_use = self.loading.is_some() || self.busy().next().is_some();
        if rules.one_model && in_use {
            return false;
        }
        if rules.load_time.is_zero() {
            return true;
        }
        self.unload();
        self.loading = Some(Loading {
            model: model.to_owned(),
            until: now + rules.load_time,
        });
        self.tidy_memory(now, rules);
        self.resident.as_deref() == Some(model)
    }

    /// Throws the model out of memory; running requests are not asked.
    pub(super) fn unload(&mut self) {
        if self.resident.take().is_some() {
            for slot in &mut self.slots {
                slot.history.clear();
            }
        }
    }
}
