//! Finding the other Baton tools.

use std::path::{Path, PathBuf};

/// Where the tool `name` is: beside this program, so that a checkout or an installation always
/// meets tools of its own version; else by name alone, which means a search of PATH.
pub fn sibling(name: &str) -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|exe| beside(&exe, name))
        .unwrap_or_else(|| PathBuf::from(name))
}

/// A test or example program lies one folder below the tools (`deps/`, `examples/`), so both that
/// folder and its parent are looked at.
fn beside(exe: &Path, name: &str) -> Option<PathBuf> {
    let folder = exe.parent()?;
    let below_target = folder
        .file_name()
        .is_some_and(|n| n == "deps" || n == "examples");
    let parent = if below_target { folder.parent() } else { None };
    [Some(folder), parent]
        .into_iter()
        .flatten()
        .map(|f| f.join(name))
        .find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_beside_us_is_preferred() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("slot-lock"), "").unwrap();
        let found = beside(&dir.path().join("orchestrate"), "slot-lock");
        assert_eq!(found, Some(dir.path().join("slot-lock")));
    }

    #[test]
    fn a_test_program_finds_the_tools_one_folder_up() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("slot-lock"), "").unwrap();
        std::fs::create_dir(dir.path().join("deps")).unwrap();
        let found = beside(&dir.path().join("deps/pipelines-0123"), "slot-lock");
        assert_eq!(found, Some(dir.path().join("slot-lock")));
    }

    #[test]
    fn a_tool_that_is_nowhere_beside_us_is_left_to_the_path() {
        assert_eq!(
            sibling("no-such-baton-tool"),
            PathBuf::from("no-such-baton-tool")
        );
    }
}
