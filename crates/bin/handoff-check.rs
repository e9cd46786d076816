//! The `handoff-check` program; everything it does is in the library.
fn main() -> std::process::ExitCode {
    baton_handoff_check::main()
}
