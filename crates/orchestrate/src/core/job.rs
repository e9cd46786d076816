//! One job: a task document, its attempts, and how far they got.

use std::collections::BTreeSet;

use baton_protocol::{HandoffStatus, MergeState, Task, TaskId, Timestamp, Usage};
use serde::{Deserialize, Serialize};

use super::record::JobKind;

/// Why a task was given up; the next round looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// The work failed, also after the narrower retry.
    Work,
    /// A task it depends on failed.
    Dependency,
    /// The environment or a question to a person stands in the way; asking again cannot help.
    Blocked,
    /// No provider could be had, or every one of them lost the worker.
    Place,
}

/// A worker that was (or is about to be) started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start {
    pub at: Timestamp,
    pub base: String,
    pub worktree: Option<String>,
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct End {
    pub at: Timestamp,
    pub exit: Option<i32>,
    pub status: Option<HandoffStatus>,
    pub reason: String,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub usage: Usage,
    pub cost_usd: Option<f64>,
    pub open: Vec<String>,
    /// The place was lost: nothing the worker may still do counts.
    pub lost: bool,
}

/// Where a launcher has put a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub launcher: String,
    /// The host, once it has reported.
    pub host: Option<String>,
}

/// What handoff-check said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub pass: Option<bool>,
    pub reasons: Vec<String>,
}

/// What the host committed for an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Commit {
    /// There was nothing to commit.
    Nothing,
    /// This commit.
    Made(String),
}

/// One attempt at a task. A placement that failed is forgotten but for its count and its place.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Attempt {
    pub number: u32,
    /// Which placement of the attempt this is; it names the attempt's folder.
    pub placement: u32,
    /// Places that failed it. A placement that we ended ourselves is not counted.
    pub lost: u32,
    pub avoid: BTreeSet<String>,
    pub because: Option<String>,
    pub start: Option<Start>,
    /// None: its worker runs on this host.
    pub placed: Option<Placed>,
    pub end: Option<End>,
    pub judged: Option<Judgement>,
    pub commit: Option<Commit>,
    pub kept: Option<String>,
}

/// What became of a job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fate {
    /// Not settled yet.
    Open,
    /// On the run's branch.
    Integrated { commit: String },
    /// Done without a change.
    Done { detail: String },
    /// It could not be integrated; its branch is kept.
    NotIntegrated {
        state: MergeState,
        detail: String,
        branch: Option<String>,
    },
    /// Given up.
    GivenUp { why: Why, reason: String },
}

impl Fate {
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    /// Whether jobs that depend on this one may start.
    pub(crate) const fn is_good(&self) -> bool {
        matches!(self, Self::Integrated { .. } | Self::Done { .. })
    }
}

/// Where a job stands.
#[derive(Debug, PartialEq)]
pub(crate) enum Phase<'a> {
    /// The next attempt can start.
    Ready,
    /// A worker was started and its end is not recorded.
    Running,
    /// The worker ended.
    Ended(&'a End),
    /// handoff-check passed it.
    Passed,
    /// handoff-check did not pass it.
    Refused(&'a Judgement),
    /// The host committed it (null: nothing to commit).
    Committed(Option<&'a str>),
    /// Nothing is left to do.
    Settled,
}

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Job {
    pub kind: JobKind,
    pub round: u32,
    pub task: Task,
    pub attempts: Vec<Attempt>,
    pub fate: Fate,
}

impl Job {
    pub(crate) fn new(kind: JobKind, round: u32, task: Task) -> Self {
        let first = Attempt {
            number: 1,
            placement: 1,
            ..Attempt::default()
        };
        Self {
            kind,
            round,
            task,
            attempts: vec![first],
            fate: Fate::Open,
        }
    }

    pub(crate) fn id(&self) -> &TaskId {
        &self.task.id
    }

    /// The attempt that counts now.
    pub(crate) fn attempt(&self) -> &Attempt {
        // `new` makes the first attempt and nothing removes one.
        &self.attempts[self.attempts.len() - 1]
    }

    pub(crate) fn attempt_mut(&mut self) -> &mut Attempt {
        let last = self.attempts.len() - 1;
        &mut self.attempts[last]
    }

    /// The placement is over and the attempt can be placed anew.
    pub(crate) fn forget_placement(&mut self) {
        let attempt = self.attempt_mut();
        attempt.placement += 1;
        attempt.start = None;
        attempt.placed = None;
        attempt.end = None;
    }

    pub(crate) fn phase(&self) -> Phase<'_> {
        if !self.fate.is_open() {
            return Phase::Settled;
        }
        let attempt = self.attempt();
        if let Some(commit) = &attempt.commit {
            return match commit {
                Commit::Nothing => Phase::Committed(None),
                Commit::Made(commit) => Phase::Committed(Some(commit)),
            };
        }
        if let Some(judged) = &attempt.judged {
            return if judged.pass == Some(true) {
                Phase::Passed
            } else {
                Phase::Refused(judged)
            };
        }
        match (&attempt.end, &attempt.start) {
            (Some(end), _) => Phase::Ended(end),
            (None, Some(_)) => Phase::Running,
            (None, None) => Phase::Ready,
        }
    }

    /// The globs it may change; a job that names none may change nothing.
    pub(crate) fn write_scope(&self) -> &[String] {
        self.task.write_scope().unwrap_or(&[])
    }
}
