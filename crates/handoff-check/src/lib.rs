//! Is the hand-off true? Schema, git, ownership, commands run again

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
