//! The kernel's border around a command.
//!
//! A tool that runs foreign code gives [`crate::Command::sandbox`] a [`Policy`]. The command is then
//! started through a *launcher*: this same program, executed again with a hidden first argument.
//! The launcher is single-threaded, so it may do what is forbidden between fork and exec: enter
//! namespaces, arrange mounts, drop capabilities, apply Landlock. Then it becomes, or starts, the
//! command. Every tool's `main` therefore calls [`launcher_main_if_asked`] before anything else.
//!
//! With a PID namespace three processes stand in a row: the *outer* launcher (waits, passes TERM
//! on), its fork, the *init* of the namespace (reaps, reports the exit, and takes everything with it
//! when it ends, by whatever means), and the command. Without one, the launcher becomes the command.
//!
//! What a kernel cannot do is not glossed over: the [`Coverage`] says which borders stand, and
//! [`Policy::minimum`] refuses to run with less than was demanded.

mod coverage;
mod outside;
mod places;
mod policy;
mod report;

#[cfg(target_os = "linux")]
mod border;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod loopback;
#[cfg(target_os = "linux")]
mod mount_plan;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod sockets;

use std::process::ExitCode;

pub use coverage::{Border, Coverage, Level};
pub use outside::{Opening, open_outside};
pub use places::Surroundings;
pub use policy::{Network, Policy};

pub(crate) use policy::{OUTER, Orders};
pub(crate) use report::Report;

/// Becomes the sandbox launcher if this process was started as one; `None` in every other case.
///
/// Must be called before any thread is started: the kernel refuses a namespace to a process with
/// threads.
pub fn launcher_main_if_asked() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        let mut args = std::env::args_os().skip(1);
        let asked = args.next()?;
        if asked == OUTER {
            return Some(launcher::main(args.collect()));
        }
    }
    None
}

/// What this kernel can do for a policy, found by trying it: the launcher sets everything up and
/// runs nothing.
pub fn available(policy: &Policy) -> Result<Coverage, crate::SpawnError> {
    let policy = Policy {
        minimum: Level::Off,
        ..policy.clone()
    };
    // An empty program name is the launcher's sign to stop before the command.
    // The question is about the kernel, not about where we stand: our folder may be hidden inside.
    let outcome = crate::Command::new("")
        .cwd("/")
        .sandbox(policy)
        .run(&crate::Cancel::new())?;
    Ok(outcome.sandbox.unwrap_or_default())
}
