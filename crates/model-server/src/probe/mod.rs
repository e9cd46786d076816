//! Probing: what can this server do right now?
//!
//! [`probe()`] asks routes over the network. Everything that is concluded from their answers is pure:
//! [`judge()`] takes [`Answers`] and returns a provider entry.

mod active;
mod answers;
mod detect;
mod finding;
mod judge;
mod kinds;
mod list;
mod prometheus;
mod routes;
mod run;
mod trouble;

#[cfg(test)]
mod odd_tests;
#[cfg(test)]
mod tests;

use baton_protocol::{Model, Provider};

pub use active::{Active, ActiveResult, run_active};
pub use answers::{Answer, Answers, Reply};
pub use judge::{Asked, judge};
pub use prometheus::Metrics;
pub use run::{ProbeOptions, knock, probe};

/// Finds the model a name means: an exact id, an alias, or the only model file of that name.
pub fn find_model<'a>(provider: &'a Provider, name: &str) -> Option<&'a Model> {
    list::find(&provider.models, name)
}
