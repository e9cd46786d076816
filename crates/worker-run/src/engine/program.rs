//! Where an agent's program lies, and which folders it needs to read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The program's file: the name itself if it holds a slash, else the first of PATH.
pub(crate) fn locate(name: &OsStr, path: Option<&str>) -> Option<PathBuf> {
    let given = Path::new(name);
    if given.components().count() > 1 {
        return given.is_file().then(|| given.to_path_buf());
    }
    std::env::split_paths(path?)
        .map(|folder| folder.join(given))
        .find(|file| file.is_file())
}

/// The folders that hold a program: where it is said to be, where it really is, and what belongs to
/// it there (a tree of npm packages, a virtual environment's `lib` beside its `bin`).
pub(crate) fn homes(file: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    for place in [file, &real] {
        let Some(folder) = place.parent() else {
            continue;
        };
        let packages = place
            .ancestors()
            .filter(|a| a.file_name() == Some(OsStr::new("node_modules")))
            .last();
        let prefix = folder.parent().filter(|prefix| {
            matches!(
                folder.file_name().and_then(OsStr::to_str),
                Some("bin" | "Scripts")
            ) && prefix.components().count() > 1
                && home != Some(*prefix)
        });
        for wanted in [Some(folder), packages, prefix].into_iter().flatten() {
            let is_home = home.is_some_and(|home| home.starts_with(wanted));
            if !is_home && !found.iter().any(|f| f == wanted) {
                found.push(wanted.to_path_buf());
            }
        }
    }
    // A program in the home itself, or in the root: only the file.
    found.push(real);
    found
}

#[cfg(test)]
mod tests {
    use super::{homes, locate};
    use std::path::Path;

    #[test]
    fn a_package_brings_its_whole_tree() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().canonicalize().unwrap().join("p/node_modules");
        let bin = tree.join("agent/bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(tree.join(".bin")).unwrap();
        std::fs::write(bin.join("agent.js"), "").unwrap();
        std::os::unix::fs::symlink("../agent/bin/agent.js", tree.join(".bin/agent")).unwrap();
        let file = locate("agent".as_ref(), tree.join(".bin").to_str()).unwrap();
        assert!(homes(&file, None).contains(&tree));
        assert_eq!(locate("missing".as_ref(), tree.to_str()), None);
    }

    #[test]
    fn a_home_is_never_opened_as_a_whole() {
        let home = Path::new("/home/me");
        for file in ["/home/me/agent", "/home/me/bin/agent", "/home/agent"] {
            let found = homes(Path::new(file), Some(home));
            assert!(!found.iter().any(|f| home.starts_with(f)), "{found:?}");
        }
        let found = homes(Path::new("/home/me/venv/bin/agent"), Some(home));
        assert!(found.contains(&"/home/me/venv".into()), "{found:?}");
    }
}
