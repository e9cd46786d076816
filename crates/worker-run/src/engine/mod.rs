//! Any agent program as the worker, under our slots, clocks, border and checks.
//!
//! The program runs behind the same border as a model's commands. The only server it can reach is
//! our [`gateway`]: it adds the key (which the program never sees), lets one request through at a
//! time, counts them, clamps them to the window and the budget, and ends the program when it goes
//! on against a wall. What came of it is judged as in our own loop: by git and the task's checks.

mod allowance;
mod brief;
mod clamp;
mod drive;
mod gateway;
mod http;
mod launch;
mod opencode;
mod outlet;
mod program;
mod relay;

pub(crate) use launch::Engine;
pub(crate) use relay::relay_main_if_asked;
