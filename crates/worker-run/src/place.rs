//! Taking a slot: worker-run puts itself under slot-lock unless it is there already.

use std::ffi::OsString;
use std::io::{Seek as _, Write as _};
use std::time::Duration;

use baton_cli::{Environment, Failure};
use baton_process::{Command, Placement, Stdin, exec, sibling};
use baton_protocol::Exit;

/// Whether a slot has to be taken first.
pub(crate) fn needs_slot(env: &Environment, no_slot: bool, dry_run: bool) -> bool {
    !no_slot && !dry_run && env.get("BATON_SLOT").is_none()
}

/// The arguments for slot-lock: our own command line behind `--`.
fn arguments(own: &[OsString], program: OsString, wait: Duration) -> Vec<OsString> {
    let wait = humantime::format_duration(wait).to_string();
    let mut args: Vec<OsString> = vec!["--wait".into(), wait.into(), "--".into(), program];
    args.extend(own.iter().skip(1).cloned());
    args
}

/// Puts what was read from stdin back, so that the program this one becomes can read it again.
pub(crate) fn give_back_stdin(text: &str) -> Result<(), Failure> {
    let cannot =
        |error: std::io::Error| Failure::internal(format!("cannot keep the task aside: {error}"));
    let mut file = tempfile::tempfile().map_err(cannot)?;
    file.write_all(text.as_bytes()).map_err(cannot)?;
    file.rewind().map_err(cannot)?;
    rustix::stdio::dup2_stdin(file).map_err(|error| cannot(error.into()))
}

/// Replaces this process by `slot-lock … -- worker-run …`. Returns only if that fails.
pub(crate) fn reexec_under_slot_lock(wait: Duration, base_url: Option<&str>) -> Failure {
    let own: Vec<OsString> = std::env::args_os().collect();
    let program = match std::env::current_exe() {
        Ok(path) => path.into_os_string(),
        Err(error) => return Failure::internal(format!("cannot find my own program: {error}")),
    };
    let slot_lock = sibling("slot-lock");
    let mut command = Command::new(&slot_lock)
        .args(arguments(&own, program, wait))
        .stdin(Stdin::Inherit)
        .placement(Placement::Caller);
    if let Some(url) = base_url {
        // The slot must be one of the server that is going to be asked.
        command = command.env("OPENCODE_VLLM_BASE_URL", url);
    }
    let error = exec(&command);
    Failure::internal(format!(
        "cannot run {} to take a slot: {error}; install it beside worker-run, or give --no-slot",
        slot_lock.display()
    ))
    .with_exit(Exit::No)
}

#[cfg(test)]
mod tests {
    use super::arguments;
    use std::time::Duration;

    #[test]
    fn our_own_arguments_stand_behind_the_dashes() {
        let own = ["worker-run".into(), "--task".into(), "t.json".into()];
        let args = arguments(&own, "/bin/worker-run".into(), Duration::from_secs(90));
        assert_eq!(
            args,
            [
                "--wait",
                "1m 30s",
                "--",
                "/bin/worker-run",
                "--task",
                "t.json"
            ]
        );
    }
}
