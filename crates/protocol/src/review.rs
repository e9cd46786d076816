//! `review/1`: what a reviewer answers.

use serde::{Deserialize, Serialize};

use crate::schema::{SchemaTag, document};

/// The reviewer's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    /// Good to go; counts only when all three checks are true.
    Approve,
    /// Something must change; see the findings.
    Changes,
    /// No verdict: missing, cut, quoted or contradictory.
    #[serde(other)]
    Inconclusive,
}

/// What the reviewer looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ReviewChecks {
    /// The whole diff.
    pub diff: bool,
    /// That it stays in scope.
    pub scope: bool,
    /// That it is verified.
    pub verification: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// A remark.
    Minor,
    /// Should change.
    Major,
    /// Must change.
    Blocking,
}

/// One thing the reviewer found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// How bad.
    pub severity: FindingSeverity,
    /// The file, or null.
    #[serde(default)]
    pub path: Option<String>,
    /// The line, from 1, or null.
    #[serde(default)]
    pub line: Option<u32>,
    /// What is wrong.
    pub statement: String,
}

/// `review/1`: a verdict on exactly one diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Review {
    /// Always `review/1`.
    pub schema: SchemaTag<Self>,
    /// The run's secret word; an answer without it was not given to this question.
    pub nonce: String,
    /// The verdict.
    pub verdict: ReviewVerdict,
    /// What was looked at.
    pub checks: ReviewChecks,
    /// What was found.
    pub findings: Vec<Finding>,
    /// The commit that was reviewed.
    pub head: String,
    /// The commit it was compared with.
    pub base: String,
}

document!(Review, "review/1");
