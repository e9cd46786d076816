//! Judging commands and their outputs.

pub(crate) mod masked;
pub(crate) mod vacuous;
