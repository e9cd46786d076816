//! `slots/1`: what `slot-lock status` answers.

use serde::{Deserialize, Serialize};

use crate::provider::Slots;
use crate::reservation::{Holder, SlotClass};
use crate::schema::{SchemaTag, document};
use crate::time::Timestamp;

/// Whether the process behind a slot or a ticket can be seen, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HolderLife {
    /// It runs.
    Running,
    /// It is stopped (Ctrl-Z).
    Stopped,
    /// It has ended; its keeper holds the slot for the command, which still runs.
    Ended,
    /// It lives on another host or in another container, or its label cannot be read.
    #[serde(other)]
    Unknown,
}

/// One slot that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlotHolder {
    /// The slot's index, from 0.
    pub slot: u32,
    /// Who holds it; null when its label cannot be read.
    pub holder: Option<Holder>,
    /// What that process does.
    pub life: HolderLife,
    /// The class it was asked for with.
    pub class: Option<SlotClass>,
    /// Since when it is held.
    pub since: Option<Timestamp>,
    /// When a keeper gives it back at the latest.
    pub expires_at: Option<Timestamp>,
    /// The tokens reserved in the pool.
    pub tokens: Option<u64>,
    /// Whether a request of the holder is in flight; null when the holder does not say.
    pub in_flight: Option<bool>,
}

/// One who waits, in the order of service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlotWaiter {
    /// The place in the queue, from 1.
    pub place: u32,
    /// Who waits; null when the ticket cannot be read.
    pub holder: Option<Holder>,
    /// What that process does.
    pub life: HolderLife,
    /// The class it asks with.
    pub class: SlotClass,
    /// How long it has waited, in milliseconds.
    pub waited_ms: u64,
}

/// The slots of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlotSet {
    /// What the slots are counted by: a server's origin, or a chosen name.
    pub key: String,
    /// How many there are, as the last caller counted; null when nobody said.
    pub slots: Option<u32>,
    /// How many of them are free; null when `slots` is.
    pub free: Option<u32>,
    /// What the server itself says of its slots; null when it was not asked or does not say.
    #[serde(default)]
    pub server: Option<Slots>,
    /// The held ones.
    pub held: Vec<SlotHolder>,
    /// The queue.
    pub waiting: Vec<SlotWaiter>,
}

/// `slots/1`: who holds and who waits, for every server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlotsStatus {
    /// Always `slots/1`.
    pub schema: SchemaTag<Self>,
    /// The folder of the slot files.
    pub directory: String,
    /// When it was looked.
    pub checked_at: Timestamp,
    /// One entry a server.
    pub keys: Vec<SlotSet>,
    /// What the reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

document!(SlotsStatus, "slots/1");
