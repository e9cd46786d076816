//! The `vllm-health` program; everything it does is in the library.
fn main() -> std::process::ExitCode {
    baton_vllm_health::main()
}
