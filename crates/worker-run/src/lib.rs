//! Do one well-scoped task with an agent loop, and hand it off

mod calls;
mod edit;
mod files;
mod harness;
mod text;

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
