//! `orchestrate restructure`: another form, the same behaviour.

use std::path::Path;

use baton_cli::{Failure, Output};
use baton_protocol::{Exit, RelPath, RunStatus};
use baton_repo::GitPath;

use crate::cli_verbs::{Reach, Restructure, Risk};
use crate::core::api_surface;
use crate::core::state::State;
use crate::shell::desk::Desk;
use crate::shell::{ask, baseline};

use super::{run, settings, upkeep};

/// Restructures a file, a module or the project.
pub(crate) fn restructure(cli: &Restructure, output: &Output) -> Result<Exit, Failure> {
    let desk = upkeep::desk(output, "restructure", |c| c.restructure, &cli.launch, true)?;
    let target = target(cli, &desk)?;
    let write = scope(&target, cli.scope, desk.root.join(&target).is_dir())?;
    let checks = baseline::checks(&desk, &cli.verify)?;
    if checks.is_empty() {
        return Err(Failure::usage(
            "there is no check here that could show that behaviour stays; name one: orchestrate \
             restructure PATH --verify COMMAND",
        ));
    }
    baseline::must_pass(&desk, &checks, "restructure")?;
    let Some(map) = map(&desk, &target)? else {
        return Err(Failure::internal(
            "the references and tests could not be mapped, so nothing was changed",
        ));
    };
    let context = desk.looking()?;
    let role = context.role("implementer", "worker");
    let mut task = upkeep::task(
        "restructure",
        role,
        &format!("Restructure {target}"),
        prompt(cli, &target, &map),
        write,
        &checks,
    )?;
    task.must_not.push("change what the code does".into());
    if cli.risk == Risk::Conservative {
        task.must_not
            .push("change a public name, its parameters or a test".into());
    }
    let (run, state) = upkeep::work(&desk, &format!("Restructure {target}"), vec![task])?;
    show_surface(&desk, cli.risk, &state)?;
    upkeep::tell(&desk, &run, &state)
}

/// The target as a path of the repository.
fn target(cli: &Restructure, desk: &Desk<'_>) -> Result<String, Failure> {
    let refused = |why: &str| Failure::usage(format!("`{}`: {why}", cli.target));
    let here = std::env::current_dir()
        .map_err(|e| Failure::usage(format!("the working directory cannot be read: {e}")))?;
    let real = here
        .join(&cli.target)
        .canonicalize()
        .map_err(|e| refused(&e.to_string()))?;
    let root = desk
        .root
        .canonicalize()
        .unwrap_or_else(|_| desk.root.clone());
    let inside = real
        .strip_prefix(&root)
        .map_err(|_| refused("it is not in this repository"))?;
    let text = inside
        .to_str()
        .ok_or_else(|| refused("its name is not UTF-8"))?;
    if text.is_empty() {
        return Ok(".".into());
    }
    RelPath::new(text).map_err(|e| refused(&e))?;
    if text.starts_with(".git/") || text == ".git" || text.starts_with(".orchestrator") {
        return Err(refused("it belongs to git or to orchestrate"));
    }
    Ok(text.to_owned())
}

fn scope(target: &str, reach: Reach, folder: bool) -> Result<Vec<String>, Failure> {
    let below = |folder: &str| match folder {
        "" | "." => "**".to_owned(),
        folder => format!("{}/**", upkeep::exactly(folder)),
    };
    Ok(vec![match reach {
        Reach::File if folder => {
            return Err(Failure::usage(format!(
                "`{target}` is a folder; say --scope module, or name a file"
            )));
        }
        Reach::File => upkeep::exactly(target),
        Reach::Module if folder => below(target),
        Reach::Module => match Path::new(target).parent().and_then(Path::to_str) {
            // The files beside it at the top, but not every folder below.
            None | Some("") => "*".into(),
            Some(parent) => below(parent),
        },
        Reach::Project => "**".into(),
    }])
}

/// What uses the target and what tests it, by a reader.
fn map(desk: &Desk<'_>, target: &str) -> Result<Option<String>, Failure> {
    let context = desk.looking()?;
    let role = context.role("explore", "planner");
    let prompt = format!(
        "Map `{target}` before it is restructured. You only read; you change nothing. List: what it \
         offers to others (public names with their files and lines); every place that uses it; every \
         test that covers it, and what no test covers; what makes it hard to change. Name paths and \
         lines, no advice."
    );
    let task = upkeep::task(
        "map",
        role,
        "Map references and tests",
        prompt,
        Vec::new(),
        &[],
    )?;
    let answers = ask::ask(
        desk,
        run::run_name()?,
        run::nonce()?,
        &format!("Map {target}"),
        vec![task],
        settings::of_given_plan(&desk.config)?,
    )?;
    if matches!(
        answers.state.status,
        Some(RunStatus::Halted | RunStatus::Interrupted)
    ) {
        return Err(
            Failure::internal("it was stopped before anything was changed")
                .with_exit(upkeep::exit(&answers.state)),
        );
    }
    let text = answers.handoffs.into_iter().flatten().next();
    Ok(text.map(|h| h.outcome.chars().take(12_000).collect()))
}

fn prompt(cli: &Restructure, target: &str, map: &str) -> String {
    let aim = cli.aim.as_deref().unwrap_or(
        "make it easier to read and to change: smaller functions, clear names, no repetition",
    );
    let risk = match cli.risk {
        Risk::Conservative => {
            "Keep every public name and its parameters as they are, and change no test."
        }
        Risk::Broad => "A public name may change only where every use of it is changed too.",
    };
    format!(
        "Restructure `{target}`: {aim}. What the code does must not change. {risk}\n\n\
         What a reader found about it:\n{map}"
    )
}

/// Shows what became of the public names in the changed files.
fn show_surface(desk: &Desk<'_>, risk: Risk, state: &State) -> Result<(), Failure> {
    let repo = desk.repo()?;
    let (before, after) = (&state.target.commit, &state.head);
    let Ok(counts) = repo.line_counts(before, after) else {
        return Ok(());
    };
    let mut lines = Vec::new();
    for count in counts {
        let path = count.path.to_string();
        let text = |revision: &str| -> String {
            let bytes = repo
                .read_file(revision, &GitPath::from(path.as_str()))
                .ok()
                .flatten();
            String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
        };
        let difference = api_surface::difference(
            &api_surface::surface(&path, &text(before)),
            &api_surface::surface(&path, &text(after)),
        );
        lines.extend(difference.into_iter().map(|line| format!("{path}: {line}")));
    }
    if lines.is_empty() {
        desk.output.note("the public names are as they were");
        return Ok(());
    }
    desk.output.note("the public names changed:");
    for line in &lines {
        desk.output.note(&format!("  {line}"));
    }
    if risk == Risk::Conservative {
        desk.output.note(&format!(
            "--risk conservative asked for none of that; look at it (git diff {} HEAD), and take it \
             back if it is wrong (git revert --no-edit {}..HEAD)",
            before.get(..10).unwrap_or(before),
            before.get(..10).unwrap_or(before)
        ));
    }
    Ok(())
}
