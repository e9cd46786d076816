//! `run/1`: the final report of a run.

use serde::{Deserialize, Serialize};

use crate::handoff::{Handoff, Usage};
use crate::ids::TaskId;
use crate::schema::{SchemaTag, document};
use crate::verdict::Verdict;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
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
    /// The review gave no verdict or did not end in approval.
    NeedsPerson,
}

/// How the integration of a task went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeState {
    /// On the run's branch.
    Integrated,
    /// It conflicts with what is there.
    Conflict,
    /// Its checks failed after the rebase.
    CheckFailed,
    /// Not tried, because the hand-off did not pass.
    NotTried,
    /// Nothing to integrate (a read-only task).
    Nothing,
}

/// The integration of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MergeOutcome {
    /// How it went.
    pub state: MergeState,
    /// The commit on the run's branch, or null.
    pub commit: Option<String>,
    /// The branch that still holds the work, or null.
    pub kept_branch: Option<String>,
    /// Why.
    pub detail: String,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunTask {
    /// The task.
    pub task: TaskId,
    /// Its attempt, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// Its hand-off, or null when the worker left none.
    pub handoff: Option<Handoff>,
    /// The verdict on it, or null.
    pub verdict: Option<Verdict>,
    /// Its integration, or null.
    pub merge: Option<MergeOutcome>,
}

/// One round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Round {
    /// Every attempt of the round, in the order it was started.
    pub tasks: Vec<RunTask>,
}

/// Something that is still missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gap {
    /// The task, or null.
    pub task: Option<TaskId>,
    /// What is missing and why.
    pub statement: String,
    /// The branch that holds the unmerged work, or null.
    pub branch: Option<String>,
}

/// What was allowed and what was spent; null = no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Budget {
    /// `advisory` or `stop-between-steps`.
    pub mode: String,
    /// Turns of models.
    pub max_steps: Option<u64>,
    /// Requests.
    pub max_requests: Option<u64>,
    /// Tokens, prompt and completion.
    pub max_tokens: Option<u64>,
    /// US dollars.
    pub max_cost_usd: Option<f64>,
    /// The whole run, in milliseconds.
    pub max_wall_ms: Option<u64>,
    /// Retries.
    pub max_retries: Option<u64>,
    /// What was spent in US dollars; null = a price is not known.
    pub spent_cost_usd: Option<f64>,
    /// Which limit was reached, or null.
    pub exceeded: Option<String>,
}

/// `run/1`: the final report of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// Always `run/1`.
    pub schema: SchemaTag<Self>,
    /// The run's name.
    pub run_id: String,
    /// The goal, as the user wrote it.
    pub goal: String,
    /// How it ended.
    pub status: RunStatus,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// What is missing.
    pub gaps: Vec<Gap>,
    /// A model's summary, or null; the facts above it count.
    pub summary: Option<String>,
    /// What it cost.
    pub usage: Usage,
    /// What was allowed.
    pub budget: Budget,
    /// The run's branch.
    pub branch: Option<String>,
    /// The last commit of that branch.
    pub head: Option<String>,
    /// What to do next, one command or sentence each.
    pub next: Vec<String>,
}

document!(Run, "run/1");
