//! handoff-check end to end, in real repositories. Tests are named after the bug log where they
//! cover one of its rows.

mod support;

#[path = "handoff-check/forms.rs"]
mod forms;
#[path = "handoff-check/hiding.rs"]
mod hiding;
#[path = "handoff-check/kit.rs"]
mod kit;
#[path = "handoff-check/matrix.rs"]
mod matrix;
#[path = "handoff-check/ownership.rs"]
mod ownership;
#[path = "handoff-check/rerun.rs"]
mod rerun;
#[path = "handoff-check/rows.rs"]
mod rows;
#[path = "handoff-check/secrets.rs"]
mod secrets;
#[path = "handoff-check/states.rs"]
mod states;
