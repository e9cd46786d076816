//! The checks of a repository, run where it stands: what must hold before behaviour can be kept.

use std::time::Duration;

use baton_cli::Failure;
use baton_process::{Capture, Command};
use baton_protocol::VerifyCommand;

use super::desk::Desk;
use super::planning::Offered;
use super::stage::{exit_code, last_line};
use crate::core::fallback;

/// The longest one check may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// The checks that were asked for, else those the repository has.
pub(crate) fn checks(desk: &Desk<'_>, asked: &[String]) -> Result<Vec<VerifyCommand>, Failure> {
    if asked.is_empty() {
        return Ok(Offered::gather(&desk.looking()?).with(fallback::found_checks));
    }
    let commands = asked.iter().map(|command| VerifyCommand {
        command: command.clone(),
        timeout_ms: None,
    });
    Ok(commands.collect())
}

/// Runs them all. The error names the first that fails.
pub(crate) fn must_pass(
    desk: &Desk<'_>,
    checks: &[VerifyCommand],
    verb: &str,
) -> Result<(), Failure> {
    for check in checks {
        desk.output.note(&format!("before: {}", check.command));
        let outcome = Command::shell(&check.command)
            .cwd(&desk.root)
            .merge_stderr()
            .capture(Capture::default())
            .timeout(LIMIT)
            .hunt()
            .run(&desk.signals)
            .map_err(|e| Failure::internal(format!("cannot run `{}`: {e}", check.command)))?;
        if outcome.cancelled {
            return Err(Failure::interrupted(desk.signals.signal().unwrap_or(2)));
        }
        if !outcome.success() {
            return Err(Failure::usage(format!(
                "`{}` fails before anything was changed (exit {}: {}), so it could not show that \
                 behaviour stays; mend that first, or name another check: orchestrate {verb} \
                 --verify COMMAND",
                check.command,
                exit_code(outcome.exit),
                last_line(&outcome.stdout.text())
            )));
        }
    }
    Ok(())
}
