//! reservation/1: what was reserved, or who is in the way.

use std::time::Duration;

use baton_protocol::{Reservation, SchemaTag, SlotClass};

use crate::candidate::Candidate;
use crate::identity::Life;
use crate::label::Bearer;
use crate::store::{Grant, HeldSlot, Listing};

/// A reservation that was not made.
pub(crate) fn refused(
    candidates: &[Candidate],
    listings: &[Listing],
    class: SlotClass,
    waited: Duration,
    directory: &str,
    mut notes: Vec<String>,
) -> Reservation {
    for listing in listings {
        notes.push(in_the_way(listing));
    }
    notes.extend(foreign_loads(candidates));
    // With one candidate, its first holder is the holder; with several, the notes tell all.
    let first = candidates.first().filter(|_| candidates.len() == 1);
    let holder = listings.first().filter(|_| listings.len() == 1);
    let holder = holder.and_then(|l| Some(l.held.first()?.label.as_ref()?.holder()));
    Reservation {
        schema: SchemaTag::new(),
        acquired: false,
        provider: first.and_then(|c| c.provider.clone()),
        model: first.and_then(|c| c.model.clone()),
        base_url: first.and_then(|c| Some(c.base_url.as_ref()?.api())),
        slot: None,
        slots: first.map(|c| c.want.slots),
        class,
        tokens: first.and_then(|c| Some(c.want.tokens?.tokens)),
        holder,
        token: None,
        waited_ms: millis(waited),
        acquired_at: None,
        expires_at: None,
        directory: Some(directory.to_owned()),
        notes,
    }
}

/// A reservation that was made.
pub(crate) fn granted(
    candidate: &Candidate,
    grant: &Grant,
    bearer: &Bearer,
    waited: Duration,
    directory: &str,
    notes: Vec<String>,
) -> Reservation {
    Reservation {
        schema: SchemaTag::new(),
        acquired: true,
        provider: candidate.provider.clone(),
        model: candidate.model.clone(),
        base_url: candidate
            .base_url
            .as_ref()
            .map(baton_protocol::BaseUrl::api),
        slot: Some(grant.slot),
        slots: Some(candidate.want.slots),
        class: bearer.class,
        tokens: candidate.want.tokens.map(|need| need.tokens),
        holder: Some(bearer.holder()),
        token: Some(grant.token.clone()),
        waited_ms: millis(waited),
        acquired_at: Some(grant.since),
        expires_at: bearer.expires_at,
        directory: Some(directory.to_owned()),
        notes,
    }
}

/// A reservation for people.
pub(crate) fn line(document: &Reservation) -> String {
    let name = document.provider.as_deref().unwrap_or("slot");
    let slot = document
        .slot
        .map_or_else(String::new, |slot| format!(" slot {slot}"));
    let token = document.token.as_deref().unwrap_or("none");
    let until = document
        .expires_at
        .map_or_else(String::new, |at| format!(", until {at}"));
    format!("{name}{slot} acquired{until}; token {token}")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// So many holders are named.
const SHOWN: usize = 8;

/// So many servers are named in one line.
const SERVERS_SHOWN: usize = 8;

/// Who holds and who waits at each of several servers, in one line.
pub(crate) fn all_in_the_way(listings: &[Listing]) -> String {
    let mut ways: Vec<String> = listings
        .iter()
        .take(SERVERS_SHOWN)
        .map(in_the_way)
        .collect();
    if listings.len() > SERVERS_SHOWN {
        ways.push(format!("and {} more", listings.len() - SERVERS_SHOWN));
    }
    ways.join("; ")
}

/// What the servers were last seen to work on for others, one line each.
pub(crate) fn foreign_loads(candidates: &[Candidate]) -> impl Iterator<Item = String> {
    let busy = candidates.iter().filter(|c| c.want.foreign > 0);
    busy.take(SERVERS_SHOWN).map(|candidate| {
        let (key, count) = (&candidate.want.key, requests(candidate.want.foreign));
        format!("{key}: the server works on {count} of others")
    })
}

/// So many requests.
pub(crate) fn requests(count: u32) -> String {
    let noun = if count == 1 { "request" } else { "requests" };
    format!("{count} {noun}")
}

/// Who holds and who waits, in one line.
pub(crate) fn in_the_way(listing: &Listing) -> String {
    let count = listing.held.len();
    let of = match listing.slots {
        Some(slots) => format!("{count} of {slots} slots held"),
        None => format!("{count} slots held"),
    };
    let mut text = format!("{}: {of}", listing.key);
    let mut separator = " by ";
    for held in listing.held.iter().take(SHOWN) {
        text.push_str(separator);
        text.push_str(&describe(held, listing));
        separator = ", ";
    }
    if count > SHOWN {
        text.push_str(" and ");
        text.push_str(&(count - SHOWN).to_string());
        text.push_str(" more");
    }
    match listing.waiting.len() {
        0 => text,
        waiting => format!("{text}; {waiting} waiting"),
    }
}

/// One holder in a few words.
pub(crate) fn describe(held: &HeldSlot, listing: &Listing) -> String {
    let Some(label) = &held.label else {
        return format!("somebody unnamed (slot {})", held.slot);
    };
    let state = match label.owner.life(&listing.here) {
        Life::Running => "",
        Life::Stopped => ", stopped",
        Life::Gone => ", ended; its command still runs",
        Life::Invisible => ", on another host or in another container",
    };
    format!(
        "pid {} ({}) since {}{state}",
        label.owner.pid, label.command, label.since
    )
}
