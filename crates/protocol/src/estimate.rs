//! `estimate/1`: what ctx-estimate answers.

use serde::{Deserialize, Serialize};

use crate::provider::Provider;
use crate::schema::{SchemaTag, document};

/// Whether a prompt and its reserve fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FitVerdict {
    /// The upper bound plus the whole reserve fits.
    Fits,
    /// Only with a shorter output: admitted, clamped.
    Tight,
    /// It does not fit.
    No,
    /// Cannot be told.
    #[serde(other)]
    Unknown,
}

/// How tokens were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The server's own count.
    Server,
    /// The model's tokenizer, offline.
    Tokenizer,
    /// A class model or byte bound; see `error_band`.
    #[serde(other)]
    Heuristic,
}

/// What is set aside besides the prompt, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reserve {
    /// For the answer.
    pub output_tokens: u64,
    /// For thinking.
    pub thinking_tokens: u64,
    /// For what the count may miss.
    pub margin_tokens: u64,
}

/// The tokens of one part of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Part {
    /// A file's path, or `system`, `tools`, `task`, `template`, …
    pub part: String,
    /// Its tokens.
    pub tokens: u64,
}

/// Whether and how one provider's model can hold the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fit {
    /// The model that was judged; null when the provider names none.
    pub model: Option<String>,
    /// Its usable context, in tokens.
    pub usable_context: Option<u64>,
    /// The verdict.
    pub verdict: FitVerdict,
    /// What is left over (negative: what is missing), in tokens.
    pub headroom_tokens: Option<i64>,
    /// The largest output that still fits beside the thinking and margin reserves, in tokens.
    pub largest_output_tokens: Option<u64>,
    /// The prompt's tokens for this model: the count, or the best estimate of it.
    #[serde(default)]
    pub prompt_tokens: Option<u64>,
    /// No fewer than the true count for this model.
    #[serde(default)]
    pub upper_bound_tokens: Option<u64>,
    /// How it was counted for this model.
    #[serde(default)]
    pub method: Option<Method>,
    /// Where the count comes from, in words: a route, a tokenizer file, a family, bytes.
    #[serde(default)]
    pub source: Option<String>,
}

/// `estimate/1`: how many tokens a request needs and who can hold it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Always `estimate/1`.
    pub schema: SchemaTag<Self>,
    /// The verdict as a boolean: fits or tight = true, no = false, unknown = null.
    pub fits: Option<bool>,
    /// The best verdict over all providers.
    pub verdict: FitVerdict,
    /// The count, or the best estimate of it.
    pub prompt_tokens: u64,
    /// No fewer than the true count (exactly it, plus the margin for versions, when counted).
    pub upper_bound_tokens: u64,
    /// How it was counted.
    pub method: Method,
    /// Where the count comes from, in words: a route, a tokenizer file, a family, bytes.
    #[serde(default)]
    pub source: Option<String>,
    /// Relative error of `prompt_tokens`, for example 0.15; 0 when counted.
    pub error_band: f64,
    /// What is set aside.
    pub reserve: Reserve,
    /// `upper_bound_tokens` plus the whole reserve.
    pub required_tokens: u64,
    /// Where the tokens are.
    pub breakdown: Vec<Part>,
    /// The candidates, each with its `fit`.
    #[serde(default)]
    pub providers: Vec<Provider>,
    /// What the reader should know, in words (skipped files, broken UTF-8, the source of the count).
    #[serde(default)]
    pub notes: Vec<String>,
}

document!(Estimate, "estimate/1");
