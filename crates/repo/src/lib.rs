//! Git facts and worktrees, by driving the git program.
//!
//! Everything is read with the formats git promises to keep (`--porcelain=v2`, `--raw`, always
//! `-z`), names are bytes, and git runs without hooks, aliases, external diff programs, fsmonitor,
//! translations or optional locks. [`Repo::snapshot`] hashes the work tree through a private index
//! and a private object folder, so that looking at a repository changes nothing in it.
//!
//! Contents that git stores just as they are on disk, and the names of trees of them, are hashed
//! here instead ([`Depth::TreeName`]); where a filter, an attribute or a setting stands between, or
//! an index file is of an unknown form, git does it. Tests hold both ways together.
//!
//! What this crate does *not* do: it never deletes a lock file, never forces a branch, and never
//! removes a worktree that holds work nobody else has.

mod as_is;
mod base;
mod bundle;
mod changes;
mod clone;
mod commit;
mod compare;
mod depot;
mod diff;
mod error;
mod footprint;
mod git;
mod globs;
mod id;
mod index;
mod integrate;
mod look;
mod materialise;
mod objects;
mod pairs;
mod path;
mod raw;
mod repo;
mod restore;
mod scratch;
mod states;
mod status;
mod worktree;
mod worktree_list;

pub use base::{Base, HeadAtBase, Recorded};
pub use changes::{ChangeSet, Names};
pub use commit::{CommitMessage, Identity};
pub use compare::Depth;
pub use depot::Depot;
pub use diff::LineCount;
pub use error::RepoError;
pub use globs::{GlobError, Globs};
pub use id::ObjectId;
pub use integrate::Integration;
pub use look::Look;
pub use materialise::Borrowed;
pub use path::GitPath;
pub use raw::{Change, ChangeKind, Mode};
pub use repo::{Head, Repo};
pub use restore::Restored;
pub use status::{Entry, SubmoduleState};
pub use worktree::Removal;
pub use worktree_list::Worktree;
