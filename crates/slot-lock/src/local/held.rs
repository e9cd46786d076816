//! A slot that is ours.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use baton_protocol::Timestamp;

use super::folder::{Folder, Inside, write_text};
use super::scan::LockedSlot;
use crate::flock;
use crate::keeper::{Keeper, Lease, Limit, Orders, Standby, lease_path};
use crate::label::{Bearer, Label};
use crate::store::{Grant, Held, StoreError, Terms, Want};
use crate::token;

/// A locked slot file, and the keeper that shares it.
#[derive(Debug)]
pub(super) struct LocalHeld {
    grant: Grant,
    folder: Folder,
    path: PathBuf,
    file: File,
    keeper: Option<Keeper>,
    /// From the wait, where there was one.
    before: Before,
}

/// What a waiter brings along when it gets its slot.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// The keeper that was split off meanwhile.
    pub(super) standby: Option<Standby>,
    /// The tickets of the queues that were left, still locked. Who is behind us wakes when they are
    /// closed, which is better done when the command has the processor already.
    pub(super) tickets: Vec<File>,
}

impl LocalHeld {
    /// Labels a slot that was just locked. Only called inside the gate.
    pub(super) fn new(
        folder: &Folder,
        inside: &Inside,
        locked: LockedSlot,
        index: usize,
        want: &Want,
        bearer: &Bearer,
        before: Before,
    ) -> Self {
        let LockedSlot { slot, file } = locked;
        let (token, since) = (token::fresh(), Timestamp::now());
        // Labels are for people: a full disk must not cost the slot.
        let mut label = Label::new(bearer, token.clone(), since);
        label.tokens = want.tokens.map(|need| need.tokens);
        label.model.clone_from(&want.only_model);
        let _ = write_text(&file, &label.line());
        folder.note(inside, want, slot);
        let flag_file = folder.flag_path(slot);
        forget_flag(&flag_file);
        let grant = Grant {
            want: index,
            slot,
            token,
            since,
            flag_file: Some(flag_file),
            fence: None,
        };
        Self {
            grant,
            folder: folder.clone(),
            path: folder.slot_path(slot),
            file,
            keeper: None,
            before,
        }
    }

    fn start_keeper(&mut self) -> std::io::Result<Keeper> {
        if let Some(standby) = self.before.standby.take()
            && let Ok(keeper) = standby.hold(&self.file, &self.grant.token)
        {
            return Ok(keeper);
        }
        // There was none, or somebody killed it.
        Keeper::start(&self.file, &self.grant.token)
    }
}

/// A holder before us may have said that it flags its requests; we did not say so yet.
fn forget_flag(path: &PathBuf) {
    let _ = OpenOptions::new().write(true).truncate(true).open(path);
}

impl Held for LocalHeld {
    fn grant(&self) -> &Grant {
        &self.grant
    }

    fn keep(&mut self, becomes: bool, limit: Option<Limit>, _: bool) -> Result<(), StoreError> {
        let keeper = if becomes {
            let share = self.file.try_clone();
            share.and_then(|file| Keeper::start_orphan(file, &self.grant.token))
        } else {
            self.start_keeper()
        };
        let keeper = self.keeper.insert(keeper.map_err(StoreError::Keeper)?);
        match limit {
            Some(limit) => keeper
                .order(&Orders::Limit(limit))
                .map_err(StoreError::Keeper),
            None => Ok(()),
        }
    }

    fn watch(&mut self, pid: u32) -> Result<(), StoreError> {
        let ordered = match &self.keeper {
            Some(keeper) => {
                let pid = i32::try_from(pid).unwrap_or(i32::MAX);
                keeper.order(&Orders::Watch { pid })
            }
            None => Ok(()),
        };
        self.let_next_in();
        ordered.map_err(StoreError::Keeper)
    }

    fn let_next_in(&mut self) {
        self.before.tickets.clear();
    }

    fn settle(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.settle();
        }
    }

    fn open_up(&self) {
        // The keeper shares the lock and may need a moment to see that the command has ended, so the
        // lock is given back for both.
        let _ = flock::unlock(&self.file);
    }

    fn lend(&mut self, bearer: &Bearer, terms: &Terms) -> Result<(), StoreError> {
        let lease = Lease {
            token: self.grant.token.clone(),
            expires_ms: terms.expires_ms,
        };
        if let Some(path) = lease_path(&self.path) {
            self.folder.replace_text(&path, &lease.text())?;
        }
        let share = self.file.try_clone();
        let keeper = share.and_then(|file| Keeper::start_detached(file, &self.grant.token));
        let keeper = keeper.map_err(StoreError::Keeper)?;
        let mut bearer = bearer.clone();
        if let Some(identity) = keeper.identity() {
            bearer.owner = identity;
        }
        let label = Label::new(&bearer, self.grant.token.clone(), self.grant.since);
        let _ = write_text(&self.file, &label.line());
        keeper
            .order(&Orders::Lease {
                expires_ms: terms.expires_ms,
                holder: terms.holder,
            })
            .map_err(StoreError::Keeper)?;
        self.keeper = Some(keeper);
        Ok(())
    }

    fn release(mut self: Box<Self>) -> Vec<String> {
        // A caller may take the slot again right after we end.
        self.open_up();
        if let Some(keeper) = self.keeper.take() {
            keeper.dismiss();
        }
        Vec::new()
    }
}
