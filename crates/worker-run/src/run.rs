//! The shell around everything: files, clock, environment, processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use baton_cli::config::{ConfigFlags, Loaded, load};
use baton_cli::{Environment, Failure, Output, Outside, Redactor, input, state_dir};
use baton_model_server::Client;
use baton_process::Cancel;
use baton_prompt::{Role, gather};
use baton_protocol::markdown::{self, Headings};
use baton_protocol::{Exit, HandoffStatus, Task, Timestamp};
use baton_repo::Repo;
use clap::ValueEnum as _;
use serde_json::json;

use crate::cli::{Action, Cli};
use crate::engine::Engine;
use crate::flag::Flag;
use crate::harness::budget::Bounds;
use crate::harness::way::{Past, Signs, choose as choose_way};
use crate::inputs::{override_limits, task_from_document, task_from_flags};
use crate::place::{give_back_stdin, needs_slot, reexec_under_slot_lock};
use crate::provider::choose;
use crate::remote;
use crate::replay::{RecordedEnd, RecordedRun, Recorder, Tape, replay};
use crate::session::{
    Events, Job, Ledger, Pack, Session, calibration, first, handoff, look, parameters_in_name,
};
use crate::tools::shell::Shell;
use crate::tools::worktree::WorkTree;

/// Runs the tool.
pub(crate) fn run(cli: &Cli, output: &Output) -> Result<Exit, Failure> {
    match &cli.action {
        Some(Action::Replay(flags)) => return replay(flags, output),
        Some(Action::Remote(flags)) => return remote::run(flags, output),
        None => {}
    }
    let env = Environment::from_process();
    let engine = Engine::new(cli.way.engine, &cli.agent, &env)?;
    if engine.is_some() && cli.record.is_some() {
        return Err(Failure::usage(
            "--record is for our own loop, not for --engine",
        ));
    }
    // What can be wrong is said before a slot is waited for, the task first.
    let (mut task, from_stdin) = match task_from_flags(cli)? {
        Some(task) => (task, None),
        None => read_task(cli)?,
    };
    let repo = Repo::discover(&cli.repo)
        .map_err(|error| Failure::usage(format!("--repo {}: {error}", cli.repo.display())))?;
    let places = [repo.root(), repo.git_dir(), repo.common_dir()];
    task.sandbox = Outside::new(&env, places).of_task(&task.sandbox)?;
    let flags = ConfigFlags {
        config_file: cli.model.config.clone(),
        urls: cli.model.base_url.iter().cloned().collect(),
    };
    let loaded = load(&env, repo.root(), &flags)?;
    output.keep_out(loaded.redactor(&env));
    for note in &loaded.notes {
        output.note(note);
    }
    if needs_slot(&env, cli.model.no_slot, cli.dry_run) {
        loaded.providers()?;
        let mut limits = task.limits.clone();
        limits.queue_ms = cli
            .limits
            .wait
            .map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
            .or(limits.queue_ms);
        let url = cli.model.base_url.as_ref().map(ToString::to_string);
        if let Some(text) = from_stdin {
            give_back_stdin(&text)?;
        }
        return Err(reexec_under_slot_lock(
            Bounds::new(&limits).queue,
            url.as_deref(),
        ));
    }
    override_limits(&mut task, &cli.limits);
    let job = job(cli, &env, &loaded, task)?;
    if cli.dry_run {
        return dry_run(&job, &repo, output);
    }
    work(cli, &env, &loaded, &job, engine.as_ref(), repo, output)
}

/// The task of the document, and the document's text when it came on stdin.
fn read_task(cli: &Cli) -> Result<(Task, Option<String>), Failure> {
    let file = cli.task.as_deref().filter(|p| p.as_os_str() != "-");
    let text = input::main_document(file, "a task/1 document (or give --prompt)")?;
    let task = task_from_document(&text).map_err(|e| match file {
        Some(file) => e.at(file.display()),
        None => e,
    })?;
    Ok((task, file.is_none().then_some(text)))
}

fn job(cli: &Cli, env: &Environment, loaded: &Loaded, task: Task) -> Result<Job, Failure> {
    let role_config = loaded.config.roles.get(&task.role);
    let bounds = Bounds::new(&task.limits);
    let system = match role_config.and_then(|r| r.prompt.as_ref()) {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
            Failure::config(format!(
                "roles.{}.prompt: {}: {error}",
                task.role,
                path.display()
            ))
        })?),
        None => None,
    };
    let provider = choose(env, &cli.model, loaded, &task.role, &bounds)?;
    Ok(Job {
        role: Role::from_name(&task.role, role_config.and_then(|r| r.access)),
        mode: cli.way.mode,
        calibration: calibration::file(&state_dir(env), &provider.id),
        provider,
        bounds,
        system,
        pack: Pack::parse(&cli.way.pack),
        check_every: cli.way.check_every,
        task,
    })
}

fn work(
    cli: &Cli,
    env: &Environment,
    loaded: &Loaded,
    job: &Job,
    engine: Option<&Engine>,
    repo: Repo,
    output: &Output,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let started_at = Timestamp::now();
    let cancel = Cancel::install()
        .map_err(|error| Failure::internal(format!("cannot watch for signals: {error}")))?;
    let looking = look(
        job.provider.endpoint.clone(),
        &job.provider.id,
        job.provider.model.clone(),
        job.bounds.wall,
        cancel.clone(),
    );
    let mut ledger = Ledger::default();
    if env.get("BATON_SLOT").is_none() {
        ledger.note("no slot was taken (--no-slot)");
    }
    let mut events = Events::open(
        cli.events.as_deref(),
        job.task.id.clone(),
        env.get("BATON_RUN").map(ToString::to_string),
    )?;
    let mut tree = WorkTree::new(repo, &job.task, job.role.writes()).map_err(cannot_begin)?;
    tree.leave_out(own_files(cli));
    let mut shell = Shell::new(
        tree.root(),
        job.role.writes(),
        cli.way.sandbox,
        &job.task.sandbox,
        env,
    )
    .map_err(|error| Failure::internal(format!("cannot make a temporary folder: {error}")))?;
    // A linked work tree keeps its metadata elsewhere; `git diff` must find it, and not change it.
    shell.also_read([
        tree.repo.common_dir().to_path_buf(),
        tree.repo.git_dir().to_path_buf(),
    ]);
    let mut client = Client::new(job.provider.endpoint.clone());
    let recorder = match &cli.record {
        Some(dir) => Some(record(dir, &tree, loaded.redactor(env))?),
        None => None,
    };
    if let Some(recorder) = &recorder {
        client = client.with_tap(recorder.clone());
        shell.set_tape(Tape::Record(recorder.clone()));
        recorder
            .calibration(&job.calibration)
            .map_err(|error| Failure::usage(format!("--record: {error}")))?;
        events
            .also(&recorder.events())
            .map_err(|error| Failure::usage(format!("--record: {error}")))?;
    }
    let written = |session: &Session<'_>, end| match &recorder {
        Some(recorder) => recorder.run(&recorded(cli, session, end)),
        None => Ok(()),
    };
    let mut session = Session::new(job, output, &cancel, client, tree, shell, events, ledger);
    session.started = started;
    session.flag = Flag::open(env.get("BATON_SLOT_FILE").map(Path::new));
    session.looking = Some(looking);
    written(&session, None).map_err(|error| Failure::usage(format!("--record: {error}")))?;
    let end = match engine {
        Some(engine) => session.run_engine(engine, env),
        None => session.run(),
    };
    let document = handoff(&mut session, &end, started_at);
    if let Some(recorder) = &recorder {
        let last = RecordedEnd {
            status: end.status,
            reason: end.reason.clone(),
            tree: document.tree.clone().filter(|_| !recorder.has_redacted()),
        };
        let kept = written(&session, Some(last)).and_then(|()| recorder.handoff(&document));
        // A full disk costs the recording, not the work.
        if let Some(why) = kept.err().or_else(|| recorder.trouble()) {
            output.note(&format!("the recording is not whole: {why}"));
        }
    }
    if end.exit_code() != Exit::Yes {
        output.note(&format!("{}: {}", word(end.status), end.reason));
    }
    output.document(&document, || markdown::write(&document, Headings::Four))?;
    Ok(end.exit_code())
}

/// Begins a recording.
fn record(dir: &Path, tree: &WorkTree, redactor: Redactor) -> Result<Arc<Recorder>, Failure> {
    let failed = |error: String| Failure::usage(format!("--record: {error}"));
    let repo = Repo::discover(tree.root()).map_err(|error| failed(error.to_string()))?;
    Recorder::create(dir, repo, redactor)
        .map(Arc::new)
        .map_err(failed)
}

/// What a replay must know of a run.
fn recorded(cli: &Cli, session: &Session<'_>, end: Option<RecordedEnd>) -> RecordedRun {
    let job = session.job;
    let name = |value: Option<clap::builder::PossibleValue>| {
        value.map_or_else(String::new, |v| v.get_name().to_string())
    };
    RecordedRun {
        schema: RecordedRun::SCHEMA.into(),
        root: session.tree.shown().to_path_buf(),
        outputs: session.shell.outputs_as_told(),
        base: session.tree.base.clone(),
        task: job.task.clone(),
        access: job.role.access(),
        mode: name(job.mode.to_possible_value()),
        pack: cli.way.pack.clone(),
        check_every: name(job.check_every.to_possible_value()),
        system: job.system.clone(),
        provider: job.provider.id.clone(),
        model: job.provider.model.clone(),
        context: job.provider.context,
        request: job.provider.request.clone(),
        provider_mode: job.provider.mode.map(|mode| name(mode.to_possible_value())),
        calls_tools: job.provider.calls_tools,
        served: session.served.clone(),
        way: session.chosen.clone(),
        counts: session.counts.clone(),
        end,
    }
}

/// The files that this run writes about itself: they may lie in the work tree.
fn own_files(cli: &Cli) -> Vec<PathBuf> {
    let streams = ["/proc/self/fd/1", "/proc/self/fd/2"].map(PathBuf::from);
    let events = cli.events.clone().filter(|p| p.as_os_str() != "-");
    streams.into_iter().chain(events).collect()
}

/// Why the base could not be recorded: the task's fault, or that of a disk.
fn cannot_begin(why: String) -> Failure {
    let is_disk = [
        "No space left",
        "File too large",
        "Disk quota",
        "Read-only file",
    ]
    .iter()
    .any(|words| why.contains(words));
    if is_disk {
        return Failure::internal(format!("{why}; make room there and try again"));
    }
    Failure::input(why)
}

/// Shows what would be sent first. The checks are not run, so nothing is changed either.
fn dry_run(job: &Job, repo: &Repo, output: &Output) -> Result<Exit, Failure> {
    let found = gather(repo.root(), &job.task);
    let cwd = repo.root().display().to_string();
    let way = choose_way(&Signs {
        asked: job.mode,
        configured: job.provider.mode,
        calls_tools: job.provider.calls_tools,
        parameters: job.provider.model.as_deref().and_then(parameters_in_name),
        past: Past::default(),
        again: job.task.attempt > 1,
        writes: job.role.writes(),
    });
    let (request, plan) = first(job, &cwd, &found, &[], way.mode, None, job.provider.context);
    let shown: Vec<&str> = plan.shown.iter().map(|f| f.path.as_str()).collect();
    let document = json!({
        "dry_run": true, "task": job.task.id, "role": job.task.role, "provider": job.provider.id,
        "model": job.provider.model, "context_tokens": job.provider.context,
        "prompt_tokens": request.tokens(), "parts": request.parts, "files_shown": shown,
        "limits": {"steps": job.bounds.steps, "requests": job.bounds.requests,
                   "output_tokens": job.bounds.output_tokens,
                   "wall_ms": u64::try_from(job.bounds.wall.as_millis()).unwrap_or(u64::MAX)},
        "messages": request.messages, "tools": request.tools,
    });
    output.document(&document, || {
        let mut lines = vec![format!("first request: {} tokens", request.tokens())];
        lines.extend(
            request
                .parts
                .iter()
                .map(|p| format!("  {:>6}  {}", p.tokens, p.part)),
        );
        for message in &request.messages {
            let role = message["role"].as_str().unwrap_or_default();
            let content = message["content"].as_str().unwrap_or_default();
            lines.push(format!("--- {role}\n{content}"));
        }
        lines.push(String::new());
        lines.join("\n")
    })?;
    Ok(Exit::Yes)
}

/// A status in words.
pub(crate) fn word(status: HandoffStatus) -> String {
    serde_json::to_value(status)
        .ok()
        .and_then(|v| v.as_str().map(|s| s.replace('_', " ")))
        .unwrap_or_default()
}

/// The hand-off for people.
#[cfg(test)]
mod tests {
    use super::{HandoffStatus, word};
    use crate::session::End;
    use baton_protocol::Exit;

    #[test]
    fn each_status_has_the_exit_code_of_the_contract() {
        for (status, code) in [
            (HandoffStatus::Completed, 0),
            (HandoffStatus::Blocked, 1),
            (HandoffStatus::Failed, 1),
            (HandoffStatus::Overflow, 1),
            (HandoffStatus::NoAnswer, 1),
            (HandoffStatus::BudgetSpent, 3),
            (HandoffStatus::TimedOut, 124),
            (HandoffStatus::Interrupted, 130),
        ] {
            assert_eq!(End::new(status, "x").exit_code().code(), code, "{status:?}");
        }
        assert_eq!(
            End::failed("x")
                .with_exit(Exit::Unavailable)
                .exit_code()
                .code(),
            69
        );
        assert_eq!(word(HandoffStatus::NoAnswer), "no answer");
    }
}
