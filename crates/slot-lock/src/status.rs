//! `slot-lock status`: who holds which slot, and who waits.

use baton_cli::{Failure, Output};
use baton_protocol::{
    Exit, HolderLife, SchemaTag, SlotHolder, SlotSet, SlotWaiter, SlotsStatus, Timestamp,
};

use crate::cli::Status;
use crate::clock::boot_ms;
use crate::identity::{Identity, Life};
use crate::label::Label;
use crate::store::{Listing, Store};

/// Answers 0 when every server asked for has a free slot, 1 when one has none, 3 when it is unknown.
pub(crate) fn status(
    options: &Status,
    store: &dyn Store,
    output: &Output,
) -> Result<Exit, Failure> {
    let document = look(store, options)?;
    output.document(&document, || text(&document))?;
    Ok(exit(&document))
}

fn look(store: &dyn Store, options: &Status) -> Result<SlotsStatus, Failure> {
    let keys = match &options.key {
        Some(key) => vec![key.clone()],
        None => store.keys()?,
    };
    let mut sets = Vec::with_capacity(keys.len());
    for key in &keys {
        let listing = store.list(key)?;
        sets.push(set(&listing, boot_ms()));
    }
    Ok(SlotsStatus {
        schema: SchemaTag::new(),
        directory: store.place(),
        checked_at: Timestamp::now(),
        keys: sets,
        notes: Vec::new(),
    })
}

fn set(listing: &Listing, now_ms: u64) -> SlotSet {
    let held = u32::try_from(listing.held.len()).unwrap_or(u32::MAX);
    let holders = listing.held.iter().map(|held| SlotHolder {
        slot: held.slot,
        holder: held.label.as_ref().map(Label::holder),
        life: life(held.label.as_ref(), &listing.here),
        class: held.label.as_ref().map(|l| l.class),
        since: held.label.as_ref().map(|l| l.since),
        expires_at: held.label.as_ref().and_then(|l| l.expires_at),
        tokens: held.label.as_ref().and_then(|l| l.tokens),
        in_flight: held.in_flight,
    });
    let waiters = listing
        .waiting
        .iter()
        .zip(1..)
        .map(|(waiter, place)| SlotWaiter {
            place,
            holder: waiter.label.as_ref().map(Label::holder),
            life: life(waiter.label.as_ref(), &listing.here),
            class: waiter.ticket.class,
            waited_ms: now_ms.saturating_sub(waiter.ticket.since_ms),
        });
    SlotSet {
        key: listing.key.to_string(),
        slots: listing.slots,
        free: listing.slots.map(|slots| slots.saturating_sub(held)),
        held: holders.collect(),
        waiting: waiters.collect(),
    }
}

fn life(label: Option<&Label>, here: &Identity) -> HolderLife {
    match label.map(|l| l.owner.life(here)) {
        Some(Life::Running) => HolderLife::Running,
        Some(Life::Stopped) => HolderLife::Stopped,
        Some(Life::Gone) => HolderLife::Ended,
        Some(Life::Invisible) | None => HolderLife::Unknown,
    }
}

fn exit(document: &SlotsStatus) -> Exit {
    if document.keys.iter().any(|set| set.free == Some(0)) {
        Exit::No
    } else if document.keys.iter().any(|set| set.free.is_none()) {
        Exit::Unknown
    } else {
        Exit::Yes
    }
}

fn text(document: &SlotsStatus) -> String {
    let mut lines = Vec::new();
    for set in &document.keys {
        let of = match (set.slots, set.free) {
            (Some(slots), Some(free)) => format!("{free} of {slots} slots free"),
            _ => "number of slots unknown".into(),
        };
        lines.push(format!("{}  {of}", set.key));
        for held in &set.held {
            let since = held.since.map_or_else(|| "?".into(), |t| t.to_string());
            let who = who(held.holder.as_ref());
            let life = life_text(held.life);
            let flag = if held.in_flight == Some(true) {
                "  request in flight"
            } else {
                ""
            };
            lines.push(format!(
                "  slot {}  {who}  since {since}{life}{flag}",
                held.slot
            ));
        }
        for waiter in &set.waiting {
            let seconds = waiter.waited_ms / 1000;
            let (who, life) = (who(waiter.holder.as_ref()), life_text(waiter.life));
            lines.push(format!(
                "  wait {}  {who}  for {seconds} s{life}",
                waiter.place
            ));
        }
    }
    if lines.is_empty() {
        lines.push("no slots have been used yet".into());
    }
    lines.push(format!("directory: {}", document.directory));
    lines.extend(document.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}

fn who(holder: Option<&baton_protocol::Holder>) -> String {
    holder.map_or_else(
        || "unreadable label".into(),
        |h| format!("pid {} on {}: {}", h.pid, h.host, h.command),
    )
}

const fn life_text(life: HolderLife) -> &'static str {
    match life {
        HolderLife::Running => "",
        HolderLife::Stopped => "  STOPPED",
        HolderLife::Ended => "  slot-lock ended, its command runs on",
        HolderLife::Unknown => "  cannot be seen from here",
    }
}
