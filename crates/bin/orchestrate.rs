//! The `orchestrate` program; everything it does is in the library.
fn main() -> std::process::ExitCode {
    baton_orchestrate::main()
}
