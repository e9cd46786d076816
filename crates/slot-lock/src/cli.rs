//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use baton_cli::{Common, HasCommon, parse_duration, parse_size};
use baton_protocol::SlotClass;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::etcd::{Address, Lost};
use crate::key::Key;
use crate::nested::Nested;

/// More slots than any one server has.
const MOST_SLOTS: i64 = 1024;

const EXAMPLES: &str = "\
Exit codes: the command's own; 128+N when signal N ended it; 75 no slot in time; 124 --max-hold is
over; 69 no candidate is available; 1 the request fits none; 3 whether one fits is unknown;
78 configuration; 125 slot-lock itself failed; 126 cannot be executed; 127 not found.

Examples:
  slot-lock --slots 2 --wait 60s -- opencode run \"fix the tests\"
  vllm-health | ctx-estimate --task t.json --candidates - |
      slot-lock --candidates - --wait 5m -- worker-run --task t.json
  slot-lock --key gpu0 --slots 1 --wait 0 -- make bench || echo 'busy'
  exec 9> >(slot-lock acquire --until-eof --report r.json)  # 9 closed: given back
  id=$(slot-lock acquire --ttl 10m | jq -r .token); …; slot-lock release \"$id\"
  slot-lock --store etcd://10.0.0.5,10.0.0.6/baton --slots 2 -- make agents  # several hosts
  slot-lock status

The server is asked right before a slot of it is used: its own number of slots is never exceeded,
and what it works on for others counts as held. A --key that is no URL names no server to ask.

Slots are files in $BATON_LOCK_DIR, else ${XDG_STATE_HOME:-~/.local/state}/baton/slots, locked by
the kernel for exactly as long as the command runs, also when slot-lock itself is killed. What the
command leaves behind (a daemon) holds nothing. Who shares a server must share the directory.";

/// Reserve one of N slots of a model server for as long as a command runs.
#[derive(Debug, Parser)]
#[command(
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "slot-lock [OPTIONS] -- COMMAND [ARGUMENT]...\n       slot-lock status|acquire|renew|release [OPTIONS]"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
    #[command(flatten)]
    pub(crate) hold: Hold,
}

/// The command line of a call that plainly runs a command. It knows no subcommands: to describe
/// them all costs more than to take a slot.
#[derive(Debug, Parser)]
pub(crate) struct Brief {
    #[command(flatten)]
    pub(crate) hold: Hold,
}

impl Brief {
    /// Whether these arguments mean the same to this as to [`Cli`], which knows everything.
    pub(crate) fn is_enough(arguments: impl Iterator<Item = OsString>) -> bool {
        for argument in arguments {
            let Some(word) = argument.to_str() else {
                return false;
            };
            let is_cluster = word.starts_with('-') && !word.starts_with("--");
            match word {
                "--" => return true,
                "status" | "acquire" | "renew" | "release" | "help" | "--help" | "--version" => {
                    return false;
                }
                _ if is_cluster && word.contains(['h', 'V']) => return false,
                _ => {}
            }
        }
        false
    }
}

/// A call that runs a command.
#[derive(Debug, Args)]
pub(crate) struct Hold {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
    #[command(flatten)]
    pub(crate) running: Running,
    /// The command to run in the slot; stdin, stdout and the terminal are its own.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl HasCommon for Cli {
    fn common(&self) -> &Common {
        &self.hold.common
    }
}

impl HasCommon for Brief {
    fn common(&self) -> &Common {
        &self.hold.common
    }
}

/// What is done instead of running a command.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Say who holds which slot since when, and who waits.
    Status(Status),
    /// Take a slot without a command: for a script that holds it, or with a time to live.
    Acquire(Acquire),
    /// Set a new end for a slot taken by `acquire`; exit 1 when it is lost.
    Renew(Renew),
    /// Give back a slot taken by `acquire`.
    Release(Release),
}

/// Which slots.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Which slots")]
pub(crate) struct Target {
    /// How many there are [default: as configured, else as the server says, else as last counted, else 2
    /// for vLLM, else 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_SLOTS))]
    pub(crate) slots: Option<u32>,
    /// Count by this name or URL instead of the provider's address.
    #[arg(long, value_name = "KEY", value_parser = Key::parse, conflicts_with = "provider")]
    pub(crate) key: Option<Key>,
    /// The configured provider to take a slot of [default: the first].
    #[arg(long, value_name = "ID")]
    pub(crate) provider: Option<String>,
    /// Choose among the providers of a health/1 or estimate/1 document; `-` reads stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "provider"])]
    pub(crate) candidates: Option<PathBuf>,
    /// What to do while it is unknown of every candidate whether it is ready or fits.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "wait",
        requires = "candidates"
    )]
    pub(crate) on_unknown: OnUnknown,
    /// Which of several free candidates is taken; ties go to the least recently used.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "listed",
        requires = "candidates"
    )]
    pub(crate) prefer: Prefer,
    /// Do not ask the server about its slots and its other work.
    #[arg(long)]
    pub(crate) ignore_server: bool,
    /// Slots kept free for class interactive [default: as configured].
    #[arg(long, value_name = "N")]
    pub(crate) reserve_interactive: Option<u32>,
    /// Reserve this many tokens of the server's pool as well.
    #[arg(long, value_name = "N", value_parser = parse_size, requires = "candidates")]
    pub(crate) tokens: Option<u64>,
}

/// Where the slot files are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Where")]
pub(crate) struct Place {
    /// Allow a network file system, whose locks may hold on one host only.
    #[arg(long, global = true)]
    pub(crate) allow_network_fs: bool,
    /// Count for several hosts, in etcd://HOST:PORT[,HOST:PORT]/PREFIX.
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) store: Option<Address>,
    /// Without that cluster at the start: fail (69), or local.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "fail",
        global = true,
        hide_possible_values = true
    )]
    pub(crate) on_unavailable: OnUnavailable,
}

/// What to do without the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnUnavailable {
    /// Exit 69.
    Fail,
    /// Use the slot files of this host, and say so.
    Local,
}

/// How the slot is waited for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Waiting")]
pub(crate) struct Waiting {
    /// How long to wait for a slot; 0 tries once and never overtakes a queue.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
    pub(crate) wait: Duration,
    /// Who is served first: interactive, worker or batch.
    #[arg(long, value_name = "CLASS", default_value = "worker", value_parser = parse_class)]
    pub(crate) class: SlotClass,
    /// Write the reservation/1 here: what was reserved, or who is in the way.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// How the command runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct Running {
    /// End the command after this long (TERM, KILL 5 s later) and exit 124.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) max_hold: Option<Duration>,
    /// With --store, when the slot is lost: warn and go on, or end the command (75).
    #[arg(
        long,
        value_name = "HOW",
        default_value = "warn",
        hide_possible_values = true
    )]
    pub(crate) on_lost: Lost,
    /// Become the command instead of waiting for it.
    #[arg(long)]
    pub(crate) exec: bool,
    /// Below a slot-lock that holds a slot of the same server: use its slot, refuse (75), or queue.
    #[arg(
        long,
        value_name = "HOW",
        default_value = "share",
        hide_possible_values = true
    )]
    pub(crate) nested: Nested,
}

/// `slot-lock acquire`.
#[derive(Debug, Args)]
pub(crate) struct Acquire {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
    /// Give the slot back after this long [default: 1h; with --until-eof: never].
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) ttl: Option<Duration>,
    /// Give the slot back when this process ends; `parent` is the calling shell.
    #[arg(long, value_name = "PID", conflicts_with = "until_eof")]
    pub(crate) holder_pid: Option<HolderPid>,
    /// Stay, and hold the slot until stdin ends.
    #[arg(long)]
    pub(crate) until_eof: bool,
}

/// `slot-lock renew`.
#[derive(Debug, Args)]
pub(crate) struct Renew {
    /// The token of the reservation/1 document.
    pub(crate) token: String,
    /// The new time to live, from now on [default: 1h].
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) ttl: Option<Duration>,
}

/// `slot-lock release`.
#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The token of the reservation/1 document.
    pub(crate) token: String,
}

/// A process that holds a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HolderPid {
    /// Whoever started us.
    Parent,
    /// This one.
    Number(i32),
}

impl std::str::FromStr for HolderPid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("parent", _) => Ok(Self::Parent),
            (_, Ok(number @ 1..)) => Ok(Self::Number(number)),
            _ => Err("a process number or the word `parent`".into()),
        }
    }
}

impl HolderPid {
    /// The process's number; an error when there is no such process.
    pub(crate) fn resolve(self) -> Result<i32, String> {
        let pid = match self {
            Self::Number(number) => number,
            Self::Parent => rustix::process::getppid()
                .map(|pid| pid.as_raw_nonzero().get())
                .ok_or("the parent process cannot be seen from here")?,
        };
        let found = u32::try_from(pid)
            .ok()
            .and_then(crate::identity::Identity::of_pid);
        match found {
            Some(_) => Ok(pid),
            None => Err(format!("--holder-pid {pid}: there is no such process")),
        }
    }
}

/// What to do about unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnUnknown {
    /// Ask again until it is known or the wait is over; then exit 3.
    Wait,
    /// Leave it out; when nothing else is left, exit 3.
    Skip,
    /// Take it all the same.
    Go,
}

/// Which of several free candidates is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prefer {
    /// The first of the document.
    Listed,
    /// One whose model is in memory already.
    Resident,
    /// The one that generates fastest.
    Fastest,
}

/// `slot-lock status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Only the slots counted by this name or base URL [default: all].
    #[arg(value_name = "KEY", value_parser = Key::parse)]
    pub(crate) key: Option<Key>,
    /// Look again every second until interrupted; in a pipe, one document a change.
    #[arg(long)]
    pub(crate) watch: bool,
    /// Ask every server what it says of its slots, also one whose slots nobody uses now.
    #[arg(long, conflicts_with = "ignore_server")]
    pub(crate) server: bool,
    /// Ask no server.
    #[arg(long)]
    pub(crate) ignore_server: bool,
}

fn parse_class(text: &str) -> Result<SlotClass, String> {
    match text {
        "interactive" => Ok(SlotClass::Interactive),
        "worker" => Ok(SlotClass::Worker),
        "batch" => Ok(SlotClass::Batch),
        _ => Err("classes are: interactive, worker, batch".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Brief, Cli};

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
        Brief::command().debug_assert();
    }

    #[test]
    fn the_short_definition_serves_only_calls_that_run_a_command() {
        let is_enough = |line: &str| Brief::is_enough(line.split(' ').map(Into::into));
        for line in [
            "-- true",
            "-q --key k --slots 2 -- status",
            "--wait 5s -- x --help",
        ] {
            assert!(is_enough(line), "{line}");
            let words = || ["slot-lock"].into_iter().chain(line.split(' '));
            let (brief, whole) = (Brief::parse_from(words()), Cli::parse_from(words()));
            assert_eq!(format!("{:?}", brief.hold), format!("{:?}", whole.hold));
        }
        for line in [
            "",
            "status",
            "--store x status -- y",
            "--help -- x",
            "-qh -- x",
            "-V -- x",
        ] {
            assert!(!is_enough(line), "{line}");
        }
    }

    #[test]
    fn bad_numbers_are_refused() {
        for bad in ["0", "-1", "10000", "two", ""] {
            let parsed = Cli::try_parse_from(["slot-lock", "--slots", bad, "--", "true"]);
            assert!(parsed.is_err(), "{bad}");
        }
        for bad in ["5", "for ever", "-1s"] {
            let parsed = Cli::try_parse_from(["slot-lock", "--wait", bad, "--", "true"]);
            assert!(parsed.is_err(), "{bad}");
        }
        assert!(Cli::try_parse_from(["slot-lock", "--slots", "2"]).is_err());
        assert!(Cli::try_parse_from(["slot-lock", "--slots", "2", "--", "true"]).is_ok());
        assert!(Cli::try_parse_from(["slot-lock", "status"]).is_ok());
    }
}
