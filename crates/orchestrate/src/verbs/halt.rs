//! `orchestrate halt`.

use baton_cli::{Failure, Output};
use baton_protocol::Exit;
use baton_repo::Repo;

use crate::cli::{Halt, HaltWhat};
use crate::core::goal::Status;
use crate::shell::goal_store::GoalStore;
use crate::shell::layout::Layout;
use crate::shell::{halt, lock};

use super::place;

/// Asks what works on this repository to stop: the goal's loop, the run, or both.
pub(crate) fn halt(cli: &Halt, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let layout = Layout::new(repo.root());
    let mut halted = false;
    let mut goals_run = None;
    if cli.what != HaltWhat::Run {
        let (paused, run) = pause_goal(&layout, &repo)?;
        if paused {
            output.note("the goal is paused; go on with it: orchestrate goal resume");
        }
        halted |= paused;
        goals_run = run;
    }
    // A halt of the goal is meant for the goal's own run, not for one somebody started by hand.
    let works = lock::holder(repo.common_dir());
    let meant = match (cli.what, works) {
        (HaltWhat::Goal, Some(who)) => goals_run
            .filter(|run| who.starts_with(run.as_str()))
            .map(|run| (Some(run), who)),
        (_, who) => who.map(|who| (None, who)),
    };
    if let Some((run, who)) = meant {
        halt::ask(&layout.halt_file(), &halt::Halt { now: cli.now, run })?;
        let how = if cli.now {
            "its workers are ended now"
        } else {
            "it stops when what runs is done"
        };
        output.note(&format!("asked run {who} to stop; {how}"));
        halted = true;
    }
    if halted {
        return Ok(Exit::Yes);
    }
    output.note(match cli.what {
        HaltWhat::Goal => "no goal is active; there is nothing to halt",
        _ => "no run works on this repository; there is nothing to halt",
    });
    Ok(Exit::No)
}

/// Pauses an active goal, and says which run works for it.
fn pause_goal(layout: &Layout, repo: &Repo) -> Result<(bool, Option<String>), Failure> {
    let store = GoalStore::new(layout, repo.common_dir());
    if store.read()?.is_none() {
        return Ok((false, None));
    }
    store.change(|there| {
        let Some(mut goal) = there else {
            return Ok((None, (false, None)));
        };
        let active = goal.status == Status::Active;
        if active {
            goal.stop(Status::Paused, "you halted it");
        }
        let run = goal.current.as_ref().map(|c| c.run.clone());
        Ok((Some(goal), (active, run)))
    })
}
