//! A faithful simulated model server for tests, demos and benches.

/// Runs the simulator.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
