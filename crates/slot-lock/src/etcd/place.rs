//! Waiting in one or several queues at once.
//!
//! Who is content with any slot of one server is given one by whoever gives it back, and watches for
//! that, and for slots that become free without it. Of the others, whoever is far behind watches one
//! ticket alone, that of the one two places before; the first two, and whoever is first of its class,
//! watch the slots and queues of the server. So a queue of hundreds costs an event or two a step.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_protocol::Timestamp;

use super::client::{Client, Trouble};
use super::direct::{Outcome, Request, Standpoint, is_possible};
use super::handover::{read_grant, settle, ticket_text};
use super::held::{EtcdHeld, Lost, end_of};
use super::names::{Names, ticket_rank};
use super::take::{Finding, Look, Taker, look};
use super::tenure::millis;
use super::upkeep::Upkeep;
use super::watch::{Target, Watch};
use super::wire::{below, entries};
use crate::clock::boot_ms;
use crate::label::Label;
use crate::store::{Ask, Held, Place, StoreError, Waited};
use crate::ticket::AGEING;
use crate::token;
use crate::waker::Waker;

/// How often a waiter looks around though nothing rang.
const TICK: Duration = Duration::from_secs(5);
/// And one who is not among the first.
const FAR_TICK: Duration = Duration::from_secs(20);
/// From this place on a watch may begin in the past: it catches up long before our turn.
const FAR: usize = 16;
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
    /// What our tickets say.
    ticket: String,
    /// A slot may be given to us by another.
    is_heir: bool,
    /// How many stood before us when we last looked, in the only queue.
    before: usize,
    /// What the last look found, where nothing was done with it yet.
    found: Vec<(Finding, Look)>,
    /// Where we stand, in the only queue.
    standpoint: Option<Standpoint>,
    watches: Vec<Option<Watch>>,
    /// When each ticket got its present rank, in milliseconds since boot.
    since_ms: Vec<u64>,
}

/// What stands in a queue for us.
pub(super) struct Ticket {
    pub(super) text: String,
    is_heir: bool,
}

impl Ticket {
    /// For one server where only the number of held slots decides, it says that a slot may be given.
    pub(super) fn of(ask: &Ask) -> Self {
        let want = match &ask.wants[..] {
            [want] if is_possible(want, &ask.bearer) => Some(want),
            _ => None,
        };
        Self {
            text: ticket_text(&ask.bearer, want),
            is_heir: want.is_some(),
        }
    }
}

/// How a slot is tried for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner<'a> {
    /// Where we stand, in the only queue.
    pub(super) standpoint: Option<Standpoint>,
    /// Where none is free the queue may be joined at once, with this ticket.
    pub(super) joins: Option<&'a str>,
}

/// What trying led to.
pub(super) enum Tried {
    Taken(Box<dyn Held>),
    /// What was found at each candidate, and what was seen there.
    Not(Vec<(Finding, Look)>),
}

impl Standing {
    /// Looks at all candidates and takes the first slot that is free.
    pub(super) fn attempt(&self, ask: &Ask, manner: Manner<'_>) -> Result<(Tried, bool), Trouble> {
        let lease = self.upkeep.lease();
        let looks = match (&self.names[..], &ask.wants[..]) {
            ([names], [want]) if is_possible(want, &ask.bearer) => {
                let label = Label::new(&ask.bearer, token::fresh(), Timestamp::now());
                let request = Request {
                    names,
                    lease: &lease,
                    want,
                    bearer: &ask.bearer,
                    label: &label,
                    standpoint: manner.standpoint,
                    ticket: manner.joins,
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
    pub(super) fn join(&self, ask: &Ask, ticket: &str) -> Result<String, Trouble> {
        let lease = self.upkeep.lease();
        self.taker(&lease).join(&ask.bearer, ticket)?;
        Ok(lease)
    }
}

impl EtcdPlace {
    /// The place of one who found this.
    pub(super) fn new(standing: Standing, ticket: Ticket, found: Vec<(Finding, Look)>) -> Self {
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
            ticket: ticket.text,
            is_heir: ticket.is_heir,
            before: 0,
            found,
            standpoint: None,
            watches: (0..queues).map(|_| None).collect(),
            since_ms: vec![boot_ms(); queues],
        }
    }

    /// Joins every queue, unless it was found that we stand there.
    pub(super) fn ensure_joined(&self, ask: &Ask) -> Result<(), Trouble> {
        match &self.standing {
            Some(standing) if self.found.is_empty() => standing.join(ask, &self.ticket).map(drop),
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
            self.lease = standing.join(ask, &self.ticket)?;
            self.since_ms.fill(boot_ms());
            self.found.clear();
        }
        if let Some(held) = self.given() {
            return Ok(Some(held));
        }
        if !self.found.is_empty() {
            let found = std::mem::take(&mut self.found);
            self.settle(found, waker);
            return Ok(None);
        }
        for _ in 0..TRIES {
            let manner = Manner {
                standpoint: self.standpoint,
                joins: None,
            };
            let (tried, is_changed) = standing.attempt(ask, manner)?;
            match tried {
                Tried::Taken(held) => {
                    // Another slot may be free for the next, who found us in its way.
                    standing
                        .names
                        .iter()
                        .for_each(|names| settle(&standing.client, names));
                    return Ok(Some(held));
                }
                Tried::Not(_) if is_changed => {}
                Tried::Not(findings) => {
                    if findings
                        .iter()
                        .any(|(_, look)| look.ticket(&self.lease).is_none())
                    {
                        self.lease = standing.join(ask, &self.ticket)?;
                    }
                    self.settle(findings, waker);
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    fn settle(&mut self, findings: Vec<(Finding, Look)>, waker: &Waker) {
        let ticket = findings
            .first()
            .and_then(|(_, look)| look.ticket(&self.lease));
        self.standpoint = ticket.and_then(|ticket| Some((ticket_rank(ticket)?, ticket.created)));
        let before = |(_, look): &(Finding, Look)| look.place(&self.lease);
        self.before = findings.first().and_then(before).unwrap_or(0);
        self.age(&findings);
        self.watch(findings, waker);
    }

    /// The slot another gave us. Only while our lease surely lives: else a look tells what is true.
    fn given(&self) -> Option<Box<dyn Held>> {
        let standing = self.standing.as_ref()?;
        let (text, revision) = self.watches.first()?.as_ref()?.grant()?;
        let (slot, label) = read_grant(&text, &self.ticket)?;
        let end = end_of(standing.upkeep.last_ok_ms(), millis(standing.client.ttl()));
        if boot_ms() >= end.term_ms {
            return None;
        }
        let held = EtcdHeld::new(standing, 0, slot, revision, &label);
        Some(Box::new(held))
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
                _ if self.is_heir => {
                    let target = Target::Turn {
                        grant: names.grant(&self.lease),
                        slots: names.slots(),
                    };
                    (target, (self.before >= FAR).then_some(look.revision + 1))
                }
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

    /// Whether something may have happened before our watch began: told by one range, where a look
    /// would be a transaction.
    fn may_have_missed(&self, ask: &Ask) -> bool {
        let (Some(standing), [want], true) = (&self.standing, &ask.wants[..], self.is_heir) else {
            return true;
        };
        let mut asked = below(&standing.names[0].slots());
        asked["keys_only"] = true.into();
        let Ok(answer) = standing.client.ask("/v3/kv/range", &asked) else {
            return true;
        };
        let held = entries(&answer);
        let is_one_free = u32::try_from(held.len()).is_ok_and(|count| count < want.slots);
        is_one_free || held.iter().any(|slot| slot.lease == self.lease)
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
    fn age(&mut self, findings: &[(Finding, Look)]) {
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
                let taker = standing.taker(&self.lease);
                if taker.rise(index, rank, &self.ticket).is_ok() {
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
                Ok(None) if self.watches.iter().any(Option::is_none) => AGAIN,
                Ok(None) if self.is_heir && self.before >= FAR => FAR_TICK,
                Ok(None) => TICK,
                // Members come back; what else is wrong stays wrong.
                Err(Trouble::Unreachable(_) | Trouble::LeaseGone) => AGAIN,
                Err(trouble) => return Err(trouble.into()),
            };
            let until = Instant::now() + pause;
            loop {
                let now = Instant::now();
                if now >= deadline {
                    return Ok(Waited::NotYet);
                }
                // Each is asked, for asking takes the news away.
                let any = |of: fn(&Watch) -> bool| {
                    let all = self.watches.iter().flatten().map(of);
                    all.fold(false, |any, one| any | one)
                };
                let (has_news, has_begun) = (any(Watch::has_news), any(Watch::has_begun));
                if has_news || now >= until || (has_begun && self.may_have_missed(ask)) {
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
            standing.upkeep.stop();
            super::tenure::revoke(&standing.client, &standing.upkeep.lease());
            // The next may want less than we did.
            standing
                .names
                .iter()
                .for_each(|names| settle(&standing.client, names));
        }
    }
}
