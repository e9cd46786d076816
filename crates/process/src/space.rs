//! Room on the disk: a command that fills it is ended before it is full.
//!
//! A folder cannot be given a size without a file system of its own, and one in memory would be
//! gone with the command. So the free room of the file system is watched while the command runs.
//! What others write there meanwhile counts too; the limits are far above what work needs.

use std::path::PathBuf;
use std::time::Duration;

/// How often the room is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(200);

/// How much room one command may use up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Where it writes.
    pub folders: Vec<PathBuf>,
    /// So many bytes may go while it runs.
    pub most_bytes: u64,
    /// So many bytes must stay free, where they were free when it started.
    pub spare_bytes: u64,
}

/// The room at the start of a command.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    space: &'a Space,
    start: Vec<Option<u64>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(space: &'a Space) -> Self {
        let start = space.folders.iter().map(|folder| free(folder)).collect();
        Self { space, start }
    }

    /// Why the command has to end, if it has to.
    pub(crate) fn spent(&self) -> Option<String> {
        let folders = self.space.folders.iter().zip(&self.start);
        folders.into_iter().find_map(|(folder, start)| {
            judge((*start)?, free(folder)?, self.space)
                .map(|why| format!("{why} in {}", folder.display()))
        })
    }
}

/// The bytes that may still be written in a folder; none where nobody can tell.
fn free(folder: &std::path::Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

fn judge(start: u64, now: u64, space: &Space) -> Option<String> {
    let gone = start.saturating_sub(now);
    if gone > space.most_bytes {
        return Some(format!("{} of disk space went", mebibytes(gone)));
    }
    if now < space.spare_bytes && start >= space.spare_bytes {
        return Some(format!("only {} of disk space are left", mebibytes(now)));
    }
    None
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::{Space, judge};

    #[test]
    fn what_goes_and_what_is_left_are_both_bounded() {
        let space = Space {
            folders: Vec::new(),
            most_bytes: 100 << 20,
            spare_bytes: 50 << 20,
        };
        let mib = |n: u64| n << 20;
        assert_eq!(judge(mib(500), mib(400), &space), None);
        assert!(
            judge(mib(500), mib(399), &space)
                .unwrap()
                .contains("101 MiB")
        );
        assert!(judge(mib(60), mib(49), &space).unwrap().contains("49 MiB"));
        // It was as full before, and nobody is blamed for that.
        assert_eq!(judge(mib(40), mib(30), &space), None);
        assert_eq!(judge(mib(40), mib(80), &space), None);
    }
}
