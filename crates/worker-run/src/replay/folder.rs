//! What lies in a run directory.
//!
//! ```text
//! run.json               what was to be done, how, and how it ended
//! events.jsonl           the events
//! exchanges/0001.request.json   a request as it was sent, without keys
//! exchanges/0001.reply   the body of its response as it came, without keys
//! exchanges/0001.json    its status, or why it failed
//! commands/0001.json     a command: its receipt, what the model was shown, what it changed
//! commands/0001/3        the content of the third file it changed
//! output/r1.txt          the whole output of a command
//! calibration.jsonl      what was known of the model from earlier tasks
//! handoff.json           the hand-off
//! ```

use std::path::{Path, PathBuf};

use baton_protocol::{Access, HandoffStatus, Receipt, Task};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fault::RecordedFault;
use crate::harness::way::Way;
use crate::session::Served;

/// `run.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedRun {
    pub(crate) schema: String,
    /// The work tree, as the model was told.
    pub(crate) root: PathBuf,
    /// The folder of the whole outputs, as the model was told.
    pub(crate) outputs: PathBuf,
    /// The tree the work began from.
    pub(crate) base: String,
    pub(crate) task: Task,
    pub(crate) access: Access,
    pub(crate) mode: String,
    pub(crate) pack: String,
    pub(crate) check_every: String,
    pub(crate) system: Option<String>,
    pub(crate) provider: String,
    pub(crate) model: Option<String>,
    pub(crate) context: Option<u64>,
    pub(crate) request: Map<String, Value>,
    /// How the configuration has the model act, by the flag's word.
    #[serde(default)]
    pub(crate) provider_mode: Option<String>,
    #[serde(default)]
    pub(crate) calls_tools: Option<bool>,
    /// What the server told of itself.
    pub(crate) served: Served,
    /// How the model was to act; none if it was killed before that.
    #[serde(default)]
    pub(crate) way: Option<Way>,
    /// What the server counted before requests near the window.
    #[serde(default)]
    pub(crate) counts: Vec<Option<u64>>,
    /// How it ended; none if it was killed.
    pub(crate) end: Option<RecordedEnd>,
}

impl RecordedRun {
    /// The only form there is so far.
    pub(crate) const SCHEMA: &'static str = "recording/1";
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedEnd {
    pub(crate) status: HandoffStatus,
    pub(crate) reason: String,
    /// The work tree at the end.
    pub(crate) tree: Option<String>,
}

/// The head of an exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RecordedReply {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) error: Option<RecordedFault>,
}

/// A command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedCommand {
    /// The exchange whose answer asked for it; 0: before the first.
    pub(crate) after: usize,
    pub(crate) receipt: Receipt,
    /// What it printed, as a terminal would show it.
    pub(crate) text: String,
    pub(crate) cancelled: bool,
    pub(crate) killed: usize,
    /// Where its shell stood at the end.
    pub(crate) place: Option<PathBuf>,
    pub(crate) changes: Vec<RecordedChange>,
}

/// One file a command changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordedChange {
    pub(crate) path: String,
    /// `file`, `executable`, `link` or `gone`.
    pub(crate) kind: String,
}

/// The paths in a run directory.
#[derive(Debug, Clone)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn run(&self) -> PathBuf {
        self.0.join("run.json")
    }

    pub(crate) fn request(&self, n: usize) -> PathBuf {
        self.0.join(format!("exchanges/{n:04}.request.json"))
    }

    pub(crate) fn body(&self, n: usize) -> PathBuf {
        self.0.join(format!("exchanges/{n:04}.reply"))
    }

    pub(crate) fn reply(&self, n: usize) -> PathBuf {
        self.0.join(format!("exchanges/{n:04}.json"))
    }

    pub(crate) fn command(&self, n: usize) -> PathBuf {
        self.0.join(format!("commands/{n:04}.json"))
    }

    pub(crate) fn content(&self, n: usize, file: usize) -> PathBuf {
        self.0.join(format!("commands/{n:04}/{file}"))
    }

    pub(crate) fn calibration(&self) -> PathBuf {
        self.0.join("calibration.jsonl")
    }

    pub(crate) fn outputs(&self) -> PathBuf {
        self.0.join("output")
    }

    /// How many exchanges were recorded.
    pub(crate) fn exchanges(&self) -> usize {
        (1..usize::MAX)
            .take_while(|n| self.request(*n).exists() && self.reply(*n).exists())
            .count()
    }
}

/// Reads a JSON file; the error names it.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
