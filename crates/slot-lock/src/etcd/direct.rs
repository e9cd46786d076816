//! Taking a slot, or joining its queue, in one request: for one server where only the number of
//! held slots decides.
//!
//! The conditions say that nobody is before us and that no slot above our number is held. Nested
//! transactions then take the first slot that is free. Where that fails (and it is wanted) our ticket
//! is written, and everything that was seen comes back, as from a look.

use serde_json::{Value, json};

use super::names::{Names, rank_of};
use super::take::Look;
use super::wire::{
    below, delete, is_absent, is_empty, is_newer, is_none_from, is_present, put, ranges, revision,
    succeeded,
};
use crate::admission::allowed;
use crate::label::{Bearer, Label};
use crate::store::Want;

/// Each slot is one more level of nesting.
const MOST_SLOTS: u32 = 16;

/// Our ticket's rank, and the revision it was created at.
pub(super) type Standpoint = (u8, i64);

/// What is asked for.
pub(super) struct Request<'a> {
    pub(super) names: &'a Names,
    pub(super) lease: &'a str,
    pub(super) want: &'a Want,
    pub(super) bearer: &'a Bearer,
    /// Of the slot, should it be taken.
    pub(super) label: &'a Label,
    /// Where we stand already.
    pub(super) standpoint: Option<Standpoint>,
    /// Our ticket's text, should we join the queue.
    pub(super) ticket: Option<&'a str>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// This slot is ours, since this revision.
    Taken(u32, i64),
    Seen(Look),
}

/// Whether the number of held slots alone decides.
pub(super) fn is_possible(want: &Want, bearer: &Bearer) -> bool {
    want.tokens.is_none()
        && want.only_model.is_none()
        && want.slots <= MOST_SLOTS
        && allowed(want, bearer.class) == want.slots
}

impl Request<'_> {
    /// The transaction.
    pub(super) fn body(&self) -> Value {
        let Self { names, want, .. } = self;
        let mut compare = vec![is_none_from(&names.slot(want.slots), &names.slots())];
        let mut leave = None;
        let first = match self.standpoint {
            Some((rank, created)) => {
                let own = names.ticket(rank, self.lease);
                compare.push(is_present(&own));
                compare.push(is_newer(&names.queue(rank), created - 1));
                leave = Some(delete(&own));
                rank
            }
            None => rank_of(self.bearer.class) + 1,
        };
        compare.extend((0..first).map(|rank| is_empty(&names.queue(rank))));
        let otherwise = self.otherwise();
        let mut taking = otherwise.clone();
        for slot in (0..want.slots).rev() {
            let name = names.slot(slot);
            let mut success = vec![
                put(&name, &self.label.line(), self.lease),
                put(&names.record(), &want.record(), ""),
            ];
            success.extend(leave.clone());
            taking = vec![json!({"request_txn": {
                "compare": [is_absent(&name)], "success": success, "failure": taking,
            }})];
        }
        json!({"compare": compare, "success": taking, "failure": otherwise})
    }

    fn otherwise(&self) -> Vec<Value> {
        let mut queues = below(&self.names.queues());
        queues["keys_only"] = true.into();
        let ticket = self.ticket.map(|text| {
            let name = self.names.ticket(rank_of(self.bearer.class), self.lease);
            put(&name, text, self.lease)
        });
        let slots = json!({"request_range": below(&self.names.slots())});
        let queues = json!({"request_range": queues});
        ticket.into_iter().chain([slots, queues]).collect()
    }

    /// Reads the answer; none where it is incomplete.
    pub(super) fn outcome(&self, answer: &Value) -> Option<Outcome> {
        let at = revision(answer);
        let mut reached = answer;
        if succeeded(answer) {
            for slot in 0..self.want.slots {
                reached = &reached["responses"][0]["response_txn"];
                if succeeded(reached) {
                    return Some(Outcome::Taken(slot, at));
                }
            }
        }
        let mut found = ranges(reached).into_iter();
        let (slots, tickets) = (found.next()?, found.next()?);
        Some(Outcome::Seen(Look::new(at, slots, tickets)))
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::{SlotClass, Timestamp};
    use serde_json::json;

    use super::{Outcome, Request, is_possible};
    use crate::etcd::fixtures::{bearer, want};
    use crate::etcd::names::Names;
    use crate::etcd::wire::encode;
    use crate::label::Label;
    use crate::store::Want;

    #[test]
    fn every_way_an_answer_can_go_is_read() {
        let (names, want, bearer) = (
            Names::new("b/", &want(2).key, "h"),
            want(2),
            bearer(SlotClass::Worker),
        );
        let label = Label::new(&bearer, "t".into(), Timestamp::now());
        let request = Request {
            names: &names,
            lease: "41",
            want: &want,
            bearer: &bearer,
            label: &label,
            standpoint: None,
            ticket: Some("t"),
        };
        let puts = json!([{"response_put": {}}, {"response_put": {}}]);
        let kv = json!({"key": encode(names.slot(0).as_bytes()), "create_revision": "7"});
        let seen = json!([{"response_put": {}}, {"response_range": {"kvs": [kv]}},
            {"response_range": {}}]);
        let answer = |succeeded: bool, responses| {
            let header = json!({"revision": "9"});
            let answer = json!({"header": header, "succeeded": succeeded, "responses": responses});
            request.outcome(&answer).unwrap()
        };
        let nested = |succeeded: bool, responses| json!([{"response_txn": {"succeeded": succeeded, "responses": responses}}]);
        let first = answer(true, nested(true, puts.clone()));
        assert_eq!(first, Outcome::Taken(0, 9));
        let second = answer(true, nested(false, nested(true, puts)));
        assert_eq!(second, Outcome::Taken(1, 9));
        for full in [
            answer(true, nested(false, nested(false, seen.clone()))),
            answer(false, seen),
        ] {
            let Outcome::Seen(look) = full else {
                panic!("{full:?}")
            };
            assert_eq!((look.revision, look.slots.len()), (9, 1));
        }
        assert_eq!(request.outcome(&json!({"succeeded": true})), None);
    }

    #[test]
    fn what_needs_more_than_a_count_is_not_asked_for_this_way() {
        assert!(is_possible(&want(2), &bearer(SlotClass::Worker)));
        let reserved = Want {
            reserve_interactive: 1,
            ..want(2)
        };
        let foreign = Want {
            foreign: 1,
            ..want(2)
        };
        let many = Want {
            slots: 64,
            ..want(2)
        };
        for other in [reserved, foreign, many] {
            assert!(!is_possible(&other, &bearer(SlotClass::Worker)));
        }
    }
}
