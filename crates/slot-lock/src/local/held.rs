//! A slot that is ours.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use baton_protocol::Timestamp;

use super::folder::{Folder, Inside, write_text};
use super::scan::LockedSlot;
use crate::flock;
use crate::keeper::{Keeper, Lease, Limit, Orders, lease_path};
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
        }
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
        let start = if becomes {
            Keeper::start_orphan
        } else {
            Keeper::start
        };
        let share = self.file.try_clone();
        let keeper = share.and_then(|file| start(file, &self.grant.token));
        let keeper = self.keeper.insert(keeper.map_err(StoreError::Keeper)?);
        match limit {
            Some(limit) => keeper
                .order(&Orders::Limit(limit))
                .map_err(StoreError::Keeper),
            None => Ok(()),
        }
    }

    fn watch(&mut self, pid: u32) -> Result<(), StoreError> {
        let Some(keeper) = &mut self.keeper else {
            return Ok(());
        };
        let pid = i32::try_from(pid).unwrap_or(i32::MAX);
        let orders = Orders::Watch { pid };
        keeper.order(&orders).map_err(StoreError::Keeper)
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
        let mut keeper = keeper.map_err(StoreError::Keeper)?;
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

    fn release(mut self: Box<Self>) {
        // The command has ended. The keeper shares the lock and may need a moment to see that, so
        // the lock is given back for both; a caller may take the slot again right after we end.
        let _ = flock::unlock(&self.file);
        if let Some(keeper) = self.keeper.take() {
            keeper.dismiss();
        }
    }
}
