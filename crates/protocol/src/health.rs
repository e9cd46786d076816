//! `health/1`: what vllm-health answers.

use serde::{Deserialize, Serialize};

use crate::provider::Provider;
use crate::schema::{SchemaTag, document};
use crate::time::Timestamp;

/// `health/1`: the state of every provider that was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Health {
    /// Always `health/1`.
    pub schema: SchemaTag<Self>,
    /// The verdict: true, false, or null when it could not be judged.
    pub ready: Option<bool>,
    /// When the answer was put together.
    pub checked_at: Timestamp,
    /// One entry a provider, in order of preference.
    pub providers: Vec<Provider>,
}

document!(Health, "health/1");
