//! One run per repository: a kernel lock on a file in the git folder all work trees share.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_process::Cancel;
use fs2::FileExt as _;

/// The lock, held for as long as this lives (and by the kernel's rule no longer).
#[derive(Debug)]
pub(crate) struct RunLock {
    _file: File,
}

const NAME: &str = "baton-run.lock";

/// A run that was killed while it started a child leaves the lock to that child for the moment until
/// the child has become another program. So one refusal is not believed at once.
const AFTERGLOW: Duration = Duration::from_secs(1);

impl RunLock {
    /// Takes the lock, waiting at most `wait`. The error says who has it.
    pub(crate) fn take(
        git_dir: &Path,
        run: &str,
        wait: Duration,
        cancel: &Cancel,
        waiting: &mut dyn FnMut(&str),
    ) -> Result<Self, Failure> {
        let path = git_dir.join(NAME);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| Failure::internal(format!("cannot open {}: {e}", path.display())))?;
        let end = Instant::now() + wait.max(AFTERGLOW);
        let mut told = false;
        while file.try_lock_exclusive().is_err() {
            let mut who = String::new();
            // What is written there is for people only; the kernel's lock is the truth.
            let _ = file.rewind();
            let _ = file.read_to_string(&mut who);
            let who = if who.trim().is_empty() {
                "another run".to_owned()
            } else {
                format!("run {}", who.trim())
            };
            if Instant::now() >= end {
                return Err(Failure::try_again(format!(
                    "{who} works on this repository; wait for it (--wait 10m), look at it \
                     (orchestrate status), or stop it (orchestrate halt)"
                )));
            }
            if !told && !wait.is_zero() {
                waiting(&format!("waiting for {who} to end"));
                told = true;
            }
            if cancel.wait(Duration::from_millis(100)) {
                return Err(Failure::interrupted(cancel.signal().unwrap_or(2)));
            }
        }
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = write!(file, "{run} (pid {})", std::process::id());
        Ok(Self { _file: file })
    }
}

/// Whether a run holds the lock now, and what it says of itself.
pub(crate) fn holder(git_dir: &Path) -> Option<String> {
    let mut file = File::open(git_dir.join(NAME)).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut who = String::new();
    let _ = file.read_to_string(&mut who);
    Some(who)
}
