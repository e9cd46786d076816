//! slot-lock: reserve one of N slots of a model server for as long as a command runs.
//!
//! What flock(1) is to a file, slot-lock is to the slots of a server. The truth about who holds a
//! slot is the kernel's lock on an open file; everything else (labels, tickets, documents) is for
//! people and for order. A keeper process shares the open file, so a slot is held exactly as long
//! as the command lives, whatever happens to slot-lock itself.
//!
//! Where several hosts share servers, the slots are keys of an etcd cluster instead, and the keeper
//! keeps a lease alive.
//!
//! A command that wants to be told apart from foreign load flags its requests: it writes any text
//! into the file `$BATON_SLOT_FILE` names, once, and holds an exclusive flock(2) on that file
//! while a request is in flight.

mod acquire;
mod admission;
mod answer;
mod candidate;
mod cli;
mod clock;
mod command;
mod ending;
mod environment;
mod etcd;
mod flock;
mod hold;
mod identity;
mod keeper;
mod key;
mod label;
mod load;
mod local;
mod nested;
mod obtain;
mod offer;
mod procfs;
mod report;
mod search;
mod session;
mod signals;
mod status;
mod store;
mod target;
mod ticket;
mod token;
mod waker;

use std::process::ExitCode;

use baton_cli::{Environment, Failure, Output, Tool, ToolKind};
use baton_protocol::Exit;

use cli::{Brief, Cli, Verb};
use target::Settings;

/// The tool's description, for its manual page and the tests.
pub const TOOL: Tool = Tool {
    name: "slot-lock",
    kind: ToolKind::Question,
    reads: &["health/1", "estimate/1"],
    writes: &["reservation/1", "slots/1"],
};

/// The command line's definition, for the manual page and the completions.
pub fn command() -> clap::Command {
    baton_cli::command_with_version::<Cli>(&TOOL)
}

/// Runs the tool.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // The keeper is started on every run, so it does not pass through the command line's parser.
    if arguments
        .next()
        .is_some_and(|first| first == keeper::ARGUMENT)
    {
        return keeper::main();
    }
    if Brief::is_enough(std::env::args_os().skip(1)) {
        return baton_cli::run(&TOOL, |cli: Brief, output| run_command(&cli.hold, output));
    }
    baton_cli::run(&TOOL, |cli, output| run(&cli, output))
}

fn run_command(hold: &cli::Hold, output: &Output) -> Result<Exit, Failure> {
    let complete = hold.target.key.is_some() && hold.target.slots.is_some();
    let settings = Settings::new(Environment::from_process(), complete)?;
    hold::hold(hold, output, settings)
}

fn run(cli: &Cli, output: &Output) -> Result<Exit, Failure> {
    let place = &cli.hold.place;
    let settings = |complete| Settings::new(Environment::from_process(), complete);
    let open =
        |settings: &Settings| session::open_store(settings, place, etcd::Lost::default(), output);
    match &cli.verb {
        None => run_command(&cli.hold, output),
        Some(Verb::Acquire(options)) => {
            let complete = options.target.key.is_some() && options.target.slots.is_some();
            acquire::acquire(options, place, output, settings(complete)?)
        }
        Some(Verb::Status(options)) => {
            let settings = settings(false)?;
            let opened = open(&settings)?;
            let places = settings.other_places();
            status::status(options, &*opened.store, &opened.notes, &places, output)
        }
        Some(Verb::Renew(options)) => {
            acquire::renew(options, &*open(&settings(true)?)?.store, output)
        }
        Some(Verb::Release(options)) => {
            acquire::release(options, &*open(&settings(true)?)?.store, output)
        }
    }
}
