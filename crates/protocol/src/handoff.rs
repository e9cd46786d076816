//! `handoff/1`: what a worker hands over. Facts come from worker-run, only words from the model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::TaskId;
use crate::schema::{SchemaTag, document};
use crate::time::Timestamp;

/// How the task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HandoffStatus {
    /// Done by the rule of the harness, not by the model's word.
    Completed,
    /// The worker cannot go on (a missing dependency, a question for a person).
    Blocked,
    /// It ended without being completed.
    Failed,
    /// A time limit passed.
    TimedOut,
    /// Ended by a signal.
    Interrupted,
    /// A budget of steps, requests or tokens is spent.
    BudgetSpent,
    /// The context does not hold it.
    Overflow,
    /// The model gave no usable answer.
    NoAnswer,
}

/// The state of the review, as the plugin's envelope has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReviewState {
    /// No review was asked for.
    #[default]
    NotRequested,
    /// Asked for, not there yet.
    Pending,
    /// Approved.
    Approved,
    /// Changes are requested.
    ChangesRequested,
    /// The reviewer could not judge.
    Blocked,
}

/// A statement with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fact {
    /// What is the case.
    pub statement: String,
    /// Paths (with optional `#anchor`) or https URLs that show it.
    pub evidence: Vec<String>,
}

/// How well an assumption is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AssumptionStatus {
    /// Shown to hold.
    Verified,
    /// Partly shown.
    PartiallyVerified,
    /// Not looked at.
    Unverified,
    /// Shown not to hold.
    NotSupported,
}

/// Something taken for granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Assumption {
    /// Its name.
    pub id: String,
    /// What is assumed.
    pub statement: String,
    /// How well it is supported.
    pub status: AssumptionStatus,
    /// What supports it.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// A file and a remark on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileNote {
    /// The path, relative to the repository root.
    pub path: String,
    /// What was read or changed there.
    #[serde(default)]
    pub scope: String,
}

/// The result of a command, as the report claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    /// It was not run.
    NotRun,
    /// It could not be run.
    Blocked,
    /// It failed.
    Fail,
    /// It passed.
    Pass,
}

/// A command and its result, as claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Claim {
    /// The command line.
    pub command: String,
    /// The claimed result.
    pub status: CommandStatus,
    /// What it printed, shortened, or a remark.
    #[serde(default)]
    pub result: String,
    /// Receipt ids or paths that show it.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// How bad a risk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RiskSeverity {
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// Critical.
    Critical,
}

/// Something that may go wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Risk {
    /// How bad.
    pub severity: RiskSeverity,
    /// What.
    pub statement: String,
}

/// The kind of an artefact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// A path inside the repository.
    File,
    /// An https URL.
    Url,
}

/// Something the work produced besides changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Artifact {
    /// File or URL.
    pub kind: ArtifactKind,
    /// Where it is.
    pub reference: String,
    /// What it is.
    #[serde(default)]
    pub description: String,
}

/// Who had a command run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReceiptSource {
    /// The harness, before the first request.
    Baseline,
    /// The harness, after a change or at the end.
    Check,
    /// The model, by a tool call.
    Model,
}

/// Proof of one command, written by worker-run and never by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Receipt {
    /// Its name inside the hand-off, for example `r3`.
    pub id: String,
    /// Who had it run.
    pub source: ReceiptSource,
    /// The command line as given to `bash`.
    pub command: String,
    /// Where it ran, relative to the work tree (`.` = its root).
    pub cwd: String,
    /// Its exit code; null when a signal or a limit ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether a time limit ended it.
    pub timed_out: bool,
    /// When it started.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The hash of the work tree before.
    pub tree_before: Option<String>,
    /// The hash of the work tree after.
    pub tree_after: Option<String>,
    /// SHA-256 of everything it printed.
    pub output_sha256: String,
    /// How much it printed, in bytes.
    pub output_bytes: u64,
}

/// What a task cost. Null = the server did not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Usage {
    /// Requests sent, retries included.
    pub requests: u32,
    /// Turns of the model.
    pub steps: u32,
    /// Tool calls executed.
    pub tool_calls: u32,
    /// Prompt tokens over all requests.
    pub prompt_tokens: Option<u64>,
    /// Of those, answered from the server's prefix cache.
    pub cached_tokens: Option<u64>,
    /// Tokens generated, thinking included.
    pub completion_tokens: Option<u64>,
    /// Of those, thinking.
    pub reasoning_tokens: Option<u64>,
    /// Waiting for a slot, and in the server's own queue, in milliseconds; null: it cannot be told.
    pub queue_ms: Option<u64>,
    /// From sending a request to its first token, without the queue where that is known, in
    /// milliseconds.
    pub prefill_ms: u64,
    /// From the first to the last token, in milliseconds.
    pub decode_ms: u64,
    /// Running tools and checks, in milliseconds.
    pub tools_ms: u64,
    /// The whole task, in milliseconds.
    pub wall_ms: u64,
}

/// What confined the commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Confinement {
    /// `full`, `partial` or `off`.
    pub mode: String,
    /// What the kernel enforces.
    pub covered: Vec<String>,
    /// What nothing enforces.
    pub not_covered: Vec<String>,
}

/// `handoff/1`: one worker's report with its envelope of facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Handoff {
    /// Always `handoff/1`.
    pub schema: SchemaTag<Self>,
    /// The task.
    pub task_id: TaskId,
    /// The role that did it.
    pub role: String,
    /// How it ended.
    pub status: HandoffStatus,
    /// Why it ended so, in words of the harness.
    #[serde(default)]
    pub status_reason: String,
    /// What came out of it (the model's words, or the answer of a read-only role).
    pub outcome: String,
    /// Statements with evidence.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Things taken for granted.
    #[serde(default)]
    pub assumptions: Vec<Assumption>,
    /// Files looked at.
    #[serde(default)]
    pub files_read: Vec<FileNote>,
    /// Files changed, by git against `base`.
    pub files_changed: Vec<FileNote>,
    /// Commands and their results.
    pub verification: Vec<Claim>,
    /// What may go wrong.
    #[serde(default)]
    pub risks: Vec<Risk>,
    /// What is left to do.
    #[serde(default)]
    pub follow_up: String,
    /// What it produced besides.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    /// The state of the review.
    #[serde(default)]
    pub review_state: ReviewState,
    /// The structured answer, following the task's `result_schema`, or null.
    #[serde(default)]
    pub result: Value,
    /// Proof of every command.
    #[serde(default)]
    pub receipts: Vec<Receipt>,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// What was repaired in the model's output, by kind.
    #[serde(default)]
    pub repairs: BTreeMap<String, u32>,
    /// What confined the commands.
    #[serde(default)]
    pub sandbox: Confinement,
    /// What the reader should know (stray changes undone, no slot held, …).
    #[serde(default)]
    pub notes: Vec<String>,
    /// The tree the work started from.
    #[serde(default)]
    pub base: Option<String>,
    /// The tree it ended with.
    #[serde(default)]
    pub tree: Option<String>,
    /// The provider that served it.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model that served it.
    #[serde(default)]
    pub model: Option<String>,
    /// When it started.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
}

document!(Handoff, "handoff/1");
