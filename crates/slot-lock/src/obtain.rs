//! Getting a slot: at once, in the queue, and not while the server works for others.

use std::time::Duration;

use baton_cli::Failure;

use crate::answer::{all_in_the_way, foreign_loads, requests};
use crate::candidate::Candidate;
use crate::clock::boot_ms;
use crate::load::{busy_all_along, foreign};
use crate::session::Session;
use crate::store::{Ask, Attempt, Held, Listing, Waited};

/// A waiter says what it waits for after this long, and again after each [`REMINDER`].
const PATIENCE: Duration = Duration::from_secs(1);
const REMINDER: Duration = Duration::from_secs(60);

/// What a server said longer ago is asked for again before it counts.
const FRESH_MS: u64 = 2_000;

/// What a server said longer ago is asked for again right before the command starts.
const VERY_FRESH_MS: u64 = 250;

/// How often a server that is busy with others is asked again; at first sooner, for some servers go
/// on for a moment with what nobody waits for any more.
const ASK_AGAIN: Duration = Duration::from_secs(1);
const ASK_SOON: Duration = Duration::from_millis(100);

impl Session<'_> {
    /// A slot; none when the time passed. A signal that ends the wait is a failure.
    pub(crate) fn obtain(&mut self, mut ask: Ask) -> Result<Option<Box<dyn Held>>, Failure> {
        loop {
            self.read_loads(&mut ask, FRESH_MS);
            let Some(mut held) = self.take_or_wait(&mut ask)? else {
                return Ok(None);
            };
            let chosen = held.grant().want;
            let own = held.grant().slot;
            if !self.is_foreign_counted() || self.has_room(chosen, own, &mut ask) {
                return Ok(Some(held));
            }
            let others = ask.wants.len() > 1;
            if others {
                // Another candidate may have room; this one is taken only when its load is gone.
                held.release();
                if self.is_over() {
                    return Ok(None);
                }
                continue;
            }
            // Our place is first: keep it, and wait for the server.
            held.let_next_in();
            let (mut pause, mut says_at) = (ASK_SOON, Some(self.waited() + PATIENCE));
            loop {
                if self.is_over() {
                    held.release();
                    return Ok(None);
                }
                if says_at.take_if(|at| self.waited() >= *at).is_some() {
                    self.say(&format!(
                        "{}: waiting until the server is done with {} of others",
                        ask.wants[chosen].key,
                        requests(ask.wants[chosen].foreign)
                    ));
                }
                self.pause(pause)?;
                pause = (pause * 2).min(ASK_AGAIN);
                if self.has_room(chosen, own, &mut ask) {
                    return Ok(Some(held));
                }
            }
        }
    }

    fn take_or_wait(&mut self, ask: &mut Ask) -> Result<Option<Box<dyn Held>>, Failure> {
        let wait = self.waiting.wait;
        let mut place = match self.store.take_or_queue(ask, !wait.is_zero())? {
            Attempt::Taken(held) => return Ok(Some(held)),
            Attempt::Busy => return Ok(None),
            Attempt::Queued(place) => place,
        };
        let (mut remind_at, mut ask_pause) = (PATIENCE, ASK_SOON);
        loop {
            if let Some(signal) = self.signals.ending() {
                return Err(Failure::interrupted(signal));
            }
            let waited = self.waited();
            let left = wait.saturating_sub(waited);
            if left.is_zero() {
                return Ok(None);
            }
            let mut slice = left.min(remind_at.saturating_sub(waited));
            let is_loaded = ask.wants.iter().any(|want| want.foreign > 0);
            if is_loaded {
                slice = slice.min(ask_pause);
            }
            match place.wait(ask, slice, &self.waker)? {
                Waited::Taken(held) => return Ok(Some(held)),
                Waited::NotYet => {}
            }
            if is_loaded && place.is_next() {
                ask_pause = (ask_pause * 2).min(ASK_AGAIN);
                self.read_loads(ask, VERY_FRESH_MS);
            }
            let waited = self.waited();
            if waited >= remind_at && waited < wait {
                remind_at = waited + REMINDER;
                if self.output.is_quiet() {
                    continue;
                }
                self.say_what_is_waited_for(wait.saturating_sub(waited));
            }
        }
    }

    /// Whether servers are asked what they do for others. A bare key has none.
    fn is_foreign_counted(&self) -> bool {
        self.offer.is_some() && !self.target.ignore_server
    }

    /// Brings the foreign load of every want up to date. What is not known lowers nothing.
    fn read_loads(&mut self, ask: &mut Ask, fresh_ms: u64) {
        if self.is_foreign_counted() {
            for index in 0..ask.wants.len() {
                ask.wants[index].foreign = self.load(index, None, fresh_ms);
            }
        }
    }

    /// Whether the server has room for us beside its other work, right before we use it.
    fn has_room(&mut self, index: usize, own: u32, ask: &mut Ask) -> bool {
        let foreign = self.load(index, Some(own), VERY_FRESH_MS);
        ask.wants[index].foreign = foreign;
        let want = &ask.wants[index];
        let held = self.store.list(&want.key).map_or(1, |l| l.held.len());
        let held = u32::try_from(held).unwrap_or(u32::MAX);
        held.saturating_add(foreign) <= want.slots
    }

    /// The foreign load of one candidate's server, asked for again when the last answer is old.
    fn load(&mut self, index: usize, own: Option<u32>, fresh_ms: u64) -> u32 {
        let candidate = &self.candidates[index];
        let is_named = self.target.candidates.is_none();
        let Some((offer, at)) = self.offer.as_mut().and_then(|offer| {
            let at = match &candidate.base_url {
                _ if is_named => 0,
                url => offer.index_of(url.as_ref()?)?,
            };
            Some((offer, at))
        }) else {
            return 0;
        };
        let now = boot_ms();
        let key = &candidate.want.key;
        let one = &offer.offered[at];
        let is_fresh = one
            .read_at_ms
            .is_some_and(|read_at| now.saturating_sub(read_at) <= fresh_ms);
        if !is_fresh || one.busy.is_none() {
            // What of ours began or ended while the server was asked must hide nobody.
            let Ok(before) = self.store.list(key) else {
                return 0;
            };
            if (!is_fresh || !before.held.is_empty())
                && let Err(reason) = offer.refresh(at, self.output)
            {
                self.output.detail(&reason);
                return 0;
            }
            let Ok(after) = self.store.list(key) else {
                return 0;
            };
            offer.offered[at].busy = Some(busy_all_along(&before, &after));
        }
        let one = &offer.offered[at];
        let age_ms = boot_ms().saturating_sub(one.read_at_ms.unwrap_or(now));
        let foreign = foreign(&one.provider.slots, one.busy.as_deref().unwrap_or(&[]), own);
        self.candidates[index].want.foreign = foreign.unwrap_or(0);
        if let Some(foreign) = foreign.filter(|n| *n > 0) {
            self.output.detail(&format!(
                "{}: the server works on {} of others, as of {age_ms} ms ago",
                self.candidates[index].want.key,
                requests(foreign)
            ));
        }
        foreign.unwrap_or(0)
    }

    fn is_over(&self) -> bool {
        self.waited() >= self.waiting.wait
    }

    fn pause(&self, time: Duration) -> Result<(), Failure> {
        let left = self.waiting.wait.saturating_sub(self.waited());
        self.waker.sleep(None, Some(time.min(left)));
        match self.signals.ending() {
            Some(signal) => Err(Failure::interrupted(signal)),
            None => Ok(()),
        }
    }

    fn say_what_is_waited_for(&self, left: Duration) {
        let left = Duration::from_secs(left.as_secs());
        self.say(&format!(
            "waiting for a slot, {} left: {}",
            humantime::format_duration(left),
            self.in_the_way(&self.listings())
        ));
    }

    /// Who holds, who waits and what servers do for others, in one line.
    fn in_the_way(&self, listings: &[Listing]) -> String {
        let loads = foreign_loads(&self.candidates);
        let all = std::iter::once(all_in_the_way(listings)).chain(loads);
        all.collect::<Vec<_>>().join("; ")
    }

    fn say(&self, text: &str) {
        self.output.note(text);
    }

    pub(crate) fn listings(&self) -> Vec<Listing> {
        // Of as many slots as this call counts with, whatever others count with.
        let list = |c: &Candidate| {
            let listing = self.store.list(&c.want.key).ok()?;
            let slots = Some(c.want.slots);
            Some(Listing { slots, ..listing })
        };
        self.candidates.iter().filter_map(list).collect()
    }

    /// The failure of a wait that is over, told in the report as well.
    pub(crate) fn no_slot(&self) -> Failure {
        let listings = self.listings();
        self.write_refusal(&listings);
        let wait = self.waiting.wait;
        let within = if wait.is_zero() {
            "no slot is free".to_owned()
        } else {
            format!("no slot within {}", humantime::format_duration(wait))
        };
        Failure::try_again(format!(
            "{within}: {}; slots are in {}",
            self.in_the_way(&listings),
            self.store.place()
        ))
    }
}
