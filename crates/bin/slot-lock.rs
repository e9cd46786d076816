//! The `slot-lock` program; everything it does is in the library.
fn main() -> std::process::ExitCode {
    baton_slot_lock::main()
}
