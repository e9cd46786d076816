//! The gate: the lock of the short critical section.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use super::displaced::holders_of;
use super::files::{failed, is_same};
use super::folder::Folder;
use crate::flock;
use crate::identity::{Identity, Life};
use crate::store::StoreError;

/// The gate is held for microseconds. One that is held longer than this by a stopped process is
/// given up; until the longer limit it may just be a very busy machine.
const STOPPED_LIMIT: Duration = Duration::from_secs(10);
const LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_secs(2);

/// Whoever finds the gate closed tries again after this, doubling.
///
/// Blocking in the kernel would need a thread, for flock(2) knows no time limit, and the gate would
/// stay closed while that thread hands it over: on a busy machine many times longer than the work
/// inside takes.
const SHORTEST: Duration = Duration::from_micros(50);
const BUSY: Duration = Duration::from_secs(1);
const BUSY_PAUSE: Duration = Duration::from_millis(2);
const LONG_PAUSE: Duration = Duration::from_millis(20);

/// The right to look and change; given back on drop.
#[derive(Debug)]
pub(super) struct Gate {
    file: File,
}

impl Gate {
    /// Enters, waiting for whoever is inside.
    pub(super) fn enter(folder: &Folder, path: &Path) -> Result<Self, StoreError> {
        let start = Instant::now();
        let mut pause = SHORTEST;
        let mut look_at = STOPPED_LIMIT;
        loop {
            let (file, _) = folder.open(path)?;
            let gate = Self { file };
            while !flock::try_exclusive(&gate.file).map_err(|e| failed(path, "cannot lock", e))? {
                std::thread::sleep(pause);
                let waited = start.elapsed();
                let longest = if waited < BUSY {
                    BUSY_PAUSE
                } else {
                    LONG_PAUSE
                };
                pause = (pause * 2).min(longest);
                if waited > look_at {
                    give_up(path, waited)?;
                    look_at = waited + LOOK;
                }
            }
            // Somebody may have removed the file while we waited; then the lock is worth nothing.
            if gate.is_current(path) {
                return Ok(gate);
            }
        }
    }

    /// Whether everybody else meets this very gate.
    pub(super) fn is_current(&self, path: &Path) -> bool {
        is_same(&self.file, path)
    }
}

/// An error when there is no point in waiting on.
fn give_up(path: &Path, waited: Duration) -> Result<(), StoreError> {
    let here = Identity::of_self();
    let holder = holders_of(path).into_iter().next();
    let is_stopped = holder
        .and_then(Identity::of_pid)
        .is_some_and(|holder| holder.life(&here) == Life::Stopped);
    if !is_stopped && waited < LIMIT {
        return Ok(());
    }
    let who = match holder {
        Some(pid) if is_stopped => format!("process {pid} has it and is stopped: kill -CONT {pid}"),
        Some(pid) => format!("process {pid} has it"),
        None => "who has it cannot be seen from here".into(),
    };
    Err(StoreError::Stuck(format!(
        "{}: locked for {} s, though nobody needs it for more than an instant; {who}",
        path.display(),
        waited.as_secs()
    )))
}
