//! The store of several hosts: slots as keys of an etcd cluster, each under its holder's lease.
//!
//! etcd orders everything: a slot is taken, and a queue joined, in a transaction of its own, and what
//! nobody keeps alive goes away by itself. It is asked through its JSON gateway, which any version
//! since 3.4 has.

mod address;
mod client;
mod direct;
#[cfg(test)]
mod fixtures;
mod handover;
mod held;
mod keeper;
mod names;
mod place;
mod take;
mod tenure;
mod upkeep;
mod watch;
mod wire;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

pub(crate) use address::Address;
pub(crate) use held::Lost;
pub(crate) use keeper::{WORD as KEEPER, main as keep};

use self::client::{Access, Client};
use self::handover::hand_on;
use self::held::in_time;
use self::names::{Names, key_of, slot_index, ticket_rank};
use self::place::{EtcdPlace, Manner, Standing, TRIES, Ticket as OwnTicket, Tried};
use self::tenure::{Tenure, grant_for, revoke};
use self::upkeep::Upkeep;
use self::wire::{Entry, below, entries, is_unchanged, put, succeeded};
use crate::clock::boot_ms;
use crate::identity::Identity;
use crate::key::Key;
use crate::label::Label;
use crate::procfs;
use crate::store::{Ask, Attempt, HeldSlot, Listing, Released, Renewed, Store, StoreError, Waiter};
use crate::ticket::Ticket;

/// The store in one cluster.
#[derive(Debug)]
pub(crate) struct EtcdStore {
    client: Arc<Client>,
    host: String,
    on_lost: Lost,
}

/// A held slot that was found by its token.
struct Found {
    key: Key,
    slot: u32,
    entry: Entry,
    label: Label,
}

impl EtcdStore {
    /// The store at an address, with what the environment says for etcdctl(1).
    pub(crate) fn new(
        address: Address,
        variable: impl Fn(&str) -> Option<String>,
        on_lost: Lost,
    ) -> Result<Self, String> {
        let access = Access::from_variables(address, variable)?;
        Ok(Self {
            on_lost,
            ..Self::of(access)?
        })
    }

    fn of(access: Access) -> Result<Self, String> {
        Ok(Self {
            client: Arc::new(Client::new(access)?),
            host: procfs::host(),
            on_lost: Lost::default(),
        })
    }

    /// Whether the cluster answers.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.entries(&below(&self.prefix_of_nothing())).map(drop)
    }

    fn prefix_of_nothing(&self) -> String {
        format!("{}\u{1}", self.prefix())
    }

    fn prefix(&self) -> &str {
        &self.client.access().address.prefix
    }

    fn names(&self, key: &Key) -> Names {
        Names::new(self.prefix(), key, &self.host)
    }

    fn entries(&self, asked: &Value) -> Result<Vec<Entry>, StoreError> {
        let answer = Client::patiently(|| self.client.ask("/v3/kv/range", asked))?;
        Ok(entries(&answer))
    }

    fn find(&self, token: &str) -> Result<Option<Found>, StoreError> {
        let all = self.entries(&below(self.prefix()))?;
        let found = |entry: Entry| {
            let slot = slot_index(&entry)?;
            let label = Label::parse(&entry.value).filter(|label| label.token == token)?;
            // A slot of another host's own server has no name here, but it can be given back.
            let key = key_of(self.prefix(), &entry.key, &self.host);
            let key = key.or_else(|| Key::parse("of another host").ok())?;
            Some(Found {
                key,
                slot,
                entry,
                label,
            })
        };
        Ok(all.into_iter().find_map(found))
    }

    fn is_held(&self, token: &str) -> Result<bool, StoreError> {
        Ok(self.find(token)?.is_some())
    }
}

impl Store for EtcdStore {
    fn take_or_queue(&self, ask: &Ask, queue: bool) -> Result<Attempt, StoreError> {
        let begin = || Tenure::begin(Arc::clone(&self.client));
        let tenure = Client::patiently(begin)?;
        let upkeep = Upkeep::start(tenure).map_err(StoreError::Keeper)?;
        let standing = Standing {
            client: Arc::clone(&self.client),
            names: ask.wants.iter().map(|want| self.names(&want.key)).collect(),
            upkeep: Arc::new(upkeep),
            on_lost: self.on_lost,
        };
        let ticket = OwnTicket::of(ask);
        let mut found = Vec::new();
        for attempt in 0..TRIES {
            // Whoever has joined may have been given a slot meanwhile, and must not join again.
            let manner = Manner {
                standpoint: None,
                joins: (queue && attempt == 0).then_some(&ticket.text),
            };
            let (tried, is_changed) = Client::patiently(|| standing.attempt(ask, manner))?;
            match tried {
                Tried::Taken(held) => return Ok(Attempt::Taken(held)),
                Tried::Not(findings) => found = findings,
            }
            if !is_changed {
                break;
            }
        }
        if queue {
            let place = EtcdPlace::new(standing, ticket, found);
            Client::patiently(|| place.ensure_joined(ask))?;
            Ok(Attempt::Queued(Box::new(place)))
        } else {
            revoke(&self.client, &standing.upkeep.lease());
            Ok(Attempt::Busy)
        }
    }

    fn list(&self, key: &Key) -> Result<Listing, StoreError> {
        let names = self.names(key);
        let all = self.entries(&below(names.all()))?;
        let record = names.record();
        let slots = all.iter().find(|entry| entry.key == record);
        let held = all.iter().filter_map(|entry| {
            Some(HeldSlot {
                slot: slot_index(entry)?,
                label: Label::parse(&entry.value),
                in_flight: None,
            })
        });
        let held = held.collect();
        let slots = slots.and_then(|entry| entry.value.parse().ok());
        let mut tickets: Vec<(u8, &Entry)> = all
            .iter()
            .filter_map(|entry| Some((ticket_rank(entry)?, entry)))
            .collect();
        tickets.sort_by_key(|(rank, entry)| (*rank, entry.created));
        let waiter = |(_, entry): &(u8, &Entry)| {
            let label = Label::parse(&entry.value)?;
            // Another host's clock may differ; what it says is shown, and decides nothing.
            let waited = label.since.system_time().elapsed().unwrap_or_default();
            Some(Waiter {
                ticket: Ticket {
                    class: label.class,
                    number: u64::try_from(entry.created).unwrap_or(0),
                    since_ms: boot_ms().saturating_sub(tenure::millis(waited)),
                },
                label: Some(label),
            })
        };
        Ok(Listing {
            key: key.clone(),
            slots,
            held,
            waiting: tickets.iter().filter_map(waiter).collect(),
            here: Identity::of_self(),
        })
    }

    fn keys(&self) -> Result<Vec<Key>, StoreError> {
        let mut asked = below(self.prefix());
        asked["keys_only"] = true.into();
        let all = self.entries(&asked)?;
        let key = |entry: &Entry| key_of(self.prefix(), &entry.key, &self.host);
        let mut keys: Vec<Key> = all.iter().filter_map(key).collect();
        keys.sort();
        keys.dedup();
        Ok(keys)
    }

    fn last_used(&self, key: &Key) -> Option<SystemTime> {
        // The record is written with every taking. Only the order of these times means anything.
        let names = self.names(key);
        let record = self.entries(&below(&names.record())).ok()?;
        let revision = u64::try_from(record.first()?.modified).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(revision))
    }

    fn renew(&self, token: &str, ttl: Duration) -> Result<Option<Renewed>, StoreError> {
        let Some(found) = self.find(token)? else {
            return Ok(None);
        };
        let Found {
            key,
            slot,
            entry,
            mut label,
        } = found;
        if !label.is_lease {
            // A living command renews by itself.
            return Ok(Some(Renewed { key, slot, label }));
        }
        label.expires_at = in_time(ttl);
        let seconds = tenure::millis(ttl).div_ceil(1000).max(2);
        let lease = grant_for(&self.client, seconds)?;
        let asked = json!({
            "compare": [is_unchanged(&entry.key, entry.modified)],
            "success": [put(&entry.key, &label.line(), &lease)],
        });
        if succeeded(&self.client.ask("/v3/kv/txn", &asked)?) {
            revoke(&self.client, &entry.lease);
            return Ok(Some(Renewed { key, slot, label }));
        }
        revoke(&self.client, &lease);
        Ok(None)
    }

    fn release(&self, token: &str) -> Result<Released, StoreError> {
        let Some(found) = self.find(token)? else {
            return Ok(Released::Unknown);
        };
        // One that is held until a descriptor is closed lives as long as its process.
        if !found.label.is_lease || found.label.expires_at.is_none() {
            return Ok(Released::Lives(found.key, Box::new(found.label)));
        }
        // Whoever waits is given it, and the others need not look.
        if let Some(names) = Names::of_slot(&found.entry.key) {
            hand_on(&self.client, &names, found.slot, &found.entry.lease, None);
        }
        match self
            .client
            .ask("/v3/lease/revoke", &json!({"ID": found.entry.lease}))
        {
            Ok(_) | Err(client::Trouble::LeaseGone) => Ok(Released::Freed(found.key, found.slot)),
            Err(trouble) => Err(trouble.into()),
        }
    }

    fn place(&self) -> String {
        self.client.access().address.to_string()
    }
}
