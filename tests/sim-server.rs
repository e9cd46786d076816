//! The simulated server end to end, over raw sockets: what a client would see, byte for byte.

mod support;

#[path = "sim-server/engine.rs"]
mod engine;
#[path = "sim-server/faults.rs"]
mod faults;
#[path = "sim-server/kinds.rs"]
mod kinds;
#[path = "sim-server/kit.rs"]
mod kit;
#[path = "sim-server/memory.rs"]
mod memory;
#[path = "sim-server/program.rs"]
mod program;
#[path = "sim-server/script.rs"]
mod script;
#[path = "sim-server/shapes.rs"]
mod shapes;
