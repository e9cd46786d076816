//! Becoming another program.

use std::os::unix::process::CommandExt;

use crate::{Command, SpawnError, start};

/// Replaces this process by the command; returns only if that failed.
///
/// The command's program, arguments, environment and working directory count. Its streams are
/// ours, and so are the session and the pid: bounds such as a time limit cannot be kept by a
/// program that is no longer there.
pub fn exec(command: &Command) -> SpawnError {
    let mut std_command = start::std_command(command);
    let error = std_command.exec();
    start::spawn_error(command, error)
}
