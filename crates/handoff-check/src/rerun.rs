//! Running the task's commands again, in a scratch copy of exactly one tree.

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_cli::{Environment, Failure};
use baton_process::sandbox::{Network as Reach, Policy, Surroundings};
use baton_process::{Cancel, Capture, Command, ExitStatus, confined_variables};
use baton_protocol::{Network, Task};
use baton_repo::{Borrowed, GitPath, Repo};
use tempfile::TempDir;

use crate::checks::verification::RunResult;

/// The limit of a command for which the task names none.
const DEFAULT_LIMIT: Duration = Duration::from_secs(600);
/// How much of either end of an output is kept; counts of tests stand at the ends.
const KEPT_BYTES: usize = 512 << 10;

/// A folder with one tree in it, removed at the end.
pub(crate) struct Scratch<'a> {
    dir: TempDir,
    borrowed: Borrowed,
    repo: &'a Repo,
    task: &'a Task,
    env: &'a Environment,
    cancel: &'a Cancel,
    sandboxed: bool,
}

/// What every scratch copy needs.
pub(crate) struct Setup<'a> {
    pub(crate) repo: &'a Repo,
    pub(crate) task: &'a Task,
    pub(crate) env: &'a Environment,
    pub(crate) cancel: &'a Cancel,
    pub(crate) sandboxed: bool,
    /// Untracked or ignored paths that the commands need, relative to the work tree.
    pub(crate) with: &'a [PathBuf],
    /// Commands that prepare a fresh work tree, with network.
    pub(crate) prepare: &'a [String],
}

impl<'a> Setup<'a> {
    /// Writes a tree out and prepares it.
    pub(crate) fn scratch(&self, tree: &str) -> Result<Scratch<'a>, Failure> {
        let dir = tempfile::Builder::new()
            .prefix("baton-check-")
            .tempdir()
            .map_err(|e| Failure::internal(format!("cannot make a scratch folder: {e}")))?;
        let root = dir.path().join("tree");
        let borrowed = self
            .repo
            .materialise(tree, &root)
            .map_err(crate::run::repo_failure)?;
        let scratch = Scratch {
            dir,
            borrowed,
            repo: self.repo,
            task: self.task,
            env: self.env,
            cancel: self.cancel,
            sandboxed: self.sandboxed,
        };
        for path in self.with {
            scratch.copy(path)?;
        }
        for command in self.prepare {
            let run = scratch.execute(command, DEFAULT_LIMIT, Reach::All)?;
            if !run.passed() {
                let code = run
                    .exit_code
                    .map_or_else(|| "no exit code".into(), |c| format!("exit {c}"));
                let why = run.not_started.unwrap_or(code);
                return Err(Failure::internal(format!(
                    "the set-up command `{command}` of [worktree] failed in the scratch copy: {why}"
                )));
            }
        }
        Ok(scratch)
    }
}

impl Scratch<'_> {
    /// The work tree of the copy.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    /// Submodules whose folder is empty, because their content is nowhere on this machine.
    pub(crate) fn empty_submodules(&self) -> &[GitPath] {
        self.borrowed.empty_submodules()
    }

    /// Runs every command of the task, each so many times.
    pub(crate) fn run_all(&self, times: u32) -> Result<Vec<Vec<RunResult>>, Failure> {
        let reach = match self.task.sandbox.network {
            Network::None => Reach::None,
            Network::Loopback => Reach::Loopback,
            Network::All => Reach::All,
        };
        let mut all = Vec::new();
        for command in &self.task.verify {
            let limit = command.timeout_ms.or(self.task.limits.command_ms);
            let limit = limit.map_or(DEFAULT_LIMIT, Duration::from_millis);
            let runs: Result<Vec<_>, _> = (0..times)
                .map(|_| self.execute(&command.command, limit, reach))
                .collect();
            all.push(runs?);
        }
        Ok(all)
    }

    fn execute(&self, line: &str, limit: Duration, reach: Reach) -> Result<RunResult, Failure> {
        let mut command = Command::shell(line)
            .cwd(self.root())
            .env_clear()
            .timeout(limit)
            .capture(Capture {
                head: KEPT_BYTES,
                tail: KEPT_BYTES,
                ..Capture::default()
            })
            .merge_stderr()
            .hunt();
        for (name, value) in confined_variables(self.env.iter(), &self.task.sandbox.env, reach) {
            command = command.env(name, value);
        }
        if self.sandboxed {
            command = command.sandbox(self.policy(reach));
        }
        let outcome = match command.run(self.cancel) {
            Ok(outcome) => outcome,
            Err(error) => {
                return Ok(RunResult {
                    not_started: Some(error.to_string()),
                    ..RunResult::default()
                });
            }
        };
        if outcome.cancelled {
            return Err(Failure::interrupted(self.cancel.signal().unwrap_or(2)));
        }
        let (exit_code, signal) = match outcome.exit {
            ExitStatus::Code(code) => (Some(code), None),
            ExitStatus::Signal(signal) => (None, Some(signal)),
        };
        Ok(RunResult {
            exit_code: exit_code.filter(|_| !outcome.timed_out),
            signal,
            timed_out: outcome.timed_out,
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            output: outcome.stdout.text(),
            not_started: None,
        })
    }

    /// The border workers live behind: the copy is writable but for its git metadata.
    fn policy(&self, reach: Reach) -> Policy {
        let value = |name: &str| self.env.get(name).map(std::ffi::OsStr::new);
        let surroundings = Surroundings::new(value("HOME"), value("PATH"));
        let mut policy = Policy::for_work_tree(self.root(), &surroundings);
        policy
            .read
            .extend_from_slice(self.borrowed.object_folders());
        let lent = &self.task.sandbox;
        policy.read.extend(lent.read.iter().map(PathBuf::from));
        policy.write.extend(lent.caches.iter().map(PathBuf::from));
        policy.network = reach;
        policy
    }

    /// Copies what the tree does not hold, links as links.
    fn copy(&self, path: &Path) -> Result<(), Failure> {
        let inside = path
            .components()
            .all(|c| matches!(c, std::path::Component::Normal(_)));
        if !inside || path.starts_with(".git") {
            return Err(Failure::usage(format!(
                "--with {}: name a path inside the work tree",
                path.display()
            )));
        }
        let from = self.repo.root().join(path);
        let to = self.root().join(path);
        let parent = to.parent().unwrap_or(&to);
        let fail = |why: String| Failure::input(format!("--with {}: {why}", path.display()));
        std::fs::create_dir_all(parent).map_err(|e| fail(e.to_string()))?;
        let outcome = Command::new("cp")
            .args(["-a", "--reflink=auto", "-T", "--"])
            .arg(&from)
            .arg(&to)
            .timeout(DEFAULT_LIMIT)
            .run(self.cancel)
            .map_err(|e| fail(e.to_string()))?;
        if outcome.success() {
            Ok(())
        } else {
            Err(fail(outcome.stderr.text().trim().to_owned()))
        }
    }

    /// Puts the named files of another tree over the copy; those it does not have are removed.
    pub(crate) fn overlay(&self, tree: &str, names: &[GitPath]) -> Result<(), Failure> {
        let copy = Repo::discover(&self.root()).map_err(crate::run::repo_failure)?;
        copy.restore(tree, names)
            .map_err(crate::run::repo_failure)?;
        Ok(())
    }
}
