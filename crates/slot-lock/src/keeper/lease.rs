//! How long a keeper holds a slot for a holder that is no process: a file beside the slot.

use std::fs;
use std::path::{Path, PathBuf};

/// The present terms of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lease {
    /// The acquisition it belongs to.
    pub(crate) token: String,
    /// When it ends, in milliseconds since boot (suspend included).
    pub(crate) expires_ms: u64,
}

impl Lease {
    /// The text of its file.
    pub(crate) fn text(&self) -> String {
        format!("{} {}\n", self.token, self.expires_ms)
    }

    fn parse(text: &str) -> Option<Self> {
        let (token, expires) = text.trim_end().split_once(' ')?;
        Some(Self {
            token: token.to_owned(),
            expires_ms: expires.parse().ok()?,
        })
    }

    /// When this acquisition's lease ends by what its file says; none when the file says nothing.
    pub(crate) fn read(path: &Path, token: &str) -> Option<u64> {
        let lease = Self::parse(&fs::read_to_string(path).ok()?)?;
        (lease.token == token).then_some(lease.expires_ms)
    }
}

/// The lease file of a slot file.
pub(crate) fn lease_path(slot_file: &Path) -> Option<PathBuf> {
    let name = slot_file.file_name()?.to_str()?;
    let index = name.strip_prefix("slot-")?.trim_end_matches(" (deleted)");
    Some(slot_file.with_file_name(format!("lease-{index}")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Lease, lease_path};

    #[test]
    fn l10_a_lease_of_another_token_is_not_ours() {
        let dir = tempfile::tempdir().unwrap();
        let path = lease_path(&dir.path().join("slot-3")).unwrap();
        assert!(path.ends_with("lease-3"));
        assert_eq!(Lease::read(&path, "t"), None);
        let lease = Lease {
            token: "t".into(),
            expires_ms: 5,
        };
        std::fs::write(&path, lease.text()).unwrap();
        assert_eq!(Lease::read(&path, "t"), Some(5));
        assert_eq!(Lease::read(&path, "other"), None);
        std::fs::write(&path, "t").unwrap();
        assert_eq!(Lease::read(&path, "t"), None);
    }

    #[test]
    fn the_lease_of_a_removed_slot_file_is_found() {
        let path = lease_path(Path::new("/d/slot-0 (deleted)"));
        assert_eq!(path.as_deref(), Some(Path::new("/d/lease-0")));
    }
}
