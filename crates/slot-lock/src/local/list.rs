//! Who holds and who waits.

use std::fs::File;

use super::files::open;
use super::folder::{Folder, Inside, read_label, read_text};
use super::scan::{Claim, look};
use crate::clock::boot_ms;
use crate::flock;
use crate::identity::Identity;
use crate::key::Key;
use crate::store::{HeldSlot, Listing, StoreError, Waiter};

/// Looks through one folder, inside the gate, so that probing a lock disturbs nobody.
pub(super) fn list(folder: &Folder, key: &Key) -> Result<Listing, StoreError> {
    let mut listing = Listing {
        key: key.clone(),
        slots: None,
        held: Vec::new(),
        waiting: Vec::new(),
        here: Identity::of_self(),
    };
    if !folder.path().is_dir() {
        return Ok(listing);
    }
    let Inside {
        gate: _gate,
        record,
        entries,
    } = folder.enter()?;
    listing.slots = record.slots;
    for slot in entries.slots.iter().copied() {
        if let Some(Claim::Held(file)) = look(folder, slot)? {
            let label = file.as_ref().and_then(read_label);
            // One that will flag its requests has sent none while there is no flag.
            let not_yet = || label.as_ref().filter(|l| l.will_flag()).map(|_| false);
            let in_flight = request_flag(folder, slot).or_else(not_yet);
            listing.held.push(HeldSlot {
                slot,
                label,
                in_flight,
            });
        }
    }
    let now = boot_ms();
    let mut tickets = entries.tickets;
    tickets.sort_by(|a, b| a.order(*b, now));
    for ticket in tickets {
        let Ok(file) = open(&folder.ticket_path(ticket)) else {
            continue;
        };
        // An unlocked ticket is that of a dead waiter; whoever queues next removes it.
        if matches!(flock::try_shared(&file), Ok(false)) {
            let label = read_label(&file);
            listing.waiting.push(Waiter { ticket, label });
        }
    }
    Ok(listing)
}

/// Whether the holder's request is in flight: it says in its flag file that it flags, and locks the
/// file while it waits for the server.
fn request_flag(folder: &Folder, slot: u32) -> Option<bool> {
    let file: File = open(&folder.flag_path(slot)).ok()?;
    let says_so = read_text(&file).is_some_and(|text| !text.trim().is_empty());
    if !says_so {
        return None;
    }
    flock::try_shared(&file).ok().map(|free| !free)
}
