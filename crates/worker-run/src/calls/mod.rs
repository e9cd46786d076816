//! From what a model wrote to calls that may run: liberal reading, strict execution.

pub(crate) mod arguments;
mod dialects;
pub(crate) mod json_repair;
pub(crate) mod names;
pub(crate) mod salvage;
