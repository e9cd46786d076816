//! Running `gh`: never through a shell, never asking, never without an end.

use std::path::Path;
use std::time::Duration;

use baton_cli::Failure;
use baton_process::{Cancel, Capture, Command, ExitStatus, SpawnError};
use serde_json::{Value, json};

use crate::core::github::{self, Trouble};

/// The longest one call may take.
const LIMIT: Duration = Duration::from_secs(90);
/// The most that is read of an answer.
const LONGEST: usize = 32 << 20;

/// What `gh` said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) ok: bool,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// `gh` in one repository.
#[derive(Debug)]
pub(crate) struct Gh<'a> {
    pub(crate) root: &'a Path,
    /// `OWNER/NAME`, where it is not the one gh finds itself.
    pub(crate) repo: Option<&'a str>,
    pub(crate) cancel: &'a Cancel,
}

impl Gh<'_> {
    /// Runs `gh` with these arguments, whatever its exit code.
    pub(crate) fn said(&self, args: &[String]) -> Result<Said, Failure> {
        let mut command = Command::new("gh").cwd(self.root).args(args);
        if let Some(repo) = self.repo {
            command = command.arg(format!("--repo={repo}"));
        }
        // It must neither ask, nor page, nor colour, nor tell of updates.
        for (name, value) in [
            ("GH_PROMPT_DISABLED", "1"),
            ("GH_NO_UPDATE_NOTIFIER", "1"),
            ("GH_PAGER", "cat"),
            ("NO_COLOR", "1"),
            ("CLICOLOR_FORCE", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
        ] {
            command = command.env(name, value);
        }
        let outcome = command
            .env_remove("GH_FORCE_TTY")
            .env_remove("GH_DEBUG")
            .capture(Capture::all(LONGEST))
            .timeout(LIMIT)
            .run(self.cancel)
            .map_err(|e| match e {
                SpawnError::NotFound { .. } => Failure::config(
                    "the GitHub CLI `gh` is not installed; see https://cli.github.com, then: gh auth login",
                ),
                other => Failure::internal(other.to_string()),
            })?;
        if outcome.cancelled {
            return Err(Failure::interrupted(self.cancel.signal().unwrap_or(2)));
        }
        if outcome.timed_out {
            return Err(Failure::unavailable(format!(
                "`gh {}` did not end within {} s",
                shown(args),
                LIMIT.as_secs()
            )));
        }
        let code = match outcome.exit {
            ExitStatus::Code(code) => Some(code),
            ExitStatus::Signal(_) => None,
        };
        Ok(Said {
            ok: outcome.success(),
            code,
            stdout: outcome.stdout.text(),
            stderr: outcome.stderr.text().trim().to_owned(),
        })
    }

    /// Runs `gh` and reads the JSON it prints.
    pub(crate) fn json(&self, args: &[String]) -> Result<Value, Failure> {
        let said = self.said(args)?;
        if !said.ok {
            return Err(failure(args, &said));
        }
        serde_json::from_str(&said.stdout)
            .map_err(|e| Failure::internal(format!("`gh {}` printed no JSON ({e})", shown(args))))
    }
}

/// A failed call for people and, with its HTTP status, for programs.
pub(crate) fn failure(args: &[String], said: &Said) -> Failure {
    let (trouble, status) = github::trouble(said.code, &said.stderr);
    let words = if said.stderr.is_empty() {
        said.stdout.trim()
    } else {
        said.stderr.as_str()
    };
    let words: Vec<&str> = words
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let words = words.into_iter().take(4).collect::<Vec<_>>().join("; ");
    let said = format!("gh {}: {words}", shown(args));
    let failure = match trouble {
        Trouble::NotLoggedIn => Failure::config(format!("{said}; log in: gh auth login")),
        Trouble::Forbidden => Failure::config(format!(
            "{said}; the login may not do this; look: gh auth status (a scope is added with: gh auth \
             refresh -s SCOPE)"
        )),
        Trouble::NoRepository => Failure::input(format!(
            "{said}; name the repository: orchestrate github --repo OWNER/NAME …"
        )),
        Trouble::TooOld => Failure::config(format!(
            "{said}; this gh does not know all that it is asked (gh --version; 2.23 does): update it"
        )),
        Trouble::NotFound => Failure::input(format!(
            "{said}; is the number right, and the repository (gh repo view)?"
        )),
        Trouble::RateLimited => Failure::try_again(format!("{said}; try again later")),
        Trouble::Unreachable => Failure::unavailable(said),
        Trouble::Rejected => Failure::internal(said),
    };
    failure.with_detail(json!({"http_status": status, "trouble": format!("{trouble:?}")}))
}

/// The call without its values, which may be long or private.
fn shown(args: &[String]) -> String {
    let words = args.iter().map(|a| a.split('=').next().unwrap_or(a));
    let words: Vec<&str> = words.filter(|w| !w.contains(',')).collect();
    words.join(" ")
}
