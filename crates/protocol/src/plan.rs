//! `plan/1`: what a planner answers and people may write. Read strictly.

use serde::{Deserialize, Serialize};

use crate::ids::TaskId;
use crate::schema::{SchemaTag, document};
use crate::task::Task;

/// How much working side by side is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ParallelismValue {
    /// Nothing.
    None,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// The eight facts that decide whether to plan at all; null = not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Gate {
    /// Subtasks that need nothing from each other.
    pub independent_subtasks: Option<u32>,
    /// Stages that need the one before.
    pub dependent_stages: Option<u32>,
    /// Files or modules that change.
    pub files_modules: Option<u32>,
    /// Whether somebody else must look at it.
    pub independent_review: Option<bool>,
    /// Whether it acts on the world outside the repository.
    pub external_side_effects: Option<bool>,
    /// Whether the parts share state that changes.
    pub shared_mutable_state: Option<bool>,
    /// Whether security or compliance is at stake.
    pub security_compliance_risk: Option<bool>,
    /// What working side by side is worth.
    pub expected_parallelism_value: Option<ParallelismValue>,
}

/// `plan/1`: a goal cut into tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Always `plan/1`.
    pub schema: SchemaTag<Self>,
    /// The goal, as the user wrote it.
    pub goal: String,
    /// The eight facts.
    #[serde(default)]
    pub gate: Gate,
    /// Answer directly with a read-only worker; no tasks.
    #[serde(default)]
    pub direct: bool,
    /// The tasks.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// Pairs `[a, b]`: b starts after a is integrated.
    #[serde(default)]
    pub depends: Vec<(TaskId, TaskId)>,
    /// What the reader should know.
    #[serde(default)]
    pub notes: String,
}

document!(Plan, "plan/1");
