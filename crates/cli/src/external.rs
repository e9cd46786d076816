//! Folders outside the work tree: what a configuration and a task say of them becomes places that may
//! really be opened, or an error before anything runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use baton_process::sandbox::{Opening, Surroundings, open_outside};
use baton_protocol::Sandbox;

use crate::config::ExternalConfig;
use crate::{Environment, Failure, cache_dir, config_file, lock_dir, state_dir};

/// Judges places for one repository.
#[derive(Debug, Clone)]
pub struct Outside {
    surroundings: Surroundings,
    own: Vec<PathBuf>,
}

impl Outside {
    /// For a repository with these places: its work tree and git's folders.
    pub fn new<'a>(env: &Environment, repository: impl IntoIterator<Item = &'a Path>) -> Self {
        let mut own = vec![state_dir(env), lock_dir(env), cache_dir(env)];
        own.extend(config_file(env).parent().map(Path::to_owned));
        for place in repository {
            // Beside git's data lies the user's own tree, which is not the one that is worked in.
            if place.file_name() == Some(OsStr::new(".git")) {
                own.extend(place.parent().map(Path::to_owned));
            }
            own.push(place.to_owned());
        }
        let value = |name: &str| env.get(name).map(OsStr::new);
        Self {
            surroundings: Surroundings::new(value("HOME"), value("PATH")),
            own,
        }
    }

    /// The configuration's folders as a task's sandbox takes them; the first that is never opened is
    /// the error.
    pub fn configured(&self, config: &ExternalConfig) -> Result<Sandbox, Failure> {
        let all = |places: &[String], key: &str, opening: Opening| {
            let open = |text: &String| {
                self.open(&self.place(text), opening)
                    .map_err(|why| Failure::config(format!("[external] {key}: {why}")))
            };
            places.iter().map(open).collect::<Result<Vec<_>, _>>()
        };
        Ok(Sandbox {
            read: all(&config.read, "read", Opening::Read)?,
            caches: all(&config.write, "write", Opening::Write)?,
            ..Sandbox::default()
        })
    }

    /// A task's sandbox with its folders where they really lie; the first that is never opened is the
    /// error.
    pub fn of_task(&self, sandbox: &Sandbox) -> Result<Sandbox, Failure> {
        let all = |places: &[String], key: &str, opening: Opening| {
            let open = |text: &String| {
                self.open(Path::new(text), opening)
                    .map_err(|why| Failure::input(format!("$.sandbox.{key} of the task: {why}")))
            };
            places.iter().map(open).collect::<Result<Vec<_>, _>>()
        };
        Ok(Sandbox {
            read: all(&sandbox.read, "read", Opening::Read)?,
            caches: all(&sandbox.caches, "caches", Opening::Write)?,
            ..sandbox.clone()
        })
    }

    fn open(&self, place: &Path, opening: Opening) -> Result<String, String> {
        let real = open_outside(place, opening, &self.surroundings, &self.own)?;
        real.to_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("{} is no UTF-8", real.display()))
    }

    /// A place as people write it: from the home, or with a glob for all that is in it.
    fn place(&self, text: &str) -> PathBuf {
        let text = text.strip_suffix("/**").unwrap_or(text);
        let text = text.strip_suffix("/*").unwrap_or(text);
        match (text.strip_prefix('~'), &self.surroundings.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(&rest[1..]),
            _ if text.is_empty() => PathBuf::from("/"),
            _ => PathBuf::from(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use baton_protocol::Sandbox;

    use super::Outside;
    use crate::config::ExternalConfig;
    use crate::{Environment, ToolKind};

    fn outside() -> Outside {
        let env: Environment = [("HOME", "/home/me")].into_iter().collect();
        Outside::new(
            &env,
            [Path::new("/data/repo/.git"), Path::new("/data/trees/x")],
        )
    }

    fn config(read: &[&str], write: &[&str]) -> ExternalConfig {
        let texts = |all: &[&str]| all.iter().map(|t| (*t).to_owned()).collect();
        ExternalConfig {
            read: texts(read),
            write: texts(write),
        }
    }

    #[test]
    fn folders_are_written_as_people_write_them() {
        let config = config(&["/srv/sets/*", "~/corpora/**", "/mnt/x"], &["~/.cache/y"]);
        let opened = outside().configured(&config).unwrap();
        assert_eq!(opened.read, ["/srv/sets", "/home/me/corpora", "/mnt/x"]);
        assert_eq!(opened.caches, ["/home/me/.cache/y"]);
    }

    #[test]
    fn what_is_never_opened_is_named_with_its_key() {
        for (read, write, says) in [
            (&["/*"][..], &[][..], "[external] read: / is everything"),
            (&["~"], &[], "[external] read: /home/me holds your home"),
            (&["~/*"], &[], "holds your home"),
            (&["~/.ssh"], &[], "keys or settings"),
            (&["**"], &[], "no absolute path"),
            (&[""], &[], "is everything"),
            (&[], &["/data/repo/.git"], "[external] write: "),
            (&[], &["/data/repo"], "/data/repo and /data/repo"),
            (&[], &["/data"], "lie in one another"),
            (&[], &["/data/trees/x/sub"], "lie in one another"),
            (&[], &["~/.local/state/baton/slots"], "keys or settings"),
            (&[], &["/etc"], "belongs to the system"),
        ] {
            let error = outside().configured(&config(read, write)).unwrap_err();
            assert!(error.message.contains(says), "{says}: {error}");
            assert_eq!(error.exit_code(ToolKind::Doer).code(), 78);
        }
    }

    #[test]
    fn a_task_s_folders_are_judged_alike() {
        let task = |caches: &str| Sandbox {
            caches: vec![caches.to_owned()],
            ..Sandbox::default()
        };
        let opened = outside().of_task(&task("/srv/cache"));
        assert_eq!(opened.unwrap().caches, ["/srv/cache"]);
        let error = outside().of_task(&task("/home/me")).unwrap_err();
        assert!(error.message.starts_with("$.sandbox.caches of the task"));
    }
}
