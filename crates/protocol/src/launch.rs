//! A task that a launcher brings to another place: `launch/1` goes there, `launched/1` and `landed/1`
//! come back. How they travel is `frame.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reservation::{Reservation, SlotClass};
use crate::schema::{SchemaTag, document};
use crate::task::Task;

/// The files a task is done in, where they are not there already: a git bundle brings them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchTree {
    /// The commit whose files the task starts from.
    pub commit: String,
    /// What HEAD is there, where `commit` only records uncommitted files on top of it.
    #[serde(default)]
    pub head: Option<String>,
    /// A commit with files that git does not track and the task needs, or null.
    #[serde(default)]
    pub extra: Option<String>,
    /// What tells this repository from others, so that its history need not travel twice.
    pub repository: String,
}

/// `launch/1`: a task, and all that its worker needs to know at another place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launch {
    /// Always `launch/1`.
    pub schema: SchemaTag<Self>,
    /// Names this placement of this attempt; every frame of the answer carries it.
    pub token: String,
    /// The run it belongs to, or null.
    #[serde(default)]
    pub run: Option<String>,
    /// The task.
    pub task: Task,
    /// The `health/1` or `estimate/1` document to choose a server from, or null.
    #[serde(default)]
    pub candidates: Option<Value>,
    /// Whether a slot is held for it already; else one is taken where it runs.
    #[serde(default)]
    pub slot_held: bool,
    /// That slot, where it is not in a file beside this one.
    #[serde(default)]
    pub reservation: Option<Reservation>,
    /// How long it may wait for a slot, in milliseconds.
    #[serde(default)]
    pub queue_ms: Option<u64>,
    /// Who is served first.
    #[serde(default)]
    pub class: SlotClass,
    /// Whether the worker's events are wanted.
    #[serde(default)]
    pub events: bool,
    /// The configuration, as the text of a file; no key stands in it.
    #[serde(default)]
    pub config: String,
    /// Files that the configuration names, by name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Commands that are run in the fresh tree first, with network.
    #[serde(default)]
    pub setup: Vec<String>,
    /// The files to work on, where they travel; null where they are there already.
    #[serde(default)]
    pub tree: Option<LaunchTree>,
    /// The folder to work in, where it is there already; null where the files travel.
    #[serde(default)]
    pub folder: Option<String>,
    /// Whether the end of stdin ends the work, and so does silence there.
    #[serde(default)]
    pub ends_with_stdin: bool,
    /// How long either side may be silent before the other gives it up, in milliseconds.
    #[serde(default = "silence_ms")]
    pub silence_ms: u64,
}

const fn silence_ms() -> u64 {
    120_000
}

document!(Launch, "launch/1");

/// `launched/1`: a launcher has brought a task to its place, and work begins there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launched {
    /// Always `launched/1`.
    pub schema: SchemaTag<Self>,
    /// The placement.
    pub token: String,
    /// The host's name, as it calls itself.
    pub host: String,
    /// The process there.
    pub pid: u32,
    /// The version of the tool there.
    pub version: String,
    /// Commits of the repository that are there from earlier tasks.
    #[serde(default)]
    pub have: Vec<String>,
}

document!(Launched, "launched/1");

/// `landed/1`: the work at another place is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Landed {
    /// Always `landed/1`.
    pub schema: SchemaTag<Self>,
    /// The placement.
    pub token: String,
    /// How the worker ended; 125 to 127 when it could not be started.
    pub exit: i32,
    /// Whether it left a hand-off.
    pub handoff: bool,
    /// The commit that holds the files as they are now; null when they are as they were.
    #[serde(default)]
    pub commit: Option<String>,
    /// The tree of that commit.
    #[serde(default)]
    pub tree: Option<String>,
    /// Why there is no hand-off, in words, or null.
    #[serde(default)]
    pub error: Option<String>,
}

document!(Landed, "landed/1");
