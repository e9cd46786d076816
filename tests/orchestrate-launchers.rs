//! Workers through launchers: stand-ins that do what launchers do wrong, and the real ssh and Slurm.

mod support;

#[path = "orchestrate-launchers/kit.rs"]
mod kit;
#[path = "orchestrate-launchers/lost.rs"]
mod lost;
#[path = "orchestrate-launchers/real.rs"]
mod real;
#[path = "orchestrate-launchers/remote.rs"]
mod remote;
#[path = "orchestrate-launchers/slurm.rs"]
mod slurm;
#[path = "orchestrate-launchers/ssh.rs"]
mod ssh;
#[path = "orchestrate-launchers/travel.rs"]
mod travel;
