//! A role's first request: system text, tools, packed files.
//!
//! The system text and the tool list are compile-time constants by role and [`Mode`]: nothing that
//! changes between two runs stands in front of the first user message, because chat templates put
//! the tools *after* the system text and one changed word there costs a full prefill. Working
//! directory, rules, file list, files, check output and task all go into that first user message.
//!
//! [`gather()`] looks at the disk; everything else is pure: [`first_request`] takes values, a token
//! counter among them, and returns the request with the tokens of each part.

mod gather;
mod message;
mod pack;
mod request;
mod role;
mod shown;
mod system;
mod tools;
mod tree;

pub use gather::{Gathered, RULE_FILE, gather};
pub use message::{code_fence, fenced_file, with_thought_first};
pub use pack::{PackPlan, PackedFile, plan_pack};
pub use request::{Baseline, FirstRequest, Inputs, first_request};
pub use role::{Mode, Role};
pub use shown::{
    CHECK_OUTPUT_TOKENS, CHECK_TOKENS, RULE_TOKENS, TREE_LINES, estimated_tokens, mentions,
    pack_budget,
};
pub use system::system_text;
pub use tools::{Param, ParamType, Tool, tool_list};
pub use tree::render_tree;

/// Counts the tokens of a text; the caller decides how (an estimate, or a real tokenizer).
pub type Counter<'a> = &'a dyn Fn(&str) -> u64;
