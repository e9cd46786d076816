//! Other agents as the worker: `worker-run --engine command` and `--engine opencode`.

mod support;

#[path = "worker-run-engines/bounds.rs"]
mod bounds;
#[path = "worker-run-engines/kit.rs"]
mod kit;
#[path = "worker-run-engines/opencode.rs"]
mod opencode;
#[path = "worker-run-engines/work.rs"]
mod work;
