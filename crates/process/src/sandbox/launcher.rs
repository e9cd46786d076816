//! The outer launcher: sets up the namespaces, then waits for their init; or, where there are
//! none, becomes the command.

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use rustix::process::{Signal, WaitOptions};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::coverage::{Coverage, Facts};
use super::policy::Orders;
use super::report::write_facts;
use super::{Network, Policy, border, capabilities, init, loopback, mounts, namespaces, sockets};
use crate::preexec::{self, BeforeExec};

/// The exit code of a launcher that failed itself; the reason stands in the report.
pub(crate) const FAILED: u8 = 125;

/// The launcher's end of the report pipe.
pub(crate) struct Reporter {
    pub(crate) pipe: Arc<OwnedFd>,
}

impl Reporter {
    /// Takes over the descriptor named in the orders, and keeps it from what we execute.
    pub(crate) fn open(number: i32) -> Option<Self> {
        let pipe = preexec::adopt(number)?;
        Some(Self {
            pipe: Arc::new(pipe),
        })
    }

    pub(crate) fn say(&self, line: &str) {
        // Whoever would have read it is gone; then we are about to be killed too.
        let _ = rustix::io::write(self.pipe.as_ref(), format!("{line}\n").as_bytes());
    }

    pub(crate) fn fail(&self, what: &str, error: &dyn std::fmt::Display) -> ExitCode {
        ExitCode::from(self.failed(what, error))
    }

    /// The same as the number that a process ends with.
    pub(crate) fn failed(&self, what: &str, error: &dyn std::fmt::Display) -> u8 {
        self.say(&format!("failed cannot {what}: {error}"));
        FAILED
    }
}

/// The entry of the outer launcher.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let Some(orders) = Orders::from_args(args) else {
        return not_for_people();
    };
    let Some(reporter) = Reporter::open(orders.report) else {
        return not_for_people();
    };
    let directory = std::env::current_dir();
    // The list is that of our network, which is about to be left.
    let sockets = sockets::in_sight(&orders.policy);
    let own_network = orders.policy.network != Network::All;
    let entered = namespaces::enter(own_network);
    let mut facts = Facts {
        pid: entered.pid,
        net: entered.net,
        protected_inside: protects_inside(&orders.policy),
        ..Facts::default()
    };
    if entered.net && orders.policy.network == Network::Loopback {
        facts.loopback = loopback::bring_up().is_ok();
    }
    if entered.mount {
        match mounts::arrange(&orders.policy, &sockets) {
            Ok(()) => facts.mounts = true,
            // Half a view would be worse than none: files would be missing that should be there.
            Err(error) => return reporter.fail("arrange the sandbox's mounts", &error),
        }
    }
    // The directory is looked up again: the old one belongs to the old mounts.
    if let Ok(directory) = &directory
        && let Err(error) = std::env::set_current_dir(directory)
    {
        let what = format!("enter {} inside the sandbox", directory.display());
        return reporter.fail(&what, &error);
    }
    if !facts.pid {
        return become_command(&orders, &reporter, facts);
    }
    start_init(&orders, &reporter, facts)
}

/// What someone sees who types the hidden argument by hand.
pub(crate) fn not_for_people() -> ExitCode {
    let text = b"this argument starts the sandbox launcher and is only for internal use\n";
    let _ = std::io::stderr().write_all(text);
    ExitCode::from(2)
}

fn protects_inside(policy: &Policy) -> bool {
    let exists = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|data| data.is_dir());
    policy
        .protect
        .iter()
        .filter(exists)
        .any(|p| policy.write.iter().any(|w| p.starts_with(w)))
}

/// The last steps in the process that will be, or will start, the command. Returns what stands.
pub(crate) fn close_border(
    orders: &Orders,
    reporter: &Reporter,
    mut facts: Facts,
) -> Result<Facts, ExitCode> {
    capabilities::drop_all().map_err(|error| reporter.fail("give up privileges", &error))?;
    let memory_backed: &[&str] = if facts.mounts {
        &["/tmp", "/var/tmp", "/dev/shm"]
    } else {
        &[]
    };
    facts.landlock = border::apply(&orders.policy, facts.net, memory_backed, !facts.mounts)
        .map_err(|error| reporter.fail("apply Landlock", &error))?;
    reporter.say(&format!("facts {}", write_facts(facts)));
    let coverage = Coverage::judge(facts, &orders.policy);
    if coverage.level < orders.policy.minimum {
        let demanded = orders.policy.minimum.name();
        let have = coverage.describe();
        return Err(reporter.fail(&format!("give the sandbox demanded ({demanded})"), &have));
    }
    Ok(facts)
}

/// The command as std knows it, with every descriptor but the standard three closed on exec: our
/// caller may have inherited files that were open to the whole shell session.
pub(crate) fn command(orders: &Orders) -> Option<std::process::Command> {
    let (program, args) = orders.command.split_first()?;
    if program.is_empty() {
        return None;
    }
    let mut command = std::process::Command::new(program);
    command.args(args);
    BeforeExec {
        close: preexec::open_numbers(),
        ..BeforeExec::default()
    }
    .install(&mut command);
    Some(command)
}

fn become_command(orders: &Orders, reporter: &Reporter, facts: Facts) -> ExitCode {
    if let Err(code) = close_border(orders, reporter, facts) {
        return code;
    }
    let Some(mut command) = command(orders) else {
        return ExitCode::SUCCESS;
    };
    let error = command.exec();
    reporter.say(&format!(
        "exec {}",
        error.raw_os_error().unwrap_or_default()
    ));
    ExitCode::from(FAILED)
}

/// Splits off the init. A fork is enough: this process is single-threaded, and loading the program
/// once more would cost more than all the rest of the border.
fn start_init(orders: &Orders, reporter: &Reporter, facts: Facts) -> ExitCode {
    let (alive, held) = match std::io::pipe() {
        Ok(ends) => ends,
        Err(error) => return reporter.fail("make a pipe", &error),
    };
    let held = OwnedFd::from(held);
    let body = |held: OwnedFd| {
        drop(held);
        init::main(orders, reporter, facts, &alive.into())
    };
    let (pid, held) = match preexec::split_init(held, body) {
        Ok(split) => split,
        Err(error) => return reporter.fail("start the sandbox's init", &error),
    };
    let mut signals = match Signals::new([SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT]) {
        Ok(signals) => signals,
        Err(error) => return reporter.fail("watch signals", &error),
    };
    loop {
        // Looked at first: it may have ended before its end was watched for.
        match rustix::process::waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => {
                drop(held);
                let code = status
                    .exit_status()
                    .and_then(|code| u8::try_from(code).ok());
                return ExitCode::from(code.unwrap_or(FAILED));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return reporter.fail("wait for the sandbox's init", &error),
        }
        for signal in signals.wait().filter(|signal| *signal != SIGCHLD) {
            // The command lives in the init's session; the init itself is immune to these.
            let raw = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
            if rustix::process::kill_process_group(pid, raw).is_err() {
                // Not in its session yet, so there is no command yet either.
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
    }
}
