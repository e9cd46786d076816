//! How many tokens a text or a chat request needs, how sure that is, and whether it fits.
//!
//! [`estimate`] and [`estimate_request`] need no vocabulary: a class model gives an estimate and an
//! upper bound for known tokenizer families, and the number of bytes bounds the others. [`judge`]
//! turns a count, a reserve and a window into a verdict.

mod calibration;
mod class_model;
mod count;
mod engine;
mod family;
mod fit;
mod meter;
mod request;
mod template;
mod unicode;

pub use calibration::{Calibration, UsageCheck, calibration_file, check_usage};
pub use class_model::{Estimator, estimate_for};
pub use count::Count;
pub use engine::{Cache, Counter, Entry, Tokenizer, TokenizerError};
pub use family::Family;
pub use fit::{Admission, LEAST_OUTPUT, better, judge, required, reserved};
pub use meter::{Meter, Tally, safe_cut};
pub use request::{
    Piece, Pieces, RequestCount, RequestError, TemplateUse, count_request, estimate_with, pieces,
};
pub use template::{ChatTemplate, Date, TemplateError};

/// Estimates a text for an unknown tokenizer.
pub fn estimate(text: &str) -> Count {
    estimate_for(Family::Unknown, text)
}

/// Estimates a whole chat request (messages, tools, template) for a family of tokenizers.
pub fn estimate_request(
    family: Family,
    request: &serde_json::Value,
) -> Result<RequestCount, RequestError> {
    Ok(estimate_with(&pieces(request)?, |text| {
        estimate_for(family, text)
    }))
}
