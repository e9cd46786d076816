//! `orchestrate run`.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::Arc;

use baton_cli::{Failure, Output, config, input};
use baton_process::Cancel;
use baton_protocol::{Exit, Plan, ReadError, SlotClass, Timestamp};

use crate::cli::{ReviewChoice, Run};
use crate::core::fallback;
use crate::core::names;
use crate::core::questions::{self, Facts};
use crate::core::record::{BudgetLimits, PullRequest, Record, ReviewMode, Settings};
use crate::core::state::State;
use crate::shell::context::Context;
use crate::shell::engine::Engine;
use crate::shell::gh::Gh;
use crate::shell::journal::Journal;
use crate::shell::layout::{Layout, make_folder};
use crate::shell::lock::RunLock;
use crate::shell::preflight::Dirt;
use crate::shell::{halt, planning, preflight};

use super::{ending, github, place, pull_request};

/// Works on a goal.
pub(crate) fn run(cli: &Run, output: &Output) -> Result<Exit, Failure> {
    let place::Opened {
        signals,
        repo,
        loaded,
        env,
        ..
    } = place::open(output, "run", |c| c.run)?.launched(&cli.launch, output)?;
    let mut given = cli.from.as_deref().map(plan_file).transpose()?;
    github::allowed_for(cli, &loaded.config.github)?;
    if cli.pr {
        pull_request::can_be_opened(&repo, &signals)?;
    }
    let goal = match cli.issue {
        Some(number) => issue_goal(cli, number, repo.root(), &signals)?,
        None => goal(cli, given.as_ref())?,
    };
    if let Some(plan) = &mut given {
        plan.goal.clone_from(&goal);
    }
    let settings = settings(cli, &loaded.config, given.is_some())?;
    let target = preflight::target(&repo)?;
    if let Some(note) = preflight::clean(&repo, Dirt::by_flag(cli.allow_dirty || cli.plan_only))? {
        output.note(&note);
    }
    preflight::budget(&settings.budget, &loaded.config.providers)?;

    let run = run_name()?;
    let layout = Layout::new(repo.root());
    let common_dir = repo.common_dir().to_owned();
    let redactor = loaded.redactor(&env);
    let github = loaded.config.github.clone();
    let context = Context::new(
        run.clone(),
        repo,
        loaded.config,
        env,
        redactor.clone(),
        signals.child(),
    );
    if let Some(plan) = &given {
        check_given(&context, plan)?;
    }
    if cli.dry_run {
        return dry_run(&context, &settings, &goal, given, output);
    }
    let _lock = RunLock::take(&common_dir, &run, cli.wait, &signals, &mut |text| {
        output.note(text);
    })?;
    let (_, notes) = preflight::health(context.root(), &signals)?;
    for note in notes {
        output.note(&note);
    }
    layout.prepare()?;
    halt::clear(&layout.halt_file());
    let folder = context.folder();
    make_folder(folder.path())?;
    let (journal, _) = Journal::open(&folder.journal(), &run, redactor)?;
    let mut engine = Engine {
        context: Arc::new(context),
        journal,
        state: State::empty(),
        output,
        events: cli.events.as_deref().map(events).transpose()?,
        signals,
        watch: None,
    };
    engine.write(
        None,
        Record::RunStarted {
            goal,
            settings,
            target,
            branch: names::run_branch(&run),
            nonce: nonce()?,
            given: given.map(Box::new),
        },
    )?;
    see_through(&mut engine, &run, &github, output)
}

/// Does what is left to do, and tells what came of it.
pub(super) fn see_through(
    engine: &mut Engine<'_>,
    run: &str,
    github: &config::GitHubConfig,
    output: &Output,
) -> Result<Exit, Failure> {
    engine.work()?;
    let place = pull_request::Place {
        repo: &engine.context.repo,
        folder: &engine.context.folder(),
        cancel: &engine.signals,
        settings: github,
    };
    pull_request::tell(&place, run, &engine.state, output)
}

/// The faults of a given plan are the person's to mend.
pub(super) fn check_given(context: &Context, plan: &Plan) -> Result<(), Failure> {
    let offered = planning::Offered::gather(context);
    let faults = planning::check(context, &State::empty(), &offered, plan, None);
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::input(format!(
        "the plan cannot be worked on: {}",
        faults.join("; ")
    )))
}

fn dry_run(
    context: &Context,
    settings: &Settings,
    goal: &str,
    given: Option<Plan>,
    output: &Output,
) -> Result<Exit, Failure> {
    let (_, notes) = preflight::health(context.root(), &context.stop)?;
    for note in notes {
        output.note(&note);
    }
    let checks = planning::Offered::gather(context).with(fallback::found_checks);
    if let Some(plan) = given {
        output.note(&format!(
            "would work on this plan, {} at once; nothing was started",
            settings.max_parallel
        ));
        output.document(&plan, || ending::plan_text(&plan))?;
        return Ok(Exit::Yes);
    }
    if !settings.ask_planner {
        let plan = fallback::plan_from_goal(goal, context.role("implementer", "worker"), checks);
        output.note("would give this to one worker; nothing was started");
        output.document(&plan, || ending::plan_text(&plan))?;
        return Ok(Exit::Yes);
    }
    let id = baton_protocol::TaskId::new("plan-1").map_err(Failure::internal)?;
    let facts = Facts {
        checks,
        at_once: settings.max_parallel,
        ..Facts::default()
    };
    let task = questions::planner(id, "planner", goal, &facts);
    output.note("would ask a planner this; nothing was started");
    output.document(&task, || task.prompt.clone())?;
    Ok(Exit::Yes)
}

fn plan_file(file: &std::path::Path) -> Result<Plan, Failure> {
    let file = (file.as_os_str() != "-").then_some(file);
    let text = input::main_document(file, "a plan/1 document")?;
    let place = file.map_or("stdin".into(), |f| f.display().to_string());
    baton_protocol::read_strict(&text).map_err(|e| {
        let not_json = matches!(e, ReadError::NotJson(_));
        let mut failure = Failure::from(e).at(place);
        if not_json {
            failure.message.push_str(
                "; a plan is JSON, as `orchestrate run --plan-only` prints it (one in Markdown is \
                 for `orchestrate run-plan`)",
            );
        }
        failure
    })
}

fn goal(cli: &Run, given: Option<&Plan>) -> Result<String, Failure> {
    let goal = cli
        .goal
        .as_deref()
        .or(given.map(|p| p.goal.as_str()))
        .unwrap_or_default();
    if goal.trim().is_empty() {
        return Err(Failure::usage(
            "the goal is empty; say in plain words what is to be done",
        ));
    }
    Ok(goal.to_owned())
}

/// The issue's text as the goal, after the person's own words about it.
fn issue_goal(
    cli: &Run,
    number: u64,
    root: &std::path::Path,
    signals: &Cancel,
) -> Result<String, Failure> {
    let gh = Gh {
        root,
        repo: None,
        cancel: signals,
    };
    let issue = github::one(&gh, "issue", number)?;
    Ok(crate::core::github::goal(&issue, cli.goal.as_deref()))
}

fn settings(cli: &Run, config: &config::Config, given: bool) -> Result<Settings, Failure> {
    let parallel = cli.max_parallel.unwrap_or(config.run.max_parallel);
    let rounds = cli.rounds.unwrap_or(config.run.max_rounds);
    for (name, value) in [("max_parallel", parallel), ("max_rounds", rounds)] {
        if !(1..=8).contains(&value) {
            return Err(Failure::config(format!(
                "[run] {name} is {value}; it may be 1 to 8"
            )));
        }
    }
    let review = match cli.review {
        Some(ReviewChoice::Off) if config.commands.require_review => {
            return Err(Failure::config(
                "--review off, but [commands] require_review = true",
            ));
        }
        Some(ReviewChoice::Off) => ReviewMode::Off,
        Some(ReviewChoice::Bounded) => ReviewMode::Bounded,
        None if config.commands.require_review => ReviewMode::Bounded,
        None => match config.review.mode {
            config::ReviewMode::Off => ReviewMode::Off,
            config::ReviewMode::Bounded => ReviewMode::Bounded,
        },
    };
    Ok(Settings {
        max_parallel: usize::try_from(parallel).unwrap_or(2),
        max_rounds: rounds,
        plan_only: cli.plan_only,
        ask_planner: !given && !cli.one,
        merge_partial: cli.merge_partial,
        review,
        review_rounds: config.review.max_rounds.clamp(1, 8),
        summary: cli.summary,
        budget: budget(&cli.budget, &config.budget)?,
        queue_ms: u64::try_from(cli.queue.as_millis()).unwrap_or(u64::MAX),
        pause_at_failure: false,
        class: cli
            .class
            .unwrap_or_else(|| attended(std::io::stderr().is_terminal())),
        models: models(config),
        pull_request: cli.pr.then_some(PullRequest { issue: cli.issue }),
        launcher: cli.launch.launcher.clone().map(|words| words.0),
        launcher_io: cli.launch.launcher_io.map(Into::into),
    })
}

/// A person who sees the progress on a terminal waits for the run.
const fn attended(terminal: bool) -> SlotClass {
    if terminal {
        SlotClass::Interactive
    } else {
        SlotClass::Worker
    }
}

/// The models that roles name.
pub(super) fn models(config: &config::Config) -> BTreeMap<String, Vec<String>> {
    let roles = config.roles.iter().filter(|(_, r)| !r.models.is_empty());
    roles
        .map(|(name, r)| (name.clone(), r.models.clone()))
        .collect()
}

/// A limit on the command line stops; those of the configuration do as its mode says.
pub(super) fn budget(
    flags: &crate::cli::Budget,
    config: &config::BudgetConfig,
) -> Result<BudgetLimits, Failure> {
    let millis = |d: std::time::Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
    let asked = flags.max_requests.is_some()
        || flags.max_tokens.is_some()
        || flags.max_wall.is_some()
        || flags.max_cost_usd.is_some();
    let stop = match config.mode.as_str() {
        "advisory" => asked,
        "stop-between-steps" => true,
        other => {
            return Err(Failure::config(format!(
                "[budget] mode is `{other}`; it may be `advisory` or `stop-between-steps`"
            )));
        }
    };
    Ok(BudgetLimits {
        stop,
        max_steps: config.max_steps,
        max_requests: flags.max_requests.or(config.max_requests),
        max_tokens: flags.max_tokens.or(config.max_tokens),
        max_cost_usd: flags.max_cost_usd.or(config.max_cost_usd),
        max_wall_ms: flags
            .max_wall
            .map(millis)
            .or(config.max_wall.map(|d| millis(d.0))),
        max_retries: config.max_retries,
    })
}

/// Eight bytes from the kernel, for names that must not meet.
pub(super) fn random() -> Result<u64, Failure> {
    use std::io::Read as _;
    let mut bytes = [0u8; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut bytes))
        .map_err(|e| Failure::internal(format!("cannot read /dev/urandom: {e}")))?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn run_name() -> Result<String, Failure> {
    Ok(names::run_id(&Timestamp::now().to_string(), random()?))
}

/// The run's secret word: a reviewer's answer carries it, a file in the repository cannot.
pub(super) fn nonce() -> Result<String, Failure> {
    Ok(names::letters(random()?, 12))
}

/// Where the events also go. A path is made or emptied; a pipe is written to.
pub(crate) fn events(path: &std::path::Path) -> Result<std::fs::File, Failure> {
    std::fs::File::create(path)
        .map_err(|e| Failure::usage(format!("cannot write events to {}: {e}", path.display())))
}
