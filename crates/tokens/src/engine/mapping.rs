//! A file mapped into memory: the only unsafe code of this crate.
#![expect(
    unsafe_code,
    reason = "mapping a file is unsafe, because another process may change it"
)]

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use memmap2::Mmap;

/// Maps a file read-only, if it belongs to this user and nobody else may write it.
pub(super) fn map_own(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    let facts = file.metadata()?;
    let refused = |what: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    if facts.uid() != rustix::process::geteuid().as_raw() {
        return refused("it belongs to another user, so it is not trusted");
    }
    if facts.mode() & 0o022 != 0 {
        return refused("other users may write it, so it is not trusted");
    }
    // SAFETY: the bytes under a mapping must not change. Files of the cache are written under another
    // name and renamed, never changed in place, and the checks above say that only this user could.
    unsafe { Mmap::map(&file) }
}
