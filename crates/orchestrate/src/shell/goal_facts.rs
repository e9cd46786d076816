//! What git and the plans say about a goal's progress.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::time::Duration;

use baton_cli::Failure;
use baton_process::{Cancel, Capture, Command};
use baton_repo::Repo;

use super::layout::Layout;
use super::worktrees::git_failure;

/// What changes whenever something was achieved: the tree of HEAD and the text of the plans.
pub(crate) fn fingerprint(repo: &Repo, layout: &Layout) -> Result<String, Failure> {
    let head = repo.head().map_err(|e| git_failure(&e))?;
    let tree = match head.commit {
        Some(commit) => repo
            .tree(commit.as_str())
            .map_err(|e| git_failure(&e))?
            .as_str()
            .to_owned(),
        None => "none".into(),
    };
    let mut plans = DefaultHasher::new();
    for file in plan_files(&layout.plans()) {
        file.hash(&mut plans);
        std::fs::read(&file).unwrap_or_default().hash(&mut plans);
    }
    Ok(format!("{tree}-{:016x}", plans.finish()))
}

/// The files of the plans' folder, in order.
pub(crate) fn plan_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    files.sort();
    files
}

/// The commits since `start`, the newest first, as `abc1234 subject`.
pub(crate) fn commits(root: &Path, start: Option<&str>, cancel: &Cancel) -> Vec<String> {
    let Some(start) = start else {
        return Vec::new();
    };
    git_lines(
        root,
        &["log", "--format=%h %s", "-200", &format!("{start}..HEAD")],
        cancel,
    )
}

/// The lines git prints; none where it cannot say.
pub(crate) fn git_lines(root: &Path, args: &[&str], cancel: &Cancel) -> Vec<String> {
    let outcome = Command::new("git")
        .args(["-c", "core.quotePath=false", "--no-optional-locks"])
        .args(args)
        .cwd(root)
        .capture(Capture::all(256 * 1024))
        .timeout(Duration::from_secs(30))
        .run(cancel);
    match outcome {
        Ok(outcome) if outcome.success() => {
            outcome.stdout.text().lines().map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}
