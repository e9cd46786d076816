//! One key's folder: its gate, its slot files, its tickets.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::displaced::removed_slots;
use super::files::{failed, open, open_or_create};
use super::gate::Gate;
use super::record::Record;
use super::root::Root;
use super::scan::mark_displaced;
use crate::key::Key;
use crate::label::Label;
use crate::store::{StoreError, Want};
use crate::ticket::Ticket;

/// Larger labels are not ours.
const LONGEST_LABEL: usize = 16 * 1024;

/// The folder of one key.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    root: Root,
    path: PathBuf,
}

/// What is in a folder.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The indices of the slot files, ascending.
    pub(super) slots: Vec<u32>,
    pub(super) tickets: Vec<Ticket>,
}

/// The critical section, and what was found in it.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) gate: Gate,
    pub(super) record: Record,
    pub(super) entries: Entries,
}

impl Folder {
    pub(super) fn new(root: &Root, key: &Key) -> Self {
        Self {
            root: root.clone(),
            path: root.path().join(key.folder()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn slot_path(&self, slot: u32) -> PathBuf {
        self.path.join(format!("slot-{slot}"))
    }

    /// The second name of a slot's file.
    pub(super) fn spare_path(&self, slot: u32) -> PathBuf {
        self.path.join(format!("spare-{slot}"))
    }

    pub(super) fn flag_path(&self, slot: u32) -> PathBuf {
        self.path.join(format!("flag-{slot}"))
    }

    pub(super) fn ticket_path(&self, ticket: Ticket) -> PathBuf {
        self.path.join(ticket.file_name())
    }

    /// Opens a file of this folder, making it and the folder where they are missing.
    pub(super) fn open(&self, path: &Path) -> Result<(File, bool), StoreError> {
        match open_or_create(path, self.root.file_mode()) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                self.root.make_folder(&self.path)?;
                open_or_create(path, self.root.file_mode())
            }
            result => result,
        }
        .map_err(|e| failed(path, "cannot open", e))
    }

    /// Opens a slot's file. When it was removed it is given back from its second name: the very same
    /// file, with the lock on it. Only where both are gone a new file is made. True: it was.
    pub(super) fn open_slot(&self, slot: u32) -> Result<(File, bool), StoreError> {
        let (path, spare) = (self.slot_path(slot), self.spare_path(slot));
        match open(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let _ = fs::hard_link(&spare, &path);
            }
            result => {
                return result
                    .map(|file| (file, false))
                    .map_err(|e| failed(&path, "cannot open", e));
            }
        }
        let (file, made) = self.open(&path)?;
        if made {
            // A file system without hard links has no second names.
            let _ = fs::hard_link(&path, &spare);
        }
        Ok((file, made))
    }

    /// Enters the critical section. Between here and the drop of the gate nobody else takes,
    /// queues or leaves, and a lock that is probed disturbs nobody.
    pub(super) fn gate(&self) -> Result<Gate, StoreError> {
        Gate::enter(self, &self.path.join("gate"))
    }

    /// Enters the critical section and looks around.
    pub(super) fn enter(&self) -> Result<Inside, StoreError> {
        let gate = self.gate()?;
        let entries = self.entries()?;
        let mut record = Record::read(&self.path);
        let made = record.map_or(0, |r| r.made);
        let is_missing = |slot: &u32| entries.slots.binary_search(slot).is_err();
        let missing: Vec<u32> = (0..made).filter(is_missing).collect();
        if let (Some(record), true) = (record, missing.is_empty()) {
            return Ok(Inside {
                gate,
                record,
                entries,
            });
        }
        // A file that was here is gone (or nothing ever was). Its second name gives it back.
        let give_back = |slot| fs::hard_link(self.spare_path(slot), self.slot_path(slot));
        let found = missing.iter().filter(|slot| give_back(**slot).is_ok());
        let is_lost = record.is_none() || found.count() < missing.len();
        let mut entries = self.entries()?;
        if is_lost {
            // Slots may be held whose files are removed, also above our own number; they are made
            // visible again. That costs a look through all processes, so it is noted that it was done.
            let known = record.unwrap_or_default();
            self.restore(known.made, &entries)?;
            entries = self.entries()?;
            let above = entries.slots.last().map_or(0, |last| last + 1);
            let made = known.made.max(above);
            let restored = Record { made, ..known };
            restored.write(&self.path, self.root.file_mode());
            record = Some(restored);
        }
        Ok(Inside {
            gate,
            record: record.unwrap_or_default(),
            entries,
        })
    }

    /// Makes the missing slot files, and marks those whose removed predecessors are still held.
    fn restore(&self, made: u32, entries: &Entries) -> Result<(), StoreError> {
        let held = removed_slots(&self.path);
        let expected: BTreeSet<u32> = held.iter().copied().chain(0..made).collect();
        for slot in expected {
            if entries.slots.binary_search(&slot).is_err() {
                let (file, made) = self.open_slot(slot)?;
                if made && held.contains(&slot) {
                    mark_displaced(&file);
                }
            }
        }
        Ok(())
    }

    /// Whether the gate is still the one everybody meets. Somebody may have removed its file, and
    /// another one may be inside a new gate.
    pub(super) fn is_current(&self, gate: &Gate) -> bool {
        gate.is_current(&self.path.join("gate"))
    }

    /// Notes how many slots this caller counts with (unless it only assumes that), and that this
    /// slot's file was made.
    pub(super) fn note(&self, inside: &Inside, want: &Want, slot: u32) {
        let above = inside.entries.slots.last().map_or(0, |last| last + 1);
        let made = inside.record.made.max(slot + 1).max(above);
        let record = Record {
            slots: if want.is_assumed {
                inside.record.slots
            } else {
                Some(want.slots)
            },
            made,
        };
        if record != inside.record {
            record.write(&self.path, self.root.file_mode());
        }
    }

    /// Replaces the text of one of this folder's files, making it where it is missing.
    pub(super) fn replace_text(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        let (file, _) = self.open(path)?;
        write_text(&file, text).map_err(|e| failed(path, "cannot write", e))
    }

    pub(super) fn entries(&self) -> Result<Entries, StoreError> {
        let read = |e| failed(&self.path, "cannot read", e);
        let mut entries = Entries::default();
        for entry in fs::read_dir(&self.path).map_err(read)? {
            let name = entry.map_err(read)?.file_name();
            let Some(name) = name.to_str() else { continue };
            if let Some(ticket) = Ticket::from_file_name(name) {
                entries.tickets.push(ticket);
            } else if let Some(slot) = name.strip_prefix("slot-").and_then(|i| i.parse().ok()) {
                entries.slots.push(slot);
            }
        }
        entries.slots.sort_unstable();
        Ok(entries)
    }
}

/// Replaces the text of a file, never leaving it empty in between.
pub(super) fn write_text(file: &File, text: &str) -> io::Result<()> {
    file.write_all_at(text.as_bytes(), 0)?;
    file.set_len(text.len() as u64)
}

/// The text of a file; none when it is too long or not UTF-8.
pub(super) fn read_text(file: &File) -> Option<String> {
    let mut bytes = vec![0; LONGEST_LABEL];
    let read = file.read_at(&mut bytes, 0).ok()?;
    bytes.truncate(read);
    (read < LONGEST_LABEL).then(|| String::from_utf8(bytes).ok())?
}

/// The label in a file.
pub(super) fn read_label(file: &File) -> Option<Label> {
    Label::parse(&read_text(file)?)
}
