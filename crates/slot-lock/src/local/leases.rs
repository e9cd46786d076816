//! Slots held by a keeper: found by their token, renewed, given back.

use std::fs::File;
use std::time::{Duration, Instant};

use baton_protocol::Timestamp;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::LocalStore;
use super::files::failed;
use super::folder::{Folder, Inside, read_label, write_text};
use super::gate::Gate;
use super::scan::{Claim, look};
use crate::clock::boot_ms;
use crate::flock;
use crate::identity::{Identity, Life};
use crate::keeper::{Lease, lease_path};
use crate::key::Key;
use crate::label::Label;
use crate::store::{Released, Renewed, Store, StoreError};

/// A killed keeper is gone within this time, or something is wrong.
const END_LIMIT: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A held slot, and the gate that keeps it as it is.
struct Found {
    key: Key,
    folder: Folder,
    slot: u32,
    file: File,
    label: Label,
    gate: Gate,
}

fn find(store: &LocalStore, token: &str) -> Result<Option<Found>, StoreError> {
    for key in store.keys()? {
        let folder = store.folder(&key);
        let Inside { gate, entries, .. } = folder.enter()?;
        for slot in entries.slots {
            let Some(Claim::Held(Some(file))) = look(&folder, slot)? else {
                continue;
            };
            if let Some(label) = read_label(&file).filter(|label| label.token == token) {
                return Ok(Some(Found {
                    key,
                    folder,
                    slot,
                    file,
                    label,
                    gate,
                }));
            }
        }
    }
    Ok(None)
}

pub(super) fn renew(
    store: &LocalStore,
    token: &str,
    ttl: Duration,
) -> Result<Option<Renewed>, StoreError> {
    let Some(mut found) = find(store, token)? else {
        return Ok(None);
    };
    let now = boot_ms();
    let millis = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    let lease = Lease {
        token: token.to_owned(),
        expires_ms: now.saturating_add(millis),
    };
    if let Some(path) = lease_path(&found.folder.slot_path(found.slot)) {
        found.folder.replace_text(&path, &lease.text())?;
    }
    let until = Timestamp::now().system_time().checked_add(ttl);
    found.label.expires_at = until.map(Timestamp::new);
    // Only for display; what counts is written above.
    let _ = write_text(&found.file, &found.label.line());
    drop(found.gate);
    Ok(Some(Renewed {
        key: found.key,
        slot: found.slot,
        label: found.label,
    }))
}

pub(super) fn release(store: &LocalStore, token: &str) -> Result<Released, StoreError> {
    let Some(found) = find(store, token)? else {
        return Ok(Released::Unknown);
    };
    drop(found.gate);
    if !found.label.is_lease {
        return Ok(Released::Lives(found.key, Box::new(found.label)));
    }
    let failure = |why: &str| StoreError::Lease {
        key: found.key.clone(),
        slot: found.slot,
        why: why.to_owned(),
    };
    let owner = &found.label.owner;
    match owner.life(&Identity::of_self()) {
        Life::Invisible => {
            return Err(failure(
                "its keeper lives on another host or in another container; release it there",
            ));
        }
        Life::Running | Life::Stopped => {
            end(owner).map_err(|e| failure(&format!("its keeper cannot be ended: {e}")))?;
        }
        Life::Gone => {}
    }
    let deadline = Instant::now() + END_LIMIT;
    let path = found.folder.slot_path(found.slot);
    while !flock::try_shared(&found.file).map_err(|e| failed(&path, "cannot lock", e))? {
        // Somebody else may have taken it already; then it was given back as well.
        if read_label(&found.file).is_some_and(|label| label.token != token) {
            break;
        }
        if Instant::now() > deadline {
            return Err(failure(
                "its keeper was ended, and yet the slot is still held",
            ));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(Released::Freed(found.key, found.slot))
}

/// Ends a process that was identified, and no other one that got its number meanwhile: the
/// descriptor is opened first and the identity compared afterwards.
fn end(owner: &Identity) -> std::io::Result<()> {
    let Some(pid) = i32::try_from(owner.pid).ok().and_then(Pid::from_raw) else {
        return Ok(());
    };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return Ok(());
    };
    if Identity::of_pid(owner.pid).as_ref() == Some(owner) {
        // It has nothing to clean up, and KILL ends also one that is stopped.
        pidfd_send_signal(&process, Signal::KILL)?;
    }
    Ok(())
}
