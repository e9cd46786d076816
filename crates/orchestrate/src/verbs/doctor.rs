//! `orchestrate doctor`.

use baton_cli::{Environment, Failure, Output, config};
use baton_protocol::Exit;
use baton_repo::Repo;
use serde_json::json;

use crate::core::doctor::{self as report, Check, Level};
use crate::shell::doctor::{self as look, launcher, machine, opencode, places, programs};
use crate::shell::preflight;

use super::place;

/// Looks at everything a run needs. Only what makes work impossible fails the report.
pub(crate) fn doctor(output: &Output) -> Result<Exit, Failure> {
    let signals = place::signals()?;
    let here = std::env::current_dir()
        .map_err(|e| Failure::usage(format!("the working directory cannot be read: {e}")))?;
    let env = Environment::from_process();
    let repo = Repo::discover(&here).ok();
    let root = repo.as_ref().map_or(here.as_path(), Repo::root).to_owned();

    let loaded = config::load(&env, &root, &config::ConfigFlags::default());
    let mut checks = configuration(loaded.as_ref());
    let (config, origins) = loaded.map(|l| (l.config, l.origins)).unwrap_or_default();
    let outside = repo.as_ref();
    checks.extend(outside.and_then(|repo| places::external(repo, &env, &config)));
    let broken = report::worst(&checks) == Level::Fail;

    checks.extend(look::providers(&root, &config, &signals));
    checks.push(programs::companions(&root, &signals));
    checks.push(machine::sandbox(&env));
    checks.extend(programs::git(&root, repo.as_ref(), &signals));
    checks.push(programs::gh(&root, &config, &signals));
    checks.push(places::disk(repo.as_ref(), &env));
    checks.push(places::slots(&env));
    let state = repo.as_ref().map(|repo| places::state(repo, &config));
    checks.extend(state.into_iter().flatten());
    checks.extend(launcher::launchers(&root, &config, &env));
    checks.extend(repo.as_ref().map(places::run_lock));
    checks.push(opencode::opencode(&root, &signals));
    if signals.is_cancelled() {
        return Err(Failure::interrupted(signals.signal().unwrap_or(2)));
    }

    let value = serde_json::to_value(&config)
        .map_err(|e| Failure::internal(format!("cannot write the configuration: {e}")))?;
    let settings = report::config::settings(&value, &origins);
    let level = report::worst(&checks);
    let document = json!({
        "schema": "doctor/1",
        "status": report::in_a_word(level),
        "checks": checks,
        "config": settings,
    });
    output.document(&document, || report::text(&checks, &settings))?;
    Ok(match level {
        Level::Pass | Level::Warn => Exit::Yes,
        Level::Fail if broken => Exit::Config,
        Level::Fail => Exit::No,
    })
}

fn configuration(loaded: Result<&config::Loaded, &Failure>) -> Vec<Check> {
    let name = "configuration";
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => {
            return vec![Check::fail(
                name,
                failure.message.clone(),
                "mend that line, then: orchestrate doctor",
            )];
        }
    };
    let mut checks: Vec<Check> = loaded
        .notes
        .iter()
        .map(|note| Check::warn(name, note.clone(), "orchestrate trust"))
        .collect();
    if let Err(failure) = preflight::configuration(&loaded.config) {
        checks.push(Check::fail(
            name,
            failure.message,
            "orchestrate init --model ROLE=PROVIDER/MODEL",
        ));
    }
    let ours = loaded
        .repo_file
        .as_ref()
        .map(|file| file.display().to_string());
    if checks.is_empty() {
        checks.push(Check::pass(
            name,
            ours.unwrap_or_else(|| {
                "no file in this repository, and none is needed (orchestrate init writes one)"
                    .into()
            }),
        ));
    }
    checks
}
