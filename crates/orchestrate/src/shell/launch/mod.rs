//! Workers that a launcher starts somewhere else.
//!
//! Each placement has a folder, a work tree and a token of its own. What comes of a placement that was
//! given up can therefore meet nothing of the one after it: its tree is another, its frames carry
//! another token, and nobody reads its folder any more.

mod order;
mod shared;
mod stream;
mod wire;

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_cli::Failure;
use baton_cli::config::LauncherIo;
use baton_process::{Command, Output, sibling};
use baton_protocol::{Launch, Reservation, Task};
use fs2::FileExt as _;

use crate::core::job::{Job, Start};
use crate::core::launch::{self, Ending, Launcher};
use crate::core::names;
use crate::core::record::Record;
use crate::core::state::State;
use crate::core::urgency;

use super::context::{Context, Line};
use super::doer::{self, SLACK};
use super::stage;
use super::worker::{Ended, STDERR, shell_words};

pub(super) use shared::adopt;

/// How long one setup command may take there.
const SETUP: Duration = Duration::from_secs(20 * 60);

/// How long the files may take on their way there and back.
const TRANSFER: Duration = Duration::from_secs(10 * 60);

/// How long a launcher has to end once its work is done, and between TERM and KILL.
const END: Duration = Duration::from_secs(5);

/// A worker on its way to another place.
pub(super) struct Trip<'a> {
    pub context: &'a Context,
    pub line: &'a Line,
    pub state: &'a State,
    pub job: &'a Job,
    pub start: &'a Start,
    pub task: &'a Task,
    /// The placement's folder.
    pub folder: &'a Path,
    /// The work tree here.
    pub place: &'a Path,
    pub candidates: &'a Path,
    pub launcher: &'a Launcher,
}

impl Trip<'_> {
    /// Starts the worker there and sees it to its end.
    pub(super) fn run(&self) -> Result<Ended, Failure> {
        let lost = self.job.attempt().lost;
        // A host that was just lost is rarely back at once.
        if lost > 0
            && self
                .context
                .pause
                .wait(Duration::from_secs(u64::from(lost)))
        {
            return Ok(Ended::Stopped);
        }
        if self.context.stop.is_cancelled() {
            return Ok(Ended::Stopped);
        }
        self.tell(None)?;
        match self.launcher.io {
            LauncherIo::Shared => shared::run(self),
            LauncherIo::Stream => stream::run(self),
        }
    }

    /// Writes down where the worker is, as far as that is known.
    fn tell(&self, host: Option<&str>) -> Result<(), Failure> {
        let attempt = self.job.attempt();
        let record = Record::Placed {
            attempt: attempt.number,
            placement: attempt.placement,
            launcher: self.launcher.shown(),
            host: host.map(str::to_owned),
        };
        self.line.record(Some(self.job.id()), record)?;
        Ok(())
    }

    fn token(&self) -> Result<String, Failure> {
        let mut bytes = [0u8; 8];
        File::open("/dev/urandom")
            .and_then(|mut f| f.read_exact(&mut bytes))
            .map_err(|e| Failure::internal(format!("cannot read /dev/urandom: {e}")))?;
        let attempt = self.job.attempt();
        Ok(launch::token(
            &self.context.run,
            self.job.id(),
            attempt.number,
            attempt.placement,
            &names::letters(u64::from_le_bytes(bytes), 8),
        ))
    }

    fn queue(&self) -> Duration {
        let queue = self.task.limits.queue_ms;
        Duration::from_millis(queue.unwrap_or(self.state.settings.queue_ms))
    }

    /// The longest it may take from its first report on.
    fn longest(&self) -> Duration {
        let setups = u32::try_from(self.context.config.worktree.setup.len()).unwrap_or(u32::MAX);
        self.queue() + self.task.limits.wall() + SETUP.saturating_mul(setups) + TRANSFER + SLACK
    }

    fn start_limit(&self) -> Duration {
        self.context.config.run.launcher_start.0
    }

    fn silence(&self) -> Duration {
        self.context.config.run.launcher_silence.0
    }

    /// Whether the slot is held here, around the launcher. Slot files are locks of this host's kernel,
    /// so a worker elsewhere cannot take one; a store of several hosts is asked where it works.
    fn holds_slot(&self) -> bool {
        order::store(self.context).is_none()
    }

    /// The command: slot-lock where the slot is held here, the launcher, and worker-run.
    fn command(&self, worker: Vec<OsString>) -> Vec<OsString> {
        let mut argv: Vec<OsString> = Vec::new();
        if self.holds_slot() {
            let class = urgency::class(self.state.settings.class, self.job.kind);
            argv.push(sibling("slot-lock").into());
            argv.push("--candidates".into());
            argv.push(self.candidates.into());
            argv.push("--wait".into());
            argv.push(format!("{}ms", self.queue().as_millis()).into());
            argv.push("--class".into());
            argv.push(urgency::name(class).into());
            argv.push("--report".into());
            argv.push(self.folder.join("reservation.json").into());
            argv.push("--".into());
        }
        argv.extend(self.launcher.argv.iter().map(Into::into));
        argv.extend(worker);
        argv
    }

    /// Makes the process; the lock on its log says for as long as it lives that it does.
    fn spawn(
        &self,
        mut argv: Vec<OsString>,
        io: impl FnOnce(Command) -> Result<Command, Failure>,
    ) -> Result<Result<baton_process::Child, Ended>, Failure> {
        let log = File::create(self.folder.join(STDERR))
            .map_err(|e| Failure::internal(format!("cannot make the launcher's log: {e}")))?;
        log.try_lock_exclusive()
            .map_err(|e| Failure::internal(format!("cannot lock the launcher's log: {e}")))?;
        let words: Vec<String> = argv
            .iter()
            .map(|a| a.to_string_lossy().into_owned())
            .collect();
        stage::write(self.folder, "command.txt", &(shell_words(&words) + "\n"))?;
        let attempt = self.job.attempt();
        let program = argv.remove(0);
        let command = Command::new(program)
            .args(argv)
            .cwd(self.context.root())
            .env("BATON_RUN", &self.context.run)
            .env("BATON_TASK", self.job.id().as_str())
            .env("BATON_ATTEMPT", attempt.number.to_string())
            .env("BATON_PLACEMENT", attempt.placement.to_string())
            .stderr(Output::File(Arc::new(log)));
        let command = io(command)?;
        let child = match command.spawn() {
            Ok(child) => child,
            Err(e) => {
                return Ok(Err(Ended::Never {
                    exit: Some(i32::from(e.exit_code())),
                    status: None,
                    reason: format!("the launcher cannot be started: {e}"),
                }));
            }
        };
        if let Some(identity) = child.identity() {
            doer::write(self.folder, &identity)?;
        }
        Ok(Ok(child))
    }

    /// What the launcher said last.
    fn said(&self) -> String {
        said(self.folder)
    }

    /// No slot was got here, so nothing was launched; slot-lock's code and words say why.
    fn has_no_slot(&self) -> bool {
        self.holds_slot() && self.reservation().is_none()
    }

    /// The slot that is held here, once it is.
    fn reservation(&self) -> Option<Reservation> {
        let text = std::fs::read_to_string(self.folder.join("reservation.json")).ok()?;
        let reservation: Reservation = baton_protocol::read(&text).ok()?;
        reservation.acquired.then_some(reservation)
    }
}

/// The end as the engine has it.
fn ended(exit: i32, ending: Ending) -> Ended {
    match ending {
        Ending::Worker(code) => Ended::Exit(code),
        Ending::Unable { exit, reason } => Ended::Never {
            exit: Some(exit),
            status: None,
            reason,
        },
        Ending::Lost(reason) => Ended::Lost {
            exit: Some(exit),
            reason,
        },
    }
}

fn said(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join(STDERR)).unwrap_or_default();
    stage::last_line(&text)
}

/// The order of a placement that was launched.
pub(super) fn launched(folder: &Path) -> Option<Launch> {
    let text = std::fs::read_to_string(folder.join("launch.json")).ok()?;
    baton_protocol::read(&text).ok()
}

/// The program that does a task, as it is called on this host.
fn worker() -> PathBuf {
    sibling("worker-run")
}
