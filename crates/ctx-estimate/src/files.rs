//! Finding files and counting them, all cores at once.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use baton_cli::Failure;
use baton_tokens::Meter;
use ignore::WalkBuilder;

use crate::reader::{Content, Reader};

/// The files to count and what was left out on the way.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The files, each once, in the order of the arguments, folders sorted by path.
    pub(crate) files: Vec<PathBuf>,
    /// Those that are named pipes: opening one waits for its writer.
    pub(crate) pipes: Vec<PathBuf>,
    /// What could not be looked at, in words.
    pub(crate) unreadable: Vec<String>,
}

/// Expands folders. `all`: also hidden files and what `.gitignore` names. Symbolic links inside a
/// folder are not followed, so there are no loops.
pub(crate) fn find(paths: &[PathBuf], all: bool) -> Result<Found, Failure> {
    let mut found = Found::default();
    let mut seen = HashSet::new();
    for path in paths {
        let facts = std::fs::metadata(path)
            .map_err(|e| Failure::input(format!("{}: {}", path.display(), reason(&e))))?;
        if facts.is_dir() {
            walk(path, all, &mut seen, &mut found);
        } else if seen.insert(tidy(path)) {
            // A shell's `<(command)` has a writer from the start.
            if facts.file_type().is_fifo() && !path.starts_with("/dev/fd") {
                found.pipes.push(tidy(path));
            }
            found.files.push(tidy(path));
        }
    }
    Ok(found)
}

fn walk(root: &Path, all: bool, seen: &mut HashSet<PathBuf>, found: &mut Found) {
    let entries = WalkBuilder::new(root)
        .standard_filters(!all)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp)
        .build();
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                let path = tidy(entry.path());
                if seen.insert(path.clone()) {
                    found.files.push(path);
                }
            }
            Ok(_) => {}
            Err(e) => found.unreadable.push(e.to_string()),
        }
    }
}

/// Without a leading `./`.
fn tidy(path: &Path) -> PathBuf {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// The error without the number of the operating system.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or(&text)
        .to_lowercase()
}

/// The most files a thread takes at a time: the more, the less often one wakes another.
const BATCH: usize = 32;

/// Counts files on all cores; `progress` hears how many are done. The results are in the order of
/// the files.
pub(crate) fn measure_all(
    files: &[PathBuf],
    meters: &[Meter],
    mut progress: impl FnMut(usize),
) -> Vec<io::Result<Content>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Few files are dealt out one by one, so that no core is left with all the large ones.
    let batch = (files.len() / cores / 8).clamp(1, BATCH);
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    let mut results: Vec<Option<io::Result<Content>>> = files.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..cores.min(files.len()) {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                let mut reader = Reader::new(meters);
                loop {
                    let first = next.fetch_add(batch, Ordering::Relaxed);
                    let Some(paths) = files.get(first..) else {
                        break;
                    };
                    let counted: Vec<_> = paths
                        .iter()
                        .take(batch)
                        .map(|path| File::open(path).and_then(|file| reader.measure(file)))
                        .collect();
                    if counted.is_empty() || send.send((first, counted)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut done = 0;
        for (first, counted) in receive {
            done += counted.len();
            for (place, result) in results[first..].iter_mut().zip(counted) {
                *place = Some(result);
            }
            progress(done);
        }
    });
    let lost = || Err(io::Error::other("the thread that counted it ended early"));
    results
        .into_iter()
        .map(|result| result.unwrap_or_else(lost))
        .collect()
}
