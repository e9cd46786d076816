//! Reading a shell line: which programs it starts, and whether its exit code can tell of a failure.
//!
//! A check is only as good as its exit code, and `pytest || true` has none worth the name. The line
//! is parsed and then walked with the command that judges failing and everything else succeeding: an
//! exit code of 0 at the end means that the failure is hidden. Pure; nothing is ever run.

mod commands;
mod hidden;
mod known;
mod lex;
mod make;
mod parse;
mod program;
mod recipes;
mod settings;
mod values;
mod walk;

pub use hidden::{masked, masked_in_a_plain_shell};
pub use known::{Class, class};
pub use program::programs;
pub use recipes::{Read, hidden_in_files};
