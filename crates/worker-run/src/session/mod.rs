//! One task from its first request to its end. The shell around the pure rules.

mod act;
mod ask;
mod attempts;
mod bash;
pub(crate) mod calibration;
mod change_over;
mod checks;
mod compact;
mod conversation;
mod counting;
mod events;
mod ledger;
mod prepare;
mod report;
mod served;
mod turn;
mod turn_text;
mod waits;

use std::collections::VecDeque;
use std::thread::JoinHandle;
use std::time::Instant;

use baton_cli::Output;
use baton_model_server::Client;
use baton_process::Cancel;
use baton_prompt::Role;
use baton_protocol::{Exit, HandoffStatus, Task};
use baton_repo::ObjectId;

use crate::cli::{CheckEvery, ModeFlag};
use crate::flag::Flag;
use crate::harness::budget::{Bounds, Spent, reached};
use crate::harness::guard::Guard;
use crate::harness::stop::{Colour, Facts, Verdict, judge};
use crate::harness::way::Way;
use crate::provider::Provider;
use crate::tools::edits::Seen;
use crate::tools::shell::Shell;
use crate::tools::worktree::{Owner, WorkTree};

pub(crate) use checks::Checks;
pub(crate) use compact::Window;
pub(crate) use conversation::Conversation;
pub(crate) use events::Events;
pub(crate) use ledger::Ledger;
pub(crate) use prepare::{Pack, first};
pub(crate) use report::handoff;
pub(crate) use served::{Served, look, parameters_in_name};
pub(crate) use turn::Patience;

/// What is to be done, by whom, within which bounds.
#[derive(Debug)]
pub(crate) struct Job {
    /// The task.
    pub(crate) task: Task,
    /// What it is for.
    pub(crate) role: Role,
    /// How the model acts.
    pub(crate) mode: ModeFlag,
    /// Its limits.
    pub(crate) bounds: Bounds,
    /// Who is asked.
    pub(crate) provider: Provider,
    /// A configured system text.
    pub(crate) system: Option<String>,
    /// What the first message shows.
    pub(crate) pack: Pack,
    /// When checks run.
    pub(crate) check_every: CheckEvery,
    /// Where estimates are compared with what the server counts.
    pub(crate) calibration: std::path::PathBuf,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    /// The hand-off's status.
    pub(crate) status: HandoffStatus,
    /// Why, in words of the harness.
    pub(crate) reason: String,
    /// The exit code, where the status alone does not tell.
    pub(crate) exit: Option<Exit>,
    /// The model got stuck: another way of working may still help.
    pub(crate) stuck: bool,
}

impl End {
    pub(crate) fn new(status: HandoffStatus, reason: impl Into<String>) -> Self {
        Self {
            status,
            reason: reason.into(),
            exit: None,
            stuck: false,
        }
    }

    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self::new(HandoffStatus::Failed, reason)
    }

    /// The same, because of how the model works and not of the task or the server.
    #[must_use]
    pub(crate) fn stuck(mut self) -> Self {
        self.stuck = true;
        self
    }

    #[must_use]
    pub(crate) fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = Some(exit);
        self
    }

    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        match self.status {
            HandoffStatus::Completed => Exit::Yes,
            HandoffStatus::TimedOut => Exit::TimeLimit,
            HandoffStatus::BudgetSpent => Exit::Unknown,
            HandoffStatus::Interrupted => Exit::Signal(2),
            HandoffStatus::Blocked
            | HandoffStatus::Failed
            | HandoffStatus::Overflow
            | HandoffStatus::NoAnswer => Exit::No,
        }
    }
}

/// A task under way.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) job: &'a Job,
    pub(crate) output: &'a Output,
    pub(crate) cancel: &'a Cancel,
    pub(crate) client: Client,
    pub(crate) tree: WorkTree,
    pub(crate) shell: Shell,
    pub(crate) checks: Checks,
    pub(crate) talk: Conversation,
    pub(crate) guard: Guard,
    pub(crate) seen: Seen,
    pub(crate) events: Events,
    pub(crate) ledger: Ledger,
    pub(crate) started: Instant,
    /// All files of the work tree, for lists and hints.
    pub(crate) known: Vec<String>,
    /// How often the model had to be reminded.
    pub(crate) patience: Patience,
    /// Whether the newest answer equals the one before.
    pub(crate) repeated: bool,
    /// Whether the files hold an attempt of the model.
    pub(crate) seen_attempt: bool,
    /// What is known of the window.
    pub(crate) window: Window,
    /// Shows that a request is in flight.
    pub(crate) flag: Flag,
    /// The server is being asked about itself.
    pub(crate) looking: Option<JoinHandle<Served>>,
    /// What it told.
    pub(crate) served: Served,
    /// How fast it read prompts lately, in tokens per second.
    pub(crate) prefill_rate: Option<u64>,
    /// What the server counted, in order; none where it failed.
    pub(crate) counts: Vec<Option<u64>>,
    /// The same of a run that is replayed.
    pub(crate) counts_to_replay: VecDeque<Option<u64>>,
    /// The way to begin with; given beforehand where a run is replayed.
    pub(crate) chosen: Option<Way>,
    /// How the model acts now.
    pub(crate) way: ModeFlag,
    /// Whether it may change over to the other way.
    pub(crate) may_change_over: bool,
    /// What ended the first way of working, after changing over.
    pub(crate) first_end: Option<End>,
    /// The work tree as it was found after the last check, until something else happens.
    pub(crate) last_tree: Option<ObjectId>,
    /// Tokens of results that no request has carried yet.
    pub(crate) unsent: u64,
    /// How many of the shown files the task may change.
    pub(crate) own_files: usize,
    /// The tree at the start; none for reading roles.
    pub(crate) start: Option<ObjectId>,
}

/// How many tokens a text has, estimated.
pub(crate) fn tokens(text: &str) -> u64 {
    baton_prompt::estimated_tokens(text)
}

impl<'a> Session<'a> {
    /// A task about to begin.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a thing of its own, made by the caller"
    )]
    pub(crate) fn new(
        job: &'a Job,
        output: &'a Output,
        cancel: &'a Cancel,
        client: Client,
        tree: WorkTree,
        shell: Shell,
        events: Events,
        ledger: Ledger,
    ) -> Self {
        Self {
            client,
            checks: Checks::new(job.task.verify.clone()),
            talk: Conversation::default(),
            guard: Guard::default(),
            seen: Seen::default(),
            known: Vec::new(),
            patience: Patience::default(),
            repeated: false,
            seen_attempt: false,
            window: Window::default(),
            flag: Flag::default(),
            looking: None,
            served: Served::default(),
            prefill_rate: None,
            chosen: None,
            counts: Vec::new(),
            counts_to_replay: VecDeque::new(),
            way: job.mode,
            may_change_over: false,
            first_end: None,
            own_files: 0,
            unsent: 0,
            last_tree: None,
            start: None,
            job,
            output,
            cancel,
            tree,
            shell,
            events,
            ledger,
            started: Instant::now(),
        }
    }
}

impl Session<'_> {
    /// Does the task. There is always an end.
    pub(crate) fn run(&mut self) -> End {
        let end = match self.prepare() {
            Ok(()) => loop {
                if let Err(end) = self.turn()
                    && !self.changes_over(&end)
                {
                    break self.both_ends(end);
                }
            },
            Err(end) => end,
        };
        self.events.emit(
            self.output,
            "end",
            serde_json::json!({"status": end.status, "reason": end.reason}),
        );
        self.output.clear_progress();
        self.remember_way();
        end
    }

    /// Ends the task if a signal came or a limit is reached.
    pub(crate) fn within_bounds(&self) -> Result<(), End> {
        if self.cancel.is_cancelled() {
            return Err(self.interrupted());
        }
        let spent = Spent {
            steps: self.ledger.usage.steps,
            requests: self.ledger.usage.requests,
            tokens: self.ledger.tokens(),
            wall: self.started.elapsed(),
        };
        match reached(&self.job.bounds, spent) {
            Some((status, reason)) => Err(End::new(status, reason)),
            None => Ok(()),
        }
    }

    pub(crate) fn interrupted(&self) -> End {
        let signal = self.cancel.signal().unwrap_or(2);
        End::new(
            HandoffStatus::Interrupted,
            format!("ended by signal {signal}"),
        )
        .with_exit(Exit::Signal(u8::try_from(signal).unwrap_or(2)))
    }

    /// Runs the checks if the tree changed since they ran, and judges by the stop rule. The text
    /// is what the model should hear.
    pub(crate) fn judge(&mut self, said_done: bool) -> Result<Verdict, End> {
        let now = self.tree.snapshot().map_err(End::failed)?;
        self.run_checks(&now)?;
        let changed = self.tree.changed(&now).map_err(End::failed)?;
        let names = |owner: Owner| -> Vec<String> {
            changed
                .iter()
                .filter(|path| self.tree.owner(path) == owner)
                .map(ToString::to_string)
                .collect()
        };
        let all: Vec<String> = changed.iter().map(ToString::to_string).collect();
        let colours: Vec<Colour> = self.checks.now().iter().map(|run| run.colour).collect();
        Ok(judge(&Facts {
            start: self.checks.start(),
            now: &colours,
            changed: &all,
            stray: &names(Owner::Nobody),
            protected: &names(Owner::Checks),
            said_done,
        }))
    }
}
