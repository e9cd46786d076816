//! The sandbox from inside: what a command can do, and forty ways out that must not work.
//!
//! Where this kernel cannot make a border, the tests that need it say so and skip.
#![expect(clippy::unwrap_used, reason = "a test helper may panic")]
#![expect(clippy::print_stderr, reason = "a skipped test says so aloud")]

#[path = "sandbox/files.rs"]
mod files;
#[path = "sandbox/git.rs"]
mod git;
#[path = "sandbox/network.rs"]
mod network;
#[path = "sandbox/processes.rs"]
mod processes;
#[path = "sandbox/usual.rs"]
mod usual;
#[path = "sandbox/world.rs"]
mod world;
