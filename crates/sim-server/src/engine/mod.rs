//! The engine: slots, the queue before them, the KV pool, and the passing of simulated time.
//!
//! One mutex guards all of it; every wait is on one condition variable with a short time limit,
//! because what ends a wait may also be a client that hung up, and a socket cannot wake a
//! condition variable.

mod cache;
mod memory;
mod rate;
mod state;
mod ticket;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use rate::{Pace, simulated_ms};
pub(crate) use state::{Busy as Task, Freeze, SlotView, Snapshot};
pub(crate) use ticket::{Stop, Ticket};

use state::State;

/// The longest nap between two looks at a client's socket.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// How one server kind manages its memory and its prefixes.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) slots: usize,
    /// Tokens the KV pool holds.
    pub(crate) pool: u64,
    /// Tokens a KV block holds; requests take whole blocks.
    pub(crate) block: u64,
    /// Each slot keeps its own prefix (llama.cpp) instead of one shared cache (vLLM).
    pub(crate) own_prefix: bool,
    /// A pool that runs over aborts everything (llama.cpp, unified KV) instead of making requests wait.
    pub(crate) abort_when_full: bool,
    /// More waiting requests than this are refused.
    pub(crate) queue_limit: Option<usize>,
    /// How long a slot stays busy after its client is gone (real time).
    pub(crate) cancel_lag: Duration,
    /// One model is in memory at a time; a request for another one waits for the running ones.
    pub(crate) one_model: bool,
    /// How long it takes to bring a model into memory (real time), where that is done on demand.
    pub(crate) load_time: Duration,
    /// A model that was idle for so long leaves the memory (real time).
    pub(crate) keep_alive: Option<Duration>,
    /// While a prompt is read, no other request gets a token (llama.cpp with its large batches).
    pub(crate) prefill_blocks: bool,
}

/// The engine.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) rules: Rules,
    pub(crate) pace: Pace,
    state: Mutex<State>,
    changed: Condvar,
}

impl Engine {
    pub(crate) fn new(rules: Rules, pace: Pace) -> Self {
        let state = Mutex::new(State::new(rules.slots));
        Self {
            rules,
            pace,
            state,
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere must not take the whole simulator down with it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request into the queue; `None` when the queue is full.
    pub(crate) fn enqueue(&self, prompt: Vec<u32>, model: &str) -> Option<Ticket<'_>> {
        let mut state = self.lock();
        let full = self
            .rules
            .queue_limit
            .is_some_and(|most| state.free_slot_count() == 0 && state.queue.len() >= most);
        if full {
            state.totals.rejected += 1;
            return None;
        }
        let id = state.join_queue();
        drop(state);
        self.changed.notify_all();
        Some(Ticket::new(self, id, prompt, model))
    }

    /// What the probe routes tell.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.lock().snapshot(&self.rules)
    }

    /// Begins to bring a model into memory, as far as what runs allows it.
    pub(crate) fn load(&self, model: &str) {
        let mut state = self.lock();
        let now = Instant::now();
        state.tidy(now, &self.rules);
        if state.bring(model, &self.rules, now) {
            state.resident = Some(model.to_owned());
            state.used_at = now;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Throws the model out of memory.
    pub(crate) fn unload(&self) {
        self.lock().unload();
        self.changed.notify_all();
    }

    /// Makes the engine stand still, or lets it go on.
    pub(crate) fn freeze(&self, freeze: Freeze) {
        self.lock().freeze = freeze;
        self.changed.notify_all();
    }

    /// Lets everything pass that is held at a gate now, or the next that comes.
    pub(crate) fn release(&self, gate: &str) {
        *self.lock().gates.entry(gate.to_owned()).or_default() += 1;
        self.changed.notify_all();
    }

    /// Waits before a gate until it is released; `stop` may end the wait.
    pub(crate) fn wait_at(
        &self,
        gate: &str,
        stop: &mut dyn FnMut() -> Option<Stop>,
    ) -> Result<(), Stop> {
        let mut state = self.lock();
        *state.held.entry(gate.to_owned()).or_default() += 1;
        self.changed.notify_all();
        let ended = loop {
            if let Some(open) = state.gates.get_mut(gate).filter(|open| **open > 0) {
                *open -= 1;
                break Ok(());
            }
            drop(state);
            let stopped = stop();
            state = self.lock();
            if let Some(stopped) = stopped {
                break Err(stopped);
            }
            state = self
                .changed
                .wait_timeout(state, LOOK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        };
        if let Some(held) = state.held.get_mut(gate) {
            *held -= 1;
        }
        ended
    }

    /// Whether the engine gave a request up.
    fn is_aborted(&self, ticket: u64) -> bool {
        self.lock().busy_mut(ticket).is_none_or(|busy| busy.aborted)
    }

    /// Waits until `reached` holds of the engine's state, or the time is over.
    pub(crate) fn wait_until(&self, limit: Duration, reached: impl Fn(&Snapshot) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            if reached(&state.snapshot(&self.rules)) {
                return true;
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return false;
            };
            state = self
                .changed
                .wait_timeout(state, left.min(LOOK))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

#[cfg(test)]
mod tests;
