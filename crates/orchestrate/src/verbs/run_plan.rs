//! `orchestrate run-plan`: works through a written plan, and keeps its ticks and its status true.

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, Plan, RunStatus};

use crate::cli_verbs::RunPlan;
use crate::core::outcome;
use crate::core::plan_file::PlanFile;
use crate::core::plan_file::convert::{self, Around};
use crate::core::record::Settings;
use crate::core::state::State;
use crate::core::{fallback, names, verify_check};
use crate::shell::desk::{Desk, Order};
use crate::shell::loops::LoopLock;
use crate::shell::plan_run::{self, Books};
use crate::shell::plan_store::{self, Stored};
use crate::shell::preflight::Dirt;
use crate::shell::{planning, preflight};

use super::{ending, place, plan_report, run, settings};

/// The loop's seat.
const LOOP: &str = "run-plan";

/// What a plan says while it is worked on.
const IN_PROGRESS: &str = "in progress";

/// Works through a plan, from where it stands.
pub(crate) fn run_plan(cli: &RunPlan, output: &Output) -> Result<Exit, Failure> {
    let mut desk = place::open(output, "run-plan", |c| c.run_plan)?
        .launched(&cli.launch, output)?
        .desk(output);
    desk.wait = cli.wait;
    let stored = choose(cli, &desk)?;
    if cli.dry_run {
        let (_, file) = stored.read()?;
        if file.says_complete() && file.done() < file.steps.len() {
            return Err(says_complete(&stored, &file));
        }
        let plan = plan(&desk, &file)?;
        if !plan.tasks.is_empty() {
            run::check_given(&desk.looking()?, &plan)?;
        }
        output.note(&format!(
            "would work on {} of {} steps; nothing was started",
            plan.tasks.len(),
            file.steps.len()
        ));
        output.document(&plan, || ending::plan_text(&plan))?;
        return Ok(Exit::Yes);
    }
    let _seat = LoopLock::take(&desk.common_dir, LOOP, &desk.signals)?;
    desk.layout.prepare()?;
    let books = Books::new(&desk, &stored);
    let last = books.last_run()?;
    if let Some((_, state)) = &last {
        // A run that was ended by another hand has its say first: a tick must be true now.
        books.settle(state)?;
    }
    let (_, file) = stored.read()?;
    // All ticks may be set although their run was killed before its work reached the branch.
    let going = match last {
        Some((name, state)) if !file.says_complete() && books.goes_on(&state)? => Some(name),
        _ => None,
    };
    if going.is_none() && file.is_complete() {
        return already_complete(&desk, &stored, &file);
    }
    preflight::clean(&desk.repo()?, Dirt::by_flag(cli.allow_dirty))?
        .iter()
        .for_each(|note| output.note(note));
    desk.forget_old_halts();
    let (name, state) = if let Some(name) = going {
        output.note(&format!("going on with run {name} of this plan"));
        let state = desk.go_on(&name, &mut || begin(&stored), books.watch());
        (name, paused_by_an_error(&stored, state)?)
    } else {
        let order = order(cli, &desk, &file)?;
        let name = order.run.clone();
        books.open(&name)?;
        let state = desk.work(order, &mut || begin(&stored), books.watch());
        (name, paused_by_an_error(&stored, state)?)
    };
    finish(&desk, &stored, &books, &name, &state)
}

fn begin(stored: &Stored) -> Result<(), Failure> {
    stored.set_status(IN_PROGRESS)
}

/// A run that could not be led to an end leaves the plan paused, if it had begun.
fn paused_by_an_error(stored: &Stored, state: Result<State, Failure>) -> Result<State, Failure> {
    if state.is_err()
        && let Ok((_, file)) = stored.read()
        && file.status.as_deref() == Some(IN_PROGRESS)
    {
        // The first error is the one to tell.
        let _ = stored.set_status("paused");
    }
    state
}

/// The plan that is meant: the named one, the one that is under way, or the only open one.
fn choose(cli: &RunPlan, desk: &Desk<'_>) -> Result<Stored, Failure> {
    if let Some(name) = &cli.name {
        return plan_store::named(&desk.layout, &desk.common_dir, name);
    }
    let mut open = Vec::new();
    let mut broken = Vec::new();
    for (stored, plan) in plan_store::all(&desk.layout, &desk.common_dir) {
        match plan {
            Ok(plan)
                if plan.is_complete()
                    && (plan.says_complete() || !plan_run::is_under_way(desk, &stored)) => {}
            Ok(_) => open.push(stored),
            Err(failure) => broken.push(failure.message),
        }
    }
    let folder = desk.layout.plans();
    if open.len() > 1 {
        let under_way: Vec<Stored> = open
            .iter()
            .filter(|stored| plan_run::is_under_way(desk, stored))
            .cloned()
            .collect();
        if under_way.len() == 1 {
            open = under_way;
        }
    }
    match open.len() {
        1 => Ok(open.swap_remove(0)),
        0 if !broken.is_empty() => Err(Failure::input(broken.join("; "))),
        0 => Err(Failure::usage(format!(
            "no plan in {} has anything left to do; write one (a .md file with steps as `- [ ] …`), \
             or have one made: orchestrate stress-plan GOAL",
            folder.display()
        ))),
        _ => {
            let names: Vec<&str> = open.iter().map(|s| s.name.as_str()).collect();
            Err(Failure::usage(format!(
                "several plans have something left to do: {}; name one: orchestrate run-plan NAME",
                names.join(", ")
            )))
        }
    }
}

/// Nothing is left to do; a status that says less is put right.
fn already_complete(desk: &Desk<'_>, stored: &Stored, file: &PlanFile) -> Result<Exit, Failure> {
    if file.done() < file.steps.len() {
        return Err(says_complete(stored, file));
    }
    desk.output.note(&format!(
        "the plan `{}` is complete; nothing was started",
        stored.name
    ));
    stored.set_status("complete")?;
    let (_, file) = stored.read()?;
    plan_report::tell(desk.output, stored, &file, None, &[])?;
    Ok(Exit::Yes)
}

/// There is nothing to be worked on, by the plan's own word.
fn says_complete(stored: &Stored, file: &PlanFile) -> Failure {
    Failure::usage(format!(
        "the plan `{}` says that it is complete, but {} of its steps are open; tick them, or change \
         its status",
        stored.name,
        file.steps.len() - file.done()
    ))
}

fn order(cli: &RunPlan, desk: &Desk<'_>, file: &PlanFile) -> Result<Order, Failure> {
    let plan = plan(desk, file)?;
    run::check_given(&desk.looking()?, &plan)?;
    let given = settings::of_given_plan(&desk.config)?;
    let parallel = cli.max_parallel.unwrap_or(desk.config.run.max_parallel);
    preflight::budget(&given.budget, &desk.config.providers)?;
    Ok(Order {
        run: run::run_name()?,
        nonce: run::nonce()?,
        goal: plan.goal.clone(),
        plan: Some(plan),
        settings: Settings {
            max_parallel: usize::try_from(parallel.clamp(1, 8)).unwrap_or(2),
            // A tick says that the step's work is there, so what is done reaches the branch.
            merge_partial: true,
            pause_at_failure: true,
            ..given
        },
    })
}

fn plan(desk: &Desk<'_>, file: &PlanFile) -> Result<Plan, Failure> {
    let context = desk.looking()?;
    let offered = planning::Offered::gather(&context);
    offered.with(|offer| {
        let checks = fallback::found_checks(offer);
        convert::plan(
            file,
            &Around {
                role: context.role("implementer", "worker"),
                checks: &checks,
                is_command: &|line| {
                    line.split_whitespace().nth(1).is_none_or(|w| w != "sure")
                        && verify_check::fault(line, offer).is_none()
                },
            },
        )
        .map_err(Failure::input)
    })
}

fn finish(
    desk: &Desk<'_>,
    stored: &Stored,
    books: &Books<'_>,
    name: &str,
    state: &State,
) -> Result<Exit, Failure> {
    let status = state.status.unwrap_or(RunStatus::Failed);
    let branch = names::run_branch(name);
    let gaps: Vec<String> = crate::core::closing::missing(state)
        .into_iter()
        .map(|m| m.statement)
        .collect();
    let (file, complete) = match close(stored, books, state) {
        Ok(closed) => closed,
        // The file went away, or was made unreadable, while the run did its work. What the run did is
        // judged by itself: it stands in git, whatever became of its list.
        Err(failure) => {
            desk.output.note(&format!(
                "the plan could not be ticked off: {}; the run and its work are not affected: \
                 orchestrate show {name}",
                failure.message
            ));
            for line in plan_report::why_paused(state, name, true, &branch) {
                desk.output.note(&line);
            }
            plan_report::tell_without_file(desk.output, stored, state, name, &gaps)?;
            return Ok(outcome::exit(state, status));
        }
    };
    for line in plan_report::why_paused(state, name, complete, &branch) {
        desk.output.note(&line);
    }
    plan_report::tell(desk.output, stored, &file, Some(name), &gaps)?;
    if complete && status == RunStatus::Completed {
        return Ok(Exit::Yes);
    }
    Ok(match outcome::exit(state, status) {
        // The run did all it was given, but the file has grown meanwhile.
        Exit::Yes => Exit::No,
        exit => exit,
    })
}

/// Makes the file say how the plan stands now, and whether that is complete.
fn close(stored: &Stored, books: &Books<'_>, state: &State) -> Result<(PlanFile, bool), Failure> {
    books.settle(state)?;
    let (_, file) = stored.read()?;
    // A tick says that the work is there; the plan is complete when it has reached the branch.
    let complete = file.steps.iter().all(|s| s.done) && !books.goes_on(state)?;
    stored.set_status(if complete { "complete" } else { "paused" })?;
    let (_, file) = stored.read()?;
    Ok((file, complete))
}
