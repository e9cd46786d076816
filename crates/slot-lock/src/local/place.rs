//! Waiting in one or several queues at once.
//!
//! Whoever is behind somebody blocks on that ticket; whoever is first in a queue blocks on the held
//! slots. Blocking is done by helper threads that take a shared lock for an instant, and only ring:
//! taking is done by the main thread inside the gate. No gate and no slot is held while another is
//! waited for, so there is no cycle.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::files::open;
use super::held::{Before, LocalHeld};
use super::line::{Line, Position, position};
use super::scan::{Scan, take};
use crate::clock::boot_ms;
use crate::flock;
use crate::keeper::Standby;
use crate::store::{Ask, Held, Place, StoreError, Waited};
use crate::ticket::Ticket;
use crate::waker::Waker;

/// How often a waiter looks around by itself: who was stopped, whose age lifts it.
pub(super) const TICK: Duration = Duration::from_secs(1);

/// At most so many slots are watched by a thread each; above that the head looks every `SLOWEST`.
const MOST_WATCHES: usize = 16;

/// A head that was rung for and found nothing looks again after this, doubling up to `SLOWEST`.
const SOONEST: Duration = Duration::from_micros(200);
const SLOWEST: Duration = Duration::from_millis(20);

/// A thread that blocks on one lock and rings when it is free.
#[derive(Debug)]
struct Watch(Arc<AtomicBool>);

impl Watch {
    /// None when no thread could be had; then the caller looks by itself.
    fn start(file: File, waker: &Waker) -> Option<Self> {
        let free = Arc::new(AtomicBool::new(false));
        let (flag, bell) = (Arc::clone(&free), waker.bell().ok()?);
        let thread = move || {
            // An error ends the wait as well: the main thread sees it when it looks.
            let _ = flock::shared(&file);
            drop(file);
            flag.store(true, Ordering::Release);
            bell.ring();
        };
        let builder = std::thread::Builder::new().stack_size(64 * 1024);
        builder.spawn(thread).ok()?;
        Some(Self(free))
    }

    fn has_fired(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What we wait for in one queue.
#[derive(Debug)]
enum Waiting {
    /// Not looked yet.
    Unknown,
    /// For the one before us.
    Behind(Ticket, Option<Watch>),
    /// For any of these slots.
    Head(Vec<(u32, Watch)>),
}

#[derive(Debug)]
struct Queue {
    line: Line,
    waiting: Waiting,
}

/// Our places in the queues of all candidates.
#[derive(Debug)]
pub(super) struct LocalPlace {
    queues: Vec<Queue>,
    pause: Duration,
    /// The keeper of the command that is to run.
    standby: Option<Standby>,
    /// None could be had; the one who gets a slot tries again.
    is_alone: bool,
}

impl LocalPlace {
    pub(super) fn new(lines: Vec<Line>) -> Self {
        let queue = |line| Queue {
            line,
            waiting: Waiting::Unknown,
        };
        Self {
            queues: lines.into_iter().map(queue).collect(),
            pause: SOONEST,
            standby: None,
            is_alone: false,
        }
    }

    /// Whoever is next has a keeper ready when a slot is free.
    fn get_ready(&mut self, ask: &Ask) {
        let needs_one = ask.runs_child && self.standby.is_none() && !self.is_alone;
        if !needs_one || !self.is_next() {
            return;
        }
        match Standby::start() {
            Ok(standby) => {
                standby.until_ready();
                self.standby = Some(standby);
            }
            Err(_) => self.is_alone = true,
        }
    }
}

impl Place for LocalPlace {
    fn is_next(&self) -> bool {
        let is_next = |queue: &Queue| matches!(queue.waiting, Waiting::Head(_));
        self.queues.iter().any(is_next)
    }

    fn wait(&mut self, ask: &Ask, limit: Duration, waker: &Waker) -> Result<Waited, StoreError> {
        let deadline = Instant::now() + limit;
        let mut last_tick = None;
        loop {
            let tick = last_tick.is_none_or(|at: Instant| at.elapsed() >= TICK);
            let mut must_poll = false;
            let mut fired = false;
            for index in 0..self.queues.len() {
                if !tick && !self.queues[index].must_look() {
                    continue;
                }
                fired |= self.queues[index].has_fired();
                if let Some(held) = self.look(index, ask, waker, tick)? {
                    return Ok(Waited::Taken(held));
                }
                must_poll |= self.queues[index].must_look();
            }
            if tick {
                last_tick = Some(Instant::now());
            }
            self.get_ready(ask);
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Waited::NotYet);
            }
            self.pause = match (must_poll, fired) {
                (true, _) => (self.pause * 2).min(SLOWEST),
                (false, true) => self.pause,
                (false, false) => SOONEST,
            };
            let pause = if must_poll { self.pause } else { TICK };
            if waker.sleep(None, Some(left.min(pause))).by_signal {
                return Ok(Waited::NotYet);
            }
        }
    }
}

impl LocalPlace {
    /// Looks where we are in one queue; takes a slot if it is our turn and one is free.
    fn look(
        &mut self,
        index: usize,
        ask: &Ask,
        waker: &Waker,
        tick: bool,
    ) -> Result<Option<Box<dyn Held>>, StoreError> {
        let Queue { line, waiting } = &mut self.queues[index];
        let inside = line.folder.enter()?;
        let entries = &inside.entries;
        if line.is_lost(entries) {
            *line = Line::join(line.folder.clone(), entries, ask)?;
            *waiting = Waiting::Unknown;
        } else if tick {
            line.touch();
        }
        let mine = line.is_ordered().then_some(line.ticket);
        match position(&line.folder, entries, mine, ask, boot_ms())? {
            Position::Behind(ticket, file) => {
                drop(inside);
                let same = matches!(waiting, Waiting::Behind(t, Some(w)) if *t == ticket && !w.has_fired());
                if !same {
                    *waiting = Waiting::Behind(ticket, Watch::start(file, waker));
                }
                Ok(None)
            }
            Position::Head => match take(&line.folder, &inside, &ask.wants[index], &ask.bearer)? {
                Scan::Free(slot) => {
                    let folder = line.folder.clone();
                    // The queues are left inside the gate: the next one in sees us gone.
                    let queues = self.queues.drain(..);
                    let mut before = Before {
                        tickets: queues.filter_map(|queue| queue.line.leave()).collect(),
                        standby: self.standby.take(),
                    };
                    if !ask.runs_child {
                        before.tickets.clear();
                    }
                    let (want, bearer) = (&ask.wants[index], &ask.bearer);
                    let held = LocalHeld::new(&folder, &inside, slot, index, want, bearer, before);
                    Ok(Some(Box::new(held)))
                }
                Scan::Again => {
                    *waiting = Waiting::Unknown;
                    Ok(None)
                }
                Scan::Busy(held) => {
                    drop(inside);
                    self.queues[index].watch_slots(held, waker);
                    Ok(None)
                }
            },
        }
    }
}

impl Queue {
    fn has_fired(&self) -> bool {
        match &self.waiting {
            Waiting::Unknown => false,
            Waiting::Behind(_, watch) => watch.as_ref().is_some_and(Watch::has_fired),
            Waiting::Head(watches) => watches.iter().any(|(_, w)| w.has_fired()),
        }
    }

    /// Whether there is something to see, or nobody who would ring.
    fn must_look(&self) -> bool {
        match &self.waiting {
            Waiting::Unknown => true,
            Waiting::Behind(_, watch) => watch.as_ref().is_none_or(Watch::has_fired),
            Waiting::Head(watches) => {
                !self.line.is_ordered()
                    || watches.len() >= MOST_WATCHES
                    || watches.iter().any(|(_, w)| w.has_fired())
            }
        }
    }

    /// Watches these held slots, keeping the watches that still wait.
    fn watch_slots(&mut self, held: Vec<u32>, waker: &Waker) {
        let mut watches = match std::mem::replace(&mut self.waiting, Waiting::Unknown) {
            Waiting::Head(watches) => watches,
            Waiting::Unknown | Waiting::Behind(..) => Vec::new(),
        };
        watches.retain(|(_, watch)| !watch.has_fired());
        for slot in held {
            let known = watches.iter().any(|(s, _)| *s == slot);
            if known || watches.len() >= MOST_WATCHES {
                continue;
            }
            let file = open(&self.line.folder.slot_path(slot)).ok();
            if let Some(watch) = file.and_then(|file| Watch::start(file, waker)) {
                watches.push((slot, watch));
            }
        }
        self.waiting = Waiting::Head(watches);
    }
}
