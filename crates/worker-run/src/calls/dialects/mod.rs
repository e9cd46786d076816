//! The notations in which models write calls, one function each.
//!
//! Each says what it found in a text: complete calls, one that is cut off, or nothing of its kind.
//! Whether the tools were offered is not its business. The notations are those of the models' own
//! chat templates and of the agents they learnt from.

mod headed;
mod json;
mod python;
mod tags;

use super::salvage::Found;

/// All notations, those with marks of their own before those that are only recognised by being the
/// whole message.
pub(super) const DIALECTS: [fn(&str) -> Found; 8] = [
    json::marked,
    headed::headed,
    tags::function_tags,
    tags::invoke_tags,
    tags::key_value_tags,
    headed::action_lines,
    json::whole_message,
    python::calls,
];
