//! Work trees that somebody moved without git: git takes them for gone, and they hold work.

use std::path::{Path, PathBuf};

/// Where the work tree that git knows at `old` lies now, if it lies beside its old place.
pub(crate) fn moved_to(old: &Path) -> Option<PathBuf> {
    let beside = std::fs::read_dir(old.parent()?).ok()?;
    beside.flatten().map(|e| e.path()).find(|folder| {
        let Ok(link) = std::fs::read_to_string(folder.join(".git")) else {
            return false;
        };
        // Each points at the other: the folder at git's entry, the entry at where the folder was.
        let entry = link.trim().strip_prefix("gitdir: ").map(Path::new);
        let was = entry.and_then(|entry| std::fs::read_to_string(entry.join("gitdir")).ok());
        was.is_some_and(|was| Path::new(was.trim()) == old.join(".git"))
    })
}

#[cfg(test)]
mod tests {
    use super::moved_to;

    #[test]
    fn a_folder_that_points_at_the_entry_of_one_that_is_gone_is_it() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("a"), dir.path().join("b"));
        assert_eq!(moved_to(&old), None);
        let entry = dir.path().join("entry");
        std::fs::create_dir_all(&entry).unwrap();
        std::fs::create_dir_all(&new).unwrap();
        std::fs::write(entry.join("gitdir"), format!("{}/.git\n", old.display())).unwrap();
        std::fs::write(new.join(".git"), format!("gitdir: {}\n", entry.display())).unwrap();
        assert_eq!(moved_to(&old), Some(new.clone()));
        std::fs::write(entry.join("gitdir"), "/elsewhere/.git\n").unwrap();
        assert_eq!(moved_to(&old), None);
    }
}
