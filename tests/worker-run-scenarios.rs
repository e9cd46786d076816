//! The scenarios that headless agents were measured with, each against worker-run: it ends in its
//! bounds, says how, and leaves nothing behind. A test is named after its scenario.
//!
//! `cargo test --test worker-run-scenarios -- --nocapture` prints a row for each.

mod support;

#[path = "worker-run-scenarios/answers.rs"]
mod answers;
#[path = "worker-run-scenarios/endings.rs"]
mod endings;
#[path = "worker-run-scenarios/kit.rs"]
mod kit;
#[path = "worker-run-scenarios/quirks.rs"]
mod quirks;
#[path = "worker-run-scenarios/replays.rs"]
mod replays;
#[path = "worker-run-scenarios/rows.rs"]
mod rows;
#[path = "worker-run-scenarios/servers.rs"]
mod servers;
#[path = "worker-run-scenarios/windows.rs"]
mod windows;
