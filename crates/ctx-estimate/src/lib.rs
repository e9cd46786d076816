//! How many tokens does this need, and which server can really hold it?

/// Runs the tool.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
