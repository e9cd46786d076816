//! Where we are: the repository, its runs, the configuration.

use baton_cli::{Environment, Failure, config};
use baton_process::Cancel;
use baton_repo::Repo;

use crate::shell::layout::Layout;
use crate::shell::worktrees::git_failure;

/// The repository of the working directory.
pub(crate) fn repository() -> Result<Repo, Failure> {
    let here = std::env::current_dir()
        .map_err(|e| Failure::usage(format!("the working directory cannot be read: {e}")))?;
    Repo::discover(&here).map_err(|e| match e {
        baton_repo::RepoError::NotARepository(_) | baton_repo::RepoError::Bare(_) => {
            Failure::usage(e.to_string())
        }
        e => git_failure(&e),
    })
}

/// What a signal ends; installed before anything is started.
pub(crate) fn signals() -> Result<Cancel, Failure> {
    Cancel::install().map_err(|e| Failure::internal(format!("cannot watch for signals: {e}")))
}

/// Refuses a verb that the configuration switches off.
pub(crate) fn switched_on(verb: &str, is_on: bool) -> Result<(), Failure> {
    if is_on {
        return Ok(());
    }
    Err(Failure::config(format!(
        "`{verb}` is switched off by [commands] {verb} = false"
    )))
}

/// The configuration for this repository.
pub(crate) fn configuration(repo: &Repo) -> Result<(config::Loaded, Environment), Failure> {
    let env = Environment::from_process();
    let loaded = config::load(&env, repo.root(), &config::ConfigFlags::default())?;
    Ok((loaded, env))
}

/// The run of that name, or the last one.
pub(crate) fn find_run(layout: &Layout, wanted: Option<&str>) -> Result<String, Failure> {
    let names = layout.run_names();
    let Some(wanted) = wanted else {
        return names.last().cloned().ok_or_else(|| {
            Failure::usage(format!(
                "there is no run in {}; start one: orchestrate run GOAL",
                layout.runs().display()
            ))
        });
    };
    let matching: Vec<&String> = names.iter().filter(|n| n.starts_with(wanted)).collect();
    match matching.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Failure::usage(format!(
            "there is no run `{wanted}` in {}; see them: orchestrate status --all",
            layout.runs().display()
        ))),
        many => Err(Failure::usage(format!(
            "`{wanted}` may be any of {} runs; write more of the name",
            many.len()
        ))),
    }
}
