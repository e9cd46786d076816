//! Looking at the slots and queues, and taking a slot in one transaction.
//!
//! A look is one request over all candidates. Whether one more may come in (slots, reserve, foreign
//! load, tokens, model) is judged by what it saw, and the taking holds only if since then nobody else
//! took a slot of that server or joined a queue before us: else everything is looked at again. So no
//! two can take the last slot, and the sum of tokens cannot be exceeded by two at once.

use serde_json::{Value, json};

use super::client::{Client, Trouble};
use super::names::{Names, rank_of, slot_index, ticket_rank};
use super::wire::{
    Entry, below, delete, is_absent, is_empty, is_older, is_present, put, ranges, revision,
    succeeded,
};
use crate::admission::{by_count, by_model, by_tokens};
use crate::label::{Bearer, Label};
use crate::store::Want;

/// etcd refuses transactions of more than 128 operations.
const MOST_OPERATIONS: usize = 100;

/// One server's slots and queues as they were at a revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) revision: i64,
    pub(super) slots: Vec<Entry>,
    /// Without their values, in the order of service.
    pub(super) tickets: Vec<Entry>,
}

/// What a look means for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// This slot hangs on our lease already (its answer was lost on the way).
    Ours(u32, i64),
    /// Somebody is before us: the key of the nearest one's ticket.
    Behind(String),
    /// Nobody is, and this slot may be taken.
    Free(u32),
    /// Nobody is, and nobody more may come in.
    Full,
}

/// Looks at all these servers at once.
pub(super) fn look(client: &Client, names: &[Names]) -> Result<Vec<Look>, Trouble> {
    let mut looks = Vec::with_capacity(names.len());
    for part in names.chunks(MOST_OPERATIONS / 2) {
        let read = |names: &Names| {
            let mut queues = below(&names.queues());
            queues["keys_only"] = true.into();
            let slots = json!({"request_range": below(&names.slots())});
            [slots, json!({"request_range": queues})]
        };
        let reads: Vec<Value> = part.iter().flat_map(read).collect();
        let answer = client.ask("/v3/kv/txn", &json!({"success": reads}))?;
        let at = revision(&answer);
        let mut found = ranges(&answer).into_iter();
        while let (Some(slots), Some(tickets)) = (found.next(), found.next()) {
            looks.push(Look::new(at, slots, tickets));
        }
    }
    if looks.len() == names.len() {
        Ok(looks)
    } else {
        Err(Trouble::Unreachable("an answer was incomplete".into()))
    }
}

fn order(ticket: &Entry) -> (u8, i64) {
    (ticket_rank(ticket).unwrap_or(u8::MAX), ticket.created)
}

impl Look {
    pub(super) fn new(revision: i64, slots: Vec<Entry>, mut tickets: Vec<Entry>) -> Self {
        tickets.sort_by_key(order);
        Self {
            revision,
            slots,
            tickets,
        }
    }

    /// Our ticket in its queue.
    pub(super) fn ticket(&self, lease: &str) -> Option<&Entry> {
        let ours = |ticket: &&Entry| ticket.key.rsplit('/').next() == Some(lease);
        self.tickets.iter().find(ours)
    }

    /// How many stand before our ticket in its queue.
    pub(super) fn place(&self, lease: &str) -> Option<usize> {
        let own = self.ticket(lease)?;
        self.tickets.iter().position(|ticket| ticket == own)
    }

    /// What it means for one who asks under this lease.
    pub(super) fn judge(&self, want: &Want, bearer: &Bearer, lease: &str) -> Finding {
        let ours = self.slots.iter().find(|slot| slot.lease == lease);
        if let Some((slot, index)) = ours.and_then(|slot| Some((slot, slot_index(slot)?))) {
            return Finding::Ours(index, slot.modified);
        }
        let mine = match self.ticket(lease) {
            Some(ticket) => order(ticket),
            // A newcomer comes after everybody of its class.
            None => (rank_of(bearer.class), i64::MAX),
        };
        if let Some(before) = self.tickets.iter().rev().find(|t| order(t) < mine) {
            return Finding::Behind(before.key.clone());
        }
        if self.admits(want, bearer) {
            let is_free = |index: &u32| !self.slots.iter().any(|s| slot_index(s) == Some(*index));
            if let Some(index) = (0..want.slots).find(is_free) {
                return Finding::Free(index);
            }
        }
        Finding::Full
    }

    fn admits(&self, want: &Want, bearer: &Bearer) -> bool {
        let labels: Vec<Option<Label>> =
            self.slots.iter().map(|s| Label::parse(&s.value)).collect();
        let count = u32::try_from(labels.len()).unwrap_or(u32::MAX);
        let tokens: Vec<Option<u64>> = labels.iter().map(|l| l.as_ref()?.tokens).collect();
        let models = labels.iter().map(|l| l.as_ref()?.model.as_deref());
        by_count(want, bearer.class, count).is_ok()
            && want
                .only_model
                .as_ref()
                .is_none_or(|model| by_model(model, models).is_ok())
            && want
                .tokens
                .is_none_or(|need| by_tokens(need, want.slots, &tokens).is_ok())
    }
}

/// Who takes a slot, and how it is to be written.
pub(super) struct Taker<'a> {
    pub(super) client: &'a Client,
    pub(super) lease: &'a str,
    /// All servers we may stand in a queue of.
    pub(super) names: &'a [Names],
}

impl Taker<'_> {
    /// Takes this slot if nothing came between; the revision it was taken at.
    pub(super) fn take(
        &self,
        index: usize,
        slot: u32,
        look: &Look,
        want: &Want,
        bearer: &Bearer,
        label: &Label,
    ) -> Result<Option<i64>, Trouble> {
        let names = &self.names[index];
        let name = names.slot(slot);
        let mut compare = vec![is_absent(&name), is_older(&names.slots(), look.revision)];
        let first = match look.ticket(self.lease) {
            Some(ticket) => {
                compare.push(is_present(&ticket.key));
                ticket_rank(ticket).unwrap_or(0)
            }
            None => rank_of(bearer.class) + 1,
        };
        compare.extend((0..first).map(|rank| is_empty(&names.queue(rank))));
        let mut success = vec![
            put(&name, &label.line(), self.lease),
            put(&names.record(), &want.record(), ""),
        ];
        // With very many candidates the other tickets are removed afterwards.
        let own = self.own_tickets();
        success.extend(
            own.iter()
                .take(MOST_OPERATIONS)
                .map(|ticket| delete(ticket)),
        );
        let asked = json!({"compare": compare, "success": success});
        let answer = self.client.ask("/v3/kv/txn", &asked)?;
        if !succeeded(&answer) {
            return Ok(None);
        }
        for rest in own.chunks(MOST_OPERATIONS).skip(1) {
            let rest: Vec<Value> = rest.iter().map(|ticket| delete(ticket)).collect();
            let _ = self.write(&rest);
        }
        Ok(Some(revision(&answer)))
    }

    /// Our tickets, should we stand in queues. Removing one that is not there costs nothing.
    fn own_tickets(&self) -> Vec<String> {
        let of = |names: &Names| {
            (0..super::names::RANKS)
                .map(|rank| names.ticket(rank, self.lease))
                .collect::<Vec<_>>()
        };
        self.names.iter().flat_map(of).collect()
    }

    /// Joins every queue at its end.
    pub(super) fn join(&self, bearer: &Bearer, text: &str) -> Result<(), Trouble> {
        let rank = rank_of(bearer.class);
        let ticket = |names: &Names| put(&names.ticket(rank, self.lease), text, self.lease);
        let tickets: Vec<Value> = self.names.iter().map(ticket).collect();
        for part in tickets.chunks(MOST_OPERATIONS) {
            self.write(part)?;
        }
        Ok(())
    }

    /// Moves a ticket to the end of the next higher class.
    pub(super) fn rise(&self, index: usize, rank: u8, text: &str) -> Result<(), Trouble> {
        let names = &self.names[index];
        let old = names.ticket(rank, self.lease);
        let new = names.ticket(rank.saturating_sub(1), self.lease);
        let asked = json!({
            "compare": [is_present(&old)],
            "success": [delete(&old), put(&new, text, self.lease)],
        });
        self.client.ask("/v3/kv/txn", &asked).map(drop)
    }

    fn write(&self, operations: &[Value]) -> Result<(), Trouble> {
        let asked = json!({"success": operations});
        self.client.ask("/v3/kv/txn", &asked).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::SlotClass::{self, Batch, Interactive, Worker};
    use baton_protocol::Timestamp;

    use super::{Finding, Look, order};
    use crate::etcd::fixtures::{bearer, names, want};
    use crate::etcd::names::rank_of;
    use crate::etcd::wire::Entry;
    use crate::label::Label;
    use crate::store::{TokenNeed, Want};

    fn entry(key: String, lease: &str, created: i64, tokens: Option<u64>) -> Entry {
        let mut label = Label::new(&bearer(Worker), "t".into(), Timestamp::now());
        label.tokens = tokens;
        Entry {
            key,
            value: label.line(),
            lease: lease.into(),
            created,
            modified: created,
        }
    }

    fn look(held: &[u32], waiting: &[(SlotClass, &str, i64)]) -> Look {
        let slots = held
            .iter()
            .map(|i| entry(names().slot(*i), "other", 5, Some(100)));
        let ticket = |(class, lease, created): &(SlotClass, &str, i64)| {
            entry(
                names().ticket(rank_of(*class), lease),
                lease,
                *created,
                None,
            )
        };
        let mut tickets: Vec<Entry> = waiting.iter().map(ticket).collect();
        tickets.sort_by_key(order);
        Look {
            revision: 9,
            slots: slots.collect(),
            tickets,
        }
    }

    #[test]
    fn the_lowest_free_slot_is_found_and_a_lowered_number_drains() {
        let judge =
            |held: &[u32], slots| look(held, &[]).judge(&want(slots), &bearer(Worker), "me");
        assert_eq!(judge(&[], 2), Finding::Free(0));
        assert_eq!(judge(&[0], 2), Finding::Free(1));
        assert_eq!(judge(&[0, 1], 2), Finding::Full);
        assert_eq!(
            judge(&[2, 3], 2),
            Finding::Full,
            "holders above the limit count"
        );
        assert_eq!(judge(&[3], 2), Finding::Free(0));
    }

    #[test]
    fn a_newcomer_stands_behind_its_class_and_before_lower_ones() {
        let queue = [(Worker, "w", 7), (Batch, "b", 6)];
        let judge = |class| look(&[], &queue).judge(&want(1), &bearer(class), "me");
        assert_eq!(judge(Interactive), Finding::Free(0));
        assert_eq!(judge(Worker), Finding::Behind(names().ticket(1, "w")));
        assert_eq!(judge(Batch), Finding::Behind(names().ticket(2, "b")));
    }

    #[test]
    fn a_waiter_stands_behind_the_nearest_before_it() {
        let queue = [
            (Worker, "a", 7),
            (Worker, "me", 8),
            (Worker, "z", 9),
            (Interactive, "i", 10),
        ];
        let finding = look(&[], &queue).judge(&want(1), &bearer(Worker), "me");
        assert_eq!(finding, Finding::Behind(names().ticket(1, "a")));
        let queue = [(Worker, "me", 8), (Interactive, "i", 10)];
        let finding = look(&[], &queue).judge(&want(1), &bearer(Worker), "me");
        assert_eq!(finding, Finding::Behind(names().ticket(0, "i")));
        let finding = look(&[], &queue[..1]).judge(&want(1), &bearer(Worker), "me");
        assert_eq!(finding, Finding::Free(0));
    }

    #[test]
    fn a_slot_whose_answer_was_lost_is_ours() {
        let finding = look(&[0], &[]).judge(&want(1), &bearer(Worker), "other");
        assert_eq!(finding, Finding::Ours(0, 5));
    }

    #[test]
    fn tokens_reserve_and_foreign_load_count_as_in_the_local_store() {
        let judge = |change: &dyn Fn(&mut Want)| {
            let mut want = want(2);
            change(&mut want);
            look(&[0], &[]).judge(&want, &bearer(Worker), "me")
        };
        let need = |tokens| Some(TokenNeed { tokens, pool: 200 });
        assert_eq!(judge(&|w| w.tokens = need(100)), Finding::Free(1));
        assert_eq!(judge(&|w| w.tokens = need(101)), Finding::Full);
        assert_eq!(judge(&|w| w.reserve_interactive = 1), Finding::Full);
        assert_eq!(judge(&|w| w.foreign = 1), Finding::Full);
    }
}
