//! Looking at the disk for what the first message may show.

use std::io::Read as _;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::pack::PackedFile;
use baton_protocol::Task;

/// The file in which a repository states its rules for agents.
pub const RULE_FILE: &str = "AGENTS.md";

/// Larger files are never shown whole in a first message.
const MAX_FILE_BYTES: u64 = 128 * 1024;

/// More files than this are listed, but not read in search of something to show.
const MAX_FILES_READ: usize = 400;

/// What the work tree holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gathered {
    /// All files git would not ignore, sorted.
    pub paths: Vec<String>,
    /// The text files that may be shown.
    pub candidates: Vec<PackedFile>,
    /// The repository's rules for agents.
    pub rules: Option<String>,
}

/// Reads the work tree at `root`. What cannot be read (binary, too large, not UTF-8) is left out.
pub fn gather(root: &Path, task: &Task) -> Gathered {
    let paths = list_files(root);
    let write = glob_set(task.write_scope().unwrap_or(&["**".to_string()]));
    let asks = |globs: Option<&[String]>| {
        let particular: Vec<String> = globs
            .unwrap_or_default()
            .iter()
            .filter(|glob| !matches!(glob.as_str(), "**" | "**/*" | "*"))
            .cloned()
            .collect();
        glob_set(&particular)
    };
    let scope = task.scope.as_ref();
    let asked_write = asks(task.write_scope());
    let asked_read = asks(scope.and_then(|s| s.read.as_deref()));
    let mut candidates = Vec::new();
    for path in &paths {
        if candidates.len() >= MAX_FILES_READ {
            break;
        }
        let writable = write.is_match(path);
        if path == RULE_FILE {
            continue;
        }
        if let Some(text) = read_text(&root.join(path)) {
            candidates.push(PackedFile {
                path: path.clone(),
                text,
                writable,
                asked: asked_write.is_match(path) || asked_read.is_match(path),
            });
        }
    }
    Gathered {
        rules: read_text(&root.join(RULE_FILE)).filter(|text| !text.trim().is_empty()),
        paths,
        candidates,
    }
}

/// The files git would not ignore; symbolic links are not followed.
fn list_files(root: &Path) -> Vec<String> {
    let mut paths: Vec<String> = ignore::WalkBuilder::new(root)
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != ".orchestrator")
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let relative = entry.path().strip_prefix(root).ok()?;
            relative.to_str().map(str::to_string)
        })
        .collect();
    paths.sort();
    paths
}

/// The text of a regular file, or none when it is not one a model should see.
fn read_text(path: &Path) -> Option<String> {
    let facts = path.symlink_metadata().ok()?;
    if !facts.is_file() || facts.len() > MAX_FILE_BYTES {
        return None;
    }
    // It may grow while it is read (a log), and it need never end.
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return None;
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// A glob that cannot be parsed matches nothing here; whoever enforces the scope reports it.
fn glob_set(globs: &[String]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for glob in globs.iter().filter_map(|text| Glob::new(text).ok()) {
        builder.add(glob);
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}

#[cfg(test)]
mod tests {
    use super::gather;
    use baton_protocol::{Scope, Task, TaskId};

    #[test]
    fn ignored_binary_and_foreign_files_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, bytes: &[u8]| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        put("src/a.py", b"x = 1\n");
        put("src/b.bin", b"\0\x01");
        put("build/out.txt", b"generated");
        put(".gitignore", b"build/\n");
        put(".git/config", b"[core]");
        put(".orchestrator/config.toml", b"");
        put("AGENTS.md", b"Use tabs.\n");
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();

        let mut task = Task::new(TaskId::new("t").unwrap(), "x");
        task.scope = Some(Scope {
            write: Some(vec!["src/*.py".into()]),
            read: None,
        });
        let found = gather(dir.path(), &task);
        assert_eq!(
            found.paths,
            [".gitignore", "AGENTS.md", "src/a.py", "src/b.bin"]
        );
        let shown: Vec<(&str, bool, bool)> = found
            .candidates
            .iter()
            .map(|f| (f.path.as_str(), f.writable, f.asked))
            .collect();
        assert_eq!(
            shown,
            [(".gitignore", false, false), ("src/a.py", true, true)]
        );
        assert_eq!(found.rules.as_deref(), Some("Use tabs.\n"));
    }
}
