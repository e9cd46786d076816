//! What the verbs that keep behaviour share: the desk, the plan of one round, and the end.

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Scope, Task, TaskId, VerifyCommand};

use crate::cli_launch::Launch;
use crate::core::goal::prompts::reading_plan;
use crate::core::outcome;
use crate::core::record::Settings;
use crate::core::state::State;
use crate::shell::desk::{Desk, Order};
use crate::shell::preflight::{self, Dirt};

use super::{ending, place, run, settings};

/// The desk of a verb, with a clean tree: workers start from the last commit.
pub(crate) fn desk<'a>(
    output: &'a Output,
    verb: &str,
    wanted: fn(&baton_cli::config::CommandsConfig) -> bool,
    launch: &Launch,
    clean: bool,
) -> Result<Desk<'a>, Failure> {
    let opened = place::open(output, verb, wanted)?.launched(launch, output)?;
    preflight::target(&opened.repo)?;
    let dirt = if clean {
        Dirt::Refused { flag: false }
    } else {
        Dirt::Allowed
    };
    preflight::clean(&opened.repo, dirt)?;
    let desk = opened.desk(output);
    desk.layout.prepare()?;
    desk.forget_old_halts();
    Ok(desk)
}

/// A task that may change these files and must keep the checks passing.
pub(crate) fn task(
    id: &str,
    role: &str,
    title: &str,
    prompt: String,
    write: Vec<String>,
    checks: &[VerifyCommand],
) -> Result<Task, Failure> {
    let mut task = Task::new(TaskId::new(id).map_err(Failure::internal)?, prompt);
    role.clone_into(&mut task.role);
    title.clone_into(&mut task.title);
    task.scope = Some(Scope {
        write: Some(write),
        read: None,
    });
    task.verify = checks.to_vec();
    Ok(task)
}

/// Has the tasks done and checked as one run.
pub(crate) fn work(
    desk: &Desk<'_>,
    goal: &str,
    tasks: Vec<Task>,
) -> Result<(String, State), Failure> {
    let plan = reading_plan(goal, tasks, Vec::new());
    run::check_given(&desk.looking()?, &plan)?;
    let given = settings::of_given_plan(&desk.config)?;
    preflight::budget(&given.budget, &desk.config.providers)?;
    let order = Order {
        run: run::run_name()?,
        nonce: run::nonce()?,
        goal: goal.to_owned(),
        plan: Some(plan),
        settings: Settings {
            max_rounds: desk.config.run.max_rounds.clamp(1, 8),
            ..given
        },
    };
    let name = order.run.clone();
    let state = desk.work(order, &mut || Ok(()), Box::new(|_, _| {}))?;
    Ok((name, state))
}

/// The run's report and exit code.
pub(crate) fn tell(desk: &Desk<'_>, run: &str, state: &State) -> Result<Exit, Failure> {
    ending::tell(run, &desk.layout.run(run), state, desk.output)
}

/// The exit code of a run that only asked.
pub(crate) fn exit(state: &State) -> Exit {
    let status = state.status.unwrap_or(baton_protocol::RunStatus::Failed);
    outcome::exit(state, status)
}

/// A path as a glob that matches only itself.
pub(crate) fn exactly(path: &str) -> String {
    let mut glob = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}
