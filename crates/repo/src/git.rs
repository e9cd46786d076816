//! Runs git so that neither the user's nor the repository's settings change what it does or says.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_process::{Cancel, Capture, Command, ExitStatus, Output, SpawnError, Stdin};

use crate::error::RepoError;

/// How long one git command may take before it is ended.
const LIMIT: Duration = Duration::from_secs(300);
/// The most output that is read; nothing a repository says of itself is longer.
const LONGEST_OUTPUT: usize = 1 << 30;
/// Pauses between attempts when another process holds a lock; their sum is the patience.
const LOCK_PAUSES_MS: [u64; 9] = [10, 20, 50, 100, 200, 400, 800, 1600, 3200];

/// Settings that would run foreign programs, write to the repository, or change the output.
const SETTINGS: [(&str, &str); 23] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    // A file put back to its old size and time is looked into all the same.
    ("core.checkStat", "default"),
    ("core.trustctime", "true"),
    ("core.quotePath", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.safecrlf", "false"),
    ("color.ui", "false"),
    ("advice.addEmbeddedRepo", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("diff.ignoreSubmodules", "none"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.orderFile", "/dev/null"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("rerere.enabled", "false"),
    ("protocol.allow", "never"),
];

/// Variables that would point git at another repository, index or program.
/// (A tool that runs inside a git hook inherits several of them.)
const FOREIGN_VARIABLES: [&str; 26] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_QUARANTINE_PATH",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_REFLOG_ACTION",
    "GIT_TRACE",
    "GIT_ATTR_SOURCE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_DEFAULT_HASH",
    "GIT_INDEX_VERSION",
    "GIT_IMPLICIT_WORK_TREE",
];

/// What makes git speak plainly and never ask.
const FIXED_VARIABLES: [(&str, &str); 9] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // What stands in for a commit (`git replace`, grafts) is not what was committed.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null/none"),
];

/// A git command about to run.
pub(crate) struct Git {
    dir: PathBuf,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    stdin: Vec<u8>,
    stdin_file: Option<Arc<File>>,
    stdout_file: Option<Arc<File>>,
    settings: Vec<(String, String)>,
    cancel: Cancel,
}

/// What a git command said. A code other than 0 is not an error yet.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) command: String,
}

impl Git {
    /// `git -C dir args…`
    pub(crate) fn new<S: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = S>) -> Self {
        Self {
            dir: dir.to_owned(),
            args: args.into_iter().map(|a| a.as_ref().to_owned()).collect(),
            env: Vec::new(),
            stdin: Vec::new(),
            stdin_file: None,
            stdout_file: None,
            settings: Vec::new(),
            cancel: Cancel::new(),
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    /// Ends it (by TERM, so that it removes its locks) when the caller is cancelled.
    pub(crate) fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Reads a file from where it stands, instead of bytes.
    pub(crate) fn stdin_file(mut self, file: Arc<File>) -> Self {
        self.stdin_file = Some(file);
        self
    }

    /// Writes to a file from where it stands, for output that need not fit in memory.
    pub(crate) fn stdout_file(mut self, file: Arc<File>) -> Self {
        self.stdout_file = Some(file);
        self
    }

    /// One more setting, stronger than every config file.
    pub(crate) fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    pub(crate) fn settings(mut self, settings: &[(String, String)]) -> Self {
        self.settings.extend_from_slice(settings);
        self
    }

    /// Runs it, with patience for locks, and wants exit code 0.
    pub(crate) fn ok(self) -> Result<Said, RepoError> {
        let said = self.said()?;
        if said.code == Some(0) {
            Ok(said)
        } else {
            Err(said.into_error())
        }
    }

    /// Runs it, with patience for locks, whatever its exit code.
    pub(crate) fn said(self) -> Result<Said, RepoError> {
        let mut waited_ms = 0;
        for pause in LOCK_PAUSES_MS {
            let said = self.once()?;
            if said.lock().is_none() {
                return Ok(said);
            }
            // The lock's owner is at work; the file is never ours to delete.
            if self.cancel.wait(Duration::from_millis(pause)) {
                return Err(RepoError::Cancelled);
            }
            waited_ms += pause;
        }
        let said = self.once()?;
        match said.lock() {
            Some(lock) => Err(RepoError::Locked { lock, waited_ms }),
            None => Ok(said),
        }
    }

    fn once(&self) -> Result<Said, RepoError> {
        let outcome = self.command().run(&self.cancel).map_err(|e| match e {
            SpawnError::NotFound { .. } | SpawnError::NotExecutable { .. } => RepoError::NoGit(e),
            // A working directory that is not there is told by git itself (`-C`).
            other => RepoError::Git {
                command: self.shown(),
                status: "not started".into(),
                stderr: other.to_string(),
            },
        })?;
        if outcome.cancelled {
            return Err(RepoError::Cancelled);
        }
        if outcome.timed_out {
            return Err(RepoError::TimedOut {
                command: self.shown(),
                limit_ms: u64::try_from(LIMIT.as_millis()).unwrap_or(u64::MAX),
            });
        }
        Ok(Said {
            code: match outcome.exit {
                ExitStatus::Code(code) => Some(code),
                ExitStatus::Signal(_) => None,
            },
            stderr: outcome.stderr.text().trim().to_owned(),
            stdout: outcome.stdout.bytes().ok_or_else(|| RepoError::Output {
                command: self.shown(),
                what: "it is longer than 1 GiB".into(),
            })?,
            command: self.shown(),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git")
            .arg("--no-optional-locks")
            .args((!self.is_without_pathspecs()).then_some("--literal-pathspecs"))
            .arg("-C")
            .arg(&self.dir)
            .args(&self.args)
            .stdout(Output::Capture(Capture::all(LONGEST_OUTPUT)))
            .timeout(LIMIT)
            // A git that is killed leaves its lock behind, which nobody may delete; so it may
            // finish even when we are killed.
            .die_with_us(false);
        if !self.stdin.is_empty() {
            command = command.stdin(Stdin::Bytes(self.stdin.clone()));
        }
        if let Some(file) = &self.stdin_file {
            command = command.stdin(Stdin::File(Arc::clone(file)));
        }
        if let Some(file) = &self.stdout_file {
            command = command.stdout(Output::File(Arc::clone(file)));
        }
        for name in FOREIGN_VARIABLES {
            command = command.env_remove(name);
        }
        for (name, value) in FIXED_VARIABLES {
            command = command.env(name, value);
        }
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        // Not `-c name=value`: a section's name may hold `=`, and would then slip through.
        let own = self.settings.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        let count = SETTINGS.len() + self.settings.len();
        command = command.env("GIT_CONFIG_COUNT", count.to_string());
        for (i, (name, value)) in SETTINGS.into_iter().chain(own).enumerate() {
            command = command
                .env(format!("GIT_CONFIG_KEY_{i}"), name)
                .env(format!("GIT_CONFIG_VALUE_{i}"), value);
        }
        command
    }

    /// `check-ignore` takes names, not patterns, and refuses to be told so.
    fn is_without_pathspecs(&self) -> bool {
        self.args.first().is_some_and(|a| a == "check-ignore")
    }

    /// The command for an error message: without our settings, and not longer than a line.
    fn shown(&self) -> String {
        let words: Vec<_> = self.args.iter().map(|a| a.to_string_lossy()).collect();
        let mut line = words.join(" ");
        if let Some((cut, _)) = line.char_indices().nth(100) {
            line.truncate(cut);
            line.push('…');
        }
        line
    }
}

impl Said {
    pub(crate) fn is_ok(&self) -> bool {
        self.code == Some(0)
    }

    /// The first line of stdout as text, without its end.
    pub(crate) fn line(&self) -> String {
        let text = String::from_utf8_lossy(&self.stdout);
        text.lines().next().unwrap_or_default().to_owned()
    }

    /// The lock another process holds, when that is why git failed.
    fn lock(&self) -> Option<String> {
        if self.is_ok() {
            return None;
        }
        let line = self.stderr.lines().find(|l| {
            (l.contains(".lock'") && l.contains("File exists"))
                || (l.contains("annot lock ref") && l.contains(".lock"))
        })?;
        let quoted = line.split('\'').find(|w| w.contains(".lock"));
        Some(quoted.unwrap_or(line).to_owned())
    }

    /// Whether contents that a partial clone left behind are needed.
    pub(crate) fn lacks_contents(&self) -> bool {
        !self.is_ok() && self.stderr.contains("lazy fetching disabled")
    }

    /// What to do about it, where git's own words do not say so.
    fn cure(&self) -> Option<String> {
        if self.lacks_contents() {
            return Some("this is a partial clone, and contents are missing that are needed here; get them with `git fetch --refetch --no-filter`".to_owned());
        }
        let mut lines = self.stderr.lines();
        let program = lines.find_map(|line| {
            let before = line.strip_suffix("not found")?.trim_end();
            let before = before.strip_suffix("command").unwrap_or(before);
            before.trim_end().strip_suffix(':')?.rsplit(": ").next()
        })?;
        let is_filter = self.stderr.contains("filter");
        is_filter.then(|| {
            format!(
                "a filter that .gitattributes names needs `{program}`, which is not installed here; install it, or remove its settings (`git config --show-origin --get-regexp ^filter` shows where they are)"
            )
        })
    }

    pub(crate) fn into_error(self) -> RepoError {
        let cure = self.cure().map(|cure| format!(". {cure}"));
        RepoError::Git {
            command: self.command,
            status: self
                .code
                .map_or_else(|| "killed".to_owned(), |c| format!("exit {c}")),
            stderr: if self.stderr.is_empty() {
                "it said nothing".to_owned()
            } else {
                let lines: Vec<&str> = self.stderr.lines().take(4).collect();
                lines.join("; ") + &cure.unwrap_or_default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Said;

    fn error(stderr: &str) -> String {
        let said = Said {
            code: Some(128),
            stdout: Vec::new(),
            stderr: stderr.to_owned(),
            command: "status".to_owned(),
        };
        said.into_error().to_string()
    }

    #[test]
    fn where_git_does_not_say_what_to_do_we_do() {
        for said in [
            "git-lfs filter-process: 1: git-lfs: not found\nfatal: the remote end hung up unexpectedly",
            "bash: line 1: git-lfs: command not found\nerror: external filter 'git-lfs clean -- %f' failed 127",
        ] {
            let error = error(said);
            assert!(
                error.contains("needs `git-lfs`, which is not installed"),
                "{error}"
            );
        }
        let partial = error("warning: lazy fetching disabled; some objects may not be available");
        assert!(partial.contains("git fetch --refetch"), "{partial}");
        let other = error("fatal: ambiguous argument 'x': not found");
        assert!(!other.contains("filter"), "{other}");
    }
}
