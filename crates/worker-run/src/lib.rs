//! Do one well-scoped task with an agent loop, and hand it off

mod calls;
mod edit;

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
