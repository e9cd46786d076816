//! What a command changed: kept as files, and applied again.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use baton_repo::{ObjectId, Repo};

use super::folder::{Folder, RecordedChange};

/// Keeps the files that differ from the tree before, as they are in the work tree now.
pub(crate) fn keep(
    repo: &Repo,
    before: &ObjectId,
    folder: &Folder,
    n: usize,
    clean: &dyn Fn(&[u8]) -> Vec<u8>,
) -> Result<Vec<RecordedChange>, String> {
    let now = repo.snapshot().map_err(|e| e.to_string())?;
    let changes = repo.diff_trees(before, &now).map_err(|e| e.to_string())?;
    let mut kept: Vec<RecordedChange> = Vec::new();
    for path in changes.iter().flat_map(baton_repo::Change::touched) {
        let Some(name) = path.to_str() else { continue };
        if kept.iter().any(|k| k.path == name) {
            continue;
        }
        let place = repo.root().join(path.as_path());
        let (kind, bytes) = match fs::symlink_metadata(&place) {
            Err(_) => ("gone", None),
            Ok(meta) if meta.is_symlink() => {
                let target = fs::read_link(&place).map_err(|e| e.to_string())?;
                ("link", Some(target.as_os_str().as_bytes().to_vec()))
            }
            Ok(meta) if meta.is_file() => {
                let bytes = fs::read(&place).map_err(|e| format!("{name}: {e}"))?;
                let runs = meta.permissions().mode() & 0o111 != 0;
                (if runs { "executable" } else { "file" }, Some(bytes))
            }
            Ok(_) => continue,
        };
        if let Some(bytes) = bytes {
            let file = folder.content(n, kept.len());
            write(&file, &clean(&bytes))?;
        }
        kept.push(RecordedChange {
            path: name.into(),
            kind: kind.into(),
        });
    }
    Ok(kept)
}

/// Does to a work tree what the command did.
pub(crate) fn apply(
    root: &Path,
    changes: &[RecordedChange],
    folder: &Folder,
    n: usize,
) -> Result<(), String> {
    for (at, change) in changes.iter().enumerate() {
        let relative = Path::new(&change.path);
        let plain = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !plain {
            return Err(format!("{} is no path of a work tree", change.path));
        }
        let place = root.join(relative);
        let said = |error: std::io::Error| format!("{}: {error}", change.path);
        // A recording is foreign data: nothing is written through a link.
        for above in ancestors(root, relative) {
            if fs::symlink_metadata(&above).is_ok_and(|m| m.is_symlink()) {
                return Err(format!("{} leads through a link", change.path));
            }
        }
        match fs::remove_file(&place) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(said(error)),
            _ => {}
        }
        if change.kind == "gone" {
            continue;
        }
        let bytes = fs::read(folder.content(n, at)).map_err(said)?;
        if change.kind == "link" {
            if let Some(above) = place.parent() {
                fs::create_dir_all(above).map_err(said)?;
            }
            symlink(std::ffi::OsStr::from_bytes(&bytes), &place).map_err(said)?;
            continue;
        }
        write(&place, &bytes)?;
        let mode = if change.kind == "executable" {
            0o755
        } else {
            0o644
        };
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).map_err(said)?;
    }
    Ok(())
}

fn ancestors(root: &Path, relative: &Path) -> Vec<PathBuf> {
    relative
        .ancestors()
        .skip(1)
        .filter(|a| !a.as_os_str().is_empty())
        .map(|a| root.join(a))
        .collect()
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(above) = path.parent() {
        fs::create_dir_all(above).map_err(said)?;
    }
    fs::write(path, bytes).map_err(said)
}
