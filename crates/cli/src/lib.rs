//! What all of Baton's tools share at their edge.
//!
//! stdout is the answer, stderr is for people: [`Output`] is the only writer. [`run`] parses the
//! command line, handles `--schema` and `--version`, and turns a [`Failure`] into one line on stderr,
//! an `error/1` document where stdout was promised one, and an exit code. [`config`] loads and merges
//! the configuration, knowing where each value comes from.

pub mod config;
mod environment;
mod external;
mod failure;
pub mod input;
mod output;
mod places;
mod redact;
mod run;
mod units;
mod visible;

pub use environment::Environment;
pub use external::Outside;
pub use failure::Failure;
pub use output::{Format, Output};
pub use places::{cache_dir, config_file, lock_dir, state_dir};
pub use redact::Redactor;
pub use run::{Common, HasCommon, Tool, ToolKind, command_with_version, run};
pub use units::{parse_duration, parse_size};
pub use visible::{visible, visible_line};
