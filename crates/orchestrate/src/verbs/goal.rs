//! `orchestrate goal`: set, show, pause, resume, clear.

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Timestamp};
use baton_repo::Repo;
use serde_json::json;

use crate::cli_verbs::{Goal as Cli, GoalAction};
use crate::core::goal::{self, Goal, Status, text};
use crate::core::names;
use crate::shell::goal_store::GoalStore;
use crate::shell::layout::Layout;
use crate::shell::loops;

use super::{goal_run, place, run};

/// The loop's seat.
pub(crate) const LOOP: &str = "goal";

/// One of the things that can be done with a goal.
pub(crate) fn goal(cli: &Cli, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let (loaded, _) = place::configuration(&repo)?;
    place::switched_on("goal", loaded.config.commands.goal)?;
    let layout = Layout::new(repo.root());
    let store = GoalStore::new(&layout, repo.common_dir());
    match &cli.action {
        None if cli.objective.is_empty() => show(&store, &repo, output),
        None => {
            set(cli, &store, &repo, &layout, output)?;
            goal_run::run(cli.detach, false, &cli.launch, output)
        }
        Some(GoalAction::Pause) => pause(&store, &repo, output),
        Some(GoalAction::Resume) => resume(&store, &repo, output),
        Some(GoalAction::Clear) => clear(&store, &repo, output),
        Some(GoalAction::Run(run)) => goal_run::run(run.detach, run.detached, &run.launch, output),
    }
}

/// Prints a goal as it stands.
pub(crate) fn tell(goal: &Goal, repo: &Repo, output: &Output) -> Result<(), Failure> {
    let works = loops::holder(repo.common_dir(), LOOP);
    let mut document = serde_json::to_value(goal)
        .map_err(|e| Failure::internal(format!("cannot write the goal: {e}")))?;
    document["loop"] = json!(works);
    output.document(&document, || text::text(goal, works.as_deref()))
}

fn none() -> Failure {
    Failure::usage("there is no goal; set one: orchestrate goal \"WHAT IS TO BE REACHED\"")
}

fn show(store: &GoalStore, repo: &Repo, output: &Output) -> Result<Exit, Failure> {
    match store.read()? {
        Some(goal) => {
            tell(&goal, repo, output)?;
            Ok(Exit::Yes)
        }
        None => Err(none().with_exit(Exit::No)),
    }
}

fn set(
    cli: &Cli,
    store: &GoalStore,
    repo: &Repo,
    layout: &Layout,
    output: &Output,
) -> Result<(), Failure> {
    let objective = goal::objective(&cli.objective).map_err(Failure::usage)?;
    // Nothing is stored for a repository that no run could start in.
    let target = crate::shell::preflight::target(repo)?;
    layout.prepare()?;
    let id = names::letters(run::random()?, 8);
    let fresh = Goal::new(id, &objective, Some(target.commit), Timestamp::now());
    store.change(|there| match there {
        Some(there) if there.objective == fresh.objective && there.status == Status::Active => {
            output.note("that goal is set already; going on with it");
            Ok((Some(there), ()))
        }
        Some(there) if there.status != Status::Done => Err(Failure::usage(format!(
            "there is a goal already, which is not reached: {}; go on with it (orchestrate goal \
             resume), or take it away first (orchestrate goal clear)",
            crate::core::fallback::first_line(&there.objective, 120)
        ))),
        _ => Ok((Some(fresh), ())),
    })
}

fn change(
    store: &GoalStore,
    repo: &Repo,
    output: &Output,
    change: impl FnOnce(&mut Goal) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let goal = store.change(|there| {
        let mut goal = there.ok_or_else(none)?;
        change(&mut goal)?;
        Ok((Some(goal.clone()), goal))
    })?;
    tell(&goal, repo, output)?;
    Ok(Exit::Yes)
}

fn pause(store: &GoalStore, repo: &Repo, output: &Output) -> Result<Exit, Failure> {
    change(store, repo, output, |goal| {
        match goal.status {
            Status::Active => goal.stop(Status::Paused, "you paused it"),
            Status::Paused => output.note("it is paused already"),
            Status::Blocked | Status::Spent | Status::Done => {
                return Err(Failure::usage(
                    "nothing is going on that could be paused; see: orchestrate goal",
                ));
            }
        }
        if loops::holder(repo.common_dir(), LOOP).is_some() {
            output.note(
                "the run under way is led to its end, then nothing new begins; to stop it sooner: \
                 orchestrate halt goal",
            );
        }
        Ok(())
    })
}

fn resume(store: &GoalStore, repo: &Repo, output: &Output) -> Result<Exit, Failure> {
    change(store, repo, output, |goal| match goal.status {
        Status::Done => Err(Failure::usage(
            "the goal is reached; take it away (orchestrate goal clear) and set the next one",
        )),
        Status::Active => {
            output.note("it is active already");
            Ok(())
        }
        Status::Paused | Status::Blocked | Status::Spent => {
            goal.activate();
            Ok(())
        }
    })
}

fn clear(store: &GoalStore, repo: &Repo, output: &Output) -> Result<Exit, Failure> {
    let there = store.clear()?;
    let words = if there {
        "the goal is taken away; what was done for it stays in git"
    } else {
        "there was no goal"
    };
    if there && loops::holder(repo.common_dir(), LOOP).is_some() {
        output.note("its run under way is led to its end; to stop it sooner: orchestrate halt run");
    }
    output.document(
        &json!({"schema": "goal-cleared/1", "cleared": there}),
        || words.into(),
    )?;
    Ok(Exit::Yes)
}
