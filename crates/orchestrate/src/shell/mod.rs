//! The thin shell: files, processes, git, the clock. It performs what the core decides.

pub(crate) mod acts;
pub(crate) mod context;
pub(crate) mod desk;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod engine;
pub(crate) mod files;
pub(crate) mod finishing;
pub(crate) mod goal_facts;
pub(crate) mod goal_store;
pub(crate) mod halt;
pub(crate) mod integrating;
pub(crate) mod journal;
pub(crate) mod landing;
pub(crate) mod layout;
pub(crate) mod lock;
pub(crate) mod loops;
mod placement;
pub(crate) mod planning;
pub(crate) mod preflight;
pub(crate) mod progress;
pub(crate) mod reviewing;
pub(crate) mod stage;
pub(crate) mod worker;
pub(crate) mod worktrees;
