//! Asking readers: a run of the engine whose tasks change nothing, and what they answered.

use baton_cli::Failure;
use baton_protocol::{Handoff, Task};

use super::desk::{Desk, Order};
use super::worker;
use crate::core::goal::prompts::reading_plan;
use crate::core::record::Settings;
use crate::core::state::State;

/// What came of a question.
pub(crate) struct Answers {
    pub run: String,
    pub state: State,
    /// In the order of the tasks; none where no answer was given.
    pub handoffs: Vec<Option<Handoff>>,
}

/// Has the tasks answered, as many at once as the settings allow.
pub(crate) fn ask(
    desk: &Desk<'_>,
    run: String,
    nonce: String,
    goal: &str,
    tasks: Vec<Task>,
    settings: Settings,
) -> Result<Answers, Failure> {
    let ids: Vec<_> = tasks.iter().map(|t| t.id.clone()).collect();
    let order = Order {
        run: run.clone(),
        nonce,
        goal: goal.to_owned(),
        plan: Some(reading_plan(goal, tasks, Vec::new())),
        settings,
    };
    let state = desk.work(order, &mut || Ok(()), Box::new(|_, _| {}))?;
    let folder = desk.layout.run(&run);
    let handoffs = ids
        .iter()
        .map(|id| {
            let job = state.job(id).filter(|job| job.fate.is_good())?;
            let attempt = job.attempt();
            worker::handoff(&folder.attempt(id, attempt.number, attempt.placement)).ok()
        })
        .collect();
    Ok(Answers {
        run,
        state,
        handoffs,
    })
}
