//! `event/1`: one line of an event stream or a journal.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::TaskId;
use crate::schema::{SchemaTag, document};
use crate::time::Timestamp;

/// `event/1`: something happened. The keys besides these depend on `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Event {
    /// Always `event/1`.
    pub schema: SchemaTag<Self>,
    /// When.
    pub at: Timestamp,
    /// The run it belongs to, or null.
    #[serde(default)]
    pub run: Option<String>,
    /// The task it belongs to, or null.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// What: run, round, task, queue, request, token-rate, tool, check, merge, review, budget, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The rest.
    #[serde(flatten)]
    pub data: Map<String, Value>,
}

document!(Event, "event/1");
