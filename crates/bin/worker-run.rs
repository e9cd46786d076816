//! The `worker-run` program; everything it does is in the library.
fn main() -> std::process::ExitCode {
    baton_worker_run::main()
}
