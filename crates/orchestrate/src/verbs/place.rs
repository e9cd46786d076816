//! Where we are: the repository, its runs, the configuration.

use baton_cli::{Environment, Failure, Output, config};
use baton_process::Cancel;
use baton_repo::Repo;

use crate::cli_launch::Launch;
use crate::shell::desk::Desk;
use crate::shell::layout::Layout;
use crate::shell::preflight;
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

/// What every verb that works begins with.
pub(crate) struct Opened {
    pub signals: Cancel,
    pub repo: Repo,
    pub loaded: config::Loaded,
    pub env: Environment,
    /// What the command line says about launchers.
    pub launch: Launch,
}

/// Opens the place for a verb that works: its configuration is told about, has the verb switched on,
/// and asks for nothing that a run cannot give.
pub(crate) fn open(
    output: &Output,
    verb: &str,
    is_on: impl FnOnce(&config::CommandsConfig) -> bool,
) -> Result<Opened, Failure> {
    let signals = signals()?;
    let repo = repository()?;
    let (loaded, env) = configuration(&repo)?;
    for note in &loaded.notes {
        output.note(note);
    }
    switched_on(verb, is_on(&loaded.config.commands))?;
    preflight::configuration(&loaded.config)?;
    preflight::lent(&repo, &env, &loaded.config)?;
    Ok(Opened {
        signals,
        repo,
        loaded,
        env,
        launch: Launch::default(),
    })
}

impl Opened {
    /// Lets the flags about launchers win over the configuration.
    pub(crate) fn launched(mut self, launch: &Launch, output: &Output) -> Result<Self, Failure> {
        launch.override_config(&mut self.loaded.config);
        launch.check(&self.loaded.config)?;
        if let Some(note) = Launch::lacks(&self.repo, &self.loaded.config) {
            output.note(&note);
        }
        self.launch = launch.clone();
        Ok(self)
    }

    /// The desk of a verb that runs the engine as a part of what it does.
    pub(crate) fn desk(self, output: &Output) -> Desk<'_> {
        let mut desk = Desk::new(&self.repo, self.loaded, self.env, self.signals, output);
        desk.launch = self.launch;
        desk
    }
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
