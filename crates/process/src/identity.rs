//! Who a process is. A pid alone is reused; pid, start time and boot together are not.

use crate::procfs;

/// Names one process for ever: its pid, when it started (clock ticks after boot), and which boot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The process id.
    pub pid: u32,
    /// Start time in clock ticks after boot, field 22 of `/proc/PID/stat`; 0 where unknown.
    pub start: u64,
    /// The kernel's boot id; empty where unknown.
    pub boot_id: String,
}

impl Identity {
    /// This process.
    pub fn current() -> Self {
        let pid = std::process::id();
        Self::of(pid).unwrap_or(Self {
            pid,
            start: 0,
            boot_id: String::new(),
        })
    }

    /// A running process, or `None` when there is none with that pid (or no `/proc`).
    pub fn of(pid: u32) -> Option<Self> {
        let stat = procfs::stat(i32::try_from(pid).ok()?)?;
        Some(Self {
            pid,
            start: stat.start_ticks,
            boot_id: procfs::boot_id(),
        })
    }

    /// Whether exactly this process still runs. A zombie does not run; a reused pid is another.
    pub fn is_alive(&self) -> bool {
        let Some(stat) = i32::try_from(self.pid).ok().and_then(procfs::stat) else {
            return false;
        };
        stat.state != 'Z'
            && stat.state != 'X'
            && stat.start_ticks == self.start
            && procfs::boot_id() == self.boot_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_alive() {
        assert!(Identity::current().is_alive());
    }

    #[test]
    fn the_same_pid_with_another_start_or_boot_is_somebody_else() {
        let me = Identity::current();
        assert!(
            !Identity {
                start: me.start + 1,
                ..me.clone()
            }
            .is_alive()
        );
        assert!(
            !Identity {
                boot_id: "another".into(),
                ..me
            }
            .is_alive()
        );
    }

    #[test]
    fn a_finished_process_is_not_alive() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let identity = Identity::of(child.id());
        child.wait().unwrap();
        assert!(identity.is_none_or(|i| !i.is_alive()));
    }
}
