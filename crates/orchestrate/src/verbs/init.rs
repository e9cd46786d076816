//! `orchestrate init`.

use std::path::Path;

use baton_cli::{Failure, Output};
use baton_protocol::Exit;
use serde_json::json;

use crate::cli_verbs::Init;
use crate::core::init_file;
use crate::core::role_model::RoleModel;
use crate::shell::files;
use crate::shell::layout::Layout;

use super::place;

/// Writes the project's configuration, or edits the one that is there.
pub(crate) fn init(cli: &Init, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let layout = Layout::new(repo.root());
    // The conductor is a program; only opencode's agent of that name has a model.
    let (conductor, models): (Vec<RoleModel>, Vec<RoleModel>) = cli
        .models
        .iter()
        .cloned()
        .partition(|m| m.role == "orchestrator");
    if let (Some(model), false) = (conductor.first(), cli.opencode) {
        return Err(Failure::usage(format!(
            "orchestrate is a program and needs no model; give `{}` to a role: planner, explore, \
             implementer, reviewer (or, with --opencode, to opencode's agent of that name)",
            model.model
        )));
    }
    let mut changes = Vec::new();
    if cli.opencode {
        let (loaded, _) = place::configuration(&repo)?;
        changes = super::init_opencode::init(cli, &repo, &loaded, output)?;
        if changes.is_empty() {
            output.note("opencode has all that already; nothing was changed");
        }
        for change in &changes {
            output.note(change);
        }
        if models.is_empty() {
            let document = json!({"schema": "init/1", "file": null, "changes": changes});
            output.document(&document, || {
                "start opencode anew to see it; the address comes from OPENCODE_VLLM_BASE_URL"
                    .into()
            })?;
            return Ok(Exit::Yes);
        }
    }
    layout.prepare()?;
    let file = layout.folder().join("config.toml");
    let before = read(&file)?;
    let edited = init_file::edit(before.as_deref(), &models)
        .map_err(|e| Failure::config(e).at(file.display()))?;
    if before.as_deref() != Some(edited.text.as_str()) {
        files::replace(&file, edited.text.as_bytes())?;
    }
    let shown = file.display();
    if edited.changes.is_empty() {
        output.note(&format!(
            "{shown} is there already and says all that; nothing was changed"
        ));
    }
    for change in &edited.changes {
        output.note(&format!("{shown}: {change}"));
    }
    for note in unknown_providers(&models)? {
        output.note(&note);
    }
    changes.extend(edited.changes);
    let document = json!({"schema": "init/1", "file": file, "changes": changes});
    output.document(&document, || {
        "look at all of it with: orchestrate doctor".into()
    })?;
    Ok(Exit::Yes)
}

/// Providers that a model names and no configuration has.
fn unknown_providers(models: &[RoleModel]) -> Result<Vec<String>, Failure> {
    if models.is_empty() {
        return Ok(Vec::new());
    }
    let repo = place::repository()?;
    let (loaded, _) = place::configuration(&repo)?;
    let known = |id: &str| loaded.config.providers.iter().any(|p| p.id == id);
    let names: Vec<&str> = models
        .iter()
        .filter_map(|m| m.model.split_once('/'))
        .map(|(id, _)| id)
        .filter(|id| !known(id))
        .collect();
    let file = config_file();
    let lines = names.into_iter().map(|id| {
        format!(
            "no provider is called `{id}` yet; write it into {file}: [[provider]] id = \"{id}\", \
             base_url = \"http://HOST:8000/v1\""
        )
    });
    let mut lines: Vec<String> = lines.collect();
    lines.dedup();
    Ok(lines)
}

fn config_file() -> String {
    let env = baton_cli::Environment::from_process();
    baton_cli::config_file(&env).display().to_string()
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    // A foreign repository must not make us write elsewhere.
    if std::fs::symlink_metadata(file).is_ok_and(|m| !m.is_file()) {
        return Err(Failure::config(format!(
            "{} is no plain file; edit what it leads to, or put a file there",
            file.display()
        )));
    }
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Failure::config(format!(
            "cannot read {}: {e}",
            file.display()
        ))),
    }
}
