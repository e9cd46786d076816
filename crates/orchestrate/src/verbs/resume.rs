//! `orchestrate resume`.

use std::sync::Arc;

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, RunStatus};

use crate::cli::Resume;
use crate::core::job::Job;
use crate::core::record::Record;
use crate::core::state::State;
use crate::shell::context::Context;
use crate::shell::engine::Engine;
use crate::shell::journal::Journal;
use crate::shell::layout::Layout;
use crate::shell::lock::RunLock;
use crate::shell::{halt, preflight};

use super::run::see_through;
use super::{place, pull_request};

/// Goes on with a run from its journal.
pub(crate) fn resume(cli: &Resume, output: &Output) -> Result<Exit, Failure> {
    // What was begun is ended, also where its verb was switched off meanwhile.
    let place::Opened {
        signals,
        repo,
        loaded,
        env,
        ..
    } = place::open(output, "resume", |_| true)?.launched(&cli.launch, output)?;
    let layout = Layout::new(repo.root());
    let run = place::find_run(&layout, cli.run.as_deref())?;
    let common_dir = repo.common_dir().to_owned();
    let redactor = loaded.redactor(&env);
    let _lock = RunLock::take(&common_dir, &run, cli.wait, &signals, &mut |text| {
        output.note(text);
    })?;
    let folder = layout.run(&run);
    let (journal, entries) = Journal::open(&folder.journal(), &run, redactor.clone())?;
    let mut state = State::replay(&entries);
    cli.launch.keep(&mut state.settings);
    if state.started_at.is_none() {
        return Err(Failure::input(format!(
            "run {run} was killed before it began; start it again: orchestrate run GOAL"
        )));
    }
    let github = loaded.config.github.clone();
    let over = match state.status {
        Some(RunStatus::Completed) => true,
        Some(RunStatus::Incomplete | RunStatus::Failed) => {
            !state.jobs.iter().any(Job::can_be_reopened)
        }
        _ => false,
    };
    if over {
        output.note(&format!(
            "run {run} has ended; there is nothing to go on with"
        ));
        let place = pull_request::Place {
            repo: &repo,
            folder: &folder,
            cancel: &signals,
            settings: &github,
        };
        return pull_request::tell(&place, &run, &state, output);
    }
    // Before anything is counted as lost: is there a server at all?
    preflight::health(repo.root(), &signals)?;
    halt::clear(&layout.halt_file());
    let context = Context::new(
        run.clone(),
        repo,
        loaded.config,
        env,
        redactor,
        signals.child(),
    );
    let mut engine = Engine {
        context: Arc::new(context),
        journal,
        state,
        output,
        events: cli.events.as_deref().map(super::run::events).transpose()?,
        signals,
        watch: None,
    };
    engine.write(
        None,
        Record::Resumed {
            pid: std::process::id(),
        },
    )?;
    see_through(&mut engine, &run, &github, output)
}
