//! Where workers run, on the command line.

use baton_cli::Failure;
use baton_cli::config::{Config, LauncherIo, RoleConfig};
use baton_repo::Repo;
use clap::{Args, ValueEnum};

use crate::core::launch::words;
use crate::core::record::Settings;

/// How workers are started somewhere else.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where workers run")]
pub(crate) struct Launch {
    /// Put this command before each worker, as in 'srun -N1' or 'ssh box2'; '' starts them here.
    #[arg(long, value_name = "COMMAND", value_parser = parse)]
    pub(crate) launcher: Option<Words>,
    /// How task and hand-off travel then: in the same folders, or by the command's stdin and stdout.
    #[arg(long, value_name = "HOW")]
    pub(crate) launcher_io: Option<Io>,
}

/// The words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words(pub(crate) Vec<String>);

fn parse(text: &str) -> Result<Words, String> {
    words(text).map(Words)
}

/// How task and hand-off travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Io {
    /// The worker sees the same folders under the same names.
    Shared,
    /// Nothing is shared.
    Stream,
}

impl From<Io> for LauncherIo {
    fn from(io: Io) -> Self {
        match io {
            Io::Shared => Self::Shared,
            Io::Stream => Self::Stream,
        }
    }
}

impl Launch {
    /// Lets the flags win over the configuration.
    pub(crate) fn override_config(&self, config: &mut Config) {
        if let Some(words) = &self.launcher {
            config.run.launcher.clone_from(&words.0);
        }
        if let Some(io) = self.launcher_io {
            config.run.launcher_io = io.into();
        }
        for role in config.roles.values_mut() {
            if self.launcher.is_some() {
                role.launcher = None;
            }
            if self.launcher_io.is_some() {
                role.launcher_io = None;
            }
        }
    }

    /// The flags are kept with a run, so that it goes on as it was begun; what is said now counts
    /// before what was said then.
    pub(crate) fn keep(&self, settings: &mut Settings) {
        if let Some(words) = &self.launcher {
            settings.launcher = Some(words.0.clone());
        }
        if let Some(io) = self.launcher_io {
            settings.launcher_io = Some(io.into());
        }
    }

    /// What workers elsewhere lack though they would have it here.
    pub(crate) fn lacks(repo: &Repo, config: &Config) -> Option<String> {
        let streams = |argv: &[String], io| !argv.is_empty() && io == LauncherIo::Stream;
        let of_role = |role: &RoleConfig| {
            let io = role.launcher_io.unwrap_or(config.run.launcher_io);
            role.launcher.as_ref().is_some_and(|argv| streams(argv, io))
        };
        let is_stream = streams(&config.run.launcher, config.run.launcher_io)
            || config.roles.values().any(of_role);
        let fills = |line: &String| line.contains("submodule");
        if !is_stream || config.worktree.setup.iter().any(fills) {
            return None;
        }
        // What cannot be told is told when it is used.
        let paths = repo
            .submodule_paths("HEAD")
            .ok()
            .filter(|p| !p.is_empty())?;
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        Some(format!(
            "submodules do not travel to workers over stdin and stdout, so these are empty there: {}; \
             fill them where writing workers work by [worktree] setup = [\"git submodule update --init\"] \
             (that host must reach their addresses)",
            paths.join(", ")
        ))
    }

    /// The flags again, for a process of ours that goes on with the work.
    pub(crate) fn again(&self) -> Vec<String> {
        let mut args = Vec::new();
        if let Some(words) = &self.launcher {
            let quoted: Vec<String> = words
                .0
                .iter()
                .map(|w| format!("'{}'", w.replace('\'', "'\\''")))
                .collect();
            args.extend(["--launcher".to_owned(), quoted.join(" ")]);
        }
        if let Some(io) = self.launcher_io {
            let name = match io {
                Io::Shared => "shared",
                Io::Stream => "stream",
            };
            args.extend(["--launcher-io".to_owned(), name.to_owned()]);
        }
        args
    }

    /// A way to travel without anything that travels is a slip.
    pub(crate) fn check(&self, config: &Config) -> Result<(), Failure> {
        let none = config.run.launcher.is_empty()
            && config
                .roles
                .values()
                .all(|r| r.launcher.as_ref().is_none_or(Vec::is_empty));
        if self.launcher_io.is_some() && none {
            return Err(Failure::usage(
                "--launcher-io says how task and hand-off travel, but there is no launcher; give \
                 --launcher COMMAND or set [run] launcher",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use baton_cli::config::{Config, LauncherIo};

    use super::{Io, Launch, Words, parse};

    #[test]
    fn flags_win_and_come_through_to_a_process_of_ours() {
        let launch = Launch {
            launcher: Some(Words(vec!["ssh".into(), "it's a box".into()])),
            launcher_io: Some(Io::Stream),
        };
        let again = launch.again();
        assert_eq!(again[0], "--launcher");
        assert_eq!(parse(&again[1]).unwrap(), launch.launcher.clone().unwrap());
        let mut state = crate::core::state::State::empty();
        launch.keep(&mut state.settings);
        let kept = (state.settings.launcher.clone(), state.settings.launcher_io);
        let words = vec!["ssh".to_owned(), "it's a box".to_owned()];
        assert_eq!(kept, (Some(words), Some(LauncherIo::Stream)));
        Launch::default().keep(&mut state.settings);
        assert_eq!(state.settings.launcher, kept.0, "nothing new was said");
        let mut config = Config::default();
        launch.override_config(&mut config);
        assert_eq!(config.run.launcher, ["ssh", "it's a box"]);
        assert_eq!(config.run.launcher_io, LauncherIo::Stream);
        let alone = Launch {
            launcher: None,
            ..launch
        };
        assert!(alone.check(&Config::default()).is_err());
        assert!(alone.check(&config).is_ok());
    }
}
