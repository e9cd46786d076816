//! What a folder remembers between callers: a hint for people, and a trace of removed files.

use std::path::Path;

use super::files::open_or_create;
use super::folder::write_text;
use crate::procfs;

/// The text of the file `slots`: `LAST MADE`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// How many slots the last caller counted with.
    pub(super) slots: Option<u32>,
    /// So many slot files were made. One that is missing was removed.
    pub(super) made: u32,
}

impl Record {
    /// None when there is none, or none that can be read.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        Self::parse(&procfs::read(folder.join("slots"))?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let slots = words.next()?.parse().ok().filter(|n| *n > 0);
        let made = words.next()?.parse().ok().filter(|n| *n <= 1 << 16)?;
        Some(Self { slots, made })
    }

    /// A disk that is full costs a hint, not a slot.
    pub(super) fn write(self, folder: &Path, mode: u32) {
        if let Ok((file, _)) = open_or_create(&folder.join("slots"), mode) {
            let text = format!("{} {}\n", self.slots.unwrap_or(0), self.made);
            let _ = write_text(&file, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Record;

    #[test]
    fn a_record_comes_back_and_garbage_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Record::read(dir.path()), None);
        let record = Record {
            slots: Some(2),
            made: 3,
        };
        record.write(dir.path(), 0o600);
        assert_eq!(Record::read(dir.path()), Some(record));
        for text in ["", "x", "2", "2 x", "2 99999999"] {
            assert_eq!(Record::parse(text), None, "{text:?}");
        }
        assert_eq!(
            Record::parse("0 1"),
            Some(Record {
                slots: None,
                made: 1
            })
        );
    }
}
