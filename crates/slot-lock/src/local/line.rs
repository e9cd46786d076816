//! A place in one queue: a ticket file, locked for as long as its owner waits.
//!
//! Each waiter blocks in the kernel on the ticket of the one before it, so a queue of hundreds costs
//! nothing while nothing happens, and a waiter that dies is passed at once. One that is stopped
//! (Ctrl-Z) cannot act and is passed as well, until it continues.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use baton_protocol::Timestamp;

use super::files::{failed, open};
use super::folder::{Entries, Folder, read_label, write_text};
use crate::clock::boot_ms;
use crate::flock;
use crate::identity::{Identity, Life};
use crate::label::Label;
use crate::store::{Ask, StoreError};
use crate::ticket::{self, Ticket};

/// A waiter that cannot be seen (another PID namespace) is taken for stopped when it did not touch
/// its ticket for so long. Waiters touch theirs every [`super::place::TICK`].
const SILENT: Duration = Duration::from_secs(5);

/// Whether somebody is before us.
#[derive(Debug)]
pub(super) enum Position {
    /// Nobody who could act.
    Head,
    /// The nearest of them, and its ticket, opened.
    Behind(Ticket, File),
}

/// Our place in one queue; leaves it on drop.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) folder: Folder,
    pub(super) ticket: Ticket,
    /// Locked; none when the disk was full, and we take part without an order.
    file: Option<File>,
}

impl Line {
    /// Joins the queue behind everybody of our class. Only called inside the gate.
    pub(super) fn join(folder: Folder, entries: &Entries, ask: &Ask) -> Result<Self, StoreError> {
        let mut ticket = ticket::next(&entries.tickets, ask.bearer.class, boot_ms());
        let file = loop {
            let path = folder.ticket_path(ticket);
            match folder.open(&path) {
                Ok((file, made)) => {
                    let locked = flock::try_exclusive(&file);
                    if made && locked.map_err(|e| failed(&path, "cannot lock", e))? {
                        break Some(file);
                    }
                    // Somebody inside another gate, whose file was removed, took this number.
                    ticket.number = ticket.number.saturating_add(1);
                }
                Err(StoreError::File { source, .. }) if is_full(&source) => break None,
                Err(e) => return Err(e),
            }
        };
        if let Some(file) = &file {
            let label = Label::new(&ask.bearer, String::new(), Timestamp::now());
            // Only for display.
            let _ = write_text(file, &label.line());
        }
        Ok(Self {
            folder,
            ticket,
            file,
        })
    }

    /// Whether there is an order to wait by.
    pub(super) const fn is_ordered(&self) -> bool {
        self.file.is_some()
    }

    /// Shows that we are alive to those who cannot see our process.
    pub(super) fn touch(&self) {
        if let Some(file) = &self.file {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Leaves the queue. Who is behind us wakes when the ticket that is returned is closed.
    pub(super) fn leave(mut self) -> Option<File> {
        self.remove();
        self.file.take()
    }

    fn remove(&self) {
        if self.file.is_some() {
            let _ = fs::remove_file(self.folder.ticket_path(self.ticket));
        }
    }

    /// Whether somebody removed our ticket.
    pub(super) fn is_lost(&self, entries: &Entries) -> bool {
        self.file.is_some() && !entries.tickets.contains(&self.ticket)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // Removed before it is unlocked (by closing), so that nobody meets it unlocked.
        self.remove();
    }
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// Who is before `mine` (none: before a newcomer) and could act. Tickets of the dead are removed.
/// Only called inside the gate.
pub(super) fn position(
    folder: &Folder,
    entries: &Entries,
    mine: Option<Ticket>,
    ask: &Ask,
    now_ms: u64,
) -> Result<Position, StoreError> {
    if entries.tickets.is_empty() {
        return Ok(Position::Head);
    }
    let newcomer = || ticket::next(&entries.tickets, ask.bearer.class, now_ms);
    let mine = mine.unwrap_or_else(newcomer);
    for earlier in ticket::before(&entries.tickets, mine, now_ms) {
        let path = folder.ticket_path(earlier);
        let file = match open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(failed(&path, "cannot open", e)),
        };
        if flock::try_shared(&file).map_err(|e| failed(&path, "cannot lock", e))? {
            // Its owner died. In a sticky directory another user's ticket cannot be removed; being
            // unlocked it stops nobody.
            let _ = fs::remove_file(&path);
        } else if can_act(&file, &path, &ask.bearer.owner) {
            return Ok(Position::Behind(earlier, file));
        }
    }
    Ok(Position::Head)
}

/// Whether the owner of a locked ticket can use its turn.
fn can_act(file: &File, path: &Path, here: &Identity) -> bool {
    let life = read_label(file).map_or(Life::Invisible, |label| label.owner.life(here));
    match life {
        Life::Stopped => false,
        // Of one that seems gone the lock says that it lives, or lived a moment ago.
        Life::Running | Life::Gone => true,
        Life::Invisible => {
            let modified = fs::symlink_metadata(path).and_then(|m| m.modified());
            !modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SILENT))
        }
    }
}
