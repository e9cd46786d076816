//! Writing `--report FILE`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use baton_cli::Failure;

/// Writes one JSON line. A regular file is replaced as a whole, so that a reader never sees half a
/// document; a pipe or terminal is written to, and so is what `/dev/stdout` and its like lead to.
pub(crate) fn write(path: &Path, json: &str) -> Result<(), Failure> {
    let line = format!("{json}\n");
    let written = match target(path) {
        Some(target) => replace(&target, &line),
        None => fs::OpenOptions::new()
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(line.as_bytes())),
    };
    written.map_err(|e| {
        Failure::internal(format!(
            "--report {}: cannot be written: {e}; name a file in a directory you can write",
            path.display()
        ))
    })
}

/// The file to be replaced; none where there is something that must be written to instead. A
/// symbolic link stays, and leads to the new file.
fn target(path: &Path) -> Option<PathBuf> {
    let is_device = path.starts_with("/dev") || path.starts_with("/proc");
    match fs::metadata(path) {
        Ok(metadata) if is_device || !metadata.is_file() => None,
        Ok(_) => Some(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())),
        Err(_) => Some(path.to_owned()),
    }
}

fn replace(path: &Path, line: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let result = File::create(&temporary)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::write;

    #[test]
    fn a_link_stays_and_what_stdout_leads_to_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let (link, file) = (dir.path().join("l"), dir.path().join("f"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "{}").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}\n");
        assert_eq!(super::target(std::path::Path::new("/dev/null")), None);
        assert_eq!(super::target(std::path::Path::new("/proc/self/stat")), None);
    }

    #[test]
    fn it_replaces_the_whole_file_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        std::fs::write(&path, "a much longer old document\n").unwrap();
        write(&path, "{}").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        let missing = dir.path().join("no/r.json");
        let failure = write(&missing, "{}").unwrap_err();
        assert!(failure.message.contains("--report"), "{}", failure.message);
    }
}
