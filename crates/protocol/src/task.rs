//! `task/1`: one well-scoped piece of work. Written by people and planners, read strictly.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::TaskId;
use crate::object::objects_only;
use crate::schema::{SchemaTag, document};

/// What a role may do to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Only look.
    Read,
    /// Change what the scope allows.
    Write,
}

/// The network a task's commands may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None at all.
    None,
    /// Its own loopback, so that tests on localhost work.
    #[default]
    Loopback,
    /// Everything.
    All,
}

/// Which files a task owns and may look at, as globs relative to the repository root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Scope {
    /// What it may change. `[]`: nothing. Absent: not said, which handoff-check refuses to judge.
    pub write: Option<Vec<String>>,
    /// What is worth reading first. Absent: everything.
    pub read: Option<Vec<String>>,
}

/// A command that shows whether the work is done: exit code 0 is yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct VerifyCommand {
    /// A command line for `bash`.
    pub command: String,
    /// Its time limit in milliseconds; null: the tool's default.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// What the kernel lets the task's commands do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, remote = "Self")]
pub struct Sandbox {
    /// The network.
    pub network: Network,
    /// Folders outside the work tree that commands may write (absolute paths).
    pub caches: Vec<String>,
    /// Folders outside the work tree that commands may read (absolute paths).
    pub read: Vec<String>,
    /// Names of environment variables that commands may see besides the usual ones.
    pub env: Vec<String>,
}

/// The bounds of one task; null: the tool's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields, remote = "Self")]
pub struct Limits {
    /// Turns of the model.
    pub steps: Option<u32>,
    /// Requests to the server, retries included.
    pub requests: Option<u32>,
    /// Tokens over all requests, prompt and completion.
    pub total_tokens: Option<u64>,
    /// Tokens of one answer.
    pub output_tokens: Option<u64>,
    /// Tokens of thinking in one answer.
    pub thinking_tokens: Option<u64>,
    /// The whole task, waiting for a slot not counted, in milliseconds.
    pub wall_ms: Option<u64>,
    /// One request, in milliseconds.
    pub request_ms: Option<u64>,
    /// Silence inside a stream, in milliseconds.
    pub idle_ms: Option<u64>,
    /// Waiting for a slot, in milliseconds.
    pub queue_ms: Option<u64>,
    /// One command, in milliseconds.
    pub command_ms: Option<u64>,
}

objects_only! {
    Scope like r#"{"write": ["src/**"]}"#;
    VerifyCommand like r#"{"command": "cargo test"}"#;
    Sandbox like r#"{"network": "none"}"#;
    Limits like r#"{"steps": 20}"#;
}

impl Limits {
    /// The time for the whole task: half an hour where none is named.
    pub fn wall(&self) -> Duration {
        self.wall_ms
            .map_or(Duration::from_secs(30 * 60), Duration::from_millis)
    }
}

/// `task/1`: one well-scoped piece of work for one worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Always `task/1`.
    pub schema: SchemaTag<Self>,
    /// Its name.
    pub id: TaskId,
    /// The role that does it: planner, explore, implementer, reviewer, worker, or a configured one.
    #[serde(default = "default_role")]
    pub role: String,
    /// A short name for people.
    #[serde(default)]
    pub title: String,
    /// What to do, self-contained.
    pub prompt: String,
    /// The files it owns.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// What must hold.
    #[serde(default)]
    pub must: Vec<String>,
    /// What must not happen.
    #[serde(default)]
    pub must_not: Vec<String>,
    /// When it is done, for the model and the reviewer; code judges only `verify`.
    #[serde(default)]
    pub done_when: Vec<String>,
    /// The commands that judge it.
    #[serde(default)]
    pub verify: Vec<VerifyCommand>,
    /// What to ask instead when the first attempt fails.
    #[serde(default)]
    pub narrower: Option<String>,
    /// A JSON Schema for `handoff.result`, or null.
    #[serde(default)]
    pub result_schema: Option<Value>,
    /// What commands may do.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// The bounds.
    #[serde(default)]
    pub limits: Limits,
    /// The tree (or commit) the work starts from; null: the work tree as it is at the start.
    #[serde(default)]
    pub base: Option<String>,
    /// The round of the run, from 1.
    #[serde(default = "one")]
    pub round: u32,
    /// The attempt, from 1.
    #[serde(default = "one")]
    pub attempt: u32,
}

document!(Task, "task/1");

fn default_role() -> String {
    "implementer".into()
}

const fn one() -> u32 {
    1
}

impl Task {
    /// A task with the given id and prompt and every default.
    pub fn new(id: TaskId, prompt: impl Into<String>) -> Self {
        Self {
            schema: SchemaTag::new(),
            id,
            role: default_role(),
            title: String::new(),
            prompt: prompt.into(),
            scope: None,
            must: Vec::new(),
            must_not: Vec::new(),
            done_when: Vec::new(),
            verify: Vec::new(),
            narrower: None,
            result_schema: None,
            sandbox: Sandbox::default(),
            limits: Limits::default(),
            base: None,
            round: 1,
            attempt: 1,
        }
    }

    /// The globs it may change, or none when the task does not say.
    pub fn write_scope(&self) -> Option<&[String]> {
        self.scope.as_ref()?.write.as_deref()
    }
}
