//! Files that appear whole or stay as they were.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use baton_cli::Failure;

/// Replaces a file: written beside it, synced, renamed over it. Its mode stays.
pub(crate) fn replace(file: &Path, content: &[u8]) -> Result<(), Failure> {
    let fail = |e: &dyn std::fmt::Display| {
        Failure::internal(format!(
            "cannot write {}: {e}; it is as it was",
            file.display()
        ))
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    let mode = std::fs::metadata(file).map_or(0o644, |m| m.permissions().mode());
    let mut draft = tempfile::Builder::new()
        .prefix(".baton-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(|e| fail(&e))?;
    draft.write_all(content).map_err(|e| fail(&e))?;
    draft.as_file().sync_data().map_err(|e| fail(&e))?;
    draft.persist(file).map_err(|e| fail(&e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::replace;

    #[test]
    fn the_content_changes_and_the_mode_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        replace(&file, b"one").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        replace(&file, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_said() {
        let error = replace(std::path::Path::new("/nowhere/at/all"), b"x").unwrap_err();
        assert!(error.message.contains("it is as it was"), "{error}");
    }
}
