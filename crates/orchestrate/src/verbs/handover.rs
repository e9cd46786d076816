//! `orchestrate handover`: a brief for whoever takes over, from what is on disk. No server is asked.

use baton_cli::{Failure, Output};
use baton_process::Cancel;
use baton_protocol::{Exit, Timestamp};
use baton_repo::Repo;
use serde_json::json;

use crate::cli_verbs::Handover;
use crate::core::goal::text;
use crate::core::handover::{self, Part};
use crate::core::markdown::in_words;
use crate::core::state::State;
use crate::shell::doctor::ask;
use crate::shell::goal_facts::git_lines;
use crate::shell::goal_store::GoalStore;
use crate::shell::journal::peek;
use crate::shell::layout::Layout;
use crate::shell::{lock, loops};

use super::{place, plans};

/// Prints the brief.
pub(crate) fn handover(cli: &Handover, output: &Output) -> Result<Exit, Failure> {
    let signals = place::signals()?;
    let repo = place::repository()?;
    // A brief is needed most when something is broken, so a broken configuration does not stop it.
    let loaded = place::configuration(&repo);
    let (redactor, github) = match &loaded {
        Ok((loaded, env)) => (loaded.redactor(env), loaded.config.github.enabled),
        Err(_) => (baton_cli::Redactor::default(), false),
    };
    if let Ok((loaded, _)) = &loaded {
        place::switched_on("handover", loaded.config.commands.handover)?;
    }
    let layout = Layout::new(repo.root());
    let focus = cli.focus.join(" ");
    let mut parts = vec![goal(&layout, &repo), works(&repo)];
    parts.push(Part::list(
        "Plans",
        &plans::lines(&layout, repo.common_dir()),
        2_000,
    ));
    parts.extend(runs(&layout));
    parts.extend(git(&repo, &focus, &signals));
    if github {
        parts.push(issues(&repo, &signals));
    }
    if let Err(failure) = &loaded {
        parts.insert(
            0,
            Part::new("Broken configuration", &failure.message, 1_000),
        );
    }
    // Redacted before it is cut: half a key is a key.
    for part in &mut parts {
        part.text = redactor.text(&part.text).into_owned();
    }
    let text = handover::render(
        &Timestamp::now().to_string(),
        &redactor.text(&focus),
        &parts,
    );
    let document = json!({"schema": "handover/1", "bytes": text.len(), "text": text});
    output.document(&document, || text.clone())?;
    Ok(Exit::Yes)
}

fn goal(layout: &Layout, repo: &Repo) -> Part {
    let works = loops::holder(repo.common_dir(), super::goal::LOOP);
    let text = match GoalStore::new(layout, repo.common_dir()).read() {
        Ok(Some(goal)) => text::text(&goal, works.as_deref()),
        Ok(None) => String::new(),
        Err(failure) => failure.message,
    };
    Part::new("Goal", text, 3_000)
}

fn works(repo: &Repo) -> Part {
    let text = lock::holder(repo.common_dir())
        .map(|who| format!("run {who} works on this repository now; stop it: orchestrate halt"));
    Part::new("Under way", text.unwrap_or_default(), 500)
}

/// The last runs in a line each, and the report of the last one.
fn runs(layout: &Layout) -> Vec<Part> {
    let names = layout.run_names();
    let mut lines = Vec::new();
    for name in names.iter().rev().take(8) {
        let Ok(entries) = peek(&layout.run(name).journal()) else {
            lines.push(format!("{name}: its journal cannot be read"));
            continue;
        };
        let state = State::replay(&entries);
        let status = state.status.map_or("not ended", in_words);
        let goal = crate::core::fallback::first_line(&state.goal, 120);
        let gaps: Vec<String> = crate::core::closing::missing(&state)
            .into_iter()
            .map(|m| m.statement)
            .collect();
        let gaps = if gaps.is_empty() || state.status.is_none() {
            String::new()
        } else {
            format!("; open: {}", gaps.join("; "))
        };
        lines.push(format!("{name} ({}): {goal}{gaps}", status.to_lowercase()));
    }
    let mut parts = vec![Part::list("Runs, newest first", &lines, 3_000)];
    if let Some(last) = names.last()
        && let Ok(report) = std::fs::read_to_string(layout.run(last).report_text())
    {
        // Its own headings go one level down, below ours.
        parts.push(Part::new(
            "Report of the last run",
            report.replace("\n#", "\n##").replacen('#', "###", 1),
            5_000,
        ));
    }
    parts
}

fn git(repo: &Repo, focus: &str, cancel: &Cancel) -> Vec<Part> {
    let root = repo.root();
    let lines = |args: &[&str]| git_lines(root, args, cancel);
    let text = |args: &[&str]| lines(args).join("\n");
    let mut parts = vec![
        Part::new(
            "Git status",
            text(&["status", "--short", "--branch"]),
            2_000,
        ),
        Part::list(
            "Last commits",
            &lines(&["log", "-15", "--format=%h %s (%an, %ar)"]),
            2_000,
        ),
        Part::list(
            "Branches that wait",
            &lines(&["branch", "--no-merged", "HEAD", "--format=%(refname:short)"]),
            1_000,
        ),
    ];
    let words: Vec<&str> = focus
        .split_whitespace()
        .filter(|w| w.chars().count() > 3 && !w.starts_with('-'))
        .take(6)
        .collect();
    if !words.is_empty() {
        let mut args = vec!["grep", "-l", "-i", "-I", "--fixed-strings"];
        for word in &words {
            args.extend(["-e", word]);
        }
        let files: Vec<String> = lines(&args).into_iter().take(20).collect();
        parts.push(Part::list("Files that speak of the focus", &files, 1_000));
    }
    parts.push(Part::new(
        "Uncommitted changes",
        text(&["diff", "HEAD", "--no-color", "--no-ext-diff"]),
        6_000,
    ));
    parts
}

fn issues(repo: &Repo, cancel: &Cancel) -> Part {
    let args = ["issue", "list", "--state", "open", "--limit", "20"];
    let text = match ask("gh", &args, repo.root(), cancel) {
        Some(said) if said.code == 0 => said.stdout,
        Some(said) => format!(
            "gh could not list them: {}",
            crate::shell::stage::last_line(&said.stderr)
        ),
        None => "gh cannot be run".into(),
    };
    Part::new("Open issues", text, 2_000)
}
