//! The store of one host: slot files in a folder, locked by the kernel.
//!
//! ```text
//! DIRECTORY/<key>/gate          short critical sections
//!                 slots         how many slots the last caller counted with
//!                 slot-<i>      its lock = the slot is taken; its text = a label for people
//!                 spare-<i>     the same file by a second name, should somebody remove the first
//!                 flag-<i>      its lock = the holder's request is in flight
//!                 wait-…        one a waiter, locked by it
//! ```

mod displaced;
mod files;
mod folder;
mod gate;
mod held;
mod leases;
mod line;
mod list;
mod place;
mod record;
mod root;
mod scan;

use std::fs;
use std::time::{Duration, SystemTime};

pub(crate) use root::Root;

use self::folder::Folder;
use self::held::{Before, LocalHeld};
use self::line::{Line, Position};
use self::place::LocalPlace;
use self::scan::Scan;
use crate::clock::boot_ms;
use crate::key::Key;
use crate::store::{Ask, Attempt, Held, Listing, Released, Renewed, Store, StoreError};

/// The store in one directory.
#[derive(Debug)]
pub(crate) struct LocalStore {
    root: Root,
}

impl LocalStore {
    pub(crate) const fn new(root: Root) -> Self {
        Self { root }
    }

    fn folder(&self, key: &Key) -> Folder {
        Folder::new(&self.root, key)
    }
}

impl Store for LocalStore {
    fn take_or_queue(&self, ask: &Ask, queue: bool) -> Result<Attempt, StoreError> {
        let mut lines = Vec::new();
        for (index, want) in ask.wants.iter().enumerate() {
            let folder = self.folder(&want.key);
            let inside = loop {
                let inside = folder.enter()?;
                let position = line::position(&folder, &inside.entries, None, ask, boot_ms())?;
                if !matches!(position, Position::Head) {
                    break inside;
                }
                match scan::take(&folder, &inside, want, &ask.bearer)? {
                    Scan::Free(slot) => {
                        let before = Before::default();
                        let held = LocalHeld::new(
                            &folder,
                            &inside,
                            slot,
                            index,
                            want,
                            &ask.bearer,
                            before,
                        );
                        // The queues of earlier candidates are left by dropping their lines.
                        return Ok(Attempt::Taken(Box::new(held) as Box<dyn Held>));
                    }
                    Scan::Again => {}
                    Scan::Busy(_) => break inside,
                }
            };
            if queue {
                lines.push(Line::join(folder, &inside.entries, ask)?);
            }
        }
        if queue {
            Ok(Attempt::Queued(Box::new(LocalPlace::new(lines))))
        } else {
            Ok(Attempt::Busy)
        }
    }

    fn list(&self, key: &Key) -> Result<Listing, StoreError> {
        list::list(&self.folder(key), key)
    }

    fn keys(&self) -> Result<Vec<Key>, StoreError> {
        let Ok(entries) = fs::read_dir(self.root.path()) else {
            return Ok(Vec::new());
        };
        let mut keys: Vec<Key> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| Key::from_folder(entry.file_name().to_str()?))
            .collect();
        keys.sort();
        Ok(keys)
    }

    fn last_used(&self, key: &Key) -> Option<SystemTime> {
        // Taking a slot writes its label.
        let folder = self.folder(key);
        let slots = folder.entries().ok()?.slots;
        let modified = |slot| fs::metadata(folder.slot_path(slot)).ok()?.modified().ok();
        slots.into_iter().filter_map(modified).max()
    }

    fn renew(&self, token: &str, ttl: Duration) -> Result<Option<Renewed>, StoreError> {
        leases::renew(self, token, ttl)
    }

    fn release(&self, token: &str) -> Result<Released, StoreError> {
        leases::release(self, token)
    }

    fn place(&self) -> String {
        self.root.path().display().to_string()
    }
}
