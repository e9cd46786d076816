//! What the model's calls do.

pub(crate) mod confine;
pub(crate) mod edits;
pub(crate) mod look;
pub(crate) mod shell;
pub(crate) mod worktree;
