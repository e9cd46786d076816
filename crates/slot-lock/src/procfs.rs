//! Small files, most of them of `/proc`, read in one call: they are read on every run.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The text of a file that is read in one piece; none when there is none.
pub(crate) fn read(path: impl AsRef<Path>) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let mut piece = [0; 4096];
    let mut bytes = Vec::new();
    loop {
        let length = file.read(&mut piece).ok()?;
        bytes.extend_from_slice(&piece[..length]);
        // A piece that is not full was the last one.
        if length < piece.len() {
            return String::from_utf8(bytes).ok();
        }
    }
}

/// The host's name.
pub(crate) fn host() -> String {
    let name = read("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{host, read};

    #[test]
    fn what_is_there_is_read_and_what_is_not_is_none() {
        assert!(!host().is_empty());
        assert!(read("/proc/self/status").unwrap().contains("SigIgn:"));
        assert_eq!(read("/proc/self/no/such"), None);
    }
}
