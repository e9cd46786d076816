//! The way by the launcher's stdin and stdout: the task and its files go there as frames and a git
//! bundle, and come back the same way. Nothing else is shared with the host they go to.
//!
//! What comes back is checked before it counts: the frames carry this placement's token, every object
//! of the bundle is verified, and its files become uncommitted changes of the task's own work tree
//! here, where handoff-check looks at them as at any other's.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_process::{Cancel, Child, Output, Stdin, Waited};
use baton_protocol::{FrameKind, Landed, Launched};
use baton_repo::{ObjectId, Repo};

use crate::core::launch::{Ending, Seen, ending};
use crate::shell::doer::{GRACE, SLACK};
use crate::shell::stage::{self, exit_code};
use crate::shell::worker::{EVENTS, Ended, HANDOFF};
use crate::shell::worktrees::{self, git_failure};

use super::order::{self, Order};
use super::wire::{self, Back, Speaker};
use super::{END, Trip};

/// How long is waited at most before the limits are looked at again.
const LOOK: Duration = Duration::from_millis(200);

/// How often we say that we live.
const BEAT: Duration = Duration::from_secs(5);

pub(super) fn run(trip: &Trip<'_>) -> Result<Ended, Failure> {
    let token = trip.token()?;
    let pipes = |e: std::io::Error| Failure::internal(format!("cannot make a pipe: {e}"));
    let (their_in, our_out) = wire::pipe().map_err(pipes)?;
    let (our_in, their_out) = wire::pipe().map_err(pipes)?;
    let argv = trip.command(vec!["worker-run".into(), "remote".into()]);
    // The command is dropped with their ends: only the launcher may hold these.
    let child = trip.spawn(argv, |command| {
        Ok(command
            .stdin(Stdin::File(wire::end(their_in)))
            .stdout(Output::File(wire::end(their_out))))
    })?;
    let mut child = match child {
        Ok(child) => child,
        Err(ended) => return Ok(ended),
    };
    let bundle = trip.folder.join("back.bundle");
    let back = wire::listen(
        std::fs::File::from(OwnedFd::from(our_in)),
        token.clone(),
        bundle.clone(),
    );
    let speaker = Speaker::new(our_out, token.clone());
    let mut talk = Talk {
        trip,
        token: &token,
        back,
        speaker: Some(speaker),
        bundle,
        launched: None,
        landed: None,
        has_bundle: false,
        handoff: None,
        refused: None,
        noise: String::new(),
        ended: false,
        heard: Instant::now(),
    };
    let result = talk.run(&mut child);
    talk.speaker = None;
    let exit = end_launcher(trip, &mut child, talk.landed.is_some())?;
    // What was in the pipe when it ended counts as well.
    talk.drain()?;
    let ended = talk.judge(result?, exit)?;
    // The bundles have done their work; the files are in the work tree, or lost with the place.
    for name in ["there.bundle", "back.bundle"] {
        let _ = std::fs::remove_file(trip.folder.join(name));
    }
    Ok(ended)
}

/// Why the talk is over.
enum Over {
    /// The launcher's stdout has ended, or it said that the work is over.
    Said,
    GivenUp(String),
    TimedOut,
    Stopped,
    /// slot-lock ended without a slot.
    NoSlot,
}

/// The talk with one worker.
struct Talk<'a> {
    trip: &'a Trip<'a>,
    token: &'a str,
    back: Receiver<Back>,
    speaker: Option<Speaker>,
    bundle: PathBuf,
    launched: Option<Launched>,
    landed: Option<Landed>,
    has_bundle: bool,
    handoff: Option<Vec<u8>>,
    refused: Option<String>,
    noise: String,
    ended: bool,
    heard: Instant,
}

impl Talk<'_> {
    fn run(&mut self, child: &mut Child) -> Result<Over, Failure> {
        let trip = self.trip;
        let reservation = if trip.holds_slot() {
            match self.wait_for_slot(child)? {
                Ok(reservation) => Some(reservation),
                Err(over) => return Ok(over),
            }
        } else {
            None
        };
        let order = order::order(trip, self.token, reservation)?;
        self.send(&order)?;
        let began = Instant::now();
        let mut said = Instant::now();
        let mut stopping: Option<Instant> = None;
        let mut gone: Option<Instant> = None;
        loop {
            match self.back.recv_timeout(LOOK) {
                Ok(back) => {
                    let host_came = matches!(back, Back::Launched(_));
                    self.take(back)?;
                    if host_came {
                        self.send_files(&order)?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
            }
            if gone.is_none() && child.try_wait().is_ok_and(|exit| exit.is_some()) {
                gone = Some(Instant::now());
            }
            // Its stdout may be held open by something that it left behind.
            let is_silent = gone.is_some_and(|at| at.elapsed() >= END);
            if self.landed.is_some() || self.ended || self.refused.is_some() || is_silent {
                return Ok(if stopping.is_some() {
                    Over::Stopped
                } else {
                    Over::Said
                });
            }
            if said.elapsed() >= BEAT.min(trip.silence() / 4) {
                said = Instant::now();
                if let Some(speaker) = &self.speaker {
                    speaker.alive();
                }
            }
            if let Some(over) = self.over(began) {
                return Ok(over);
            }
            if trip.context.stop.is_cancelled() && stopping.is_none() {
                // The end of its stdin is what ends a worker elsewhere.
                self.speaker = None;
                stopping = Some(Instant::now());
            }
            let grace = if self.launched.is_none() || trip.context.stop.is_urgent() {
                Duration::ZERO
            } else {
                GRACE
            };
            if stopping.is_some_and(|at| at.elapsed() >= grace) {
                return Ok(Over::Stopped);
            }
        }
    }

    /// A slot that is held here is chosen before the order can be written.
    fn wait_for_slot(
        &mut self,
        child: &mut Child,
    ) -> Result<Result<baton_protocol::Reservation, Over>, Failure> {
        let failed = |e: std::io::Error| Failure::internal(format!("cannot wait: {e}"));
        let deadline = Instant::now() + self.trip.queue() + SLACK;
        loop {
            if let Some(reservation) = self.trip.reservation() {
                return Ok(Ok(reservation));
            }
            match child
                .wait(Some(Instant::now() + LOOK / 4), &self.trip.context.stop)
                .map_err(failed)?
            {
                Waited::Cancelled => return Ok(Err(Over::Stopped)),
                // It may have ended right after it wrote the report.
                Waited::Exited(_) if self.trip.reservation().is_none() => {
                    return Ok(Err(Over::NoSlot));
                }
                Waited::TimedOut if Instant::now() >= deadline => return Ok(Err(Over::TimedOut)),
                Waited::Exited(_) | Waited::TimedOut => {}
            }
        }
    }

    fn send(&self, order: &Order) -> Result<(), Failure> {
        let fail = |e: serde_json::Error| Failure::internal(format!("cannot write the order: {e}"));
        let text = serde_json::to_string_pretty(&order.launch).map_err(fail)?;
        stage::write(self.trip.folder, "launch.json", &text)?;
        if let Some(speaker) = &self.speaker {
            speaker.frame(FrameKind::Launch, text.into_bytes());
            let variables = serde_json::to_vec(&order.variables).map_err(fail)?;
            speaker.frame(FrameKind::Variables, variables);
        }
        Ok(())
    }

    /// Sends what the host does not have yet.
    fn send_files(&self, order: &Order) -> Result<(), Failure> {
        let repo = Repo::discover(self.trip.place).map_err(|e| git_failure(&e))?;
        let have: Vec<ObjectId> = self
            .launched
            .iter()
            .flat_map(|l| &l.have)
            .filter_map(|id| ObjectId::new(id))
            .collect();
        let file = self.trip.folder.join("there.bundle");
        repo.bundle(&file, &order.commits, &have)
            .map_err(|e| git_failure(&e))?;
        if let Some(speaker) = &self.speaker {
            speaker.file(FrameKind::Bundle, file);
        }
        Ok(())
    }

    fn take(&mut self, back: Back) -> Result<(), Failure> {
        self.heard = Instant::now();
        let folder = self.trip.folder;
        match back {
            Back::Launched(launched) if self.launched.is_none() => {
                self.trip.tell(Some(&launched.host))?;
                self.launched = Some(launched);
            }
            Back::Launched(_) | Back::Alive => {}
            Back::Event(line) => wire::append(&folder.join(EVENTS), &line)
                .map_err(|e| Failure::internal(format!("cannot keep an event: {e}")))?,
            Back::Reservation(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                stage::write(folder, "reservation.json", &text)?;
            }
            Back::Handoff(bytes) => self.handoff = Some(bytes),
            Back::Bundle => self.has_bundle = true,
            Back::Landed(landed) => self.landed = Some(landed),
            Back::Refused(why) => self.refused = Some(why),
            Back::End(noise) => {
                self.noise = noise.lines().last().cloned().unwrap_or_default();
                self.ended = true;
            }
        }
        Ok(())
    }

    /// Takes what is still there, without waiting long for more.
    fn drain(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + END;
        while !self.ended && self.landed.is_none() && Instant::now() < deadline {
            match self.back.recv_timeout(LOOK) {
                Ok(back) => self.take(back)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
            }
        }
        Ok(())
    }

    fn over(&self, began: Instant) -> Option<Over> {
        if self.launched.is_none() {
            let limit = self.trip.start_limit();
            return (began.elapsed() >= limit).then(|| {
                Over::GivenUp(format!(
                    "no worker reported within {} s ([run] launcher_start)",
                    limit.as_secs()
                ))
            });
        }
        // The other side ends itself after this long without a word of ours: what it does afterwards
        // meets nobody.
        let silence = self.trip.silence();
        if self.heard.elapsed() >= silence {
            return Some(Over::GivenUp(format!(
                "its host has said nothing for {} s ([run] launcher_silence)",
                silence.as_secs()
            )));
        }
        (began.elapsed() >= self.trip.longest()).then_some(Over::TimedOut)
    }

    fn judge(&mut self, over: Over, exit: i32) -> Result<Ended, Failure> {
        let trip = self.trip;
        let host = self.launched.as_ref().map(|l| l.host.clone());
        let stopped = matches!(over, Over::Stopped);
        match over {
            Over::NoSlot => return Ok(Ended::Exit(exit)),
            Over::TimedOut => return Ok(Ended::Exit(124)),
            Over::GivenUp(why) => {
                self.tidy();
                let at = host.map_or_else(String::new, |host| format!(" (on {host})"));
                let shown = trip.launcher.shown();
                let reason = format!("`{shown}` was given up: {why}{at}");
                return Ok(super::ended(exit, Ending::Lost(reason)));
            }
            Over::Stopped if self.landed.is_none() => {
                return Ok(Ended::Exit(if exit == 0 { 143 } else { exit }));
            }
            Over::Said | Over::Stopped => {}
        }
        let mut said = trip.said();
        if said.is_empty() {
            said.clone_from(&self.noise);
        }
        let found = ending(
            trip.launcher,
            &Seen {
                exit,
                host: host.as_deref(),
                landed: self.landed.as_ref(),
                said: &said,
                refused: self.refused.as_deref(),
            },
        );
        let found = match found {
            Ending::Worker(code) => match self.receive()? {
                Ok(()) => Ending::Worker(code),
                Err(_) if stopped => Ending::Worker(143),
                Err(why) => Ending::Lost(format!(
                    "what came back from {} does not hold: {why}",
                    host.unwrap_or_else(|| trip.launcher.shown())
                )),
            },
            other => {
                self.tidy();
                other
            }
        };
        Ok(super::ended(exit, found))
    }

    /// Lays the result into the work tree, and then puts the hand-off beside it. The inner error says
    /// why what came does not count.
    fn receive(&self) -> Result<Result<(), String>, Failure> {
        let Some(landed) = &self.landed else {
            return Ok(Err("it is not whole".into()));
        };
        if landed.token != self.token {
            return Ok(Err("it belongs to another placement".into()));
        }
        // A role that only reads has nothing to bring, whatever it says.
        if self.trip.start.worktree.is_some()
            && let Some(commit) = &landed.commit
        {
            let tree = landed.tree.as_deref().unwrap_or_default();
            if let Err(why) = self.lay(commit, tree) {
                return Ok(Err(why));
            }
        }
        if let Some(handoff) = &self.handoff {
            let text = String::from_utf8_lossy(handoff);
            stage::write(self.trip.folder, HANDOFF, &text)?;
        } else if landed.handoff {
            return Ok(Err("its hand-off is missing".into()));
        }
        Ok(Ok(()))
    }

    fn lay(&self, commit: &str, tree: &str) -> Result<(), String> {
        if !self.has_bundle {
            return Err("its files are missing".into());
        }
        let commit = ObjectId::new(commit).ok_or("its commit has no proper name")?;
        let git = |e: baton_repo::RepoError| e.to_string();
        let _one = self.trip.context.trees();
        let repo = Repo::discover(self.trip.place).map_err(git)?;
        let came = repo.unbundle(&self.bundle).map_err(git)?;
        if !came.contains(&commit) {
            return Err(format!("the bundle does not hold commit {commit}"));
        }
        let found = repo.tree(commit.as_str()).map_err(git)?;
        if found.as_str() != tree {
            return Err(format!("commit {commit} has the tree {found}, not {tree}"));
        }
        repo.lay(&commit).map_err(git)
    }

    /// A work tree that nothing was laid into need not stay.
    fn tidy(&self) {
        if self.trip.start.worktree.is_some() {
            // One that is kept is looked at by `orchestrate clean`.
            let base = self.trip.start.base.as_str();
            let _ = worktrees::remove_if_empty(self.trip.context, self.trip.place, &[base]);
        }
    }
}

/// Ends the launcher: its stdin is closed, so one that is sound ends by itself.
fn end_launcher(trip: &Trip<'_>, child: &mut Child, landed: bool) -> Result<i32, Failure> {
    let failed = |e: std::io::Error| Failure::internal(format!("cannot end the launcher: {e}"));
    let stop = &trip.context.stop;
    let patience = if stop.is_urgent() {
        Duration::ZERO
    } else if landed {
        END
    } else {
        // A lost connection has ended it already; what hangs is not waited for.
        END / 5
    };
    let deadline = Instant::now() + patience;
    if let Waited::Exited(exit) = child.wait(Some(deadline), &Cancel::new()).map_err(failed)? {
        return Ok(exit_code(exit));
    }
    let grace = if stop.is_urgent() {
        Duration::ZERO
    } else {
        END
    };
    child.terminate(grace).map(exit_code).map_err(failed)
}
