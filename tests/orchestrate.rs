//! `orchestrate`, end to end: against stand-ins of the other tools, killed at random points, and with
//! the real tools against a simulated server.

mod support;

#[path = "orchestrate/chaos.rs"]
mod chaos;
#[path = "orchestrate/chaos_served.rs"]
mod chaos_served;
#[path = "orchestrate/configured.rs"]
mod configured;
#[path = "orchestrate/rounds.rs"]
mod rounds;
#[path = "orchestrate/rows.rs"]
mod rows;
#[path = "orchestrate/runs.rs"]
mod runs;
#[path = "orchestrate/served.rs"]
mod served;
#[path = "orchestrate/shared.rs"]
mod shared;
#[path = "orchestrate/stage.rs"]
mod stage;
