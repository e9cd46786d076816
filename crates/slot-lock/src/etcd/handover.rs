//! Handing a slot on: whoever gives one back gives it, in the same transaction, to the first who
//! waits, so that this one learns it from its watch and need not ask for anything.
//!
//! Only who is content with any slot of one server can be given one by somebody else; its ticket says
//! so (the wish). Others look for themselves, and so does everybody when a slot becomes free without
//! having been handed on (its holder died, a lease ended): all who wait see that.
//!
//! A queue is *settled* when its first cannot be given a slot. Whoever unsettles it settles it again:
//! by handing on, after taking a slot by looking, and after leaving the queue. Should one die before
//! it could, a waiter finds out when it next looks around by itself.

use baton_protocol::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::{Client, Trouble};
use super::names::{Names, RANKS, slot_index, ticket_rank};
use super::take::Look;
use super::wire::{
    Entry, below, delete, is_absent, is_empty, is_newer, is_none_from, is_older, is_unchanged, put,
    ranges, revision, succeeded,
};
use crate::label::{Bearer, Label};
use crate::store::Want;
use crate::token;

/// At most so many are named in one transaction: one more than there are slots, for whoever gives one
/// back at the same time has the same list.
const HEIRS: usize = 3;
/// One more of each class is read, to see whether the next could have a slot as well.
const READ: usize = HEIRS + 1;
/// So often the queue may change under us before the slot is simply let go.
const TRIES: usize = 4;

/// What a waiter wants that can be given a slot by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Wish {
    /// How many slots it counts with.
    slots: u32,
    /// What is to be noted of that for later callers.
    record: String,
}

/// The part of a ticket that is no label.
#[derive(Debug, Deserialize)]
struct Wishing {
    wish: Wish,
}

/// The text of a ticket. With a `want` it can be given a slot by another.
pub(super) fn ticket_text(bearer: &Bearer, want: Option<&Want>) -> String {
    let Some(want) = want else {
        return Label::new(bearer, String::new(), Timestamp::now()).line();
    };
    let label = Label::new(bearer, token::fresh(), Timestamp::now());
    let wish = Wish {
        slots: want.slots,
        record: want.record(),
    };
    let mut text = serde_json::to_value(label).unwrap_or_default();
    text["wish"] = serde_json::to_value(wish).unwrap_or_default();
    format!("{text}\n")
}

/// What a grant says, to one with this ticket: the slot, and the label it is held under.
pub(super) fn read_grant(text: &str, ticket: &str) -> Option<(u32, Label)> {
    let (slot, since) = text.split_once(' ')?;
    let mut label = Label::parse(ticket)?;
    label.since = Timestamp::new(humantime::parse_rfc3339(since).ok()?);
    Some((slot.parse().ok()?, label))
}

/// One who waits and can be given a slot.
#[derive(Debug, Clone, PartialEq)]
struct Heir {
    ticket: Entry,
    rank: u8,
    label: Label,
    wish: Wish,
}

impl Heir {
    fn of(ticket: &Entry) -> Option<Self> {
        Some(Self {
            ticket: ticket.clone(),
            rank: ticket_rank(ticket)?,
            label: Label::parse(&ticket.value)?,
            wish: serde_json::from_str::<Wishing>(&ticket.value).ok()?.wish,
        })
    }

    /// The first slot it could have beside these that are held.
    fn slot_beside(&self, held: &[u32]) -> Option<u32> {
        let is_over = held.iter().any(|slot| *slot >= self.wish.slots);
        let mut own = 0..self.wish.slots;
        own.find(|slot| !is_over && !held.contains(slot))
    }

    /// The conditions under which it is the first, and what gives it this slot.
    fn gift(&self, names: &Names, slot: u32, now: Timestamp) -> (Vec<Value>, Vec<Value>) {
        let mut compare = vec![
            is_unchanged(&self.ticket.key, self.ticket.modified),
            is_newer(&names.queue(self.rank), self.ticket.created - 1),
            is_none_from(&names.slot(self.wish.slots), &names.slots()),
        ];
        compare.extend((0..self.rank).map(|rank| is_empty(&names.queue(rank))));
        let mut label = self.label.clone();
        label.since = now;
        let (label, lease) = (label.line(), &self.ticket.lease);
        let grant = format!("{slot} {now}");
        let success = vec![
            put(&names.slot(slot), &label, lease),
            put(&names.grant(lease), &grant, lease),
            delete(&self.ticket.key),
            put(&names.record(), &self.wish.record, ""),
        ];
        (compare, success)
    }
}

/// The first of those that wait, up to one that must look for itself.
fn heirs(look: &Look) -> Vec<Heir> {
    let heirs = look.tickets.iter().map(Heir::of);
    heirs.map_while(|heir| heir).take(READ).collect()
}

fn held(look: &Look) -> Vec<u32> {
    look.slots.iter().filter_map(slot_index).collect()
}

/// The slots and the first of every queue, with their values. A `serializable` one costs less and may
/// be out of date.
pub(super) fn look(client: &Client, names: &Names, serializable: bool) -> Result<Look, Trouble> {
    let range = |prefix: &str| {
        let mut range = below(prefix);
        range["serializable"] = serializable.into();
        range
    };
    let queue = |rank| {
        let mut range = range(&names.queue(rank));
        range["sort_target"] = "CREATE".into();
        range["sort_order"] = "ASCEND".into();
        range["limit"] = READ.to_string().into();
        range
    };
    let queues = (0..RANKS).map(queue);
    let reads = std::iter::once(range(&names.slots())).chain(queues);
    let reads: Vec<Value> = reads.map(|range| json!({"request_range": range})).collect();
    let answer = client.ask("/v3/kv/txn", &json!({"success": reads}))?;
    let mut found = ranges(&answer).into_iter();
    let slots = found.next().unwrap_or_default();
    Ok(Look::new(
        revision(&answer),
        slots,
        found.flatten().collect(),
    ))
}

/// What became of a slot that was to be handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handed {
    /// It was given to another, or that cannot be known.
    On,
    /// Nobody could be given it: it becomes free when its lease is ended.
    ToNobody,
    /// It hung on our lease no more.
    NotOurs,
}

/// Gives a slot that hangs on this lease to the first who waits. Where nobody does, or the first
/// must look for itself, nothing is done.
/// `seen` is a look of lately.
pub(super) fn hand_on(
    client: &Client,
    names: &Names,
    slot: u32,
    lease: &str,
    mut seen: Option<Look>,
) -> Handed {
    for attempt in 0..TRIES {
        // What is out of date is found out by the transaction.
        let found = match seen.take().filter(|look| !look.tickets.is_empty()) {
            Some(look) => Ok(look),
            None => look(client, names, attempt == 0),
        };
        let Ok(look) = found else {
            return Handed::On;
        };
        let key = names.slot(slot);
        let own = look.slots.iter().find(|entry| entry.key == key);
        let Some(own) = own.filter(|entry| entry.lease == lease) else {
            if attempt == 0 {
                continue;
            }
            return Handed::NotOurs;
        };
        let heirs = heirs(&look);
        let fits = |heir: &&Heir| {
            let others: Vec<u32> = held(&look).into_iter().filter(|i| *i != slot).collect();
            slot < heir.wish.slots && heir.slot_beside(&others).is_some()
        };
        let most = (look.slots.len() + 1).min(HEIRS);
        let able: Vec<&Heir> = heirs.iter().take(most).take_while(fits).collect();
        if able.is_empty() {
            return Handed::ToNobody;
        }
        let asked = testament(names, own, slot, &able, Timestamp::now());
        let Ok(answer) = client.ask("/v3/kv/txn", &asked) else {
            // It may have been done all the same; then nothing of the slot hangs on our lease.
            return Handed::On;
        };
        if let Some(index) = inherited(&answer, able.len()) {
            // One who counts with more slots may be next.
            let next = heirs.get(index + 1);
            if next.is_some_and(|heir| heir.slot_beside(&held(&look)).is_some()) {
                settle(client, names);
            }
            return Handed::On;
        }
    }
    Handed::ToNobody
}

/// The transaction: the first heir that is still the first has the slot.
fn testament(names: &Names, own: &Entry, slot: u32, able: &[&Heir], now: Timestamp) -> Value {
    let otherwise = |otherwise: Vec<Value>, heir: &&Heir| {
        let (compare, success) = heir.gift(names, slot, now);
        vec![json!({"request_txn": {
            "compare": compare, "success": success, "failure": otherwise,
        }})]
    };
    let success = able.iter().rev().fold(Vec::new(), otherwise);
    json!({"compare": [is_unchanged(&own.key, own.modified)], "success": success})
}

/// Which heir has it.
fn inherited(answer: &Value, heirs: usize) -> Option<usize> {
    let mut reached = answer;
    (0..heirs).find(|_| {
        reached = &reached["responses"][0]["response_txn"];
        succeeded(reached)
    })
}

/// Gives free slots to the first who wait, as long as there are any.
pub(super) fn settle(client: &Client, names: &Names) {
    for _ in 0..TRIES {
        let Ok(look) = look(client, names, false) else {
            return;
        };
        let Some(heir) = heirs(&look).into_iter().next() else {
            return;
        };
        let Some(slot) = heir.slot_beside(&held(&look)) else {
            return;
        };
        let (mut compare, success) = heir.gift(names, slot, Timestamp::now());
        compare.push(is_absent(&names.slot(slot)));
        compare.push(is_older(&names.slots(), look.revision));
        let asked = json!({"compare": compare, "success": success});
        if client.ask("/v3/kv/txn", &asked).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{SlotClass, Timestamp};
    use serde_json::json;

    use super::{heirs, inherited, read_grant, testament, ticket_text};
    use crate::etcd::fixtures::{bearer, names, want};
    use crate::etcd::names::rank_of;
    use crate::etcd::take::Look;
    use crate::etcd::wire::{Entry, encode};

    fn entry(key: String, value: String, lease: &str, created: i64) -> Entry {
        Entry {
            key,
            value,
            lease: lease.into(),
            created,
            modified: created,
        }
    }

    /// One who waits: its class, its lease, when it came, and with how many slots it counts (none:
    /// it must look for itself).
    type Waits = (SlotClass, &'static str, i64, Option<u32>);

    fn look(held: &[u32], waiting: &[Waits]) -> Look {
        let slot = |i: &u32| entry(names().slot(*i), String::new(), "9", 5);
        let ticket = |(class, lease, created, slots): &Waits| {
            let want = slots.map(want);
            let text = ticket_text(&bearer(*class), want.as_ref());
            let key = names().ticket(rank_of(*class), lease);
            entry(key, text, lease, *created)
        };
        let slots = held.iter().map(slot).collect();
        Look::new(20, slots, waiting.iter().map(ticket).collect())
    }

    use SlotClass::{Batch, Interactive, Worker};

    #[test]
    fn heirs_stand_in_the_order_of_service_up_to_one_who_must_look_for_itself() {
        let waiting = [
            (Batch, "4", 7, Some(2)),
            (Worker, "1", 9, Some(2)),
            (Worker, "2", 8, Some(2)),
            (Interactive, "3", 10, Some(2)),
        ];
        let order = |look: &Look| -> Vec<String> {
            heirs(look).into_iter().map(|h| h.ticket.lease).collect()
        };
        assert_eq!(order(&look(&[0, 1], &waiting)), ["3", "2", "1", "4"]);
        let mut waiting = waiting;
        waiting[2].3 = None;
        assert_eq!(order(&look(&[0, 1], &waiting)), ["3"]);
        waiting[3].3 = None;
        assert!(heirs(&look(&[0, 1], &waiting)).is_empty());
    }

    #[test]
    fn a_slot_is_had_only_within_ones_own_number_and_when_nobody_is_above_it() {
        let beside = |slots, held: &[u32]| {
            let heirs = heirs(&look(&[], &[(Worker, "1", 9, Some(slots))]));
            heirs[0].slot_beside(held)
        };
        assert_eq!(beside(2, &[]), Some(0));
        assert_eq!(beside(2, &[0]), Some(1));
        assert_eq!(beside(2, &[0, 1]), None);
        assert_eq!(beside(2, &[3]), None, "a lowered number drains first");
        assert_eq!(beside(4, &[0, 3]), Some(1));
    }

    #[test]
    fn a_ticket_says_what_a_grant_then_is_made_of() {
        let heirs = heirs(&look(&[0], &[(Worker, "41", 9, Some(1))]));
        let at = Timestamp::new(std::time::UNIX_EPOCH);
        let (_, success) = heirs[0].gift(&names(), 0, at);
        let mut label = heirs[0].label.clone();
        label.since = at;
        assert_eq!(label.token.len(), 32);
        let grant = format!("0 {at}");
        let ticket = &heirs[0].ticket.value;
        assert_eq!(read_grant(&grant, ticket), Some((0, label)));
        let put = &success[1]["request_put"];
        assert_eq!(put["key"], encode(names().grant("41").as_bytes()));
        assert_eq!(put["value"], encode(grant.as_bytes()));
        assert_eq!(put["lease"], "41");
    }

    #[test]
    fn the_answer_tells_which_heir_has_the_slot() {
        let waiting = [(Worker, "1", 8, Some(1)), (Worker, "2", 9, Some(1))];
        let look = look(&[0], &waiting);
        let heirs = heirs(&look);
        let able: Vec<_> = heirs.iter().collect();
        let asked = testament(&names(), &look.slots[0], 0, &able, Timestamp::now());
        let first = &asked["success"][0]["request_txn"];
        let second = &first["failure"][0]["request_txn"];
        assert!(second["failure"].as_array().unwrap().is_empty());
        let deleted = &second["success"][2]["request_delete_range"]["key"];
        assert_eq!(*deleted, encode(names().ticket(1, "2").as_bytes()));
        let nested = |inner| json!({"responses": [{"response_txn": inner}]});
        let done = json!({"succeeded": true});
        assert_eq!(inherited(&nested(done.clone()), 2), Some(0));
        assert_eq!(inherited(&nested(nested(done)), 2), Some(1));
        assert_eq!(inherited(&nested(nested(json!({}))), 2), None);
        assert_eq!(
            inherited(&json!({}), 2),
            None,
            "the slot is not ours any more"
        );
    }
}
