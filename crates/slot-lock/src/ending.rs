//! Ending a command with everything that belongs to it.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Between TERM and KILL.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Sends TERM (or KILL) to the command's group, or to the command and its descendants.
pub(crate) fn send(pid: i32, has_group: bool, kill: bool) {
    let signal = if kill { Signal::KILL } else { Signal::TERM };
    let Some(leader) = Pid::from_raw(pid) else {
        return;
    };
    // Who has ended already needs no signal.
    if has_group {
        let _ = kill_process_group(leader, signal);
        return;
    }
    let tree = descendants(pid);
    let _ = kill_process(leader, signal);
    for pid in tree.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// The children of a process, their children and so on, as far as they can be seen now.
fn descendants(pid: i32) -> Vec<i32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        let children = children.unwrap_or_default();
        found.extend(
            children
                .split_ascii_whitespace()
                .filter_map(|c| c.parse::<i32>().ok()),
        );
        next += 1;
    }
    found.split_off(1)
}
