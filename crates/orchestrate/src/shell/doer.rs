//! The process of an attempt, on record, so that a later orchestrate can find and end it.

use std::path::Path;
use std::time::Duration;

use baton_cli::Failure;
use baton_process::Identity;

use super::stage;

/// How long a worker may take over its own limits before it is ended from outside.
pub(super) const SLACK: Duration = Duration::from_secs(120);

/// How long a worker has to write its hand-off after it was asked to end.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// Writes down who does an attempt.
pub(super) fn write(folder: &Path, identity: &Identity) -> Result<(), Failure> {
    let text = serde_json::json!({
        "pid": identity.pid, "start": identity.start, "boot_id": identity.boot_id,
    });
    stage::write(folder, "process.json", &text.to_string())
}

/// The process of an attempt, if it was started.
pub(crate) fn read(folder: &Path) -> Option<Identity> {
    let text = std::fs::read_to_string(folder.join("process.json")).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(Identity {
        pid: u32::try_from(value["pid"].as_u64()?).ok()?,
        start: value["start"].as_u64()?,
        boot_id: value["boot_id"].as_str()?.to_owned(),
    })
}

/// Ends a worker that is not our child: TERM to its group, and KILL when asked twice.
pub(super) fn end(folder: &Path) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let Some(identity) = read(folder).filter(Identity::is_alive) else {
        return;
    };
    let Some(pid) = i32::try_from(identity.pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    let signal_once = folder.join("terminated");
    let asked_before = signal_once.exists();
    let _ = std::fs::write(&signal_once, "");
    let since = std::fs::metadata(&signal_once)
        .and_then(|m| m.created())
        .ok()
        .and_then(|t| t.elapsed().ok())
        .unwrap_or_default();
    let signal = if since >= GRACE {
        Signal::KILL
    } else {
        Signal::TERM
    };
    if !asked_before || signal == Signal::KILL {
        let _ = kill_process_group(pid, signal);
    }
}
