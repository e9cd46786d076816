//! Which repository configurations the user trusts, bound to their content.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Failure;

fn list(state_dir: &Path) -> PathBuf {
    state_dir.join("trusted")
}

fn line(file: &Path, content: &[u8]) -> String {
    let mut line = String::new();
    for byte in Sha256::digest(content) {
        // Writing to a string cannot fail.
        let _ = write!(line, "{byte:02x}");
    }
    format!("{line}  {}", file.display())
}

/// Whether the user trusts this content of this file.
pub fn is_trusted(state_dir: &Path, file: &Path, content: &[u8]) -> bool {
    let wanted = line(file, content);
    fs::read_to_string(list(state_dir)).is_ok_and(|text| text.lines().any(|l| l == wanted))
}

/// Remembers that the user trusts this content of this file. A change of the file ends the trust.
pub fn trust(state_dir: &Path, file: &Path, content: &[u8]) -> Result<(), Failure> {
    if is_trusted(state_dir, file, content) {
        return Ok(());
    }
    let path = list(state_dir);
    let cannot =
        |e: std::io::Error| Failure::internal(format!("cannot write {}: {e}", path.display()));
    fs::create_dir_all(state_dir).map_err(cannot)?;
    let mut list = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(cannot)?;
    writeln!(list, "{}", line(file, content)).map_err(cannot)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_trusted, trust};

    #[test]
    fn trust_is_bound_to_place_and_content() {
        let dir = tempfile::tempdir().unwrap();
        let file = Path::new("/repo/.orchestrator/config.toml");
        assert!(!is_trusted(dir.path(), file, b"a"));
        trust(dir.path(), file, b"a").unwrap();
        trust(dir.path(), file, b"a").unwrap();
        assert!(is_trusted(dir.path(), file, b"a"));
        assert!(!is_trusted(dir.path(), file, b"b"));
        assert!(!is_trusted(dir.path(), Path::new("/other"), b"a"));
        let text = std::fs::read_to_string(dir.path().join("trusted")).unwrap();
        assert_eq!(text.lines().count(), 1);
    }
}
