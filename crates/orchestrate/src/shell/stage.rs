//! One stage: a tool run to its end, with what it read and wrote kept beside it.

use std::path::Path;
use std::time::Duration;

use baton_cli::Failure;
use baton_process::{Capture, Command, ExitStatus, Outcome, Stdin, sibling};

use super::context::Context;

/// A document may be long, but not endless.
const MOST: usize = 64 * 1024 * 1024;

/// What a stage gave back.
#[derive(Debug)]
pub(crate) struct Staged {
    pub code: i32,
    pub stdout: String,
    /// The last line of what it said to people.
    pub said: String,
    pub cancelled: bool,
}

/// Runs one of our tools with a document on its stdin. Its documents and words are kept in
/// `folder/NAME.json` and `folder/NAME.log`.
pub(crate) fn run(
    context: &Context,
    tool: &str,
    args: &[&str],
    stdin: Option<&str>,
    folder: &Path,
    keep: &str,
    limit: Duration,
) -> Result<Staged, Failure> {
    let mut command = Command::new(sibling(tool))
        .args(args)
        .cwd(context.root())
        .capture(Capture::all(MOST))
        .timeout(limit)
        .grace(Duration::from_secs(5));
    if let Some(text) = stdin {
        command = command.stdin(Stdin::Bytes(text.as_bytes().to_vec()));
    }
    let outcome = command
        .run(&context.stop)
        .map_err(|e| Failure::internal(format!("cannot run {tool}: {e}")))?;
    let stdout = outcome.stdout.text();
    let stderr = outcome.stderr.text();
    write(folder, &format!("{keep}.json"), &stdout)?;
    if !stderr.trim().is_empty() {
        write(
            folder,
            &format!("{keep}.log"),
            &context.redactor.text(&stderr),
        )?;
    }
    Ok(Staged {
        code: code(&outcome),
        stdout,
        said: last_line(&stderr),
        cancelled: outcome.cancelled,
    })
}

fn code(outcome: &Outcome) -> i32 {
    if outcome.timed_out {
        return 124;
    }
    exit_code(outcome.exit)
}

/// An exit as a shell has it.
pub(crate) fn exit_code(exit: ExitStatus) -> i32 {
    match exit {
        ExitStatus::Code(code) => code,
        ExitStatus::Signal(signal) => 128 + signal,
    }
}

/// The last line of a text that says something.
pub(crate) fn last_line(text: &str) -> String {
    let last = text.lines().rev().map(str::trim).find(|l| !l.is_empty());
    last.unwrap_or_default().chars().take(500).collect()
}

/// Writes a file of a stage.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    std::fs::write(&path, text)
        .map_err(|e| Failure::internal(format!("cannot write {}: {e}", path.display())))
}
