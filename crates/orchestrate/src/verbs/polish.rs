//! `orchestrate polish`: clean up what changed on this branch, and nothing else.

use baton_cli::{Failure, Output};
use baton_protocol::Exit;

use crate::cli_verbs::Polish;
use crate::shell::baseline;
use crate::shell::desk::Desk;
use crate::shell::goal_facts::git_lines;

use super::upkeep;

/// Files of one worker: more would crowd out what it is to look at.
const FILES: usize = 8;

/// Polishes the changed files.
pub(crate) fn polish(cli: &Polish, output: &Output) -> Result<Exit, Failure> {
    let desk = upkeep::desk(output, "polish", |c| c.polish, &cli.launch, true)?;
    let since = match &cli.since {
        Some(revision) => merge_base(&desk, revision).ok_or_else(|| {
            Failure::usage(format!("--since {revision}: git knows no such commit"))
        })?,
        None => left_main(&desk)?,
    };
    let files = chosen(cli, &desk, &since)?;
    let checks = baseline::checks(&desk, &cli.verify)?;
    if checks.is_empty() {
        output.note("no check was found here, so only the change itself can be looked at");
    }
    baseline::must_pass(&desk, &checks, "polish")?;
    let context = desk.looking()?;
    let role = context.role("implementer", "worker");
    let mut tasks = Vec::new();
    for (index, part) in files.chunks(FILES).enumerate() {
        let list = part.join("\n- ");
        let prompt = format!(
            "Clean up these files, which changed on this branch, without changing what they do:\n- \
             {list}\n\nRemove dead code, leftovers of debugging, comments that only repeat the code and \
             needless complication; make names and formatting match the files around them. Do not \
             change behaviour, public names or tests. Where nothing is to be improved, change nothing."
        );
        let write = part.iter().map(|f| upkeep::exactly(f)).collect();
        let id = format!("polish-{}", index + 1);
        tasks.push(upkeep::task(&id, role, "Clean up", prompt, write, &checks)?);
    }
    let (run, state) = upkeep::work(&desk, "Clean up what changed on this branch", tasks)?;
    upkeep::tell(&desk, &run, &state)
}

/// The changed files that are meant. A path that has not changed is refused, not passed over.
fn chosen(cli: &Polish, desk: &Desk<'_>, since: &str) -> Result<Vec<String>, Failure> {
    let changed = changed(desk, since);
    let mut files = Vec::new();
    for path in &cli.paths {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let inside = |f: &&String| **f == path || f.starts_with(&format!("{path}/")) || path == ".";
        let found: Vec<String> = changed.iter().filter(inside).cloned().collect();
        if found.is_empty() {
            return Err(Failure::usage(format!(
                "`{path}` has not changed since {}; changed are: {}",
                short(since),
                shown(&changed)
            )));
        }
        files.extend(found);
    }
    if cli.paths.is_empty() {
        files = changed;
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        return Err(Failure::usage(format!(
            "no file that could be polished has changed since {}",
            short(since)
        )));
    }
    Ok(files)
}

/// Text files that were added or changed; what is generated or ours is left out.
fn changed(desk: &Desk<'_>, since: &str) -> Vec<String> {
    let range = format!("{since}..HEAD");
    let args = [
        "diff",
        "--numstat",
        "--no-renames",
        "--diff-filter=AM",
        &range,
    ];
    git_lines(&desk.root, &args, &desk.signals)
        .into_iter()
        .filter_map(|line| {
            let (counts, path) = line.rsplit_once('\t')?;
            // Binary files have no counts, and a quoted name is one no glob can say.
            let text = !counts.starts_with('-') && !path.starts_with('"');
            (text && !is_made(path)).then(|| path.to_owned())
        })
        .collect()
}

fn is_made(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lock = ["lock", "-lock.json", "-lock.yaml"]
        .iter()
        .any(|end| name.ends_with(end));
    let ours = path.starts_with(".orchestrator/");
    lock || ours || name == "go.sum" || name.ends_with(".min.js")
}

/// Where this branch left the main one; on the main one, what is not pushed yet.
fn left_main(desk: &Desk<'_>) -> Result<String, Failure> {
    let here = desk
        .repo()?
        .head()
        .ok()
        .and_then(|h| h.branch)
        .unwrap_or_default();
    let candidates = [
        "@{upstream}",
        "origin/HEAD",
        "origin/main",
        "origin/master",
        "main",
        "master",
    ];
    let on_main = matches!(here.as_str(), "main" | "master");
    let found = candidates
        .iter()
        .filter(|name| **name != here)
        // The upstream of a feature branch holds its own commits already.
        .filter(|name| on_main || **name != "@{upstream}")
        .find_map(|name| merge_base(desk, name));
    found.ok_or_else(|| {
        Failure::usage(
            "it cannot be told where this branch began; say it: orchestrate polish --since REVISION \
             (as in HEAD~3 or main)",
        )
    })
}

fn merge_base(desk: &Desk<'_>, with: &str) -> Option<String> {
    if with.starts_with('-') {
        return None;
    }
    let lines = git_lines(&desk.root, &["merge-base", "HEAD", with], &desk.signals);
    lines.into_iter().next().filter(|l| !l.is_empty())
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

fn shown(files: &[String]) -> String {
    const MOST: usize = 10;
    if files.is_empty() {
        return "none".into();
    }
    let mut names = files.iter().take(MOST).cloned().collect::<Vec<_>>();
    if files.len() > MOST {
        names.push(format!("and {} more", files.len() - MOST));
    }
    names.join(", ")
}
