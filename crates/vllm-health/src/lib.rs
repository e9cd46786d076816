//! Is the model server ready, with which models, what usable context, which slots?

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
