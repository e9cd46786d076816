//! Showing in the slot's folder that a request of ours is in flight.
//!
//! slot-lock tells a server's load by others from that of its own holders by these flags: the file
//! `$BATON_SLOT_FILE` names holds any text, and is locked while a request is in flight.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Whoever looks at the flag holds its lock for some microseconds.
const TRIES: u32 = 200;

/// The flag of our slot; without a slot it does nothing.
#[derive(Debug, Default)]
pub(crate) struct Flag(Option<File>);

impl Flag {
    /// Opens the flag and says in it that this holder flags. It is a help for others, so a file
    /// that cannot be written ends nothing.
    pub(crate) fn open(path: Option<&Path>) -> Self {
        let open = |path: &Path| -> std::io::Result<File> {
            let mut file = OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .open(path)?;
            if file.metadata()?.len() == 0 {
                file.write_all(b"worker-run\n")?;
            }
            Ok(file)
        };
        Self(path.and_then(|path| open(path).ok()))
    }

    /// Raises the flag until the result is dropped.
    pub(crate) fn raise(&self) -> Raised<'_> {
        let Some(file) = &self.0 else {
            return Raised(None);
        };
        for _ in 0..TRIES {
            if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Raised(Some(file));
            }
            std::thread::yield_now();
        }
        // Somebody below the same slot has it up already.
        Raised(None)
    }
}

/// A flag that is up.
#[derive(Debug)]
#[must_use]
pub(crate) struct Raised<'a>(Option<&'a File>);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Flag;
    use rustix::fs::{FlockOperation, flock};
    use std::fs::File;

    fn is_up(path: &std::path::Path) -> bool {
        let file = File::open(path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockShared).is_err()
    }

    #[test]
    fn it_is_up_for_as_long_as_the_request_and_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flag-0");
        for _ in 0..2 {
            let flag = Flag::open(Some(&path));
            assert!(!is_up(&path));
            {
                let _raised = flag.raise();
                assert!(is_up(&path));
            }
            assert!(!is_up(&path));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "worker-run\n");
    }

    #[test]
    fn without_a_slot_or_its_folder_it_does_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for flag in [
            Flag::open(None),
            Flag::open(Some(&dir.path().join("gone/flag-0"))),
        ] {
            let _raised = flag.raise();
        }
    }
}
