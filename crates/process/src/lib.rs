//! Child processes in bounds: groups, deadlines, reaping, cancellation, the sandbox.
//!
//! Everything Baton starts goes through here, so that five promises hold in one place:
//!
//! * a command never waits for input nobody will type (stdin is `/dev/null` unless given);
//! * a command never outlives its limit: the whole process group gets TERM, a grace period, then KILL;
//! * we wait for the *process*, not for its pipes: a background grandchild that keeps stdout open
//!   neither hangs us nor survives us;
//! * memory stays bounded however much is printed (head, tail, digest; the rest to a file if asked);
//! * a cancelled run ends at once, and every child is reaped.

mod cancel;
mod capture;
mod child;
mod command;
mod exit_status;
mod group;
pub mod identity;
pub mod line;
mod lines;
mod outcome;
mod phase;
mod preexec;
mod procfs;
mod replace;
pub mod sandbox;
mod sibling;
mod signals;
mod space;
mod start;
mod streams;
mod supervise;
mod variables;
mod waiting;

pub use cancel::{Cancel, CancelGuard};
pub use capture::{Capture, Captured, hex};
pub use child::{Child, Waited};
pub use command::{Command, Output, Placement, Stdin};
pub use exit_status::ExitStatus;
pub use group::Leftover;
pub use identity::Identity;
pub use lines::{Lines, NextLine};
pub use outcome::{Outcome, SpawnError};
pub use preexec::{close_descriptors_on_exec, split, wait_for_own_children};
pub use replace::exec;
pub use sibling::sibling;
pub use space::Space;
pub use variables::confined_variables;
