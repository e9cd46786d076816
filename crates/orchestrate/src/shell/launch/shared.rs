//! The way by files: the worker sees the run's folder and its work tree under the same names.
//!
//! It reports by files there (`launched.json`, `alive`, `handoff.json`, `landed.json`), and a file
//! `stop` of ours ends it, also when its launcher is gone and cannot be told.

use std::fs::File;
use std::io::Seek as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_process::{Cancel, Child, Output, Stdin, Waited};
use baton_protocol::{Document, FrameKind, Landed, Launched, write_frame};
use fs2::FileExt as _;

use crate::core::job::Job;
use crate::core::launch::{Ending, Launcher, Seen, address, ending};
use crate::shell::context::{Context, Line};
use crate::shell::doer::{self, GRACE, SLACK};
use crate::shell::stage::{self, exit_code};
use crate::shell::worker::{Ended, STDERR};

use super::{END, Trip, order, said, worker};

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// What a file `stop` says to a worker that is to end in order.
const STOP: &str = "end\n";

/// What it says to one whose result is not wanted any more.
const GIVEN_UP: &str = "given up\n";

/// How long a shared folder may take to show what was written elsewhere.
const LAG: Duration = Duration::from_secs(3);

pub(super) fn run(trip: &Trip<'_>) -> Result<Ended, Failure> {
    let token = trip.token()?;
    let order = order::order(trip, &token, None)?;
    let text = serde_json::to_string_pretty(&order.launch)
        .map_err(|e| Failure::internal(format!("cannot write the order: {e}")))?;
    stage::write(trip.folder, "launch.json", &text)?;
    let argv = trip.command(vec![
        worker().into(),
        "remote".into(),
        "--folder".into(),
        address(trip.folder).into(),
    ]);
    let stdin = variables(&token, &order.variables)?;
    let child = trip.spawn(argv, |command| {
        let out = File::create(trip.folder.join("launcher.out"))
            .map_err(|e| Failure::internal(format!("cannot make launcher.out: {e}")))?;
        Ok(command
            .stdin(Stdin::File(Arc::new(stdin)))
            .stdout(Output::File(Arc::new(out))))
    })?;
    let mut child = match child {
        Ok(child) => child,
        Err(ended) => return Ok(ended),
    };
    let watch = Watch {
        folder: trip.folder,
        token: &token,
        stop: &trip.context.stop,
        silence: trip.silence(),
        longest: trip.longest(),
    };
    // Where the slot is held here, the launcher starts only when there is one.
    let waits = || trip.has_no_slot();
    let end = watch.run(
        trip.start_limit(),
        &waits,
        &mut Process::Child(&mut child),
        &mut |host| trip.tell(Some(host)),
    )?;
    let exit = end_launcher(&mut child, trip.context, &end)?;
    if matches!(end, End::Gone) && trip.has_no_slot() {
        return Ok(Ended::Exit(exit));
    }
    Ok(super::ended(exit, watch.judge(trip.launcher, exit, &end)))
}

/// Keys go by stdin, from a file without a name.
fn variables(
    token: &str,
    variables: &std::collections::BTreeMap<String, String>,
) -> Result<File, Failure> {
    let fail = |e: std::io::Error| Failure::internal(format!("cannot keep keys aside: {e}"));
    let mut file = tempfile::tempfile().map_err(fail)?;
    let payload = serde_json::to_vec(variables).map_err(|e| fail(e.into()))?;
    write_frame(&mut file, FrameKind::Variables, token, &payload).map_err(fail)?;
    file.rewind().map_err(fail)?;
    Ok(file)
}

/// What a placement's folder is watched for.
struct Watch<'a> {
    folder: &'a Path,
    token: &'a str,
    stop: &'a Cancel,
    silence: Duration,
    longest: Duration,
}

/// How a watch ended.
#[derive(Debug)]
enum End {
    /// The worker says that it is done.
    Landed(Landed),
    /// The launcher has ended, and nothing came.
    Gone,
    /// It was given up, because of this.
    GivenUp(String),
    /// It took too long altogether.
    TimedOut,
    /// The run is being stopped.
    Stopped(Option<Landed>),
}

/// The launcher's process.
enum Process<'a> {
    Child(&'a mut Child),
    /// One that an earlier orchestrate started: whoever has the lock lives.
    Stranger(&'a File),
}

impl Process<'_> {
    fn has_ended(&mut self) -> Result<bool, Failure> {
        match self {
            Self::Child(child) => child
                .try_wait()
                .map(|exit| exit.is_some())
                .map_err(|e| Failure::internal(format!("cannot wait for the launcher: {e}"))),
            Self::Stranger(log) => Ok(log.try_lock_exclusive().is_ok()),
        }
    }

    /// Waits a moment, and less when it ends.
    fn pause(&mut self, never: &Cancel) {
        match self {
            Self::Child(child) => {
                // An error shows again at the next look.
                let _ = child.wait(Some(Instant::now() + LOOK), never);
            }
            Self::Stranger(_) => {
                never.wait(LOOK);
            }
        }
    }
}

impl Watch<'_> {
    fn run(
        &self,
        start: Duration,
        waits: &dyn Fn() -> bool,
        process: &mut Process<'_>,
        tell: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> Result<End, Failure> {
        let never = Cancel::new();
        let mut began = Instant::now();
        let mut launched: Option<Instant> = None;
        let mut beat: (Vec<u8>, Instant) = (Vec::new(), Instant::now());
        let mut gone: Option<Instant> = None;
        let mut stopping: Option<Instant> = None;
        loop {
            // Read before the report, which a quick worker wrote just before it.
            let landed = self
                .read::<Landed>("landed.json")
                .filter(|l| l.token == self.token);
            if launched.is_none()
                && let Some(found) = self.read::<Launched>("launched.json")
                && found.token == self.token
            {
                tell(&found.host)?;
                launched = Some(Instant::now());
                beat.1 = Instant::now();
            }
            if let Some(landed) = landed {
                return Ok(match stopping {
                    Some(_) => End::Stopped(Some(landed)),
                    None => End::Landed(landed),
                });
            }
            if launched.is_none() && waits() {
                // slot-lock bounds that wait itself.
                began = Instant::now();
            }
            if let Some(end) = self.given_up(began, launched, start, &mut beat) {
                self.give_up()?;
                return Ok(end);
            }
            if gone.is_none() && process.has_ended()? {
                gone = Some(Instant::now());
            }
            if gone.is_some_and(|at| at.elapsed() >= LAG) {
                self.give_up()?;
                return Ok(if stopping.is_some() {
                    End::Stopped(None)
                } else {
                    End::Gone
                });
            }
            if self.stop.is_cancelled() && stopping.is_none() {
                // What it still hands over is welcome.
                stage::write(self.folder, "stop", STOP)?;
                stopping = Some(Instant::now());
            }
            // One that has not reported may not even have begun: nothing is waited for.
            let grace = if launched.is_none() || self.stop.is_urgent() {
                Duration::ZERO
            } else {
                GRACE
            };
            if stopping.is_some_and(|at| at.elapsed() >= grace) {
                self.give_up()?;
                return Ok(End::Stopped(None));
            }
            if gone.is_some() {
                never.wait(LOOK);
            } else {
                process.pause(&never);
            }
        }
    }

    /// Whether a limit is over.
    fn given_up(
        &self,
        began: Instant,
        launched: Option<Instant>,
        start: Duration,
        beat: &mut (Vec<u8>, Instant),
    ) -> Option<End> {
        let Some(launched) = launched else {
            return (began.elapsed() >= start).then(|| {
                End::GivenUp(format!(
                    "no worker reported within {} s ([run] launcher_start)",
                    start.as_secs()
                ))
            });
        };
        // A number that grows, and our own clock: the hosts' clocks may differ.
        let now = std::fs::read(self.folder.join("alive")).unwrap_or_default();
        if now != beat.0 {
            *beat = (now, Instant::now());
        }
        if beat.1.elapsed() >= self.silence {
            return Some(End::GivenUp(format!(
                "its host has said nothing for {} s ([run] launcher_silence)",
                self.silence.as_secs()
            )));
        }
        (launched.elapsed() >= self.longest).then_some(End::TimedOut)
    }

    fn read<T: Document>(&self, name: &str) -> Option<T> {
        let text = std::fs::read_to_string(self.folder.join(name)).ok()?;
        baton_protocol::read(&text).ok()
    }

    /// From now on nothing that this placement does counts.
    fn give_up(&self) -> Result<(), Failure> {
        stage::write(self.folder, "stop", GIVEN_UP)
    }

    fn judge(&self, launcher: &Launcher, exit: i32, end: &End) -> Ending {
        let host = self.read::<Launched>("launched.json");
        let host = host.filter(|l| l.token == self.token).map(|l| l.host);
        let said = said(self.folder);
        match end {
            End::TimedOut => Ending::Worker(124),
            End::Stopped(None) => Ending::Worker(if exit == 0 { 143 } else { exit }),
            End::GivenUp(why) => Ending::Lost(format!(
                "`{}` was given up: {why}{}",
                launcher.shown(),
                host.map_or_else(String::new, |host| format!(" (on {host})"))
            )),
            End::Landed(landed) | End::Stopped(Some(landed)) => ending(
                launcher,
                &Seen {
                    exit,
                    host: host.as_deref(),
                    landed: Some(landed),
                    said: &said,
                    refused: None,
                },
            ),
            End::Gone => ending(
                launcher,
                &Seen {
                    exit,
                    host: host.as_deref(),
                    said: &said,
                    ..Seen::default()
                },
            ),
        }
    }
}

/// Ends the launcher, after a moment in which it may end by itself.
fn end_launcher(child: &mut Child, context: &Context, end: &End) -> Result<i32, Failure> {
    let failed = |e: std::io::Error| Failure::internal(format!("cannot end the launcher: {e}"));
    if matches!(end, End::Landed(_) | End::Stopped(Some(_))) {
        let deadline = Instant::now() + END;
        if let Waited::Exited(exit) = child.wait(Some(deadline), &Cancel::new()).map_err(failed)? {
            return Ok(exit_code(exit));
        }
    }
    let grace = if context.stop.is_urgent() {
        Duration::ZERO
    } else {
        END
    };
    child.terminate(grace).map(exit_code).map_err(failed)
}

/// Waits for a worker that an earlier orchestrate launched, as far as it can still be reached.
pub(crate) fn adopt(
    context: &Context,
    line: &Line,
    job: &Job,
    folder: &Path,
    launch: &baton_protocol::Launch,
) -> Result<Ended, Failure> {
    let log = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(folder.join(STDERR))
        .map_err(|e| Failure::internal(format!("cannot open the log of {}: {e}", job.id())))?;
    let longest =
        Duration::from_millis(launch.queue_ms.unwrap_or(0)) + job.task.limits.wall() + SLACK;
    let watch = Watch {
        folder,
        token: &launch.token,
        stop: &context.stop,
        silence: context.config.run.launcher_silence.0,
        longest,
    };
    let placed = job.attempt().placed.clone();
    let name = placed.map_or_else(|| "launcher".to_owned(), |p| p.launcher);
    let attempt = job.attempt();
    let end = watch.run(
        context.config.run.launcher_start.0,
        &|| false,
        &mut Process::Stranger(&log),
        &mut |host| {
            let record = crate::core::record::Record::Placed {
                attempt: attempt.number,
                placement: attempt.placement,
                launcher: name.clone(),
                host: Some(host.to_owned()),
            };
            Ok(line.record(Some(job.id()), record)?)
        },
    )?;
    let since = Instant::now();
    while log.try_lock_exclusive().is_err() && since.elapsed() < END + GRACE {
        doer::end(folder);
        if context.stop.is_urgent() {
            break;
        }
        Cancel::new().wait(LOOK);
    }
    let launcher = Launcher {
        argv: vec![name.clone()],
        io: baton_cli::config::LauncherIo::Shared,
    };
    Ok(match watch.judge(&launcher, 0, &end) {
        Ending::Worker(code) if matches!(end, End::Landed(_)) => Ended::Exit(code),
        Ending::Worker(_) => Ended::Adopted,
        Ending::Unable { exit, reason } => Ended::Never {
            exit: Some(exit),
            status: None,
            reason,
        },
        Ending::Lost(reason) => Ended::Lost { exit: None, reason },
    })
}
