//! `slot-lock status`: who holds which slot, and who waits.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use baton_cli::{Failure, Format, Output};
use baton_protocol::{
    BaseUrl, Exit, HolderLife, SchemaTag, SlotHolder, SlotSet, SlotWaiter, SlotsStatus, Timestamp,
};

use crate::cli::Status;
use crate::clock::boot_ms;
use crate::identity::{Identity, Life};
use crate::label::Label;
use crate::offer::ask;
use crate::signals::Signals;
use crate::store::{Listing, Store};
use crate::waker::Waker;

/// How often `--watch` looks.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Clears a terminal and goes to its upper left corner.
const CLEAR: &[u8] = b"\x1b[H\x1b[2J";

/// Answers 0 when every server asked for has a free slot, 1 when one has none, 3 when it is unknown.
pub(crate) fn status(
    options: &Status,
    store: &dyn Store,
    store_notes: &[String],
    other_places: &[PathBuf],
    output: &Output,
) -> Result<Exit, Failure> {
    let look = || look(store, options, store_notes, other_places, output);
    let mut document = look()?;
    if !options.watch {
        output.document(&document, || text(&document))?;
        return Ok(exit(&document));
    }
    let no_signals = |e| Failure::internal(format!("cannot watch: {e}"));
    let waker = Waker::new().map_err(no_signals)?;
    let signals = Signals::catch(&waker).map_err(no_signals)?;
    let redraws = output.format() == Format::Text && std::io::stdout().is_terminal();
    let mut shown = None;
    loop {
        if shown.as_ref() != Some(&essence(&document)) || redraws {
            if redraws {
                output.raw(CLEAR)?;
            }
            output.document(&document, || text(&document))?;
            shown = Some(essence(&document));
        }
        waker.sleep(None, Some(LOOK_AGAIN));
        if let Some(signal) = signals.ending() {
            return Err(Failure::interrupted(signal));
        }
        if output.is_closed() {
            return Ok(Exit::Yes);
        }
        document = look()?;
    }
}

/// A document without what changes by itself.
fn essence(document: &SlotsStatus) -> SlotsStatus {
    let mut document = document.clone();
    document.checked_at = Timestamp::new(std::time::UNIX_EPOCH);
    for waiter in document.keys.iter_mut().flat_map(|set| &mut set.waiting) {
        waiter.waited_ms = 0;
    }
    document
}

fn look(
    store: &dyn Store,
    options: &Status,
    store_notes: &[String],
    other_places: &[PathBuf],
    output: &Output,
) -> Result<SlotsStatus, Failure> {
    let keys = match &options.key {
        Some(key) => vec![key.clone()],
        None => store.keys()?,
    };
    let mut sets = Vec::with_capacity(keys.len());
    let mut notes = store_notes.to_vec();
    for key in &keys {
        let mut set = set(&store.list(key)?, boot_ms());
        let is_used = !set.held.is_empty() || !set.waiting.is_empty() || options.key.is_some();
        let is_asked = options.server || (is_used && !options.ignore_server);
        if is_asked && BaseUrl::parse(&set.key).is_ok() {
            match ask(&set.key, output) {
                Ok(provider) => set.server = Some(provider.slots),
                Err(reason) => notes.push(reason),
            }
        }
        sets.push(set);
        let elsewhere = other_places
            .iter()
            .filter(|p| p.join(key.folder()).is_dir());
        notes.extend(elsewhere.map(|place| {
            format!(
                "{} has slots of {key} as well; who counts there is not seen here",
                place.display()
            )
        }));
    }
    Ok(SlotsStatus {
        schema: SchemaTag::new(),
        directory: store.place(),
        checked_at: Timestamp::now(),
        keys: sets,
        notes,
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
        server: None,
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
        if let Some(server) = &set.server {
            let number = |n: Option<u32>| n.map_or_else(|| "?".into(), |n| n.to_string());
            let (total, busy) = (number(server.total), number(server.in_flight));
            let waiting = number(server.waiting);
            lines.push(format!(
                "  server says: {busy} in flight, {waiting} waiting, {total} slots"
            ));
        }
        for held in &set.held {
            let since = held.since.map_or_else(|| "?".into(), |t| t.to_string());
            let until = held
                .expires_at
                .map(|at| format!(" until {at} at the latest"));
            let until = until.unwrap_or_default();
            let who = who(held.holder.as_ref());
            let life = life_text(held.life);
            let flag = if held.in_flight == Some(true) {
                "  request in flight"
            } else {
                ""
            };
            lines.push(format!(
                "  slot {}  {who}  since {since}{until}{life}{flag}",
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
