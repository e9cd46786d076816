//! `status/1`: how far the runs of a repository are. Every row is a process and a log.

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::schema::{SchemaTag, document};
use crate::time::Timestamp;

/// What a run does or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process works on it now.
    Working,
    /// No process works on it and it has no end: it can be resumed.
    Killed,
    /// Its journal cannot be read.
    Unreadable,
    /// Every task integrated and checked.
    Completed,
    /// Ended with gaps.
    Incomplete,
    /// Nothing could be done.
    Failed,
    /// Stopped by a person.
    Halted,
    /// Ended by a signal.
    Interrupted,
    /// A budget is spent.
    BudgetSpent,
    /// A person must decide.
    NeedsPerson,
    /// A state of a later version.
    #[serde(other)]
    Unknown,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Its turn has not come.
    Waiting,
    /// Its second attempt has not started.
    Retrying,
    /// Its work tree is made, or it waits for a place.
    Preparing,
    /// Its worker runs.
    Running,
    /// Its worker ended; its hand-off is looked at.
    Ended,
    /// Its hand-off holds.
    Checked,
    /// Its hand-off does not hold.
    Refused,
    /// Committed; it waits to be integrated.
    Committed,
    /// On the run's branch.
    Integrated,
    /// Done without a change.
    Done,
    /// It conflicts with what was integrated before it.
    Conflict,
    /// Its checks fail on the run's branch.
    BrokeChecks,
    /// Given up.
    Failed,
    /// A state of a later version.
    #[serde(other)]
    Unknown,
}

/// One task of a run, with its process while it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusTask {
    /// The task.
    pub task: TaskId,
    /// Who does it.
    pub role: String,
    /// How far it is.
    pub state: TaskState,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The process of its worker; null when none runs.
    pub pid: Option<u32>,
    /// Where it is (or was) done.
    pub provider: Option<String>,
    /// By which model.
    pub model: Option<String>,
    /// Which placement of the attempt, from 1.
    #[serde(default = "first")]
    pub placement: u32,
    /// The launcher that placed its worker; null when it runs (or ran) on this host.
    #[serde(default)]
    pub launcher: Option<String>,
    /// The host its worker is (or was) on, as it calls itself; null while that is not known.
    #[serde(default)]
    pub host: Option<String>,
    /// The slot it holds, from 0; null when it holds none.
    pub slot: Option<u32>,
    /// How many slots there are.
    pub slots: Option<u32>,
    /// Requests sent.
    pub step: u64,
    /// The rate of the last answer; null before the first.
    pub tokens_per_s: Option<f64>,
    /// How full the context was at the last request.
    pub context_percent: Option<u64>,
    /// The type of its last event, while it runs.
    pub doing: Option<String>,
    /// How long it has said nothing, in milliseconds, while it runs.
    pub silent_ms: Option<u64>,
    /// How long its attempt has taken, in milliseconds; null before it started.
    pub elapsed_ms: Option<u64>,
    /// The folder with all that its stages read and wrote.
    pub folder: String,
}

const fn first() -> u32 {
    1
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusRun {
    /// Its name.
    pub run: String,
    /// What it does or how it ended.
    pub state: RunState,
    /// What is wrong with it, in words, or null.
    pub detail: Option<String>,
    /// The command that goes on with it, or null.
    pub next: Option<String>,
    /// What was asked for.
    pub goal: String,
    /// The round it is in, from 1.
    pub round: u32,
    /// When it was started.
    pub started_at: Option<Timestamp>,
    /// How long it took or has taken, in milliseconds.
    pub elapsed_ms: u64,
    /// Its tasks, those of planners and reviewers among them.
    pub tasks: Vec<StatusTask>,
    /// The run's folder.
    pub folder: String,
    /// Its report, written at its end.
    pub report: String,
}

/// The long-lived goal of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusGoal {
    /// What is to be reached.
    pub objective: String,
    /// How it stands: `active`, `paused`, `blocked`, `spent`, `done`, or `unreadable`.
    pub state: String,
    /// Why it stands so, or null.
    pub reason: Option<String>,
    /// How often it went on by itself.
    pub continuations: u32,
    /// Who works on it now, for people; null when nobody does.
    #[serde(rename = "loop")]
    pub works: Option<String>,
}

/// `status/1`: the runs of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Status {
    /// Always `status/1`.
    pub schema: SchemaTag<Self>,
    /// When it was looked at.
    pub checked_at: Timestamp,
    /// The long-lived goal; null when there is none.
    pub goal: Option<StatusGoal>,
    /// The runs, the oldest first.
    pub runs: Vec<StatusRun>,
}

document!(Status, "status/1");
