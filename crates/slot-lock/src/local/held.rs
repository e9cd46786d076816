//! A slot that is ours.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use baton_protocol::Timestamp;

use super::folder::{Folder, write_text};
use super::scan::LockedSlot;
use crate::flock;
use crate::keeper::Keeper;
use crate::label::{Bearer, Label};
use crate::store::{Grant, Held, StoreError, Want};
use crate::token;

/// A locked slot file, and the keeper that shares it.
#[derive(Debug)]
pub(super) struct LocalHeld {
    grant: Grant,
    file: File,
    keeper: Option<Keeper>,
}

impl LocalHeld {
    /// Labels a slot that was just locked. Only called inside the gate.
    pub(super) fn new(
        folder: &Folder,
        locked: LockedSlot,
        index: usize,
        want: &Want,
        bearer: &Bearer,
    ) -> Self {
        let LockedSlot { slot, file } = locked;
        let (token, since) = (token::fresh(), Timestamp::now());
        // Labels are for people: a full disk must not cost the slot.
        let _ = write_text(&file, &Label::new(bearer, token.clone(), since).line());
        folder.note_slots(want.slots);
        let flag_file = folder.flag_path(slot);
        forget_flag(&flag_file);
        let grant = Grant {
            want: index,
            slot,
            token,
            since,
            flag_file,
        };
        Self {
            grant,
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

    fn keep(&mut self) -> Result<(), StoreError> {
        let share = self.file.try_clone();
        let keeper = share.and_then(|file| Keeper::start(file, &self.grant.token));
        self.keeper = Some(keeper.map_err(StoreError::Keeper)?);
        Ok(())
    }

    fn watch(&mut self, pid: u32) -> Result<(), StoreError> {
        match &mut self.keeper {
            Some(keeper) => keeper.watch(pid).map_err(StoreError::Keeper),
            None => Ok(()),
        }
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
