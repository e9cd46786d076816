//! `trace/1`: a run in numbers. Counts and durations only: no prompt, no path, no file's content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::handoff::Usage;
use crate::ids::TaskId;
use crate::schema::{SchemaTag, document};

/// One attempt in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceTask {
    /// The task.
    pub task: TaskId,
    /// Who did it.
    pub role: String,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Where.
    pub provider: Option<String>,
    /// By which model.
    pub model: Option<String>,
    /// Which placement of the attempt, from 1.
    #[serde(default = "first")]
    pub placement: u32,
    /// The launcher that placed its worker; null when it ran on this host.
    #[serde(default)]
    pub launcher: Option<String>,
    /// The host its worker was on, as it calls itself; null where that is not known.
    #[serde(default)]
    pub host: Option<String>,
    /// Whether the hand-off held; null when it was not judged.
    pub passed: Option<bool>,
    /// How long the attempt took, in milliseconds.
    pub elapsed_ms: u64,
    /// Events by type.
    pub events: BTreeMap<String, u64>,
    /// Calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Failed requests by class.
    pub errors: BTreeMap<String, u64>,
    /// What it cost.
    pub usage: Usage,
}

const fn first() -> u32 {
    1
}

/// `trace/1`: a run in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trace {
    /// Always `trace/1`.
    pub schema: SchemaTag<Self>,
    /// The run.
    pub run: String,
    /// Rounds of work.
    pub rounds: u32,
    /// The attempts, in the order their tasks were added.
    pub tasks: Vec<TraceTask>,
    /// Attempts that were left out because there are too many.
    pub left_out: u64,
    /// Everything together; `wall_ms` is the whole run.
    pub totals: Usage,
}

document!(Trace, "trace/1");
