//! What every long-lived loop shares: one loop a repository, a rest that ends at once when somebody
//! wants it to, and a place for its words when nobody looks on.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_process::Cancel;
use fs2::FileExt as _;

/// How often a resting loop looks around.
const LOOK: Duration = Duration::from_millis(200);

/// A loop killed while it started a child leaves its lock to that child for a moment.
const AFTERGLOW: Duration = Duration::from_secs(1);

/// A loop's seat: held by the kernel for exactly as long as this lives.
#[derive(Debug)]
pub(crate) struct LoopLock {
    _file: File,
}

fn file_of(git_dir: &Path, name: &str) -> PathBuf {
    git_dir.join(format!("baton-{name}.lock"))
}

fn open(path: &Path) -> Result<File, Failure> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| Failure::internal(format!("cannot open {}: {e}", path.display())))
}

impl LoopLock {
    /// Takes the seat, or says who has it.
    pub(crate) fn take(git_dir: &Path, name: &str, cancel: &Cancel) -> Result<Self, Failure> {
        let mut file = open(&file_of(git_dir, name))?;
        let end = Instant::now() + AFTERGLOW;
        while file.try_lock_exclusive().is_err() {
            if Instant::now() >= end {
                let who = holder(git_dir, name).unwrap_or_default();
                return Err(Failure::try_again(format!(
                    "{} works here already; look at it (orchestrate status), or stop it \
                     (orchestrate halt {name})",
                    if who.is_empty() { "another loop" } else { &who }
                )));
            }
            if cancel.wait(Duration::from_millis(50)) {
                return Err(Failure::interrupted(cancel.signal().unwrap_or(2)));
            }
        }
        // What is written there is for people only; the kernel's lock is the truth.
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = write!(file, "pid {}", std::process::id());
        Ok(Self { _file: file })
    }
}

/// Who has the seat now, in words.
pub(crate) fn holder(git_dir: &Path, name: &str) -> Option<String> {
    let mut file = File::open(file_of(git_dir, name)).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut who = String::new();
    let _ = file.read_to_string(&mut who);
    Some(who.trim().to_owned())
}

/// Holds a short lock while a shared file is read, changed and written again.
pub(crate) fn exclusively<T>(
    git_dir: &Path,
    name: &str,
    change: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let file = open(&file_of(git_dir, name))?;
    let end = Instant::now() + Duration::from_secs(30);
    while file.try_lock_exclusive().is_err() {
        if Instant::now() >= end {
            return Err(Failure::try_again(format!(
                "another process has held {} for 30 s",
                file_of(git_dir, name).display()
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    change()
}

/// Rests for a while, looking around; false when the loop is to end before.
pub(crate) fn rest(time: Duration, cancel: &Cancel, goes_on: &mut dyn FnMut() -> bool) -> bool {
    let end = Instant::now() + time;
    loop {
        if cancel.is_cancelled() || !goes_on() {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        if cancel.wait(left.min(LOOK)) {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use baton_process::Cancel;

    use super::{LoopLock, holder, rest};

    #[test]
    fn one_loop_at_a_time_and_it_says_who() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(holder(dir.path(), "goal"), None);
        let first = LoopLock::take(dir.path(), "goal", &Cancel::new()).unwrap();
        assert!(holder(dir.path(), "goal").unwrap().starts_with("pid "));
        let error = LoopLock::take(dir.path(), "goal", &Cancel::new()).unwrap_err();
        assert!(error.message.contains("pid ") && error.retryable, "{error}");
        drop(first);
        assert_eq!(holder(dir.path(), "goal"), None);
        LoopLock::take(dir.path(), "goal", &Cancel::new()).unwrap();
    }

    #[test]
    fn a_rest_ends_when_somebody_wants_it_to() {
        let cancel = Cancel::new();
        assert!(rest(Duration::ZERO, &cancel, &mut || true));
        let start = Instant::now();
        assert!(!rest(Duration::from_secs(600), &cancel, &mut || false));
        cancel.cancel();
        assert!(!rest(Duration::from_secs(600), &cancel, &mut || true));
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}
