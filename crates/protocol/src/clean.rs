//! `clean/1`: what ended runs left behind, and what became of it.

use serde::{Deserialize, Serialize};

use crate::schema::{SchemaTag, document};

/// A work tree or a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CleanEntry {
    /// The folder of a work tree; null when it is a branch.
    pub path: Option<String>,
    /// The name of a branch; null when it is a work tree.
    pub branch: Option<String>,
    /// Why it may go, or why it was kept.
    pub why: String,
}

/// `clean/1`: what was (or would be) removed, and what was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Clean {
    /// Always `clean/1`.
    pub schema: SchemaTag<Self>,
    /// Whether it was done; false: it was only looked at.
    pub done: bool,
    /// What holds nothing of its own.
    pub removed: Vec<CleanEntry>,
    /// What holds work, or cannot be removed.
    pub kept: Vec<CleanEntry>,
}

document!(Clean, "clean/1");
