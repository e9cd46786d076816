//! Who a process is: its number, its start and the boot, so that a number used again is not mistaken.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::procfs;

/// A process's identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The process id, as its own PID namespace counts.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start: u64,
    /// The boot it lives in.
    pub boot_id: String,
    /// The PID namespace `pid` is counted in.
    pub pid_namespace: String,
}

/// What can be seen of a process now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It runs (or sleeps).
    Running,
    /// It is stopped (Ctrl-Z, SIGSTOP, a debugger) and cannot act.
    Stopped,
    /// It has ended.
    Gone,
    /// It lives in another boot, host or PID namespace: nothing can be seen.
    Invisible,
}

impl Identity {
    /// This process.
    pub(crate) fn of_self() -> Self {
        Self::of("self").unwrap_or_else(|| Self {
            pid: std::process::id(),
            start: 0,
            boot_id: String::new(),
            pid_namespace: String::new(),
        })
    }

    /// A process seen from here; none when it has ended.
    pub(crate) fn of_pid(pid: u32) -> Option<Self> {
        Self::of(&pid.to_string())
    }

    fn of(process: &str) -> Option<Self> {
        let line = procfs::read(format!("/proc/{process}/stat"))?;
        let (pid, _, start) = parse_stat(&line)?;
        let boot_id = procfs::read("/proc/sys/kernel/random/boot_id")?;
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
        Some(Self {
            pid,
            start,
            boot_id: boot_id.trim_end().to_owned(),
            pid_namespace: namespace.to_string_lossy().into_owned(),
        })
    }

    /// What this process does now, as far as it can be seen.
    pub(crate) fn life(&self, here: &Self) -> Life {
        if self.boot_id != here.boot_id || self.pid_namespace != here.pid_namespace {
            return Life::Invisible;
        }
        let line = procfs::read(format!("/proc/{}/stat", self.pid));
        match line.as_deref().and_then(parse_stat) {
            Some((_, letter, start)) if start == self.start => match letter {
                'T' | 't' => Life::Stopped,
                'Z' | 'X' => Life::Gone,
                _ => Life::Running,
            },
            _ => Life::Gone,
        }
    }

    /// As documents write the start: `BOOT_ID:TICKS`.
    pub(crate) fn start_text(&self) -> String {
        format!("{}:{}", self.boot_id, self.start)
    }
}

/// Process id, state letter and start ticks of a `/proc/PID/stat` line. The command in it may hold
/// anything, also `)` and blanks, so fields are counted from its last parenthesis.
fn parse_stat(line: &str) -> Option<(u32, char, u64)> {
    let (before, after) = (
        line.get(..line.find(" (")?)?,
        line.get(line.rfind(')')? + 1..)?,
    );
    let mut fields = after.split_ascii_whitespace();
    let letter = fields.next()?.chars().next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((before.parse().ok()?, letter, start))
}

#[cfg(test)]
mod tests {
    use super::{Identity, Life, parse_stat};

    #[test]
    fn a_command_name_may_hold_parentheses_and_blanks() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20";
        let stat = format!("42 (a) T (x) S {rest}");
        assert_eq!(parse_stat(&stat), Some((42, 'S', 777)));
        assert_eq!(parse_stat("42 (a"), None);
    }

    #[test]
    fn l04_a_process_number_used_again_is_another_process() {
        let me = Identity::of_self();
        assert_eq!(me.life(&me), Life::Running);
        let reused = Identity {
            start: me.start + 1,
            ..me.clone()
        };
        assert_eq!(reused.life(&me), Life::Gone);
        let before_reboot = Identity {
            boot_id: "other".into(),
            ..me.clone()
        };
        assert_eq!(before_reboot.life(&me), Life::Invisible);
    }
}
