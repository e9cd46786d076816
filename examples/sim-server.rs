//! A simulated model server for tests and demonstrations; see `--help`.
fn main() -> std::process::ExitCode {
    baton_sim_server::main()
}
