//! `reservation/1`: what slot-lock answers.

use serde::{Deserialize, Serialize};

use crate::schema::{SchemaTag, document};
use crate::time::Timestamp;

/// Who is served first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SlotClass {
    /// A person waits for the answer.
    Interactive,
    /// A worker of a run.
    #[default]
    Worker,
    /// Nobody waits.
    Batch,
}

/// The process that holds (or last held) a slot. Only for display: the kernel's lock is the truth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Its start time in clock ticks since boot, with the boot id: `BOOT_ID:TICKS`.
    pub start: String,
    /// The host it runs on.
    pub host: String,
    /// The command, shortened.
    pub command: String,
}

/// `reservation/1`: a slot that was acquired, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reservation {
    /// Always `reservation/1`.
    pub schema: SchemaTag<Self>,
    /// Whether a slot was acquired.
    pub acquired: bool,
    /// The provider's id.
    pub provider: Option<String>,
    /// The model that was chosen.
    pub model: Option<String>,
    /// The provider's base URL.
    pub base_url: Option<String>,
    /// The slot's index, from 0.
    pub slot: Option<u32>,
    /// How many slots there are.
    pub slots: Option<u32>,
    /// The class it was asked for with.
    pub class: SlotClass,
    /// The tokens reserved in the pool.
    pub tokens: Option<u64>,
    /// Who holds it.
    pub holder: Option<Holder>,
    /// The secret that renews or releases it.
    pub token: Option<String>,
    /// How long it took to get, in milliseconds.
    pub waited_ms: u64,
    /// When it was acquired.
    pub acquired_at: Option<Timestamp>,
    /// When a keeper gives it back (null: never while the holder lives).
    pub expires_at: Option<Timestamp>,
    /// The folder of the slot files.
    pub directory: Option<String>,
    /// Why it was not acquired, or what the reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

document!(Reservation, "reservation/1");
