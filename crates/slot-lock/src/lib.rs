//! Reserve one of N slots of a model server for as long as a command runs

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
