//! One key's folder: its gate, its slot files, its tickets.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::files::{failed, is_same, open_or_create};
use super::root::Root;
use crate::flock;
use crate::key::Key;
use crate::label::Label;
use crate::store::StoreError;
use crate::ticket::Ticket;

/// The gate is held for microseconds; longer than this means that its holder is stopped.
const GATE_LIMIT: Duration = Duration::from_secs(10);

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

/// The right to look and change; given back on drop.
#[derive(Debug)]
pub(super) struct Gate {
    _file: File,
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

    /// Enters the critical section. Between here and the drop of the gate nobody else takes,
    /// queues or leaves, and a lock that is probed disturbs nobody.
    pub(super) fn gate(&self) -> Result<Gate, StoreError> {
        let path = self.path.join("gate");
        let deadline = Instant::now() + GATE_LIMIT;
        loop {
            let (file, _) = self.open(&path)?;
            let file =
                if flock::try_exclusive(&file).map_err(|e| failed(&path, "cannot lock", e))? {
                    file
                } else {
                    let left = deadline.saturating_duration_since(Instant::now());
                    lock_within(file, left)
                        .map_err(|e| failed(&path, "cannot lock", e))?
                        .ok_or_else(|| stuck(&path))?
                };
            // Somebody may have removed the file while we waited; then the lock is worth nothing.
            if is_same(&file, &path) {
                return Ok(Gate { _file: file });
            }
        }
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

    /// Replaces the text of one of this folder's files, making it where it is missing.
    pub(super) fn replace_text(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        let (file, _) = self.open(path)?;
        write_text(&file, text).map_err(|e| failed(path, "cannot write", e))
    }

    /// How many slots the last caller counted with.
    pub(super) fn last_slots(&self) -> Option<u32> {
        let text = fs::read_to_string(self.path.join("slots")).ok()?;
        text.trim().parse().ok().filter(|n| *n > 0)
    }

    /// Notes how many slots this caller counts with. Only for display and for callers who do not say.
    pub(super) fn note_slots(&self, slots: u32) {
        if self.last_slots() == Some(slots) {
            return;
        }
        let path = self.path.join("slots");
        if let Ok((file, _)) = open_or_create(&path, self.root.file_mode()) {
            let _ = write_text(&file, &format!("{slots}\n"));
        }
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

/// Blocks in the kernel, where waiters are served in order, but not for ever: flock(2) has no
/// limit, so a thread waits, and is left behind when the time is over.
fn lock_within(file: File, limit: Duration) -> io::Result<Option<File>> {
    let (send, receive) = channel();
    std::thread::Builder::new().spawn(move || {
        let locked = flock::exclusive(&file).map(|()| file);
        // Nobody listens any more: the file is dropped, and the lock with it.
        let _ = send.send(locked);
    })?;
    match receive.recv_timeout(limit) {
        Ok(locked) => locked.map(Some),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
    }
}

fn stuck(path: &Path) -> StoreError {
    let holders = crate::local::displaced::holders_of(path);
    let who = match holders.first() {
        Some(pid) => format!("process {pid} holds it; if it is stopped: kill -CONT {pid}"),
        None => "its holder cannot be seen from here".into(),
    };
    StoreError::Stuck(format!(
        "{}: still locked after {} s, though it is held for microseconds only: {who}",
        path.display(),
        GATE_LIMIT.as_secs()
    ))
}
