//! Finding the holders of a lock file by looking through `/proc`.
//!
//! When somebody removes a slot file that is held, its lock lives on where no newcomer can see it.
//! A newcomer that has to make a slot file anew therefore looks whether a process still has the
//! removed one open and locked. `/proc/locks` is of no use for that: it names the process that once
//! locked the file, which may be long gone.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::path::Path;

/// The processes that hold a lock on the file of this path.
pub(crate) fn holders_of(path: &Path) -> Vec<u32> {
    let path = path.as_os_str().as_encoded_bytes();
    let lockers = lockers(|link| (link == path).then_some(()));
    lockers.into_iter().map(|(pid, ())| pid).collect()
}

/// Whether a process holds a lock on a removed file of this path.
pub(super) fn is_held_though_removed(path: &Path) -> bool {
    let mut target = path.as_os_str().as_encoded_bytes().to_vec();
    target.extend_from_slice(b" (deleted)");
    !lockers(|link| (link == target).then_some(())).is_empty()
}

/// The slots of this folder whose files were removed while they are held.
pub(super) fn removed_slots(folder: &Path) -> BTreeSet<u32> {
    let mut start = folder.as_os_str().as_encoded_bytes().to_vec();
    start.extend_from_slice(b"/slot-");
    let slot = |link: &[u8]| {
        let index = link.strip_prefix(start.as_slice())?;
        let index = index.strip_suffix(b" (deleted)")?;
        std::str::from_utf8(index).ok()?.parse().ok()
    };
    lockers(slot).into_iter().map(|(_, slot)| slot).collect()
}

/// The processes with a locked file whose link `wanted` recognises.
fn lockers<T>(wanted: impl Fn(&[u8]) -> Option<T>) -> Vec<(u32, T)> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .flat_map(|pid| {
            locked_by(pid, &wanted)
                .into_iter()
                .map(move |found| (pid, found))
        })
        .collect()
}

fn locked_by<T>(pid: u32, wanted: impl Fn(&[u8]) -> Option<T>) -> Vec<T> {
    // Other users' processes cannot be looked into; nothing can be said about them.
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    let locked = |descriptor: DirEntry| {
        let link = fs::read_link(descriptor.path()).ok()?;
        let found = wanted(link.as_os_str().as_encoded_bytes())?;
        let name = descriptor.file_name();
        let info = format!("/proc/{pid}/fdinfo/{}", name.to_string_lossy());
        let is_locked = fs::read_to_string(info).is_ok_and(|text| text.contains("\nlock:"));
        is_locked.then_some(found)
    };
    descriptors.flatten().filter_map(locked).collect()
}
