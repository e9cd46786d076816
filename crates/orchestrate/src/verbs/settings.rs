//! The settings of runs that a verb makes on its own account, from the configuration.

use baton_cli::{Failure, config};
use baton_protocol::SlotClass;

use crate::cli::Budget;
use crate::core::record::{ReviewMode, Settings};

use super::run;

/// How long a worker of a long-lived verb may wait for a slot.
const QUEUE_MS: u64 = 60 * 60 * 1_000;

/// What `run` would have without a flag.
pub(crate) fn of_configuration(config: &config::Config) -> Result<Settings, Failure> {
    let reviewed =
        config.commands.require_review || config.review.mode == config::ReviewMode::Bounded;
    Ok(Settings {
        max_parallel: usize::try_from(config.run.max_parallel.clamp(1, 8)).unwrap_or(2),
        max_rounds: config.run.max_rounds.clamp(1, 8),
        plan_only: false,
        ask_planner: true,
        merge_partial: false,
        review: if reviewed {
            ReviewMode::Bounded
        } else {
            ReviewMode::Off
        },
        review_rounds: config.review.max_rounds.clamp(1, 8),
        summary: false,
        budget: run::budget(&Budget::default(), &config.budget)?,
        queue_ms: QUEUE_MS,
        pause_at_failure: false,
        // A goal goes on by itself for hours: it stays behind everybody who waits.
        class: SlotClass::Batch,
        models: run::models(config),
        pull_request: None,
        launcher: None,
        launcher_io: None,
    })
}

/// As above for a plan made by code: nobody is asked to plan, and one round is all.
pub(crate) fn of_given_plan(config: &config::Config) -> Result<Settings, Failure> {
    Ok(Settings {
        ask_planner: false,
        max_rounds: 1,
        ..of_configuration(config)?
    })
}
