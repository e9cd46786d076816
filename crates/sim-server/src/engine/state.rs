//! What the engine knows at one moment.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use super::memory::Loading;
use super::{Rules, cache};

/// How the engine stands still behind healthy probes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Freeze {
    #[default]
    No,
    /// No request gets a slot.
    Queue,
    /// Requests get slots, but no step is made.
    Steps,
    /// All is well until a queued request is cancelled; then no step is made.
    Brittle,
}

/// What a busy slot does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Reads the prompt.
    Prefill,
    /// Writes the answer.
    Decode,
    /// Lost its memory to another request and waits to begin again.
    Preempted,
    /// Its client is gone, but the slot is not free yet.
    Lagging,
}

/// A request in a slot.
#[derive(Debug, Clone)]
pub(crate) struct Busy {
    pub(crate) ticket: u64,
    pub(crate) phase: Phase,
    pub(crate) prompt: u64,
    pub(crate) cached: u64,
    /// Prompt tokens read so far, without the cached ones.
    pub(crate) read: u64,
    pub(crate) generated: u64,
    pub(crate) limit: u64,
    /// Set when the engine gave the request up.
    pub(crate) aborted: bool,
    /// The slot becomes free at this time by itself.
    pub(crate) free_at: Option<Instant>,
}

impl Busy {
    /// Tokens it holds in the KV pool, in whole blocks.
    fn held(&self, block: u64) -> u64 {
        match self.phase {
            Phase::Preempted => 0,
            _ => (self.prompt + self.generated).div_ceil(block.max(1)) * block.max(1),
        }
    }
}

/// One slot.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) busy: Option<Busy>,
    /// The last prompt that ran here, for the slot's own prefix cache.
    pub(crate) history: Vec<u32>,
    /// What ran here last, for servers that go on showing it.
    pub(crate) last: Option<Busy>,
}

/// Counters that only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) prompt: u64,
    pub(crate) cached: u64,
    pub(crate) generated: u64,
    pub(crate) stopped: u64,
    pub(crate) cut: u64,
    pub(crate) rejected: u64,
    pub(crate) preempted: u64,
    pub(crate) longest: u64,
}

/// The whole state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) queue: VecDeque<u64>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) shared: cache::Shared,
    pub(crate) gates: HashMap<String, u64>,
    pub(crate) held: HashMap<String, u64>,
    pub(crate) freeze: Freeze,
    /// The model in memory: the last one that got a slot.
    pub(crate) resident: Option<String>,
    /// The model that is being brought into memory.
    pub(super) loading: Option<Loading>,
    /// When the model in memory was last in use.
    pub(super) used_at: Instant,
    pub(crate) totals: Totals,
    next_ticket: u64,
}

impl State {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            slots: (0..slots).map(|_| Slot::default()).collect(),
            shared: cache::Shared::default(),
            gates: HashMap::new(),
            held: HashMap::new(),
            freeze: Freeze::No,
            resident: None,
            loading: None,
            used_at: Instant::now(),
            totals: Totals::default(),
            next_ticket: 0,
        }
    }

    pub(crate) fn join_queue(&mut self) -> u64 {
        self.next_ticket += 1;
        self.queue.push_back(self.next_ticket);
        self.next_ticket
    }

    /// Frees slots whose lag is over, and lets loads and idle times end.
    pub(crate) fn tidy(&mut self, now: Instant, rules: &Rules) {
        for slot in &mut self.slots {
            let over = |busy: &Busy| busy.free_at.is_some_and(|at| at <= now);
            if slot.busy.as_ref().is_some_and(over) {
                slot.busy = None;
            }
        }
        self.tidy_memory(now, rules);
    }

    pub(crate) fn free_slot_count(&self) -> usize {
        self.slots.iter().filter(|slot| slot.busy.is_none()).count()
    }

    /// The slot the prompt should run in, and how much of it is cached there.
    pub(crate) fn pick_slot(&self, prompt: &[u32], rules: &Rules) -> Option<(usize, usize)> {
        let free = self
            .slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.busy.is_none());
        let histories: Vec<(usize, &[u32])> =
            free.map(|(at, slot)| (at, &slot.history[..])).collect();
        let (slot, own) = cache::best_slot(&histories, prompt)?;
        if rules.own_prefix {
            return Some((slot, own));
        }
        let block = usize::try_from(rules.block).unwrap_or(1);
        Some((histories.first()?.0, self.shared.hit(prompt, block)))
    }

    pub(crate) fn busy_mut(&mut self, ticket: u64) -> Option<&mut Busy> {
        self.slots
            .iter_mut()
            .filter_map(|slot| slot.busy.as_mut())
            .find(|busy| busy.ticket == ticket)
    }

    pub(crate) fn busy(&self) -> impl Iterator<Item = &Busy> {
        self.slots.iter().filter_map(|slot| slot.busy.as_ref())
    }

    pub(crate) fn in_phase(&self, phase: Phase) -> usize {
        self.busy().filter(|busy| busy.phase == phase).count()
    }

    /// Tokens in use in the KV pool.
    pub(crate) fn pool_used(&self, block: u64) -> u64 {
        self.busy().map(|busy| busy.held(block)).sum()
    }

    pub(crate) fn snapshot(&mut self, rules: &Rules) -> Snapshot {
        self.tidy(Instant::now(), rules);
        let view = |(id, slot): (usize, &Slot)| SlotView {
            id,
            processing: slot.busy.is_some(),
            task: slot.busy.as_ref().or(slot.last.as_ref()).cloned(),
        };
        Snapshot {
            running: self.busy().count() - self.in_phase(Phase::Preempted),
            waiting: self.queue.len() + self.in_phase(Phase::Preempted),
            held: self.held.values().sum(),
            pool_used: self.pool_used(rules.block),
            slots: self.slots.iter().enumerate().map(view).collect(),
            totals: self.totals,
            resident: self.resident.clone(),
            loading: self.loading.as_ref().map(|l| l.model.clone()),
            frozen: matches!(self.freeze, Freeze::Queue | Freeze::Steps),
        }
    }
}

/// One slot as the probe routes show it.
#[derive(Debug, Clone)]
pub(crate) struct SlotView {
    pub(crate) id: usize,
    pub(crate) processing: bool,
    /// The request that runs in it, or the last one that did.
    pub(crate) task: Option<Busy>,
}

/// The engine at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    /// Requests that stand before a script's gate.
    pub(crate) held: u64,
    pub(crate) pool_used: u64,
    pub(crate) slots: Vec<SlotView>,
    pub(crate) totals: Totals,
    pub(crate) resident: Option<String>,
    /// The model that is being loaded.
    pub(crate) loading: Option<String>,
    pub(crate) frozen: bool,
}
