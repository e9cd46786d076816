//! A slot of the cluster that is ours.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use baton_protocol::Timestamp;
use serde_json::json;

use super::client::{Client, Trouble};
use super::handover::{Handed, hand_on, look};
use super::keeper::{EtcdKeeper, Mission};
use super::names::Names;
use super::place::Standing;
use super::take::Look;
use super::tenure::{Claim, grant_for, millis, over_ms, revoke};
use super::upkeep::Upkeep;
use super::wire::{is_unchanged, put, succeeded};
use crate::clock::boot_ms;
use crate::identity::Identity;
use crate::keeper::{Limit, Orders};
use crate::label::{Bearer, Label};
use crate::store::{Care, End, Grant, Held, StoreError, Terms};

/// What happens to the command when the lease is lost.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
pub(crate) enum Lost {
    /// It goes on; the slot is taken again when it is free.
    #[default]
    Warn,
    /// It is ended before another can be given the slot.
    End,
}

/// When a command is ended whose lease was last kept alive at this time: asked at two thirds of the
/// time to live, killed at five sixths. Another can have the slot only when all of it is over.
pub(super) const fn end_of(last_ok_ms: u64, ttl_ms: u64) -> End {
    End {
        term_ms: last_ok_ms + ttl_ms * 2 / 3,
        kill_ms: last_ok_ms + ttl_ms * 5 / 6,
    }
}

/// So long what was seen at a command's beginning tells who waits at its end.
const NEW: Duration = Duration::from_millis(500);

/// A slot under our lease.
#[derive(Debug)]
pub(super) struct EtcdHeld {
    grant: Grant,
    client: Arc<Client>,
    upkeep: Arc<Upkeep>,
    names: Names,
    claim: Claim,
    on_lost: Lost,
    keeper: Option<EtcdKeeper>,
    /// The slot hangs on a lease of its own, which our end does not touch.
    is_lent: bool,
    /// Who waited when the command began, for one that ends soon.
    seen: Arc<Mutex<Option<(Look, Instant)>>>,
    /// The last success before a silence that was told.
    told_of_ms: Cell<u64>,
}

impl EtcdHeld {
    pub(super) fn new(
        standing: &Standing,
        want: usize,
        slot: u32,
        revision: i64,
        label: &Label,
    ) -> Self {
        let claim = Claim {
            slot,
            name: standing.names[want].slot(slot),
            value: label.line(),
        };
        standing.upkeep.hold(claim.clone());
        Self {
            grant: Grant {
                want,
                slot,
                token: label.token.clone(),
                since: label.since,
                flag_file: None,
                fence: u64::try_from(revision).ok(),
            },
            client: Arc::clone(&standing.client),
            upkeep: Arc::clone(&standing.upkeep),
            names: standing.names[want].clone(),
            claim,
            on_lost: standing.on_lost,
            keeper: None,
            is_lent: false,
            seen: Arc::default(),
            told_of_ms: Cell::new(0),
        }
    }

    /// Looks who waits while the command begins. It costs a brief command nothing, and the next one
    /// a request less between the two.
    fn look_ahead(&self) {
        let (client, names) = (Arc::clone(&self.client), self.names.clone());
        let seen = Arc::clone(&self.seen);
        let ask = move || {
            if let Ok(found) = look(&client, &names, true) {
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                *seen = Some((found, Instant::now()));
            }
        };
        let builder = std::thread::Builder::new().stack_size(512 * 1024);
        // Without it the look comes later.
        drop(builder.spawn(ask));
    }

    /// What was seen then, while it is new.
    fn seen(&self) -> Option<Look> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (look, at) = seen.take()?;
        (at.elapsed() < NEW).then_some(look)
    }

    /// What there is to say of a time for which the lease could not be kept alive: by our own clock,
    /// whether or not the cluster answers by now.
    fn silence(&self) -> Option<String> {
        let last_ok_ms = self.upkeep.last_ok_ms();
        let now = boot_ms();
        let is_new = now >= over_ms(last_ok_ms, &self.client)
            && !self.is_lent
            && !self.upkeep.is_lost()
            && self.told_of_ms.replace(last_ok_ms) != last_ok_ms;
        is_new.then(|| {
            format!(
                "for {} s the slot could not be kept, so another may be given it; the command goes on",
                now.saturating_sub(last_ok_ms) / 1000
            )
        })
    }

    fn mission(&self, has_group: bool) -> Mission {
        Mission::new(
            self.client.access(),
            &self.grant.token,
            &self.upkeep.lease(),
            self.upkeep.last_ok_ms(),
            &self.claim,
            self.on_lost,
            has_group,
        )
    }
}

impl Held for EtcdHeld {
    fn grant(&self) -> &Grant {
        &self.grant
    }

    fn keep(
        &mut self,
        becomes: bool,
        limit: Option<Limit>,
        has_group: bool,
    ) -> Result<(), StoreError> {
        let mission = self.mission(has_group);
        let mut keeper = EtcdKeeper::start(&mission, becomes).map_err(StoreError::Keeper)?;
        if let Some(limit) = limit {
            let ordered = keeper.order(&Orders::Limit(limit));
            ordered.map_err(StoreError::Keeper)?;
        }
        if let Ok(pipe) = keeper.pipe() {
            self.upkeep.tell(pipe);
        }
        self.keeper = Some(keeper);
        Ok(())
    }

    fn watch(&mut self, pid: u32) -> Result<(), StoreError> {
        let Some(keeper) = &mut self.keeper else {
            return Ok(());
        };
        let pid = i32::try_from(pid).unwrap_or(i32::MAX);
        let ordered = keeper.order(&Orders::Watch { pid });
        self.look_ahead();
        ordered.map_err(StoreError::Keeper)
    }

    fn lend(&mut self, bearer: &Bearer, terms: &Terms) -> Result<(), StoreError> {
        let left_ms = terms.expires_ms.saturating_sub(boot_ms());
        let lease = grant_for(&self.client, left_ms.div_ceil(1000).max(2))?;
        let mut label = Label::new(bearer, self.grant.token.clone(), self.grant.since);
        // No process of ours holds it from now on; at most the one it was taken for.
        match terms
            .holder
            .and_then(|pid| Identity::of_pid(u32::try_from(pid).ok()?))
        {
            Some(holder) => label.owner = holder,
            None => label.owner.boot_id.clear(),
        }
        if let Some(ours) = Label::parse(&self.claim.value) {
            label.tokens = ours.tokens;
            label.model = ours.model;
        }
        let revision = i64::try_from(self.grant.fence.unwrap_or(0)).unwrap_or(0);
        let asked = json!({
            "compare": [is_unchanged(&self.claim.name, revision)],
            "success": [put(&self.claim.name, &label.line(), &lease)],
        });
        let answer = self.client.ask("/v3/kv/txn", &asked)?;
        if !succeeded(&answer) {
            revoke(&self.client, &lease);
            return Err(StoreError::Unavailable(
                "the lease was lost before the slot could be lent".into(),
            ));
        }
        self.is_lent = true;
        if let Some(holder) = terms.holder {
            // Somebody must see its end.
            let mission = self.mission(false);
            let mut keeper = EtcdKeeper::start_detached(&mission).map_err(StoreError::Keeper)?;
            let orders = Orders::Lease {
                expires_ms: terms.expires_ms,
                holder: Some(holder),
            };
            keeper.order(&orders).map_err(StoreError::Keeper)?;
        }
        Ok(())
    }

    fn care(&self) -> Care {
        let last_ok_ms = self.upkeep.last_ok_ms();
        let end = end_of(last_ok_ms, millis(self.client.ttl()));
        let mut notes = self.upkeep.notes();
        notes.extend(self.silence());
        Care {
            notes,
            end: (self.on_lost == Lost::End && !self.is_lent).then_some(end),
            look_again: true,
        }
    }

    fn release(self: Box<Self>) -> Vec<String> {
        self.upkeep.stop();
        let mut notes = self.upkeep.notes();
        notes.extend(self.silence());
        if !self.is_lent && !self.upkeep.is_lost() {
            let lease = self.upkeep.lease();
            let slot = self.claim.slot;
            if hand_on(&self.client, &self.names, slot, &lease, self.seen()) == Handed::NotOurs {
                notes.push(format!(
                    "slot {slot} was lost before its time: overbooked, should another have been given it"
                ));
            }
            // What could not be handed on becomes free by this.
            revoke(&self.client, &lease);
        }
        if let Some(keeper) = self.keeper {
            keeper.dismiss();
        }
        notes
    }
}

/// A time from now on this host's clock, for display.
pub(super) fn in_time(ttl: std::time::Duration) -> Option<Timestamp> {
    SystemTime::now().checked_add(ttl).map(Timestamp::new)
}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Denied(why) => {
                Self::Denied(format!("etcd: {why}; set ETCDCTL_USER=NAME:PASSWORD"))
            }
            Trouble::Untrusted(why) => Self::Denied(format!(
                "etcd: {why}; name whom to trust in ETCDCTL_CACERT and, where it asks for one, our \
                 certificate in ETCDCTL_CERT and ETCDCTL_KEY"
            )),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn a_command_is_killed_before_its_lease_can_end() {
        let end = end_of(1_000, 10_000);
        assert!(1_000 + 10_000 / 3 < end.term_ms && end.term_ms < end.kill_ms);
        assert!(end.kill_ms + 1_000 < 11_000);
    }
}
