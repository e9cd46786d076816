//! One request's way through the engine: queue, slot, prompt, tokens, and out again.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::state::{Busy, Freeze, Phase, State};
use super::{Engine, LOOK};

/// Why a request ends before its answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The client hung up.
    Gone,
    /// The engine gave the request up (its pool ran over).
    Aborted,
}

/// How many prompt tokens are read between two looks around.
const STEP: u64 = 256;

/// A request in the engine. Dropping it takes it out, wherever it is.
#[derive(Debug)]
pub(crate) struct Ticket<'e> {
    engine: &'e Engine,
    id: u64,
    prompt: Vec<u32>,
    model: String,
    slot: Option<usize>,
    finished: bool,
    /// When the last token was due, so that small delays do not add up.
    due: Instant,
}

impl<'e> Ticket<'e> {
    pub(super) fn new(engine: &'e Engine, id: u64, prompt: Vec<u32>, model: &str) -> Self {
        Self {
            engine,
            id,
            prompt,
            model: model.to_owned(),
            slot: None,
            finished: false,
            due: Instant::now(),
        }
    }

    /// Waits for its turn, a free slot and room in the pool. Returns the slot and the cached tokens.
    pub(crate) fn start(
        &mut self,
        limit: u64,
        gone: &mut dyn FnMut() -> bool,
    ) -> Result<(usize, u64), Stop> {
        let rules = &self.engine.rules;
        let mut state = self.engine.lock();
        loop {
            let now = Instant::now();
            state.tidy(now, rules);
            let turn = state.queue.front() == Some(&self.id) && state.freeze != Freeze::Queue;
            if turn
                && state.bring(&self.model, rules, now)
                && self.has_room(&state)
                && let Some((slot, cached)) = state.pick_slot(&self.prompt, rules)
            {
                state.queue.pop_front();
                let cached = cached as u64;
                let busy = Busy {
                    ticket: self.id,
                    phase: Phase::Prefill,
                    prompt: self.prompt.len() as u64,
                    cached,
                    read: 0,
                    generated: 0,
                    limit,
                    aborted: false,
                    free_at: None,
                };
                state.totals.cached += cached;
                state.totals.prompt += busy.prompt - cached;
                state.slots[slot].busy = Some(busy);
                state.resident = Some(self.model.clone());
                self.slot = Some(slot);
                drop(state);
                self.engine.changed.notify_all();
                return Ok((slot, cached));
            }
            state = self.nap(state, LOOK, gone)?;
        }
    }

    /// Whether the prompt fits into what is left of the pool. A pool that aborts lets everything in.
    fn has_room(&self, state: &State) -> bool {
        let rules = &self.engine.rules;
        let wanted =
            (self.prompt.len() as u64 + 1).div_ceil(rules.block.max(1)) * rules.block.max(1);
        rules.abort_when_full || state.pool_used(rules.block) + wanted <= rules.pool
    }

    /// Reads the prompt, as long as that takes.
    pub(crate) fn prefill(&mut self, gone: &mut dyn FnMut() -> bool) -> Result<(), Stop> {
        let mut state = self.engine.lock();
        loop {
            let readers = state.in_phase(Phase::Prefill);
            let Some(busy) = state.busy_mut(self.id) else {
                return Err(Stop::Aborted);
            };
            if busy.aborted {
                return Err(Stop::Aborted);
            }
            let left = (busy.prompt - busy.cached).saturating_sub(busy.read);
            if left == 0 {
                break;
            }
            let step = left.min(STEP);
            let time = self.engine.pace.prefill(step, readers);
            busy.read += step;
            if !time.is_zero() {
                state = self.pass(state, time, gone)?;
            }
        }
        // A frozen engine finishes nothing.
        while state.freeze == Freeze::Steps {
            state = self.nap(state, LOOK, gone)?;
        }
        let full = self.pool_is_over(&mut state);
        let prompt = self.prompt.clone();
        state.shared.remember(&prompt);
        if let Some(slot) = self.slot {
            state.slots[slot].history = prompt;
        }
        if let Some(busy) = state.busy_mut(self.id) {
            busy.phase = Phase::Decode;
        }
        drop(state);
        self.engine.changed.notify_all();
        if full { Err(Stop::Aborted) } else { Ok(()) }
    }

    /// Writes `count` more tokens, as long as that takes.
    pub(crate) fn tokens(
        &mut self,
        count: u64,
        extra: Duration,
        gone: &mut dyn FnMut() -> bool,
    ) -> Result<(), Stop> {
        let mut state = self.engine.lock();
        for _ in 0..count {
            let time = self.engine.pace.token(state.in_phase(Phase::Decode)) + extra;
            if !time.is_zero() {
                // A token that is late by more than a look is not made up for.
                let now = Instant::now();
                let last = now
                    .checked_sub(LOOK)
                    .map_or(now, |earliest| self.due.max(earliest));
                self.due = last + time;
                state = self.pass_until(state, self.due, gone)?;
            }
            loop {
                let aborted = state.busy_mut(self.id).is_none_or(|busy| busy.aborted);
                if aborted {
                    return Err(Stop::Aborted);
                }
                if !self.is_held_up(&state) && self.take_room(&mut state)? {
                    break;
                }
                state = self.nap(state, LOOK, gone)?;
            }
            state.totals.generated += 1;
        }
        drop(state);
        if gone() { Err(Stop::Gone) } else { Ok(()) }
    }

    /// Whether no token is written now: the engine stands still, or it reads another prompt and can
    /// do only one of the two.
    fn is_held_up(&self, state: &State) -> bool {
        let reads = self.engine.rules.prefill_blocks && state.in_phase(Phase::Prefill) > 0;
        state.freeze == Freeze::Steps || reads
    }

    /// Takes the pool's room for one more token; preempts the youngest request where there is none.
    fn take_room(&self, state: &mut State) -> Result<bool, Stop> {
        let rules = &self.engine.rules;
        let own = state.busy_mut(self.id).map(|busy| busy.phase);
        if own == Some(Phase::Preempted) {
            let wanted = state
                .busy_mut(self.id)
                .map_or(0, |busy| busy.prompt + busy.generated + rules.block);
            if state.pool_used(rules.block) + wanted > rules.pool {
                return Ok(false);
            }
        }
        if let Some(busy) = state.busy_mut(self.id) {
            busy.phase = Phase::Decode;
            busy.generated += 1;
            let length = busy.prompt + busy.generated;
            state.totals.longest = state.totals.longest.max(length);
        }
        if state.pool_used(rules.block) <= rules.pool {
            return Ok(true);
        }
        if rules.abort_when_full {
            abort_all(state);
            return Err(Stop::Aborted);
        }
        let youngest = state
            .busy()
            .filter(|b| b.phase != Phase::Preempted)
            .map(|b| b.ticket)
            .max();
        state.totals.preempted += 1;
        if let Some(busy) = youngest.and_then(|ticket| state.busy_mut(ticket)) {
            busy.phase = Phase::Preempted;
        }
        if youngest == Some(self.id) {
            // The token is written again once there is room.
            if let Some(busy) = state.busy_mut(self.id) {
                busy.generated -= 1;
            }
            return Ok(false);
        }
        Ok(true)
    }

    /// On a pool that aborts, checks it after a prompt was read into it.
    fn pool_is_over(&self, state: &mut State) -> bool {
        let rules = &self.engine.rules;
        let over = rules.abort_when_full && state.pool_used(rules.block) > rules.pool;
        if over {
            abort_all(state);
        }
        over
    }

    /// Waits before a script's gate until it is released.
    pub(crate) fn hold(&mut self, gate: &str, gone: &mut dyn FnMut() -> bool) -> Result<(), Stop> {
        self.engine.wait_at(gate, &mut || {
            if gone() {
                return Some(Stop::Gone);
            }
            self.engine.is_aborted(self.id).then_some(Stop::Aborted)
        })
    }

    /// Lets real time pass that no rate explains.
    pub(crate) fn wait(
        &mut self,
        time: Duration,
        gone: &mut dyn FnMut() -> bool,
    ) -> Result<(), Stop> {
        let state = self.engine.lock();
        self.pass(state, time, gone).map(drop)
    }

    /// Ends the request well.
    pub(crate) fn finish(&mut self, cut: bool) {
        self.finished = true;
        let mut state = self.engine.lock();
        if cut {
            state.totals.cut += 1;
        } else {
            state.totals.stopped += 1;
        }
        self.leave(&mut state, Duration::ZERO);
    }

    fn leave(&self, state: &mut State, lag: Duration) {
        state.used_at = Instant::now();
        state.queue.retain(|id| *id != self.id);
        for slot in &mut state.slots {
            if slot.busy.as_ref().is_none_or(|busy| busy.ticket != self.id) {
                continue;
            }
            slot.last = slot.busy.clone();
            if lag.is_zero() {
                slot.busy = None;
            } else if let Some(busy) = slot.busy.as_mut() {
                busy.phase = Phase::Lagging;
                busy.free_at = Some(Instant::now() + lag);
            }
        }
    }

    /// Lets real time pass in naps, looking at the client between them.
    fn pass(
        &self,
        state: MutexGuard<'e, State>,
        time: Duration,
        gone: &mut dyn FnMut() -> bool,
    ) -> Result<MutexGuard<'e, State>, Stop> {
        self.pass_until(state, Instant::now() + time, gone)
    }

    fn pass_until(
        &self,
        mut state: MutexGuard<'e, State>,
        deadline: Instant,
        gone: &mut dyn FnMut() -> bool,
    ) -> Result<MutexGuard<'e, State>, Stop> {
        while let Some(left) = deadline
            .checked_duration_since(Instant::now())
            .filter(|d| !d.is_zero())
        {
            state = self.nap(state, left.min(LOOK), gone)?;
        }
        Ok(state)
    }

    fn nap(
        &self,
        state: MutexGuard<'e, State>,
        time: Duration,
        gone: &mut dyn FnMut() -> bool,
    ) -> Result<MutexGuard<'e, State>, Stop> {
        let state = self.doze(state, time);
        drop(state);
        if gone() {
            return Err(Stop::Gone);
        }
        Ok(self.engine.lock())
    }

    fn doze(&self, state: MutexGuard<'e, State>, time: Duration) -> MutexGuard<'e, State> {
        self.engine
            .changed
            .wait_timeout(state, time)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if !self.finished {
            let lag = if self.slot.is_some() {
                self.engine.rules.cancel_lag
            } else {
                Duration::ZERO
            };
            let mut state = self.engine.lock();
            if self.slot.is_none() && state.freeze == Freeze::Brittle {
                state.freeze = Freeze::Steps;
            }
            self.leave(&mut state, lag);
        }
        self.engine.changed.notify_all();
    }
}

fn abort_all(state: &mut State) {
    for busy in state.slots.iter_mut().filter_map(|slot| slot.busy.as_mut()) {
        busy.aborted = true;
    }
}
