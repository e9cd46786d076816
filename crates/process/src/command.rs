//! Describing a command. Running it is `supervise.rs`, keeping it is `child.rs`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::sandbox::Policy;
use crate::{Cancel, Capture, Child, Outcome, Space, SpawnError, child, supervise};

/// Where a command reads from.
#[derive(Debug, Clone, Default)]
pub enum Stdin {
    /// `/dev/null`: a program that asks something gets an end of file, not a hang.
    #[default]
    Null,
    /// These bytes, then an end of file. (Only for [`Command::run`].)
    Bytes(Vec<u8>),
    /// Our own stdin.
    Inherit,
    /// An open file.
    File(Arc<File>),
}

/// Where a command's output goes.
#[derive(Debug, Clone)]
pub enum Output {
    /// Into memory within limits. For [`Command::spawn`]: a pipe, read with [`Child::lines`].
    Capture(Capture),
    /// To our own stream.
    Inherit,
    /// Nowhere.
    Null,
    /// To an open file.
    File(Arc<File>),
}

/// Which signals and terminals a command shares with us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// A session and group of its own: no controlling terminal, so nothing can ask on `/dev/tty`;
    /// a Ctrl-C reaches us alone, and we end the command.
    #[default]
    Session,
    /// A group of its own on our terminal.
    Group,
    /// Our own group, for a command that *is* the user's (chain loaders): a Ctrl-C at the terminal
    /// reaches it directly, and only the process itself gets our signals.
    Caller,
}

/// A command to run, with its bounds.
#[derive(Debug, Clone)]
pub struct Command {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env_clear: bool,
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    pub(crate) merge_stderr: bool,
    pub(crate) placement: Placement,
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) drain: Duration,
    pub(crate) hunt: bool,
    pub(crate) die_with_us: Option<bool>,
    pub(crate) sandbox: Option<Policy>,
    pub(crate) space: Option<Space>,
}

impl Command {
    /// A program, looked up in PATH unless it holds a slash. Defaults: our environment and working
    /// directory, stdin null, 32 KiB of each output kept, a session of its own, no time limit,
    /// two seconds between TERM and KILL.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            cwd: None,
            env_clear: false,
            env: Vec::new(),
            stdin: Stdin::Null,
            stdout: Output::Capture(Capture::default()),
            stderr: Output::Capture(Capture::default()),
            merge_stderr: false,
            placement: Placement::Session,
            timeout: None,
            grace: Duration::from_secs(2),
            drain: Duration::from_millis(200),
            hunt: false,
            die_with_us: None,
            sandbox: None,
            space: None,
        }
    }

    /// A line of shell: bash with `pipefail` where there is one (so that `test | tail` cannot hide
    /// a failure), else `sh`.
    pub fn shell(text: impl AsRef<OsStr>) -> Self {
        match which("bash") {
            Some(bash) => Self::new(bash).args(["-o", "pipefail", "-c"]).arg(text),
            None => Self::new("sh").arg("-c").arg(text),
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// The working directory.
    #[must_use]
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = Some(dir.into());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts from an empty environment; `env` adds to it.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.env_clear = true;
        self.env.clear();
        self
    }

    /// Where it reads from.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Where its stdout goes.
    #[must_use]
    pub fn stdout(mut self, stdout: Output) -> Self {
        self.stdout = stdout;
        self
    }

    /// Where its stderr goes.
    #[must_use]
    pub fn stderr(mut self, stderr: Output) -> Self {
        self.stderr = stderr;
        self
    }

    /// Captures both outputs with the same limits.
    #[must_use]
    pub fn capture(mut self, capture: Capture) -> Self {
        self.stderr = Output::Capture(Capture {
            file: None,
            ..capture.clone()
        });
        self.stdout = Output::Capture(capture);
        self
    }

    /// Sends stderr where stdout goes, in the order of writing.
    #[must_use]
    pub fn merge_stderr(mut self) -> Self {
        self.merge_stderr = true;
        self
    }

    /// Which session and group it gets.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// The longest it may run, counted from the start of the process.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// How long it may take to end after TERM before it gets KILL.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How long output is still read after the process itself has ended, while something else
    /// holds the pipe open.
    #[must_use]
    pub fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// After the end, also look for processes that left the group (`setsid`, double fork), by a
    /// mark in their environment, and kill them. Costs a walk through `/proc`, which a sandbox
    /// with a PID namespace saves: nothing outlives that.
    #[must_use]
    pub fn hunt(mut self) -> Self {
        self.hunt = true;
        self
    }

    /// Whether the kernel ends the process when we die (Linux). Default: yes for [`Command::run`],
    /// no for [`Command::spawn`]. The kernel watches the *thread* that starts the command, so a
    /// thread that spawns and then ends must not ask for it.
    #[must_use]
    pub fn die_with_us(mut self, yes: bool) -> Self {
        self.die_with_us = Some(yes);
        self
    }

    /// Puts it behind the kernel's border: see [`crate::sandbox`]. It then always gets a session of
    /// its own, its own `TMPDIR`, and never outlives us.
    #[must_use]
    pub fn sandbox(mut self, policy: impl Into<Option<Policy>>) -> Self {
        self.sandbox = policy.into();
        self
    }

    /// Ends it when the disk fills up while it runs. (Only for [`Command::run`].)
    #[must_use]
    pub fn space(mut self, space: Space) -> Self {
        self.space = Some(space);
        self
    }

    /// Runs it to its end: bounded, captured, reaped, nothing of its group left.
    pub fn run(&self, cancel: &Cancel) -> Result<Outcome, SpawnError> {
        supervise::run(self, cancel)
    }

    /// Starts it and keeps it: for long-lived children.
    pub fn spawn(&self) -> Result<Child, SpawnError> {
        child::spawn(self)
    }

    /// The program and its arguments for a message, joined by blanks.
    pub fn describe(&self) -> String {
        let mut text = self.program.to_string_lossy().into_owned();
        for arg in &self.args {
            text.push(' ');
            text.push_str(&arg.to_string_lossy());
        }
        text
    }
}

/// The first executable of that name in PATH.
fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| {
            rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok() && file.is_file()
        })
}
