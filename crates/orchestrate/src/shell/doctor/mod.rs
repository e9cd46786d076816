//! Looks at this machine, this repository and the servers. Every look is bounded, and a look that
//! cannot be made is a finding, never an error.

pub(crate) mod launcher;
pub(crate) mod machine;
pub(crate) mod opencode;
pub(crate) mod places;
pub(crate) mod programs;

use std::path::Path;
use std::time::Duration;

use baton_process::{Cancel, Capture, Command, sibling};
use baton_protocol::{Health, ReadError};

use crate::core::doctor::{Check, servers};

/// The longest a program may take to say what it is.
const PROBE: Duration = Duration::from_secs(10);

/// What a program said: its exit code and what it wrote, or nothing when it could not be run.
pub(crate) struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program for a moment; at most 4 kB of what it says is kept.
pub(crate) fn ask(
    program: impl AsRef<std::ffi::OsStr>,
    args: &[&str],
    cwd: &Path,
    cancel: &Cancel,
) -> Option<Said> {
    ask_for(program, args, cwd, cancel, PROBE, 4 * 1024)
}

fn ask_for(
    program: impl AsRef<std::ffi::OsStr>,
    args: &[&str],
    cwd: &Path,
    cancel: &Cancel,
    limit: Duration,
    most: usize,
) -> Option<Said> {
    let outcome = Command::new(program)
        .args(args)
        .cwd(cwd)
        .capture(Capture::all(most))
        .timeout(limit)
        .run(cancel)
        .ok()?;
    Some(Said {
        code: if outcome.timed_out {
            124
        } else {
            outcome.exit.shell_code()
        },
        stdout: outcome.stdout.text(),
        stderr: outcome.stderr.text(),
    })
}

/// The command that an error names itself, else the one that names a server.
fn mending(message: &str) -> String {
    match message.rsplit_once("write: ") {
        Some((_, command)) => command.to_owned(),
        None if message.contains(".toml") => "mend that line, then: orchestrate doctor".to_owned(),
        None => "export OPENCODE_VLLM_BASE_URL=http://127.0.0.1:8000/v1".to_owned(),
    }
}

/// Asks the servers by vllm-health, as a run does.
pub(crate) fn providers(
    cwd: &Path,
    config: &baton_cli::config::Config,
    cancel: &Cancel,
) -> Vec<Check> {
    let limit = Duration::from_secs(60);
    let most = 16 * 1024 * 1024;
    let Some(said) = ask_for(
        sibling("vllm-health"),
        &["--json"],
        cwd,
        cancel,
        limit,
        most,
    ) else {
        return vec![Check::fail(
            "providers",
            "vllm-health cannot be run, so nothing is known about the servers",
            "install the six tools side by side: cargo install --path .",
        )];
    };
    match baton_protocol::read::<Health>(&said.stdout) {
        Ok(health) => servers::checks(&health, config),
        Err(ReadError::Relayed(document)) => vec![Check::warn(
            "providers",
            document.message.clone(),
            mending(&document.message),
        )],
        Err(error) => vec![Check::warn(
            "providers",
            format!(
                "vllm-health gave no answer (exit {}): {error}; {}",
                said.code,
                crate::shell::stage::last_line(&said.stderr)
            ),
            "vllm-health --text",
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::mending;

    #[test]
    fn an_error_that_names_its_cure_is_cured_by_that() {
        for (message, fix) in [
            (
                "provider `arc`: its key is in ARC_KEY, which is not set; write: export ARC_KEY=KEY",
                "export ARC_KEY=KEY",
            ),
            (
                "/h/config.toml:2: unknown key `x`",
                "mend that line, then: orchestrate doctor",
            ),
            (
                "no provider",
                "export OPENCODE_VLLM_BASE_URL=http://127.0.0.1:8000/v1",
            ),
        ] {
            assert_eq!(mending(message), fix);
        }
    }
}
