//! Where slots are kept, behind one small interface.
//!
//! The command line, the choice among candidates and the running of the command know only this.
//! The local store counts by the kernel's locks on one host; another store may count for several.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use baton_cli::Failure;
use baton_protocol::Timestamp;

use crate::identity::Identity;
use crate::keeper::Limit;
use crate::key::Key;
use crate::label::{Bearer, Label};
use crate::ticket::Ticket;

/// Tokens to be reserved besides the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenNeed {
    /// What the work needs.
    pub(crate) tokens: u64,
    /// What all slots of the server share.
    pub(crate) pool: u64,
}

/// One set of slots a caller would take a slot of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Want {
    /// Which slots.
    pub(crate) key: Key,
    /// How many there are.
    pub(crate) slots: u32,
    /// Nobody said so: the number is only assumed, and not to be remembered.
    pub(crate) is_assumed: bool,
    /// How many of them are kept for interactive work.
    pub(crate) reserve_interactive: u32,
    /// How many the server works on for others. May only lower the answer.
    pub(crate) foreign: u32,
    /// Tokens to be reserved in the server's pool.
    pub(crate) tokens: Option<TokenNeed>,
    /// The model, where the server has one in memory at a time: all holders must want the same.
    pub(crate) only_model: Option<String>,
}

impl Want {
    /// The number of slots as it is noted for later callers: what is only assumed is none that
    /// anybody should count with.
    pub(crate) fn record(&self) -> String {
        if self.is_assumed {
            String::new()
        } else {
            self.slots.to_string()
        }
    }
}

/// What a caller asks for: one slot of any of `wants`, the first that has one free.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// In the order of preference.
    pub(crate) wants: Vec<Want>,
    /// Who asks.
    pub(crate) bearer: Bearer,
    /// A command will run as our child: what can be got ready for it while we wait should be.
    pub(crate) runs_child: bool,
}

/// A slot that was taken.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// Which of the wants it is a slot of.
    pub(crate) want: usize,
    /// The slot's index, from 0.
    pub(crate) slot: u32,
    /// The secret of this acquisition.
    pub(crate) token: String,
    /// When it was taken.
    pub(crate) since: Timestamp,
    /// Where the command may flag a request in flight, where the store has such a place.
    pub(crate) flag_file: Option<PathBuf>,
    /// A number that is larger for every later taking of this slot, where the store has one.
    pub(crate) fence: Option<u64>,
}

/// What the holder of a slot should know while the command runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Care {
    /// What happened, for people.
    pub(crate) notes: Vec<String>,
    /// When the command has to end, as things stand.
    pub(crate) end: Option<End>,
    /// This may change by itself: ask again soon.
    pub(crate) look_again: bool,
}

/// When a command is ended, in milliseconds since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// It is asked to end.
    pub(crate) term_ms: u64,
    /// It is killed.
    pub(crate) kill_ms: u64,
}

/// The answer to the first try.
pub(crate) enum Attempt {
    /// A slot was free and nobody was before us.
    Taken(Box<dyn Held>),
    /// None was; this is our place in every queue.
    Queued(Box<dyn Place>),
    /// None was, and the caller did not want to wait.
    Busy,
}

/// The answer of a wait.
pub(crate) enum Waited {
    /// Our turn came and a slot is ours.
    Taken(Box<dyn Held>),
    /// The time passed, or somebody woke us (a signal).
    NotYet,
}

/// How long a keeper holds a slot for a holder that is not its child.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// In milliseconds since boot.
    pub(crate) expires_ms: u64,
    /// The process with whose end it ends as well.
    pub(crate) holder: Option<i32>,
}

/// A lease with a new end.
#[derive(Debug, Clone)]
pub(crate) struct Renewed {
    pub(crate) key: Key,
    pub(crate) slot: u32,
    pub(crate) label: Label,
}

/// What became of an acquisition that was to be given back.
#[derive(Debug, Clone)]
pub(crate) enum Released {
    /// Its slot is free.
    Freed(Key, u32),
    /// Nobody holds it (any more).
    Unknown,
    /// A living command holds it; only its end frees the slot.
    Lives(Key, Box<Label>),
}

/// A store of slots.
pub(crate) trait Store {
    /// Takes a slot if one is free and nobody is before us; else queues up, if `queue` says so.
    fn take_or_queue(&self, ask: &Ask, queue: bool) -> Result<Attempt, StoreError>;
    /// Who holds and who waits.
    fn list(&self, key: &Key) -> Result<Listing, StoreError>;
    /// Every key somebody used.
    fn keys(&self) -> Result<Vec<Key>, StoreError>;
    /// When a slot of this key was last taken; none: never, or unknown.
    fn last_used(&self, key: &Key) -> Option<SystemTime>;
    /// Sets a new end for the lease of this acquisition. None: it is lost.
    fn renew(&self, token: &str, ttl: Duration) -> Result<Option<Renewed>, StoreError>;
    /// Gives back the slot of this acquisition.
    fn release(&self, token: &str) -> Result<Released, StoreError>;
    /// The place the answer rests on, for people.
    fn place(&self) -> String;
}

/// A place in the queues.
pub(crate) trait Place {
    /// Waits for a slot. `ask` may have changed since the last call in its numbers, not in its keys.
    fn wait(
        &mut self,
        ask: &Ask,
        limit: Duration,
        waker: &crate::waker::Waker,
    ) -> Result<Waited, StoreError>;
    /// Whether nobody is before us, as far as the last look tells: then what a server does for others
    /// is our business.
    fn is_next(&self) -> bool {
        true
    }
}

/// A slot that is ours until it is released or we and its keeper end.
pub(crate) trait Held {
    /// What was taken.
    fn grant(&self) -> &Grant;
    /// Starts the keeper: from now on the slot stays held when we are killed, until the command ends.
    /// `becomes`: we become the command, which must not have the keeper as its child.
    /// `limit`: when the command has to end at the latest.
    /// `has_group`: the command leads a process group of its own.
    fn keep(
        &mut self,
        becomes: bool,
        limit: Option<Limit>,
        has_group: bool,
    ) -> Result<(), StoreError>;
    /// Tells the keeper the command's process.
    fn watch(&mut self, pid: u32) -> Result<(), StoreError>;
    /// Lets the next in line have its turn, where that is not done yet. A command that runs (see
    /// [`Ask::runs_child`]) has let it when it is watched.
    fn let_next_in(&mut self) {}
    /// The command did not end at once: what was put off for a brief one is to be done.
    fn settle(&self) {}
    /// The command has ended: the slot is free for others, before anything is tidied up.
    fn open_up(&self) {}
    /// Leaves the slot to a keeper of its own that outlives us, by these terms.
    fn lend(&mut self, bearer: &Bearer, terms: &Terms) -> Result<(), StoreError>;
    /// What there is to know while the command runs.
    fn care(&self) -> Care {
        Care::default()
    }
    /// Gives the slot back. What a person should know of the time it was held, and was not told yet.
    fn release(self: Box<Self>) -> Vec<String>;
}

/// One slot that is held.
#[derive(Debug, Clone)]
pub(crate) struct HeldSlot {
    pub(crate) slot: u32,
    /// What its file says; none when it says nothing that can be read.
    pub(crate) label: Option<Label>,
    /// Whether a request of its holder is in flight; none when the holder does not flag.
    pub(crate) in_flight: Option<bool>,
}

/// One who waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiter {
    pub(crate) ticket: Ticket,
    pub(crate) label: Option<Label>,
}

/// The state of one key's slots.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) key: Key,
    /// How many slots the last caller counted with.
    pub(crate) slots: Option<u32>,
    pub(crate) held: Vec<HeldSlot>,
    /// In the order of service.
    pub(crate) waiting: Vec<Waiter>,
    /// Who looked, to tell whether a holder can be seen.
    pub(crate) here: Identity,
}

/// Why a store could not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// A file or folder could not be made, opened or locked.
    #[error("{path}: {what}: {source}{hint}", path = path.display())]
    File {
        path: PathBuf,
        what: &'static str,
        source: std::io::Error,
        /// What to do next, starting with `; `, or nothing.
        hint: String,
    },
    /// The place must not be used for locks.
    #[error("{path}: {why}", path = path.display())]
    Unsuitable { path: PathBuf, why: String },
    /// Somebody stays in the short critical section.
    #[error("{0}")]
    Stuck(String),
    /// The owner of a lease could not be ended.
    #[error("{key}: slot {slot}: {why}")]
    Lease { key: Key, slot: u32, why: String },
    /// The keeper could not be started or told.
    #[error("the keeper process: {0}")]
    Keeper(std::io::Error),
    /// The store's service cannot be reached.
    #[error("{0}")]
    Unavailable(String),
    /// The store's service does not let us in.
    #[error("{0}")]
    Denied(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unsuitable { .. } | StoreError::Denied(_) => {
                Self::config(error.to_string())
            }
            StoreError::Unavailable(_) => Self::unavailable(error.to_string()),
            StoreError::Stuck(_) => Self::try_again(error.to_string()),
            StoreError::File { .. } | StoreError::Keeper(_) | StoreError::Lease { .. } => {
                Self::internal(error.to_string())
            }
        }
    }
}
