//! The `ctx-estimate` program; everything it does is in the library.
fn main() -> std::process::ExitCode {
    baton_ctx_estimate::main()
}
