//! `worker-run replay`: takes a recorded run again.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use baton_cli::config::{ConfigFlags, Loaded, load};
use baton_cli::{Environment, Failure, Output};
use baton_model_server::{Client, Clocks, Endpoint};
use baton_process::Cancel;
use baton_prompt::Role;
use baton_protocol::{BaseUrl, Exit, Handoff, HandoffStatus, Timestamp};
use baton_repo::Repo;
use clap::ValueEnum as _;
use serde_json::{Value, json};

use super::{Player, RecordedRun, Tape};
use crate::cli::{CheckEvery, ModeFlag, ReplayFlags};
use crate::harness::budget::Bounds;
use crate::place::{needs_slot, reexec_under_slot_lock};
use crate::provider::{Provider, choose};
use crate::run::word;
use crate::session::{Events, Job, Ledger, Pack, Session, handoff, look};
use crate::tools::shell::Shell;
use crate::tools::worktree::WorkTree;

/// Runs it.
pub(crate) fn replay(flags: &ReplayFlags, output: &Output) -> Result<Exit, Failure> {
    let env = Environment::from_process();
    let cancel = Cancel::install()
        .map_err(|error| Failure::internal(format!("cannot watch for signals: {error}")))?;
    let run = Player::open(&flags.dir, None, baton_cli::Redactor::default())
        .map_err(Failure::input)?
        .run()
        .clone();
    let home = flags.repo.as_deref().unwrap_or(&run.root);
    let repo = Repo::discover(home).map_err(|error| {
        Failure::input(format!(
            "{}: {error}; say with --repo where the repository is now",
            home.display()
        ))
    })?;
    let loaded = load(
        &env,
        repo.root(),
        &ConfigFlags {
            config_file: flags.model.config.clone(),
            urls: flags.model.base_url.iter().cloned().collect(),
        },
    )?;
    output.keep_out(loaded.redactor(&env));
    if flags.from.is_some() && needs_slot(&env, flags.model.no_slot, false) {
        loaded.providers()?;
        let url = flags.model.base_url.as_ref().map(ToString::to_string);
        return Err(reexec_under_slot_lock(
            Bounds::new(&run.task.limits).queue,
            url.as_deref(),
        ));
    }
    let player = Player::open(&flags.dir, flags.from, loaded.redactor(&env))
        .map(Arc::new)
        .map_err(Failure::input)?;
    if flags.from.is_some_and(|from| from > player.recorded() + 1) {
        return Err(Failure::usage(format!(
            "--from {}: the recording has {} steps",
            flags.from.unwrap_or_default(),
            player.recorded()
        )));
    }
    let scratch = tempfile::Builder::new()
        .prefix("baton-replay-")
        .tempdir()
        .map_err(|error| Failure::internal(format!("cannot make a temporary folder: {error}")))?;
    let tree = work_tree(&repo, &run, scratch.path())?;
    let job = job(&run, flags, &env, &loaded, scratch.path())?;
    let mut shell = Shell::new(
        tree.root(),
        job.role.writes(),
        flags.sandbox,
        &job.task.sandbox,
        &env,
    )
    .map_err(|error| Failure::internal(format!("cannot make a temporary folder: {error}")))?;
    shell.also_read([tree.repo.git_dir().to_path_buf()]);
    shell.also_read(repo.object_folders());
    shell.set_tape(Tape::Play(Arc::clone(&player)));
    let mut ledger = Ledger::default();
    ledger.note(format!("a replay of {}", flags.dir.display()));
    let events = Events::open(flags.events.as_deref(), job.task.id.clone(), None)?;
    let client = Client::new(job.provider.endpoint.clone()).with_tap(player.clone());
    let mut session = Session::new(&job, output, &cancel, client, tree, shell, events, ledger);
    session.tree.show_as(run.root.clone());
    let served = run.served.clone();
    if flags.from != Some(1) {
        session.chosen.clone_from(&run.way);
        session.counts_to_replay = run.counts.iter().copied().collect();
    }
    session.looking = Some(if flags.from == Some(1) {
        let endpoint = job.provider.endpoint.clone();
        look(
            endpoint,
            &job.provider.id,
            job.provider.model.clone(),
            job.bounds.wall,
            cancel.clone(),
        )
    } else {
        std::thread::spawn(move || served)
    });
    let started_at = Timestamp::now();
    let end = session.run();
    let replayed = handoff(&mut session, &end, started_at);
    if end.status == HandoffStatus::Interrupted {
        return Ok(end.exit_code());
    }
    tell(&player, flags.from, &replayed, output)
}

/// The recorded base as a repository of its own.
fn work_tree(repo: &Repo, run: &RecordedRun, scratch: &Path) -> Result<WorkTree, Failure> {
    let place = scratch.join("tree");
    std::fs::create_dir(&place)
        .map_err(|error| Failure::internal(format!("{}: {error}", place.display())))?;
    repo.materialise(&run.base, &place).map_err(|error| {
        Failure::input(format!(
            "the recorded base {} is not in {}: {error}",
            run.base,
            repo.root().display()
        ))
    })?;
    // Which files do not count is also said there; without it more would seem to have changed.
    let _ = std::fs::create_dir_all(place.join(".git/info"));
    let _ = std::fs::copy(
        repo.common_dir().join("info/exclude"),
        place.join(".git/info/exclude"),
    );
    let mut task = run.task.clone();
    task.base = Some(run.base.clone());
    let here = Repo::discover(&place).map_err(|error| Failure::internal(error.to_string()))?;
    WorkTree::new(here, &task, run.access == baton_protocol::Access::Write).map_err(Failure::input)
}

fn job(
    run: &RecordedRun,
    flags: &ReplayFlags,
    env: &Environment,
    loaded: &Loaded,
    scratch: &Path,
) -> Result<Job, Failure> {
    let bounds = Bounds::new(&run.task.limits);
    let mut provider = if flags.from.is_some() {
        choose(env, &flags.model, loaded, &run.task.role, &bounds)?
    } else {
        nobody()?
    };
    if flags.from != Some(1) {
        // The requests must be the recorded ones, whoever answers the later ones.
        provider.id.clone_from(&run.provider);
        provider.model.clone_from(&run.model);
        provider.context = run.context;
        provider.request.clone_from(&run.request);
        provider.calls_tools = run.calls_tools;
        provider.mode = run
            .provider_mode
            .as_deref()
            .and_then(|mode| ModeFlag::from_str(mode, false).ok());
    }
    // A copy: what a replay learns is nobody's experience.
    let calibration = scratch.join("calibration.jsonl");
    let _ = std::fs::copy(flags.dir.join("calibration.jsonl"), &calibration);
    let word = |text: &str| Failure::input(format!("{}: `{text}`", flags.dir.display()));
    let mut task = run.task.clone();
    task.base = Some(run.base.clone());
    Ok(Job {
        role: Role::from_name(&run.task.role, Some(run.access)),
        mode: ModeFlag::from_str(&run.mode, false).map_err(|_| word(&run.mode))?,
        calibration,
        provider,
        bounds,
        system: run.system.clone(),
        pack: Pack::parse(&run.pack),
        check_every: CheckEvery::from_str(&run.check_every, false)
            .map_err(|_| word(&run.check_every))?,
        task,
    })
}

/// A server that is never asked.
fn nobody() -> Result<Provider, Failure> {
    let base = BaseUrl::parse("http://127.0.0.1:9/v1").map_err(Failure::internal)?;
    Ok(Provider {
        id: String::new(),
        endpoint: Endpoint::new(base),
        model: None,
        context: None,
        request: serde_json::Map::new(),
        clocks: Clocks::default(),
        mode: None,
        calls_tools: None,
        scaled_first_byte: false,
    })
}

/// Says whether it was the same, and where not.
fn tell(
    player: &Player,
    from: Option<usize>,
    replayed: &Handoff,
    output: &Output,
) -> Result<Exit, Failure> {
    let recorded = player.run().end.as_ref();
    let diverged = player.diverged();
    let taken = match from {
        Some(from) => player.asked().min(from - 1),
        None => player.asked().min(player.recorded()),
    };
    let live = from.is_some();
    let mut why = diverged.as_ref().map(|d| {
        let found = &d.difference;
        format!(
            "request {} differs at {}: recorded {:?}, now {:?}",
            d.step, found.path, found.recorded, found.now
        )
    });
    if why.is_none() && !live && !player.is_exhausted() {
        why = match recorded {
            Some(end) if end.status != replayed.status => Some(format!(
                "it ended as {}, recorded was {}",
                word(replayed.status),
                word(end.status)
            )),
            Some(end) if end.tree.is_some() && end.tree != replayed.tree => {
                Some("the files at the end are not the recorded ones".into())
            }
            _ if player.asked() < player.recorded() => Some(format!(
                "it ended after {} of {} requests",
                player.asked(),
                player.recorded()
            )),
            _ => None,
        };
    }
    let document = json!({
        "replay": true, "same": why.is_none(), "steps_recorded": player.recorded(), "steps_replayed": taken,
        "live_from": from,
        "difference": diverged.as_ref().map(|d| json!({
            "step": d.step, "path": d.difference.path, "recorded": d.difference.recorded,
            "now": d.difference.now})),
        "reason": why, "recorded": recorded, "handoff": replayed,
    });
    output.document(&document, || text(&document, replayed))?;
    if let Some(why) = why {
        output.note(&why);
        return Ok(Exit::No);
    }
    if live {
        return Ok(crate::session::End::new(replayed.status, "").exit_code());
    }
    Ok(Exit::Yes)
}

fn text(document: &Value, replayed: &Handoff) -> String {
    let mut text = String::new();
    let same = document["same"] == true;
    let _ = writeln!(
        text,
        "{}: {} of {} requests replayed",
        if same {
            "the same decisions"
        } else {
            "diverged"
        },
        document["steps_replayed"],
        document["steps_recorded"]
    );
    if let Some(why) = document["reason"].as_str() {
        let _ = writeln!(text, "  {why}");
    }
    let _ = writeln!(
        text,
        "{}: {}",
        word(replayed.status),
        replayed.status_reason
    );
    text
}
