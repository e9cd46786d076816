//! The records of `worktree create`, in git's common folder: every work tree of the repository sees
//! the same ones, and none is ever committed.

use std::path::{Path, PathBuf};

use baton_cli::Failure;
use baton_protocol::TaskId;

use crate::core::worktree_state::Made;

use super::layout::make_folder;

fn folder(common_dir: &Path) -> PathBuf {
    common_dir.join("baton-worktrees")
}

fn file(common_dir: &Path, name: &str) -> Result<PathBuf, Failure> {
    // A name becomes part of a path.
    TaskId::new(name).map_err(|_| {
        Failure::usage(format!(
            "`{name}` is no name for a work tree: use letters, digits, `.`, `_` and `-`"
        ))
    })?;
    Ok(folder(common_dir).join(format!("{name}.json")))
}

/// Every record, by name. One that cannot be read is left out: its tree then counts as foreign.
pub(crate) fn all(common_dir: &Path) -> Vec<Made> {
    let mut found: Vec<Made> = std::fs::read_dir(folder(common_dir))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let text = std::fs::read_to_string(entry.path()).ok()?;
            serde_json::from_str(&text).ok()
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Writes a record, whole or not at all.
pub(crate) fn write(common_dir: &Path, made: &Made) -> Result<(), Failure> {
    let file = file(common_dir, &made.name)?;
    make_folder(&folder(common_dir))?;
    let fail =
        |e: std::io::Error| Failure::internal(format!("cannot write {}: {e}", file.display()));
    let text = serde_json::to_string_pretty(made)
        .map_err(|e| Failure::internal(format!("cannot write {}: {e}", file.display())))?;
    let mut fresh = tempfile::NamedTempFile::new_in(folder(common_dir)).map_err(fail)?;
    std::io::Write::write_all(&mut fresh, text.as_bytes()).map_err(fail)?;
    fresh.as_file().sync_data().map_err(fail)?;
    fresh.persist(&file).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Forgets one.
pub(crate) fn remove(common_dir: &Path, name: &str) -> Result<(), Failure> {
    let file = file(common_dir, name)?;
    match std::fs::remove_file(&file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Failure::internal(format!(
            "cannot remove {}: {e}",
            file.display()
        ))),
        _ => Ok(()),
    }
}
