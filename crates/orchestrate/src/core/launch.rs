//! Launchers: which one a worker gets, what it is told, and what follows from how it ended.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use baton_cli::config::{Config, LauncherIo};
use baton_protocol::{Landed, TaskId};

use super::record::Settings;

/// The command that starts a worker somewhere else, and how task and hand-off travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launcher {
    pub argv: Vec<String>,
    pub io: LauncherIo,
}

impl Launcher {
    /// The one for a role: the command line's, the role's, the configuration's; none: workers run here.
    pub(crate) fn of(settings: &Settings, config: &Config, role: &str) -> Option<Self> {
        let of_role = config.roles.get(role);
        let argv = settings
            .launcher
            .as_ref()
            .or_else(|| of_role.and_then(|r| r.launcher.as_ref()))
            .unwrap_or(&config.run.launcher);
        let io = settings
            .launcher_io
            .or_else(|| of_role.and_then(|r| r.launcher_io))
            .unwrap_or(config.run.launcher_io);
        (!argv.is_empty()).then(|| Self {
            argv: argv.clone(),
            io,
        })
    }

    /// For people: the command, shortened.
    pub(crate) fn shown(&self) -> String {
        const MOST: usize = 60;
        let text = self.argv.join(" ");
        if text.chars().count() <= MOST {
            return text;
        }
        let head: String = text.chars().take(MOST).collect();
        format!("{head}…")
    }
}

/// The words of a launcher on the command line, as a shell parts them.
pub(crate) fn words(text: &str) -> Result<Vec<String>, String> {
    let words = shlex::split(text)
        .ok_or("a quote is not closed, or it ends with a backslash; quote it as for a shell")?;
    if words.first().is_some_and(|w| w.trim().is_empty()) {
        return Err("its first word is empty; name a program".into());
    }
    Ok(words)
}

/// Names one placement of one attempt among all runs.
pub(crate) fn token(run: &str, task: &TaskId, attempt: u32, placement: u32, nonce: &str) -> String {
    format!("{run}.{task}.{attempt}-p{placement}.{nonce}")
}

/// A path as an address of letters that no shell on the way to another host changes.
pub(crate) fn address(path: &Path) -> String {
    let mut text = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        let c = char::from(*byte);
        if c.is_ascii_alphanumeric() || "/._-".contains(c) {
            text.push(c);
        } else {
            // Writing into a String cannot fail, so the result is not looked at.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// How a placement ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The worker ended there, with this code; what it left counts.
    Worker(i32),
    /// It cannot work there, and another try would not either.
    Unable { exit: i32, reason: String },
    /// The place was lost: nothing that came of it counts.
    Lost(String),
}

/// What is known of a placement when its launcher has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen<'a> {
    /// The launcher's code.
    pub exit: i32,
    /// The host that reported, if one did.
    pub host: Option<&'a str>,
    pub landed: Option<&'a Landed>,
    /// The last that was said on stderr, or came before the first frame.
    pub said: &'a str,
    /// What the stream was refused for.
    pub refused: Option<&'a str>,
}

/// What follows. Exit codes are those of the launcher: `ssh` gives 255 when the connection is lost,
/// a scheduler the signal that ended a cancelled job, and any of them may give 0 for no reason.
pub(crate) fn ending(launcher: &Launcher, seen: &Seen<'_>) -> Ending {
    let shown = launcher.shown();
    let said = if seen.said.is_empty() {
        "it said nothing"
    } else {
        seen.said
    };
    if let Some(landed) = seen.landed {
        let words = landed.error.as_deref().unwrap_or(said);
        return match landed.exit {
            exit @ (2 | 78 | 126 | 127) if !landed.handoff => Ending::Unable {
                exit,
                reason: words.to_owned(),
            },
            // The place failed before or after the worker: whoever works leaves a hand-off.
            1 | 125 if !landed.handoff => Ending::Lost(words.to_owned()),
            exit => Ending::Worker(exit),
        };
    }
    if let Some(refused) = seen.refused {
        return Ending::Unable {
            exit: 126,
            reason: format!("launcher `{shown}`: {refused}"),
        };
    }
    if let Some(host) = seen.host {
        return Ending::Lost(format!(
            "the worker on {host} was lost: `{shown}` ended with {} and no hand-off came: {said}",
            seen.exit
        ));
    }
    match seen.exit {
        exit @ (126 | 127) => Ending::Unable {
            exit,
            reason: format!(
                "`{shown}` finds no worker-run where it starts it (exit {exit}: {said}); install \
                 the six tools there, and name their folder where PATH lacks it, as in: {shown} \
                 env PATH=/usr/local/baton/bin:/usr/bin:/bin"
            ),
        },
        // What an older worker-run says to a verb it does not know; and srun to a program it does
        // not find.
        2 => Ending::Unable {
            exit: 2,
            reason: format!(
                "worker-run does not start through `{shown}` (exit 2: {said}); is it there, and of \
                 this version ({})?",
                env!("CARGO_PKG_VERSION")
            ),
        },
        exit => Ending::Lost(format!(
            "`{shown}` ended with {exit} before a worker reported: {said}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Ending, Launcher, Seen, address, ending, token, words};
    use crate::core::testing::{id, settings};
    use baton_cli::config::{Config, LauncherIo, RoleConfig};
    use baton_protocol::{Landed, SchemaTag};

    fn srun() -> Launcher {
        Launcher {
            argv: vec!["srun".into(), "-N1".into()],
            io: LauncherIo::Stream,
        }
    }

    fn landed(exit: i32, handoff: bool) -> Landed {
        Landed {
            schema: SchemaTag::new(),
            token: "t".into(),
            exit,
            handoff,
            commit: None,
            tree: None,
            error: Some("git is missing".into()),
        }
    }

    #[test]
    fn flags_come_before_roles_before_the_configuration() {
        let mut config = Config::default();
        let mut settings = settings();
        assert_eq!(Launcher::of(&settings, &config, "worker"), None);
        config.run.launcher = vec!["srun".into()];
        config.roles.insert(
            "planner".into(),
            RoleConfig {
                launcher: Some(Vec::new()),
                ..RoleConfig::default()
            },
        );
        assert_eq!(Launcher::of(&settings, &config, "planner"), None);
        let of = Launcher::of(&settings, &config, "worker").unwrap();
        assert_eq!((of.shown().as_str(), of.io), ("srun", LauncherIo::Shared));
        settings.launcher = Some(vec!["ssh".into(), "box".into()]);
        settings.launcher_io = Some(LauncherIo::Stream);
        let of = Launcher::of(&settings, &config, "planner").unwrap();
        assert_eq!(
            (of.shown().as_str(), of.io),
            ("ssh box", LauncherIo::Stream)
        );
        settings.launcher = Some(Vec::new());
        assert_eq!(Launcher::of(&settings, &config, "worker"), None);
    }

    #[test]
    fn a_command_line_is_parted_as_a_shell_does() {
        for (text, expected) in [
            ("srun -N1  --chdir=.", vec!["srun", "-N1", "--chdir=."]),
            (
                "ssh -o 'ProxyCommand nc %h' box",
                vec!["ssh", "-o", "ProxyCommand nc %h", "box"],
            ),
            (r#"a "b \" c" d\ e ''"#, vec!["a", "b \" c", "d e", ""]),
            ("  ", vec![]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        for wrong in ["'ssh box", "ssh \\", "'' x"] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_lost_host_a_missing_tool_and_a_worker_that_failed_are_three_things() {
        let seen = |exit, host| Seen {
            exit,
            host,
            said: "said",
            ..Seen::default()
        };
        // ssh lost its connection; a job was cancelled; a launcher ended well for no reason.
        for (exit, host) in [
            (255, None),
            (255, Some("box2")),
            (143, Some("n1")),
            (0, None),
            (0, Some("n1")),
            (1, None),
            (127, Some("n1")),
        ] {
            let found = ending(&srun(), &seen(exit, host));
            assert!(
                matches!(found, Ending::Lost(_)),
                "{exit} {host:?}: {found:?}"
            );
        }
        for exit in [2, 126, 127] {
            let found = ending(&srun(), &seen(exit, None));
            assert!(
                matches!(&found, Ending::Unable { exit: e, reason } if *e == exit && reason.contains("srun -N1")),
                "{found:?}"
            );
        }
        let of = |landed: &Landed| {
            let seen = Seen {
                exit: 255,
                landed: Some(landed),
                ..Seen::default()
            };
            ending(&srun(), &seen)
        };
        assert_eq!(of(&landed(1, true)), Ending::Worker(1));
        assert_eq!(of(&landed(75, false)), Ending::Worker(75));
        assert_eq!(of(&landed(1, false)), Ending::Lost("git is missing".into()));
        assert_eq!(
            of(&landed(127, false)),
            Ending::Unable {
                exit: 127,
                reason: "git is missing".into()
            }
        );
    }

    #[test]
    fn an_address_survives_a_shell() {
        assert_eq!(
            address(Path::new("/a b/ü$(x)")),
            "file:///a%20b/%C3%BC%24%28x%29"
        );
        let token = token("20261130-114703-kqx", &id("fix.a_b"), 2, 3, "abc");
        assert!(baton_protocol::is_token(&token), "{token}");
    }
}
