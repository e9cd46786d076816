//! The journal on disk: appended to and synced before anything is done.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;

use baton_cli::{Failure, Redactor};

use crate::core::record::{Entry, read_journal};

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    run: String,
    redactor: Redactor,
}

impl Journal {
    /// Opens (or makes) a journal and reads what it holds. A last line that a crash has cut is
    /// removed, so that the next one stands on a line of its own.
    pub(crate) fn open(
        path: &Path,
        run: &str,
        redactor: Redactor,
    ) -> Result<(Self, Vec<Entry>), Failure> {
        let fail = |what: &str, e: std::io::Error| {
            Failure::internal(format!("cannot {what} the journal {}: {e}", path.display()))
        };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|e| fail("open", e))?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|e| fail("read", e))?;
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        if whole < text.len() {
            let length = u64::try_from(whole).unwrap_or(0);
            file.set_len(length).map_err(|e| fail("mend", e))?;
        }
        let entries =
            read_journal(&text[..whole]).map_err(|e| Failure::input(e).at(path.display()))?;
        // The folder's entry for a new file must be on disk too, or a crash forgets the whole file.
        if let Some(folder) = path.parent() {
            File::open(folder)
                .and_then(|f| f.sync_all())
                .map_err(|e| fail("sync the folder of", e))?;
        }
        Ok((
            Self {
                file,
                run: run.to_owned(),
                redactor,
            },
            entries,
        ))
    }

    /// Writes one record down and has it on disk before it returns.
    pub(crate) fn append(&mut self, entry: &Entry) -> Result<String, Failure> {
        let fail = |e: &dyn std::fmt::Display| {
            Failure::internal(format!(
                "cannot write the journal of run {}: {e}; the run stops here and can be resumed",
                self.run
            ))
        };
        let event = entry.to_event(&self.run).map_err(|e| fail(&e))?;
        let value = serde_json::to_value(&event).map_err(|e| fail(&e))?;
        let mut line = self.redactor.value(value).to_string();
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(|e| fail(&e))?;
        self.file.sync_data().map_err(|e| fail(&e))?;
        Ok(line)
    }
}

/// Reads a journal without opening it for writing.
pub(crate) fn peek(path: &Path) -> Result<Vec<Entry>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::input(format!("cannot read {}: {e}", path.display())))?;
    read_journal(&text).map_err(|e| Failure::input(e).at(path.display()))
}
