//! The documents Baton's tools exchange, as serde types.
//!
//! The tools never import each other: they meet as processes, through these documents. Each carries
//! its schema (`"schema": "health/1"`). [`read`] reads a document another tool wrote: it refuses an
//! unknown major version, ignores unknown keys and names a wrong key by JSON path. [`read_strict`]
//! reads what people write (tasks, plans): an unknown key is an error that names the nearest known
//! one, and so is a key that stands twice. Keys are `snake_case`, always present, and null when unknown; integers carry their unit in
//! the name; times are RFC 3339 in UTC; paths are relative to the repository root with `/`.

mod base_url;
mod clean;
mod doubled;
mod error;
mod estimate;
mod event;
mod exit;
mod frame;
mod handoff;
mod health;
mod ids;
mod launch;
pub mod markdown;
mod object;
mod plan;
mod provider;
mod read;
mod reservation;
mod review;
#[cfg(test)]
mod round_trip;
mod run;
mod schema;
mod schemas;
mod secret;
mod slots;
mod status;
mod task;
mod time;
mod trace;
mod verdict;

pub use base_url::BaseUrl;
pub use clean::{Clean, CleanEntry};
pub use doubled::{WholeValue, doubled_key};
pub use error::{ErrorDocument, ErrorKind};
pub use estimate::{Estimate, Fit, FitVerdict, Method, Part, Reserve};
pub use event::Event;
pub use exit::Exit;
pub use frame::{
    FrameHead, FrameKind, FrameLine, LONGEST_DOCUMENT, Noise, copy_payload, frame_head, is_token,
    next_frame, read_frame_line, read_payload, write_frame,
};
pub use handoff::{
    Artifact, ArtifactKind, Assumption, AssumptionStatus, Claim, CommandStatus, Confinement, Fact,
    FileNote, Handoff, HandoffStatus, Receipt, ReceiptSource, ReviewState, Risk, RiskSeverity,
    Usage,
};
pub use health::Health;
pub use ids::{RelPath, TaskId};
pub use launch::{Landed, Launch, LaunchTree, Launched};
pub use plan::{Gate, ParallelismValue, Plan};
pub use provider::{
    ContextSource, Model, ModelState, Provider, ProviderError, Server, ServerKind, ServerState,
    Signal, SignalSource, Slots, Speed,
};
pub use read::{ReadError, nearest_key, read, read_strict, read_value};
pub use reservation::{Holder, Reservation, SlotClass};
pub use review::{Finding, FindingSeverity, Review, ReviewChecks, ReviewVerdict};
pub use run::{Budget, Gap, MergeOutcome, MergeState, Round, Run, RunStatus, RunTask};
pub use schema::{Document, SchemaTag};
pub use schemas::schema_text;
pub use secret::Secret;
pub use slots::{HolderLife, SlotHolder, SlotSet, SlotWaiter, SlotsStatus};
pub use status::{RunState, Status, StatusGoal, StatusRun, StatusTask, TaskState};
pub use task::{Access, Limits, Network, Sandbox, Scope, Task, VerifyCommand};
pub use time::Timestamp;
pub use trace::{Trace, TraceTask};
pub use verdict::{
    Admission, Changes, Check, CheckVerdict, Verdict, VerdictKind, VerificationResult,
};
