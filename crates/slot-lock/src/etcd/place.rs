//! Waiting in one or several queues at once.
//!
//! Whoever is far behind watches one ticket alone, that of the one two places before; the first two,
//! and whoever is first of its class, watch the slots and queues of the server. So a queue of hundreds
//! costs an event or two a step.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_protocol::Timestamp;

use super::client::{Client, Trouble};
use super::direct::{Outcome, Request, Standpoint, is_possible};
use super::held::{EtcdHeld, Lost};
use super::names::{Names, ticket_rank};
use super::take::{Finding, Look, Taker, look};
use super::tenure::millis;
use super::upkeep::Upkeep;
use super::watch::{Target, Watch};
use crate::clock::boot_ms;
use crate::label::Label;
use crate::store::{Ask, Held, Place, StoreError, Waited};
use crate::ticket::AGEING;
use crate::token;
use crate::waker::Waker;

/// How often a waiter looks around though nothing rang.
const TICK: Duration = Duration::from_secs(5);
/// After a look that failed.
const AGAIN: Duration = Duration::from_millis(500);
/// So often a slot may be snatched away between a look and the taking before we queue up.
pub(super) const TRIES: usize = 8;

/// Everything a taker has.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) client: Arc<Client>,
    pub(super) names: Vec<Names>,
    pub(super) upkeep: Arc<Upkeep>,
    pub(super) on_lost: Lost,
}

/// Our places in the queues of all candidates.
#[derive(Debug)]
pub(super) struct EtcdPlace {
    /// None once a slot was taken.
    standing: Option<Standing>,
    /// The lease our tickets hang on.
    lease: String,
    /// What the last look found, where nothing was done with it yet.
    found: Vec<(Finding, Look)>,
    /// Where we stand, in the only queue.
    standpoint: Option<Standpoint>,
    watches: Vec<Option<Watch>>,
    /// When each ticket got its present rank, in milliseconds since boot.
    since_ms: Vec<u64>,
}

/// How a slot is tried for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Where we stand, in the only queue.
    pub(super) standpoint: Option<Standpoint>,
    /// Where none is free the queue may be joined at once.
    pub(super) joins: bool,
}

/// What trying led to.
pub(super) enum Tried {
    Taken(Box<dyn Held>),
    /// What was found at each candidate, and what was seen there.
    Not(Vec<(Finding, Look)>),
}

impl Standing {
    /// Looks at all candidates and takes the first slot that is free.
    pub(super) fn attempt(&self, ask: &Ask, manner: Manner) -> Result<(Tried, bool), Trouble> {
        let lease = self.upkeep.lease();
        let looks = match (&self.names[..], &ask.wants[..]) {
            ([names], [want]) if is_possible(want, &ask.bearer) => {
                let label = Label::new(&ask.bearer, token::fresh(), Timestamp::now());
                let ticket = Label::new(&ask.bearer, String::new(), Timestamp::now());
                let request = Request {
                    names,
                    lease: &lease,
                    want,
                    bearer: &ask.bearer,
                    label: &label,
                    standpoint: manner.standpoint,
                    ticket: manner.joins.then_some(&ticket),
                };
                let answer = self.client.ask("/v3/kv/txn", &request.body())?;
                match request.outcome(&answer) {
                    Some(Outcome::Taken(slot, revision)) => {
                        let held = EtcdHeld::new(self, 0, slot, revision, &label);
                        return Ok((Tried::Taken(Box::new(held)), false));
                    }
                    Some(Outcome::Seen(look)) => vec![look],
                    None => look(&self.client, &self.names)?,
                }
            }
            _ => look(&self.client, &self.names)?,
        };
        let mut findings = Vec::with_capacity(looks.len());
        let mut is_changed = false;
        for (index, (look, want)) in looks.into_iter().zip(&ask.wants).enumerate() {
            let finding = look.judge(want, &ask.bearer, &lease);
            let mut label = Label::new(&ask.bearer, token::fresh(), Timestamp::now());
            label.tokens = want.tokens.map(|need| need.tokens);
            label.model.clone_from(&want.only_model);
            let taken = match finding {
                Finding::Free(slot) => {
                    let by = self.taker(&lease);
                    let taken = by.take(index, slot, &look, want, &ask.bearer, &label)?;
                    is_changed |= taken.is_none();
                    taken.map(|revision| (slot, revision, label))
                }
                Finding::Ours(slot, revision) => {
                    // The label is the one we wrote; its token is what we are known by.
                    let ours = look.slots.iter().find(|entry| entry.lease == lease);
                    let label = ours.and_then(|entry| Label::parse(&entry.value));
                    label.map(|label| (slot, revision, label))
                }
                Finding::Behind(_) | Finding::Full => None,
            };
            if let Some((slot, revision, label)) = taken {
                let held = EtcdHeld::new(self, index, slot, revision, &label);
                return Ok((Tried::Taken(Box::new(held)), false));
            }
            findings.push((finding, look));
        }
        Ok((Tried::Not(findings), is_changed))
    }

    pub(super) fn taker<'a>(&'a self, lease: &'a str) -> Taker<'a> {
        Taker {
            client: &self.client,
            lease,
            names: &self.names,
        }
    }

    /// Joins every queue; the lease our tickets hang on.
    pub(super) fn join(&self, ask: &Ask) -> Result<String, Trouble> {
        let lease = self.upkeep.lease();
        let label = Label::new(&ask.bearer, String::new(), Timestamp::now());
        self.taker(&lease).join(&ask.bearer, &label)?;
        Ok(lease)
    }
}

impl EtcdPlace {
    /// The place of one who found this.
    pub(super) fn new(standing: Standing, found: Vec<(Finding, Look)>) -> Self {
        let queues = standing.names.len();
        let lease = standing.upkeep.lease();
        let is_settled = |(finding, look): &(Finding, Look)| {
            look.ticket(&lease).is_some() && matches!(finding, Finding::Behind(_) | Finding::Full)
        };
        let found = if found.iter().all(is_settled) {
            found
        } else {
            Vec::new()
        };
        Self {
            standing: Some(standing),
            lease,
            found,
            standpoint: None,
            watches: (0..queues).map(|_| None).collect(),
            since_ms: vec![boot_ms(); queues],
        }
    }

    /// Joins every queue, unless it was found that we stand there.
    pub(super) fn ensure_joined(&self, ask: &Ask) -> Result<(), Trouble> {
        match &self.standing {
            Some(standing) if self.found.is_empty() => standing.join(ask).map(drop),
            _ => Ok(()),
        }
    }

    /// Looks, takes, and sets the watches by what was found. None: nothing was had.
    fn look(&mut self, ask: &Ask, waker: &Waker) -> Result<Option<Box<dyn Held>>, Trouble> {
        let Some(standing) = &self.standing else {
            return Ok(None);
        };
        if standing.upkeep.lease() != self.lease {
            // The lease was lost, and our tickets with it.
            self.lease = standing.join(ask)?;
            self.since_ms.fill(boot_ms());
            self.found.clear();
        }
        if !self.found.is_empty() {
            let found = std::mem::take(&mut self.found);
            self.settle(found, ask, waker);
            return Ok(None);
        }
        for _ in 0..TRIES {
            let manner = Manner {
                standpoint: self.standpoint,
                joins: false,
            };
            let (tried, is_changed) = standing.attempt(ask, manner)?;
            match tried {
                Tried::Taken(held) => return Ok(Some(held)),
                Tried::Not(_) if is_changed => {}
                Tried::Not(findings) => {
                    if findings
                        .iter()
                        .any(|(_, look)| look.ticket(&self.lease).is_none())
                    {
                        self.lease = standing.join(ask)?;
                    }
                    self.settle(findings, ask, waker);
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    fn settle(&mut self, findings: Vec<(Finding, Look)>, ask: &Ask, waker: &Waker) {
        let ticket = findings
            .first()
            .and_then(|(_, look)| look.ticket(&self.lease));
        self.standpoint = ticket.and_then(|ticket| Some((ticket_rank(ticket)?, ticket.created)));
        self.age(&findings, ask);
        self.watch(findings, waker);
    }

    fn watch(&mut self, findings: Vec<(Finding, Look)>, waker: &Waker) {
        let Some(standing) = &self.standing else {
            return;
        };
        for (index, (finding, look)) in findings.into_iter().enumerate() {
            let names = &standing.names[index];
            let far = match finding {
                Finding::Behind(key) if ticket_class(&key) == self.own_class(&look) => {
                    self.two_before(&look)
                }
                // Of another class: it may leave, or be overtaken by others of its class.
                _ => None,
            };
            let (target, from) = match far {
                Some(key) => (Target::Key(key), Some(look.revision + 1)),
                // The next one watches what the first does: when its turn comes it is ready.
                None => (Target::Below(names.all().to_owned()), None),
            };
            if self.watches[index]
                .as_ref()
                .is_some_and(|w| w.is_for(&target))
            {
                continue;
            }
            self.watches[index] = Watch::start(&standing.client, target, from, waker);
        }
    }

    /// The ticket with whose end we are among the first two; none when we are that already.
    fn two_before(&self, look: &Look) -> Option<String> {
        let own = look.ticket(&self.lease)?;
        let place = look.tickets.iter().position(|ticket| ticket == own)?;
        Some(look.tickets[place.checked_sub(2)?].key.clone())
    }

    fn own_class(&self, look: &Look) -> Option<u8> {
        look.ticket(&self.lease).and_then(ticket_rank)
    }

    /// Who has waited long rises by a class, so that batch work is late but never starved.
    fn age(&mut self, findings: &[(Finding, Look)], ask: &Ask) {
        let Some(standing) = &self.standing else {
            return;
        };
        let now = boot_ms();
        for (index, (_, look)) in findings.iter().enumerate() {
            let rank = look.ticket(&self.lease).and_then(ticket_rank);
            let waited = now.saturating_sub(self.since_ms[index]);
            if let Some(rank @ 1..) = rank
                && waited >= millis(AGEING)
            {
                let label = Label::new(&ask.bearer, String::new(), Timestamp::now());
                let taker = standing.taker(&self.lease);
                if taker.rise(index, rank, &label).is_ok() {
                    self.since_ms[index] = now;
                }
            }
        }
    }
}

fn ticket_class(key: &str) -> Option<u8> {
    key.rsplit_once('/')?.0.rsplit_once('/')?.1.parse().ok()
}

impl Place for EtcdPlace {
    fn wait(&mut self, ask: &Ask, limit: Duration, waker: &Waker) -> Result<Waited, StoreError> {
        let deadline = Instant::now() + limit;
        loop {
            let pause = match self.look(ask, waker) {
                Ok(Some(held)) => {
                    self.standing = None;
                    return Ok(Waited::Taken(held));
                }
                Ok(None) if self.watches.iter().all(Option::is_some) => TICK,
                // Members come back; what else is wrong stays wrong.
                Ok(None) | Err(Trouble::Unreachable(_) | Trouble::LeaseGone) => AGAIN,
                Err(trouble) => return Err(trouble.into()),
            };
            let until = Instant::now() + pause;
            loop {
                let now = Instant::now();
                if now >= deadline {
                    return Ok(Waited::NotYet);
                }
                // Each is asked, for asking takes the news away.
                let news = self.watches.iter().flatten().map(Watch::has_news);
                if news.fold(false, |any, one| any | one) || now >= until {
                    break;
                }
                if waker.sleep(None, Some(until.min(deadline) - now)).by_signal {
                    return Ok(Waited::NotYet);
                }
            }
        }
    }
}

impl Drop for EtcdPlace {
    fn drop(&mut self) {
        // Whoever gives up leaves the queues at once, and not only when the lease ends.
        if let Some(standing) = &self.standing {
            super::tenure::revoke(&standing.client, &standing.upkeep.lease());
        }
    }
}
