//! `orchestrate github`: issues and pull requests, through `gh` only.

use std::fmt::Write as _;

use baton_cli::{Failure, Output, config, input};
use baton_protocol::Exit;
use baton_repo::Repo;
use serde_json::{Value, json};

use crate::cli_github::{Body, CreateIssue, CreatePr, Github, Issue, List, Pr, State, View, What};
use crate::core::github;
use crate::shell::gh::Gh;
use crate::shell::worktrees::git_failure;

use super::{place, pull_request};

/// Answers the question, or creates what was asked for.
pub(crate) fn github(cli: &Github, output: &Output) -> Result<Exit, Failure> {
    let cancel = place::signals()?;
    let repo = place::repository()?;
    let (loaded, env) = place::configuration(&repo)?;
    output.keep_out(loaded.redactor(&env));
    allowed(&loaded.config.github, false, false)?;
    let gh = Gh {
        root: repo.root(),
        repo: cli.repo.as_deref(),
        cancel: &cancel,
    };
    let settings = &loaded.config.github;
    let document = match &cli.what {
        What::Status => status(&gh, settings)?,
        What::Issue(Issue::List(asked)) => list(&gh, "issue", asked)?,
        What::Issue(Issue::View(asked)) => view(&gh, "issue", asked)?,
        What::Issue(Issue::Create(asked)) => {
            allowed(settings, true, asked.confirm)?;
            create_issue(&gh, asked, output)?
        }
        What::Pr(Pr::List(asked)) => list(&gh, "pr", asked)?,
        What::Pr(Pr::View(asked)) => view(&gh, "pr", asked)?,
        What::Pr(Pr::Create(asked)) => {
            allowed(settings, true, asked.confirm)?;
            create_pr(&gh, &repo, asked, output)?
        }
    };
    output.document(&document, || text(&document))?;
    let said_no = document["authenticated"] == json!(false);
    Ok(if said_no { Exit::No } else { Exit::Yes })
}

/// Whether the configuration allows it, and the person said so for creating something.
pub(crate) fn allowed(
    settings: &config::GitHubConfig,
    creates: bool,
    confirmed: bool,
) -> Result<(), Failure> {
    if !settings.enabled {
        return Err(Failure::config(
            "GitHub is switched off; allow reading with: [github] enabled = true",
        ));
    }
    if creates && !settings.allow_mutations {
        return Err(Failure::config(
            "creating issues and pull requests is switched off; allow it with: [github] allow_mutations = true",
        ));
    }
    if creates && !confirmed {
        return Err(Failure::usage(
            "this creates something that others see; if it is meant, add --confirm",
        ));
    }
    Ok(())
}

/// Whether `run --issue` and `run --pr` may do what they would, before any work is done.
pub(crate) fn allowed_for(
    run: &crate::cli::Run,
    settings: &config::GitHubConfig,
) -> Result<(), Failure> {
    if run.issue.is_some() || run.pr {
        allowed(settings, run.pr, run.confirm)?;
    }
    Ok(())
}

fn words<const N: usize>(args: [&str; N]) -> Vec<String> {
    args.iter().map(|a| (*a).to_owned()).collect()
}

fn status(gh: &Gh<'_>, settings: &config::GitHubConfig) -> Result<Value, Failure> {
    // `gh version` and `gh auth status` take no --repo.
    let bare = Gh { repo: None, ..*gh };
    let version = bare.said(&words(["--version"]))?;
    let login = bare.said(&words(["auth", "status"]))?;
    let said = format!("{}\n{}", login.stdout, login.stderr);
    let account = said.lines().find_map(|line| {
        // `✓ Logged in to github.com account NAME (keyring)`; before 2.40 `… as NAME (…)`.
        let (_, rest) = line.split_once("Logged in to ")?;
        let (_, rest) = rest.split_once(" account ").or(rest.split_once(" as "))?;
        rest.split_whitespace().next().map(str::to_owned)
    });
    // With several accounts the exit code says that one of them is out of date, not that all are.
    let (repository, why) = if login.ok || account.is_some() {
        let mut args = words(["repo", "view"]);
        args.extend(gh.repo.map(str::to_owned));
        args.push("--json=nameWithOwner,url,defaultBranchRef,viewerPermission".into());
        match bare.json(&args) {
            Ok(found) => (found, None),
            Err(e) => (Value::Null, Some(e.message)),
        }
    } else {
        (Value::Null, Some("not logged in: gh auth login".to_owned()))
    };
    Ok(json!({
        "schema": "github/1",
        "action": "status",
        "enabled": settings.enabled,
        "allow_mutations": settings.allow_mutations,
        "gh": version.stdout.lines().next(),
        "authenticated": login.ok || repository.is_object(),
        "account": account,
        "repository": repository["nameWithOwner"],
        "url": repository["url"],
        "default_branch": repository["defaultBranchRef"]["name"],
        "permission": repository["viewerPermission"].as_str().map(str::to_lowercase),
        "why": why,
    }))
}

fn list(gh: &Gh<'_>, kind: &str, asked: &List) -> Result<Value, Failure> {
    let state = match asked.state {
        State::Open => "open",
        State::Closed => "closed",
        State::All => "all",
        State::Merged if kind == "pr" => "merged",
        State::Merged => {
            return Err(Failure::usage(
                "an issue is open or closed; `merged` is a state of pull requests",
            ));
        }
    };
    let fields = if kind == "pr" {
        github::PR_FIELDS
    } else {
        github::ISSUE_FIELDS
    };
    let mut args = words([kind, "list"]);
    args.push(format!("--state={state}"));
    args.push(format!("--limit={}", asked.limit));
    args.push(format!("--json={fields}"));
    args.extend(asked.label.iter().map(|l| format!("--label={l}")));
    args.extend(asked.search.iter().map(|s| format!("--search={s}")));
    let found = gh.json(&args)?;
    let items: Vec<Value> = found
        .as_array()
        .into_iter()
        .flatten()
        .map(github::item)
        .collect();
    let full = u32::try_from(items.len()).unwrap_or(u32::MAX) >= asked.limit;
    Ok(json!({
        "schema": "github/1",
        "action": format!("{kind}_list"),
        "items": items,
        "more": full,
    }))
}

fn view(gh: &Gh<'_>, kind: &str, asked: &View) -> Result<Value, Failure> {
    let found = one(gh, kind, asked.number)?;
    Ok(json!({"schema": "github/1", "action": format!("{kind}_view"), "item": found}))
}

/// One issue or pull request in our spelling.
pub(crate) fn one(gh: &Gh<'_>, kind: &str, number: u64) -> Result<Value, Failure> {
    let fields = if kind == "pr" {
        github::PR_VIEW_FIELDS
    } else {
        github::ISSUE_VIEW_FIELDS
    };
    let mut args = words([kind, "view"]);
    args.push(number.to_string());
    args.push(format!("--json={fields}"));
    Ok(github::item(&gh.json(&args)?))
}

fn create_issue(gh: &Gh<'_>, asked: &CreateIssue, output: &Output) -> Result<Value, Failure> {
    let title = asked.title.trim();
    if title.is_empty() {
        return Err(Failure::usage("--title is empty"));
    }
    let body = body(&asked.body)?;
    let find = || -> Result<Option<Value>, Failure> {
        // Not GitHub's search, which knows a new issue only after a while.
        let mut args = words(["issue", "list", "--state=open", "--limit=1000"]);
        args.push(format!("--json={}", github::ISSUE_FIELDS));
        let all = gh.json(&args)?;
        let mut all = all.as_array().into_iter().flatten();
        let same = all.find(|i| i["title"].as_str().map(str::trim) == Some(title));
        Ok(same.map(github::item))
    };
    if let Some(item) = find()? {
        return Ok(created("issue", &item, false));
    }
    let file = pull_request::body_file(&output.redactor().text(&body))?;
    let mut args = words(["issue", "create"]);
    args.push(format!("--title={title}"));
    args.push(format!("--body-file={}", file.path().display()));
    args.extend(asked.label.iter().map(|l| format!("--label={l}")));
    let said = gh.said(&args);
    pull_request::after_creation("issue", &args, &said, find, output)
}

fn create_pr(
    gh: &Gh<'_>,
    repo: &Repo,
    asked: &CreatePr,
    output: &Output,
) -> Result<Value, Failure> {
    let head = if let Some(head) = &asked.head {
        head.clone()
    } else {
        let head = repo.head().map_err(|e| git_failure(&e))?;
        head.branch
            .ok_or_else(|| Failure::usage("HEAD is detached; name the branch: --head BRANCH"))?
    };
    let title = match &asked.title {
        Some(title) => title.clone(),
        None => pull_request::subject(repo, &head)?,
    };
    let wanted = pull_request::Wanted {
        title,
        body: output.redactor().text(&body(&asked.body)?).into_owned(),
        head,
        base: asked.base.clone(),
        remote: asked.remote.clone(),
        draft: asked.draft,
    };
    pull_request::open(gh, repo, &wanted, output)
}

/// What was created, or found in its place.
pub(crate) fn created(kind: &str, item: &Value, new: bool) -> Value {
    json!({
        "schema": "github/1",
        "action": format!("{kind}_create"),
        "created": new,
        "item": item,
    })
}

fn body(body: &Body) -> Result<String, Failure> {
    match (&body.body, &body.body_file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(file)) => {
            let file = (file.as_os_str() != "-").then_some(file.as_path());
            input::main_document(file, "the text (--body-file)")
        }
        (None, None) => Ok(String::new()),
    }
}

fn text(document: &Value) -> String {
    let mut text = String::new();
    let shown = |v: &Value| match v {
        Value::String(s) => s.clone(),
        Value::Null => "-".into(),
        other => other.to_string(),
    };
    if let Some(items) = document["items"].as_array() {
        for item in items {
            let _ = writeln!(
                text,
                "#{:<6} {:<7} {}",
                shown(&item["number"]),
                shown(&item["state"]),
                shown(&item["title"])
            );
        }
        if items.is_empty() {
            text.push_str("none\n");
        }
        return text;
    }
    let item = &document["item"];
    if item.is_object() {
        let _ = writeln!(
            text,
            "#{} {} ({}, by {})\n{}",
            shown(&item["number"]),
            shown(&item["title"]),
            shown(&item["state"]),
            shown(&item["author"]),
            shown(&item["url"])
        );
        if document["created"] == json!(false) {
            text.push_str("it was there already; nothing was created\n");
        }
        if let Some(body) = item["body"].as_str().filter(|b| !b.trim().is_empty()) {
            let _ = write!(text, "\n{}\n", body.trim());
        }
        for comment in item["comments"].as_array().into_iter().flatten() {
            let _ = write!(
                text,
                "\n-- {}:\n{}\n",
                shown(&comment["author"]),
                shown(&comment["body"]).trim()
            );
        }
        return text;
    }
    for key in [
        "gh",
        "authenticated",
        "account",
        "repository",
        "default_branch",
        "permission",
        "allow_mutations",
        "why",
    ] {
        let _ = writeln!(text, "{key}: {}", shown(&document[key]));
    }
    text
}
