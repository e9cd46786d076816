//! `verdict/1`: what handoff-check answers.

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::schema::{SchemaTag, document};

/// The verdict; precedence fail, then unknown, then pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// The hand-off is true.
    Pass,
    /// It is false.
    Fail,
    /// It cannot be judged.
    Unknown,
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail,
    /// It cannot be told.
    Unknown,
    /// Worth a look; `--strict` makes it a failure.
    Warning,
    /// Not applicable here.
    Skipped,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// Its stable name, for example `scope`.
    pub id: String,
    /// Its result.
    pub verdict: CheckVerdict,
    /// Why.
    pub detail: String,
}

/// The claimed files against what git sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Changes {
    /// Claimed and changed.
    pub matched: Vec<String>,
    /// Changed, not claimed.
    pub unclaimed: Vec<String>,
    /// Claimed, not changed.
    pub missing: Vec<String>,
    /// Changed outside the task's scope.
    pub outside_scope: Vec<String>,
    /// Of the changes: committed since the base.
    pub committed: Vec<String>,
    /// Of the changes: in the index.
    pub staged: Vec<String>,
    /// Of the changes: in the work tree only.
    pub unstaged: Vec<String>,
    /// Of the changes: not tracked and not ignored.
    pub untracked: Vec<String>,
}

/// One verification command, run again by us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerificationResult {
    /// The command line.
    pub command: String,
    /// Its exit code; null: not run, or ended by a signal or a limit.
    pub exit_code: Option<i32>,
    /// How long it took; null: not run.
    pub duration_ms: Option<u64>,
    /// Whether it proved nothing (no test ran); null: cannot be told.
    pub vacuous: Option<bool>,
    /// Whether its form hides failures (`|| true`, `| tail`, `; echo`).
    pub masked: bool,
}

/// Where the work stands in the admission machine of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// Not judged yet.
    Candidate,
    /// The worker itself says it failed.
    WorkerFailed,
    /// The worker's own checks passed.
    WorkerPassed,
    /// Our checks failed.
    OrchestratorFailed,
    /// Needs a new receipt and a person.
    BlockedUnknown,
    /// Waits for a review.
    ReviewPending,
    /// The review asked for changes.
    ReviewRejected,
    /// Admitted.
    Admitted,
}

/// `verdict/1`: whether a hand-off is true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// Always `verdict/1`.
    pub schema: SchemaTag<Self>,
    /// The verdict as a boolean: pass = true, fail = false, unknown = null.
    pub pass: Option<bool>,
    /// The verdict.
    pub verdict: VerdictKind,
    /// The task, where the hand-off names one.
    pub task_id: Option<TaskId>,
    /// Every check.
    pub checks: Vec<Check>,
    /// The claimed files against git.
    pub changes: Changes,
    /// The commands, run again.
    pub verification: Vec<VerificationResult>,
    /// The state in the admission machine.
    pub admission: Admission,
}

document!(Verdict, "verdict/1");
