//! The kernel's lock: the only module that calls flock(2), through fs2.
//!
//! The lock belongs to the open file description: whoever shares it (the keeper) holds it too, and
//! it is gone when the last of them closed it, also by dying. Three rules, each from a bug someone
//! had: the calls are fully qualified, because std's own methods of the same names shadow the
//! trait's; an interrupted call is made again; `FileExt::duplicate` is never used, because the
//! copy it makes is inherited by every child.

use std::fs::File;
use std::io;
use std::io::ErrorKind;

use fs2::FileExt;

fn uninterrupted(mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn taken(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(e) => Err(e),
    }
}

/// Takes the lock for itself alone if nobody has it. False: somebody has it.
pub(crate) fn try_exclusive(file: &File) -> io::Result<bool> {
    taken(uninterrupted(|| FileExt::try_lock_exclusive(file)))
}

/// Takes the lock together with other sharers if nobody has it alone. False: somebody has it alone.
pub(crate) fn try_shared(file: &File) -> io::Result<bool> {
    taken(uninterrupted(|| FileExt::try_lock_shared(file)))
}

/// Waits in the kernel until nobody has the lock alone.
pub(crate) fn shared(file: &File) -> io::Result<()> {
    uninterrupted(|| FileExt::lock_shared(file))
}

/// Gives the lock back for everybody who shares the open file description.
///
/// Only the one who took it may call this, when the work is over; a child just closes.
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    uninterrupted(|| FileExt::unlock(file))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::Command;

    use super::{try_exclusive, try_shared, unlock};

    /// Whether flock(1) gets the lock at once.
    fn flock_gets_it(path: &std::path::Path) -> bool {
        let status = Command::new("flock")
            .arg("-n")
            .arg(path)
            .arg("true")
            .status();
        status.unwrap().success()
    }

    #[test]
    fn it_is_the_lock_flock_1_takes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let file = File::create(&path).unwrap();
        assert!(flock_gets_it(&path));
        assert!(try_exclusive(&file).unwrap());
        assert!(!flock_gets_it(&path));
        let other = File::open(&path).unwrap();
        assert!(!try_exclusive(&other).unwrap());
        assert!(!try_shared(&other).unwrap());
        // The shared description holds it on; closing one of the two changes nothing.
        drop(file.try_clone().unwrap());
        assert!(!flock_gets_it(&path));
        unlock(&file).unwrap();
        assert!(flock_gets_it(&path));
        assert!(try_shared(&file).unwrap() && try_shared(&other).unwrap());
        assert!(!flock_gets_it(&path));
    }
}
