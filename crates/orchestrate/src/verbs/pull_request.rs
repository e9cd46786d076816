//! Opening a pull request: push the branch, find the open one, else create it.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use baton_cli::{Failure, Output, config};
use baton_process::{Cancel, Capture, Command};
use baton_protocol::Exit;
use baton_repo::Repo;
use serde_json::{Value, json};

use crate::core::github;
use crate::core::record::PullRequest;
use crate::core::state::State;
use crate::shell::desk::can_go_on;
use crate::shell::files;
use crate::shell::gh::{self, Gh, Said};
use crate::shell::layout::RunFolder;
use crate::shell::worktrees::git_failure;

use super::ending;
use super::github::{allowed, created};

/// The longest a push may take.
const PUSH_LIMIT: Duration = Duration::from_secs(600);

/// The pull request that is wanted.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) title: String,
    pub(crate) body: String,
    /// The branch here, which gets the same name there.
    pub(crate) head: String,
    /// None: the repository's default branch.
    pub(crate) base: Option<String>,
    pub(crate) remote: String,
    pub(crate) draft: bool,
}

/// Pushes and opens it. One that is open already is the answer; nothing is made twice.
pub(crate) fn open(
    gh: &Gh<'_>,
    repo: &Repo,
    wanted: &Wanted,
    output: &Output,
) -> Result<Value, Failure> {
    if wanted.title.trim().is_empty() {
        return Err(Failure::usage("the title is empty; name one: --title TEXT"));
    }
    push(repo, &wanted.remote, &wanted.head, gh.cancel)?;
    let find = || find(gh, &wanted.head, wanted.base.as_deref());
    if let Some(item) = find()? {
        return Ok(created("pr", &item, false));
    }
    let file = body_file(&wanted.body)?;
    let mut args = vec!["pr".to_owned(), "create".to_owned()];
    args.push(format!("--title={}", wanted.title.trim()));
    args.push(format!("--body-file={}", file.path().display()));
    args.push(format!("--head={}", wanted.head));
    args.extend(wanted.base.iter().map(|b| format!("--base={b}")));
    if wanted.draft {
        args.push("--draft".into());
    }
    let said = gh.said(&args);
    after_creation("pr", &args, &said, find, output)
}

fn find(gh: &Gh<'_>, head: &str, base: Option<&str>) -> Result<Option<Value>, Failure> {
    let mut args = vec![
        "pr".to_owned(),
        "list".to_owned(),
        "--state=open".to_owned(),
    ];
    args.push(format!("--head={head}"));
    args.extend(base.iter().map(|b| format!("--base={b}")));
    args.push("--limit=10".into());
    args.push(format!("--json={}", github::PR_FIELDS));
    let found = gh.json(&args)?;
    Ok(found
        .as_array()
        .and_then(|all| all.first())
        .map(github::item))
}

/// What a call that creates something has led to. It may have created it and then failed at
/// something later, or have failed because it is there: in each case its address is the answer.
pub(crate) fn after_creation(
    kind: &str,
    args: &[String],
    said: &Result<Said, Failure>,
    find: impl Fn() -> Result<Option<Value>, Failure>,
    output: &Output,
) -> Result<Value, Failure> {
    let failure = match said {
        Ok(said) if said.ok => None,
        Ok(said) => Some(gh::failure(args, said)),
        Err(failure) => Some(failure.clone()),
    };
    let words = said.as_ref().map_or("", |s| s.stdout.as_str());
    let there = said
        .as_ref()
        .is_ok_and(|s| s.stderr.contains("already exists"));
    if let Some((url, number)) = github::address(words) {
        if let Some(failure) = &failure {
            output.note(&format!("created, but: {}", failure.message));
        }
        let item = github::item(&json!({"url": url, "number": number, "state": "OPEN",
            "title": value_of(args, "--title="), "headRefName": value_of(args, "--head="),
            "baseRefName": value_of(args, "--base=")}));
        return Ok(created(kind, &item, true));
    }
    let Some(failure) = failure else {
        return Err(Failure::internal(format!(
            "gh {kind} create succeeded and named no address; look: gh {kind} list"
        )));
    };
    // A time-out or an error of the server may have come after the creation.
    match find() {
        Ok(Some(item)) => {
            if !there {
                output.note(&format!("it is there, although: {}", failure.message));
            }
            Ok(created(kind, &item, !there))
        }
        _ => Err(failure),
    }
}

fn value_of(args: &[String], option: &str) -> Option<String> {
    args.iter()
        .find_map(|a| a.strip_prefix(option).map(str::to_owned))
}

/// The text in a file of its own: no shell and no command line ever sees it.
pub(crate) fn body_file(text: &str) -> Result<tempfile::NamedTempFile, Failure> {
    let fail = |e: std::io::Error| Failure::internal(format!("cannot write a temporary file: {e}"));
    let mut file = tempfile::Builder::new()
        .prefix("baton-body-")
        .suffix(".md")
        .tempfile()
        .map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    file.flush().map_err(fail)?;
    Ok(file)
}

/// Pushes a branch under its own name, as the user would: their hooks and credentials, no force.
pub(crate) fn push(
    repo: &Repo,
    remote: &str,
    branch: &str,
    cancel: &Cancel,
) -> Result<(), Failure> {
    if remote.starts_with('-') || branch.starts_with('-') {
        return Err(Failure::usage("a remote or branch does not begin with `-`"));
    }
    let here = repo.branch(branch).map_err(|e| git_failure(&e))?;
    if here.is_none() {
        return Err(Failure::usage(format!(
            "there is no branch `{branch}` here"
        )));
    }
    let outcome = Command::new("git")
        .cwd(repo.root())
        .args(["push", "--porcelain", remote])
        .arg(format!("refs/heads/{branch}:refs/heads/{branch}"))
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .capture(Capture::default())
        .timeout(PUSH_LIMIT)
        .run(cancel)
        .map_err(|e| Failure::internal(e.to_string()))?;
    if outcome.cancelled {
        return Err(Failure::interrupted(cancel.signal().unwrap_or(2)));
    }
    if outcome.success() {
        return Ok(());
    }
    let said = format!("{}\n{}", outcome.stdout.text(), outcome.stderr.text());
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|l| {
            l.starts_with('!')
                || l.starts_with("fatal")
                || l.starts_with("error")
                || l.starts_with("remote:")
        })
        .take(4)
        .collect();
    let advice = if said.contains("non-fast-forward") || said.contains("fetch first") {
        "; the branch there has other commits; nothing was forced"
    } else {
        ""
    };
    Err(Failure::internal(format!(
        "git push {remote} {branch} failed: {}{advice}",
        lines.join("; ")
    )))
}

/// Where a run's branch is pushed to.
const REMOTE: &str = "origin";

/// Whether a run's pull request can be opened when its work is done: asked before any is.
pub(crate) fn can_be_opened(repo: &Repo, cancel: &Cancel) -> Result<(), Failure> {
    let outcome = Command::new("git")
        .cwd(repo.root())
        .args(["remote", "get-url", REMOTE])
        .timeout(Duration::from_secs(60))
        .run(cancel)
        .map_err(|e| Failure::internal(e.to_string()))?;
    if !outcome.success() {
        return Err(Failure::usage(format!(
            "--pr: there is no remote `{REMOTE}` to push to; write: git remote add {REMOTE} URL"
        )));
    }
    let gh = Gh {
        root: repo.root(),
        repo: None,
        cancel,
    };
    let args = ["repo", "view", "--json=nameWithOwner"].map(str::to_owned);
    gh.json(&args).map(|_| ())
}

/// The subject of a branch's last commit.
pub(crate) fn subject(repo: &Repo, branch: &str) -> Result<String, Failure> {
    let outcome = Command::new("git")
        .cwd(repo.root())
        .args(["log", "-1", "--format=%s", "--end-of-options", branch])
        .timeout(Duration::from_secs(60))
        .run(&Cancel::new())
        .map_err(|e| Failure::internal(e.to_string()))?;
    let text = outcome.stdout.text().trim().to_owned();
    if outcome.success() && !text.is_empty() {
        Ok(text)
    } else {
        Err(Failure::usage(format!(
            "there is no branch `{branch}` here"
        )))
    }
}

/// Where a run has ended.
pub(crate) struct Place<'a> {
    pub(crate) repo: &'a Repo,
    pub(crate) folder: &'a RunFolder,
    pub(crate) cancel: &'a Cancel,
    pub(crate) settings: &'a config::GitHubConfig,
}

/// The file in a run's folder that says which pull request it led to.
const OPENED: &str = "pull-request.json";

/// Tells how a run has ended, and opens the pull request that was wished for.
pub(crate) fn tell(
    place: &Place<'_>,
    run: &str,
    state: &State,
    output: &Output,
) -> Result<Exit, Failure> {
    let exit = ending::tell(run, place.folder, state, output)?;
    Ok(for_run(place, state, exit, output))
}

/// The pull request of a run that has ended, where one is wanted: told on stderr and kept in the run's
/// folder, as stdout holds the report. The exit code is the run's unless opening it fails.
fn for_run(place: &Place<'_>, state: &State, exit: Exit, output: &Output) -> Exit {
    let Some(wish) = &state.settings.pull_request else {
        return exit;
    };
    let kept = place.folder.path().join(OPENED);
    if let Some(url) = opened(&kept) {
        output.note(&format!("pull request: {url} (opened before)"));
        return exit;
    }
    if exit != Exit::Yes || state.head == state.target.commit {
        let later = if can_go_on(state) {
            " (orchestrate resume opens it when it is)"
        } else {
            ""
        };
        output.note(&format!(
            "no pull request was opened: the run did not complete with changes{later}; when its work \
             is good: orchestrate github pr create --head {} --confirm",
            state.branch
        ));
        return exit;
    }
    let document =
        allowed(place.settings, true, true).and_then(|()| open_for(place, state, wish, output));
    match document {
        Ok(document) => {
            let url = document["item"]["url"].as_str().unwrap_or_default();
            output.note(&format!("pull request: {url}"));
            if let Err(failure) = files::replace(&kept, document.to_string().as_bytes()) {
                output.note(&failure.message);
            }
            exit
        }
        Err(failure) => {
            output.error(&format!(
                "the run is completed, the pull request is not open: {}; when that is mended: \
                 orchestrate resume",
                failure.message
            ));
            failure.exit_code(baton_cli::ToolKind::Doer)
        }
    }
}

fn opened(kept: &Path) -> Option<String> {
    let text = std::fs::read_to_string(kept).ok()?;
    let document: Value = serde_json::from_str(&text).ok()?;
    document["item"]["url"].as_str().map(str::to_owned)
}

fn open_for(
    place: &Place<'_>,
    state: &State,
    wish: &PullRequest,
    output: &Output,
) -> Result<Value, Failure> {
    let gh = Gh {
        root: place.repo.root(),
        repo: None,
        cancel: place.cancel,
    };
    let report = std::fs::read_to_string(place.folder.path().join("report.md")).unwrap_or_default();
    let closes = wish
        .issue
        .map_or_else(String::new, |n| format!("Closes #{n}.\n\n"));
    let title = state.goal.lines().next().unwrap_or_default();
    let wanted = Wanted {
        title: title.chars().take(120).collect(),
        body: format!("{closes}{}", output.redactor().text(&report)),
        head: state.branch.clone(),
        base: Some(state.target.branch.clone()),
        remote: REMOTE.into(),
        draft: false,
    };
    open(&gh, place.repo, &wanted, output)
}
