//! What a verb that works needs at hand, and the one way from it into the engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use baton_cli::{Environment, Failure, Output, Redactor, config};
use baton_process::Cancel;
use baton_protocol::{Plan, ReviewVerdict, RunStatus};
use baton_repo::Repo;

use crate::cli_launch::Launch;
use crate::core::job::Job;
use crate::core::names;
use crate::core::outcome;
use crate::core::record::{Entry, Record, Settings};
use crate::core::state::State;

use super::context::Context;
use super::engine::Engine;
use super::journal::{Journal, peek};
use super::layout::{Layout, make_folder};
use super::lock::RunLock;
use super::worktrees::git_failure;
use super::{halt, preflight};

/// The repository, the configuration and the signals of a verb that runs the engine, also many times.
pub(crate) struct Desk<'a> {
    pub root: PathBuf,
    pub common_dir: PathBuf,
    pub layout: Layout,
    pub config: config::Config,
    pub env: Environment,
    pub redactor: Redactor,
    pub signals: Cancel,
    pub output: &'a Output,
    /// How long to wait for another run in this repository.
    pub wait: Duration,
    /// What the command line says about launchers.
    pub launch: Launch,
}

/// A run to be begun.
pub(crate) struct Order {
    pub run: String,
    pub nonce: String,
    pub goal: String,
    pub plan: Option<Plan>,
    pub settings: Settings,
}

/// What looks on while the engine works: called after each record is on disk and taken in.
pub(crate) type Watch<'a> = Box<dyn FnMut(&State, &Entry) + 'a>;

/// Called when the repository is ours and nothing was started yet; an error starts nothing.
pub(crate) type Admit<'a> = dyn FnMut() -> Result<(), Failure> + 'a;

impl<'a> Desk<'a> {
    /// Takes everything in for the repository.
    pub(crate) fn new(
        repo: &Repo,
        loaded: config::Loaded,
        env: Environment,
        signals: Cancel,
        output: &'a Output,
    ) -> Self {
        let redactor = loaded.redactor(&env);
        Self {
            root: repo.root().to_owned(),
            common_dir: repo.common_dir().to_owned(),
            layout: Layout::new(repo.root()),
            config: loaded.config,
            env,
            redactor,
            signals,
            output,
            wait: Duration::ZERO,
            launch: Launch::default(),
        }
    }

    pub(crate) fn repo(&self) -> Result<Repo, Failure> {
        Repo::discover(&self.root).map_err(|e| git_failure(&e))
    }

    fn context(&self, run: &str) -> Result<Context, Failure> {
        Ok(Context::new(
            run.to_owned(),
            self.repo()?,
            self.config.clone(),
            self.env.clone(),
            self.redactor.clone(),
            self.signals.child(),
        ))
    }

    /// A context that looks and does not work.
    pub(crate) fn looking(&self) -> Result<Context, Failure> {
        self.context("look")
    }

    fn lock(&self, run: &str) -> Result<RunLock, Failure> {
        let output = self.output;
        RunLock::take(
            &self.common_dir,
            run,
            self.wait,
            &self.signals,
            &mut |text| {
                output.note(text);
            },
        )
    }

    /// Begins a run and works until it has ended. A run of that name that was begun before is gone on
    /// with, so that a caller that was killed can simply ask again.
    pub(crate) fn work(
        &self,
        mut order: Order,
        admit: &mut Admit<'_>,
        watch: Watch<'_>,
    ) -> Result<State, Failure> {
        let folder = self.layout.run(&order.run);
        if self.is_begun(&order.run)? {
            return self.go_on(&order.run, admit, watch);
        }
        self.launch.keep(&mut order.settings);
        let context = self.context(&order.run)?;
        let target = preflight::target(&context.repo)?;
        let _lock = self.lock(&order.run)?;
        for note in preflight::health(&self.root, &self.signals)?.1 {
            self.output.note(&note);
        }
        admit()?;
        self.layout.prepare()?;
        make_folder(folder.path())?;
        let (journal, _) = Journal::open(&folder.journal(), &order.run, self.redactor.clone())?;
        let mut engine = self.engine(context, journal, State::empty(), watch);
        engine.write(
            None,
            Record::RunStarted {
                goal: order.goal,
                settings: order.settings,
                target,
                branch: names::run_branch(&order.run),
                nonce: order.nonce,
                given: order.plan.map(Box::new),
            },
        )?;
        engine.work()?;
        Ok(engine.state)
    }

    /// Whether a run is on record.
    pub(crate) fn is_begun(&self, run: &str) -> Result<bool, Failure> {
        Ok(self.state(run)?.is_some_and(|s| s.started_at.is_some()))
    }

    /// The state of a run that has a journal.
    pub(crate) fn state(&self, run: &str) -> Result<Option<State>, Failure> {
        let journal = self.layout.run(run).journal();
        if !journal.is_file() {
            return Ok(None);
        }
        Ok(Some(State::replay(&peek(&journal)?)))
    }

    /// Goes on with a run that was begun; one that has ended is as it ended.
    pub(crate) fn go_on(
        &self,
        run: &str,
        admit: &mut Admit<'_>,
        watch: Watch<'_>,
    ) -> Result<State, Failure> {
        let _lock = self.lock(run)?;
        let folder = self.layout.run(run);
        let (journal, entries) = Journal::open(&folder.journal(), run, self.redactor.clone())?;
        let mut state = State::replay(&entries);
        self.launch.keep(&mut state.settings);
        if !can_go_on(&state) {
            return Ok(state);
        }
        preflight::health(&self.root, &self.signals)?;
        admit()?;
        let mut engine = self.engine(self.context(run)?, journal, state, watch);
        engine.write(
            None,
            Record::Resumed {
                pid: std::process::id(),
            },
        )?;
        engine.work()?;
        Ok(engine.state)
    }

    fn engine<'w>(
        &'w self,
        context: Context,
        journal: Journal,
        state: State,
        watch: Watch<'w>,
    ) -> Engine<'w> {
        Engine {
            context: Arc::new(context),
            journal,
            state,
            output: self.output,
            events: None,
            signals: self.signals.clone(),
            watch: Some(watch),
        }
    }

    /// Takes back a halt that was asked for before this verb began.
    pub(crate) fn forget_old_halts(&self) {
        halt::clear(&self.layout.halt_file());
    }
}

/// Whether a run can be gone on with by a process alone: it was stopped, or it found no place.
pub(crate) fn can_go_on(state: &State) -> bool {
    match state.status {
        None | Some(RunStatus::Halted | RunStatus::Interrupted) => true,
        Some(_) => has_no_place(state) || waits_with_work(state) || waits_for_its_end(state),
    }
}

/// Whether all that is left is the end: the review gave no answer, or the target could not take the
/// work. Asked again it may; the work is not done again for it.
fn waits_for_its_end(state: &State) -> bool {
    let unanswered = state
        .reviews
        .last()
        .is_some_and(|r| r.verdict == ReviewVerdict::Inconclusive && r.head == state.head);
    state.status == Some(RunStatus::NeedsPerson)
        && state.landed.is_none()
        && !state.integrated.is_empty()
        && (unanswered || state.not_landed.is_some())
}

/// Whether a plan's run ended with work that is not on the target yet, and something left to do that
/// a person may have made possible meanwhile.
fn waits_with_work(state: &State) -> bool {
    state.settings.pause_at_failure
        && state.landed.is_none()
        && !state.integrated.is_empty()
        && state.jobs.iter().any(Job::can_be_reopened)
}

/// Whether nothing was tried because no server or no slot could be had.
pub(crate) fn has_no_place(state: &State) -> bool {
    state.status == Some(RunStatus::Failed)
        && matches!(
            outcome::exit(state, RunStatus::Failed),
            baton_protocol::Exit::Unavailable | baton_protocol::Exit::TryAgain
        )
}
