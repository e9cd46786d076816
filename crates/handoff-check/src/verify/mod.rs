//! Judging the outputs of commands. What a command line hides is read by `baton_process::line`.

mod runners;
mod summaries;
pub(crate) mod vacuous;
