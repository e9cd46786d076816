//! The rules by which the harness carries a small model: budgets, guards, stops.

pub(crate) mod budget;
pub(crate) mod environment;
pub(crate) mod guard;
pub(crate) mod schema;
pub(crate) mod space;
pub(crate) mod stop;
pub(crate) mod way;
