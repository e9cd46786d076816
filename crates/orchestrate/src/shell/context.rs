//! What every act needs to know.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_cli::{Environment, Failure, Redactor, config};
use baton_process::Cancel;
use baton_protocol::{Access, Task, TaskId};
use baton_repo::Repo;

use crate::core::decide::Act;
use crate::core::plan_check;
use crate::core::record::Record;

use super::layout::{Layout, RunFolder};
use super::preflight;

/// A run in progress.
#[derive(Debug)]
pub(crate) struct Context {
    pub run: String,
    pub repo: Repo,
    pub layout: Layout,
    pub config: config::Config,
    pub env: Environment,
    pub redactor: Redactor,
    /// Set to end every worker at once.
    pub stop: Cancel,
    /// Set when no further worker may be started.
    pub pause: Cancel,
    /// One change to git's work trees at a time.
    trees: Mutex<()>,
    seats: Seats,
}

/// The workers that run now.
#[derive(Debug, Default)]
struct Seats {
    taken: Mutex<usize>,
    changed: Condvar,
}

/// A worker's seat; it is free again when this is dropped.
pub(crate) struct Seat<'a>(&'a Seats);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut taken = self.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(1);
        drop(taken);
        self.0.changed.notify_all();
    }
}

/// How often a worker that waits for a seat looks whether it still may.
const LOOK: Duration = Duration::from_millis(200);

impl Context {
    pub(crate) fn new(
        run: String,
        repo: Repo,
        config: config::Config,
        env: Environment,
        redactor: Redactor,
        stop: Cancel,
    ) -> Self {
        let layout = Layout::new(repo.root());
        Self {
            run,
            repo,
            layout,
            config,
            env,
            redactor,
            pause: stop.child(),
            stop,
            trees: Mutex::new(()),
            seats: Seats::default(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.repo.root()
    }

    pub(crate) fn folder(&self) -> RunFolder {
        self.layout.run(&self.run)
    }

    /// Holds off other changes to work trees until the guard is dropped.
    pub(crate) fn trees(&self) -> MutexGuard<'_, ()> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for one of so many seats; none when the run stops before.
    pub(crate) fn seat(&self, most: usize) -> Option<Seat<'_>> {
        let mut taken = self
            .seats
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while *taken >= most && !self.pause.is_cancelled() {
            let waited = self.seats.changed.wait_timeout(taken, LOOK);
            (taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if self.pause.is_cancelled() {
            return None;
        }
        *taken += 1;
        Some(Seat(&self.seats))
    }

    /// The seat of a worker that runs already.
    pub(crate) fn seat_of_running(&self) -> Seat<'_> {
        *self
            .seats
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        Seat(&self.seats)
    }

    /// The folder of the run's work trees.
    pub(crate) fn worktree(&self, name: &str) -> PathBuf {
        self.root().join(&self.config.worktree.root).join(name)
    }

    /// Gives a task the configuration's folders outside the repository.
    pub(crate) fn lend(&self, task: &mut Task) -> Result<(), Failure> {
        let lent = preflight::lent(&self.repo, &self.env, &self.config)?;
        for (own, more) in [
            (&mut task.sandbox.read, lent.read),
            (&mut task.sandbox.caches, lent.caches),
        ] {
            own.extend(more);
            own.dedup();
        }
        Ok(())
    }

    /// Whether a role may change files.
    pub(crate) fn writes(&self, role: &str) -> bool {
        let configured = self.config.roles.get(role).and_then(|r| r.access);
        match configured {
            Some(access) => access == Access::Write,
            None => !plan_check::reads_only(role),
        }
    }

    /// The role that does a kind of work: the configured name, else `fallback`.
    pub(crate) fn role<'a>(&self, wanted: &'a str, fallback: &'a str) -> &'a str {
        if self.config.roles.contains_key(wanted) || !self.config.roles.contains_key(fallback) {
            wanted
        } else {
            fallback
        }
    }
}

/// What acts tell the engine.
#[derive(Debug)]
pub(crate) enum Message {
    /// Write this down; the answer comes when it is on disk.
    Record(Option<TaskId>, Box<Record>, Option<SyncSender<()>>),
    /// The act is over.
    Done(Act, Result<(), Failure>),
    /// Look around: a signal came.
    Wake,
}

/// The engine has gone, so nothing may be done any more.
#[derive(Debug)]
pub(crate) struct Gone;

/// An act's line to the engine.
#[derive(Debug, Clone)]
pub(crate) struct Line(pub Sender<Message>);

impl Line {
    /// Writes a record down and returns when it is on disk: only then may the act go on.
    pub(crate) fn record(&self, task: Option<&TaskId>, record: Record) -> Result<(), Gone> {
        let (sender, receiver) = sync_channel(1);
        self.0
            .send(Message::Record(
                task.cloned(),
                Box::new(record),
                Some(sender),
            ))
            .map_err(|_| Gone)?;
        receiver.recv().map_err(|_| Gone)
    }
}

impl From<Gone> for Failure {
    fn from(_: Gone) -> Self {
        Self::internal("the run stopped before the step was written down")
    }
}
