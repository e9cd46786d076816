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

/// The gate is held for microseconds. After this time its holder is looked at again and again; one
/// that is the same and stopped at every look is given up. Until the longer limit it may just be a
/// very busy machine, on which a holder that is stopped for a moment is nothing special.
const FIRST_LOOK: Duration = Duration::from_secs(8);
const LOOKS: u32 = 3;
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
        let mut look_at = FIRST_LOOK;
        let mut suspect = Suspect::default();
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
                    suspect.look(path, waited)?;
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

/// The stopped process that seems to stay in the gate.
#[derive(Debug, Default)]
struct Suspect {
    holder: Option<Identity>,
    looks: u32,
}

impl Suspect {
    /// An error when there is no point in waiting on.
    fn look(&mut self, path: &Path, waited: Duration) -> Result<(), StoreError> {
        let here = Identity::of_self();
        let pid = holders_of(path).into_iter().next();
        let stopped = pid
            .and_then(Identity::of_pid)
            .filter(|holder| holder.life(&here) == Life::Stopped);
        self.note(stopped);
        let is_stuck = self.looks >= LOOKS;
        if !is_stuck && waited < LIMIT {
            return Ok(());
        }
        let who = match pid {
            Some(pid) if is_stuck => {
                format!("process {pid} has it and is stopped: kill -CONT {pid}")
            }
            Some(pid) => format!("process {pid} has it"),
            None => "who has it cannot be seen from here".into(),
        };
        Err(StoreError::Stuck(format!(
            "{}: locked for {} s, though nobody needs it for more than an instant; {who}",
            path.display(),
            waited.as_secs()
        )))
    }

    /// Counts the looks at which the same process was stopped.
    fn note(&mut self, stopped: Option<Identity>) {
        self.looks = match &stopped {
            None => 0,
            same if *same == self.holder => self.looks + 1,
            Some(_) => 1,
        };
        self.holder = stopped;
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOKS, Suspect};
    use crate::identity::Identity;

    #[test]
    fn only_one_that_stays_stopped_is_given_up() {
        let me = Identity::of_self();
        let other = Identity {
            pid: me.pid + 1,
            ..me.clone()
        };
        let mut suspect = Suspect::default();
        for seen in [Some(&me), Some(&other), None, Some(&me), None, Some(&other)] {
            suspect.note(seen.cloned());
            assert!(suspect.looks <= 1, "stopped for a moment");
        }
        for _ in 1..LOOKS {
            suspect.note(Some(other.clone()));
        }
        assert_eq!(suspect.looks, LOOKS);
    }
}
