//! From a goal to integrated, checked work: plan, workers, checks, review, report

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
