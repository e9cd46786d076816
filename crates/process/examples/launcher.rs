//! A sandbox launcher for this crate's tests, as each tool is one: see `tests/sandbox.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    baton_process::sandbox::launcher_main_if_asked().unwrap_or(ExitCode::from(2))
}
