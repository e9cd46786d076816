//! Finding the holders of a lock file by looking through `/proc`.
//!
//! When somebody removes a slot file that is held, its lock lives on where no newcomer can see it.
//! A newcomer that has to make a slot file anew therefore looks whether a process still has the
//! removed one open and locked. `/proc/locks` is of no use for that: it names the process that once
//! locked the file, which may be long gone.

use std::fs;
use std::path::Path;

/// The processes that hold a lock on the file of this path.
pub(crate) fn holders_of(path: &Path) -> Vec<u32> {
    lockers(path.as_os_str().as_encoded_bytes())
}

/// The processes that hold a lock on a removed file of this path.
pub(crate) fn holders_of_removed(path: &Path) -> Vec<u32> {
    let mut target = path.as_os_str().as_encoded_bytes().to_vec();
    target.extend_from_slice(b" (deleted)");
    lockers(&target)
}

fn lockers(target: &[u8]) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| has_locked(*pid, target))
        .collect()
}

fn has_locked(pid: u32, target: &[u8]) -> bool {
    // Other users' processes cannot be looked into; nothing can be said about them.
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    descriptors.flatten().any(|descriptor| {
        let leads_there = fs::read_link(descriptor.path())
            .is_ok_and(|link| link.as_os_str().as_encoded_bytes() == target);
        leads_there && {
            let name = descriptor.file_name();
            let info = format!("/proc/{pid}/fdinfo/{}", name.to_string_lossy());
            fs::read_to_string(info).is_ok_and(|text| text.contains("\nlock:"))
        }
    })
}
