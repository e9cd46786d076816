//! A program that waits for a signal, for this crate's tests: see `tests/signals.rs`.
//!
//! `signalled wait` says `ready`, waits, and exits with 128 + the signal that came, or 99 after a
//! minute. `signalled exec PROGRAM ARGUMENT...` becomes that program. `signalled run` runs a command
//! that says its pid and sleeps.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use baton_process::{Cancel, Command, Output, exec};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [verb, program, rest @ ..] = args.as_slice()
        && verb == "exec"
    {
        return ExitCode::from(exec(&Command::new(program).args(rest)).exit_code());
    }
    if args.first().is_some_and(|verb| verb == "run") {
        let sleeper = Command::new("sh").args(["-c", "echo $$; exec sleep 300"]);
        let outcome = sleeper.stdout(Output::Inherit).run(&Cancel::new());
        return ExitCode::from(u8::from(outcome.is_err()));
    }
    let Ok(cancel) = Cancel::install() else {
        return ExitCode::from(98);
    };
    let _ = std::io::stdout().write_all(b"ready\n");
    if !cancel.wait(Duration::from_secs(60)) {
        return ExitCode::from(99);
    }
    let signal = cancel.signal().and_then(|signal| u8::try_from(signal).ok());
    ExitCode::from(128 + signal.unwrap_or(0))
}
