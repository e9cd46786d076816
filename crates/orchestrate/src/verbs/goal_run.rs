//! `orchestrate goal run`: the loop. It decides nothing itself: `core::goal::decide` does, from what is
//! stored, so that a loop that was killed goes on as if it had not been.

use baton_cli::{Failure, Output};
use baton_protocol::{ErrorKind, Exit, RunStatus};

use crate::cli_launch::Launch;
use crate::core::goal::decide::{self, Bounds, Next, RunEnd};
use crate::core::goal::{Current, Goal, Status, Step, prompts};
use crate::core::state::State;
use crate::core::{closing, outcome};
use crate::shell::desk::{Desk, Order, has_no_place};
use crate::shell::goal_store::GoalStore;
use crate::shell::layout::Layout;
use crate::shell::loops::{self, LoopLock};
use crate::shell::preflight::Dirt;
use crate::shell::{detached, goal_facts, lock, preflight, worker};

use super::{goal, place, plans, run, settings};

/// How long another run in the repository is left alone before it is looked for again.
const WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// How a loop ends.
enum Ending {
    /// The goal stands as it does.
    Rest,
    /// With this exit code, the goal as it was.
    Exit(Exit),
    /// The goal that the loop began with is not there any more, or says something else.
    Changed,
}

/// Works on the goal until it is reached or something else ends it.
pub(crate) fn run(
    detach: bool,
    detached: bool,
    launch: &Launch,
    output: &Output,
) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let store = GoalStore::new(&Layout::new(repo.root()), repo.common_dir());
    let goal = store.read()?.ok_or_else(|| {
        Failure::usage("there is no goal; set one: orchestrate goal \"WHAT IS TO BE REACHED\"")
    })?;
    if detach && goal.status == Status::Active {
        let flags = launch.again();
        let mut args = vec!["goal", "run", "--detached"];
        args.extend(flags.iter().map(String::as_str));
        return detached::start(&repo, goal::LOOP, &args, output);
    }
    if detached {
        detached::leave_the_terminal();
    }
    let desk = place::open(output, "goal", |c| c.goal)?
        .launched(launch, output)?
        .desk(output);
    let seat = LoopLock::take(&desk.common_dir, goal::LOOP, &desk.signals)?;
    desk.layout.prepare()?;
    desk.forget_old_halts();
    let mut the_loop = Loop {
        bounds: Bounds {
            max_continuations: desk.config.goal.max_continuations,
            budget: run::budget(&crate::cli::Budget::default(), &desk.config.goal.budget)?,
        },
        desk: &desk,
        store: &store,
        id: goal.id.clone(),
        objective: goal.objective.clone(),
        worked: 0,
    };
    if goal.status == Status::Active {
        preflight::clean(&repo, Dirt::Refused { flag: false })?;
    }
    let ending = the_loop.turn_by_turn()?;
    drop(seat);
    let last = store.read()?;
    if let Some(goal) = &last {
        goal::tell(goal, &repo, output)?;
    }
    Ok(match ending {
        Ending::Exit(exit) => exit,
        Ending::Changed => {
            output.note("the goal was changed or taken away meanwhile, so the loop ends here");
            Exit::Unknown
        }
        Ending::Rest => match last.map(|g| g.status) {
            Some(Status::Done) => Exit::Yes,
            // Told to do one part at a time, it did.
            Some(Status::Active) => Exit::No,
            _ => Exit::Unknown,
        },
    })
}

struct Loop<'a> {
    desk: &'a Desk<'a>,
    store: &'a GoalStore,
    bounds: Bounds,
    id: String,
    objective: String,
    /// Continuations that this loop has begun.
    worked: u32,
}

impl Loop<'_> {
    fn turn_by_turn(&mut self) -> Result<Ending, Failure> {
        loop {
            let Some(current) = self.choose()? else {
                return Ok(if self.is_ours()? {
                    Ending::Rest
                } else {
                    Ending::Changed
                });
            };
            let state = match self.do_it(&current) {
                Ok(state) => state,
                // Paused, halted or changed between the choice and the repository's lock.
                Err(failure) if failure.detail == NOT_ADMITTED => continue,
                // Somebody works here by hand: their run first.
                Err(failure) if failure.kind == ErrorKind::TryAgain && self.is_taken() => {
                    self.rest(WAIT);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            if let Some(ending) = self.take_in(&current, &state)? {
                return Ok(ending);
            }
            self.rest(self.desk.config.goal.cooldown.0);
            if self.desk.signals.is_cancelled() {
                let signal = self.desk.signals.signal().unwrap_or(2);
                return Ok(Ending::Exit(Exit::Signal(
                    u8::try_from(signal).unwrap_or(2),
                )));
            }
        }
    }

    /// Rests, looking around: a goal that is paused, cleared or replaced ends the rest.
    fn rest(&self, time: std::time::Duration) {
        let mut goes_on = || {
            let goal = self.store.read().ok().flatten();
            goal.is_some_and(|g| g.status == Status::Active && g.id == self.id)
        };
        loops::rest(time, &self.desk.signals, &mut goes_on);
    }

    /// Whether another run has the repository.
    fn is_taken(&self) -> bool {
        !self.desk.signals.is_cancelled() && lock::holder(&self.desk.common_dir).is_some()
    }

    fn is_ours(&self) -> Result<bool, Failure> {
        Ok(self
            .store
            .read()?
            .is_some_and(|g| g.is_unchanged(&self.id, &self.objective)))
    }

    /// Decides on what is stored now, and stores the decision before anything comes of it.
    fn choose(&mut self) -> Result<Option<Current>, Failure> {
        let one_at_a_time = !self.desk.config.goal.auto_continue && self.worked > 0;
        let name = run::run_name()?;
        let repo = self.desk.repo()?;
        let before = goal_facts::fingerprint(&repo, &self.desk.layout)?;
        let (id, objective, bounds) = (&self.id, &self.objective, &self.bounds);
        let chosen = self.store.change(|there| {
            let Some(mut goal) = there else {
                return Ok((None, None));
            };
            if !goal.is_unchanged(id, objective) {
                return Ok((Some(goal), None));
            }
            let chosen = match decide::next(&goal, bounds) {
                Next::Rest => None,
                Next::Stop(status, reason) => {
                    goal.stop(status, reason);
                    None
                }
                Next::GoOn(current) => Some((current, false)),
                Next::Work if one_at_a_time => None,
                Next::Work => {
                    let current = Current {
                        run: name,
                        step: Step::Work,
                        before,
                    };
                    goal.continuations += 1;
                    goal.remember(&current.run);
                    goal.current = Some(current.clone());
                    Some((current, true))
                }
            };
            Ok((Some(goal), chosen))
        })?;
        let Some((current, begins)) = chosen else {
            return Ok(None);
        };
        if begins {
            self.worked += 1;
            self.say_how_far()?;
        }
        Ok(Some(current))
    }

    fn say_how_far(&self) -> Result<(), Failure> {
        if let Some(goal) = self.store.read()? {
            self.desk.output.note(&format!(
                "continuation {} of at most {}",
                goal.continuations, self.bounds.max_continuations
            ));
        }
        Ok(())
    }

    fn do_it(&self, current: &Current) -> Result<State, Failure> {
        let goal = self.store.read()?.ok_or_else(not_admitted)?;
        let order = self.order(&goal, current)?;
        let mut admit = || {
            let goal = self.store.read()?.ok_or_else(not_admitted)?;
            let still = goal.is_unchanged(&self.id, &self.objective)
                && goal.current.as_ref() == Some(current)
                && decide::next(&goal, &self.bounds) == Next::GoOn(current.clone());
            if still { Ok(()) } else { Err(not_admitted()) }
        };
        self.desk.work(order, &mut admit, Box::new(|_, _| {}))
    }

    fn order(&self, goal: &Goal, current: &Current) -> Result<Order, Failure> {
        let config = &self.desk.config;
        let facts = self.facts(goal);
        let mut order = Order {
            run: current.run.clone(),
            nonce: run::nonce()?,
            goal: goal.objective.clone(),
            plan: None,
            settings: settings::of_configuration(config)?,
        };
        match current.step {
            Step::Work => order.goal = prompts::work(goal, &facts),
            Step::Assess => {
                let context = self.desk.looking()?;
                let role = context.role("reviewer", "explore");
                let plan = prompts::assess(goal, &facts, role).map_err(Failure::internal)?;
                order.goal = format!("Look whether this is reached: {}", goal.objective);
                order.plan = Some(plan);
                order.settings = settings::of_given_plan(config)?;
            }
        }
        order.settings.budget = decide::left(&order.settings.budget, goal, &self.bounds.budget);
        Ok(order)
    }

    fn facts(&self, goal: &Goal) -> prompts::Facts {
        let desk = self.desk;
        let last = goal
            .runs
            .iter()
            .rev()
            .find_map(|run| std::fs::read_to_string(desk.layout.run(run).report_text()).ok())
            .map(|text| text.chars().take(6_000).collect());
        prompts::Facts {
            commits: goal_facts::commits(&desk.root, goal.start.as_deref(), &desk.signals),
            plans: plans::lines(&desk.layout, &desk.common_dir),
            last,
        }
    }

    /// Takes the end of a run into the goal. A goal that a person changed meanwhile is left alone, but
    /// for what the run cost.
    fn take_in(&self, current: &Current, state: &State) -> Result<Option<Ending>, Failure> {
        let repo = self.desk.repo()?;
        let status = state.status.unwrap_or(RunStatus::Interrupted);
        let end = RunEnd {
            status,
            gaps: closing::missing(state)
                .into_iter()
                .map(|m| m.statement)
                .collect(),
            now: goal_facts::fingerprint(&repo, &self.desk.layout)?,
            answer: self.answer(current, state),
            no_place: has_no_place(state),
        };
        let assess = run::run_name()?;
        let wall_ms = crate::shell::finishing::wall_ms(
            state,
            state.last_at.unwrap_or_else(baton_protocol::Timestamp::now),
        );
        let (id, objective) = (&self.id, &self.objective);
        self.store.change(|there| {
            let Some(mut goal) = there else {
                return Ok((None, ()));
            };
            let ours = goal.is_unchanged(id, objective) && goal.current.as_ref() == Some(current);
            if ours {
                // What an interrupted run cost is counted when it has ended.
                if !matches!(status, RunStatus::Interrupted | RunStatus::Halted) && !end.no_place {
                    goal.spent.add(state, wall_ms);
                }
                decide::after(&mut goal, current.step, &end, &assess);
            }
            Ok((Some(goal), ()))
        })?;
        if end.no_place || status == RunStatus::Interrupted {
            return Ok(Some(Ending::Exit(outcome::exit(state, status))));
        }
        Ok(None)
    }

    fn answer(&self, current: &Current, state: &State) -> Option<decide::Answer> {
        if current.step != Step::Assess {
            return None;
        }
        let job = state
            .jobs
            .iter()
            .find(|j| j.id().as_str() == prompts::ASSESS)?;
        if !job.fate.is_good() {
            return None;
        }
        let attempt = job.attempt();
        let folder =
            self.desk
                .layout
                .run(&current.run)
                .attempt(job.id(), attempt.number, attempt.placement);
        decide::answer(&worker::handoff(&folder).ok()?.result)
    }
}

/// The detail by which a refused admission is known; it never leaves the loop.
const NOT_ADMITTED: &str = "not admitted";

fn not_admitted() -> Failure {
    Failure::internal("the goal changed before the run began").with_detail(NOT_ADMITTED.into())
}
