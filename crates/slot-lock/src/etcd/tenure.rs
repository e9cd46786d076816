//! A lease, and the slot that hangs on it: kept alive, and won back when it was lost.
//!
//! Whether the lease still lives is judged by our own clock (the one that counts through suspend):
//! it lives for its time from the moment the last keep-alive that succeeded was *sent*. The server
//! may let it live longer (after a change of leader), never shorter.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{Client, Trouble};
use super::handover::hand_on;
use super::names::Names;
use super::wire::{is_absent, number, put, succeeded};
use crate::clock::boot_ms;

/// After a keep-alive that failed the next one follows soon.
const SOON_MS: u64 = 500;

/// A slot as it stands in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) slot: u32,
    pub(super) name: String,
    pub(super) value: String,
}

/// A lease and what it is for.
#[derive(Debug)]
pub(super) struct Tenure {
    client: Arc<Client>,
    pub(super) lease: String,
    /// When the last keep-alive that succeeded was sent, in milliseconds since boot.
    pub(super) last_ok_ms: u64,
    pub(super) claim: Option<Claim>,
    /// The slot is not ours now, though our command runs.
    pub(super) is_lost: bool,
    next_ms: u64,
}

impl Tenure {
    /// Asks for a lease.
    pub(super) fn begin(client: Arc<Client>) -> Result<Self, Trouble> {
        let (lease, sent) = grant(&client)?;
        Ok(Self::resume(client, lease, sent, None))
    }

    /// Goes on with a lease somebody else asked for.
    pub(super) fn resume(
        client: Arc<Client>,
        lease: String,
        last_ok_ms: u64,
        claim: Option<Claim>,
    ) -> Self {
        let next_ms = last_ok_ms + third_ms(&client);
        Self {
            client,
            lease,
            last_ok_ms,
            claim,
            is_lost: false,
            next_ms,
        }
    }

    /// When the next keep-alive is due, in milliseconds since boot.
    pub(super) const fn next_ms(&self) -> u64 {
        self.next_ms
    }

    /// Somebody else kept it alive.
    pub(super) fn kept(&mut self, lease: &str, at_ms: u64) {
        lease.clone_into(&mut self.lease);
        self.last_ok_ms = self.last_ok_ms.max(at_ms);
        self.next_ms = self.last_ok_ms + third_ms(&self.client);
        self.is_lost = false;
    }

    /// Keeps the lease alive, or wins it back. What a person should know of it.
    pub(super) fn beat(&mut self) -> Option<String> {
        let sent = boot_ms();
        let asked = json!({"ID": self.lease});
        let answer = self.client.ask("/v3/lease/keepalive", &asked);
        match answer {
            _ if self.is_lost => return self.regain(),
            Ok(answer) if answer["error"].is_object() => {}
            Ok(answer) if number(&answer["result"]["TTL"]) > 0 => {
                let was_over = boot_ms() >= over_ms(self.last_ok_ms, &self.client);
                self.last_ok_ms = sent;
                self.next_ms = sent + third_ms(&self.client);
                return (was_over && self.claim.is_some())
                    .then(|| "etcd answers again, and the slot is still ours".into());
            }
            Ok(_) | Err(Trouble::LeaseGone) => return self.regain(),
            // Whoever looks after the command sees by the clock when this lasts too long.
            Err(_) => {}
        }
        self.next_ms = boot_ms() + SOON_MS;
        None
    }

    /// A new lease; the same slot under it, where we hold one and it is free.
    fn regain(&mut self) -> Option<String> {
        let now = boot_ms();
        self.next_ms = now + SOON_MS;
        let (lease, sent) = grant(&self.client).ok()?;
        let Some(claim) = &self.claim else {
            self.lease = lease;
            self.last_ok_ms = sent;
            self.next_ms = sent + third_ms(&self.client);
            return None;
        };
        let slot = claim.slot;
        let retake = json!({
            "compare": [is_absent(&claim.name)],
            "success": [put(&claim.name, &claim.value, &lease)],
        });
        let result = self.client.ask("/v3/kv/txn", &retake);
        if result.as_ref().is_ok_and(succeeded) {
            self.lease = lease;
            self.last_ok_ms = sent;
            self.next_ms = sent + third_ms(&self.client);
            self.is_lost = false;
            return Some(format!(
                "the lease was lost; slot {slot} was free and is ours again"
            ));
        }
        revoke(&self.client, &lease);
        self.next_ms = now + third_ms(&self.client);
        let is_new = result.is_ok() && !std::mem::replace(&mut self.is_lost, true);
        is_new.then(|| {
            format!(
                "the lease was lost and slot {slot} is held by another now: overbooked; the command goes on"
            )
        })
    }

    /// Gives everything back, a slot to whoever waits for it.
    pub(super) fn end(&self) {
        if let Some(claim) = self.claim.as_ref().filter(|_| !self.is_lost)
            && let Some(names) = Names::of_slot(&claim.name)
        {
            hand_on(&self.client, &names, claim.slot, &self.lease, None);
        }
        revoke(&self.client, &self.lease);
    }
}

/// When a lease can be over that was last kept alive at this time.
pub(super) fn over_ms(last_ok_ms: u64, client: &Client) -> u64 {
    last_ok_ms.saturating_add(millis(client.ttl()))
}

/// A third of the time to live passes between two keep-alives.
fn third_ms(client: &Client) -> u64 {
    millis(client.ttl()) / 3
}

pub(super) fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A new lease and when it was asked for.
fn grant(client: &Client) -> Result<(String, u64), Trouble> {
    let sent = boot_ms();
    let lease = grant_for(client, client.ttl().as_secs())?;
    Ok((lease, sent))
}

/// A new lease for so many seconds.
pub(super) fn grant_for(client: &Client, seconds: u64) -> Result<String, Trouble> {
    let asked = json!({"TTL": seconds.to_string(), "ID": "0"});
    let answer = client.ask("/v3/lease/grant", &asked)?;
    match &answer["ID"] {
        serde_json::Value::String(id) => Ok(id.clone()),
        serde_json::Value::Number(id) => Ok(id.to_string()),
        _ => Err(Trouble::Refused(format!("no lease was granted: {answer}"))),
    }
}

/// Ends a lease and all that hangs on it. Should that fail, it ends by itself.
pub(super) fn revoke(client: &Client, lease: &str) {
    let _ = client.ask("/v3/lease/revoke", &json!({"ID": lease}));
}
