//! `orchestrate init --opencode`: provider, models, agents and commands for opencode.

use std::path::{Path, PathBuf};

use baton_cli::{Failure, Output, config};
use baton_process::{Cancel, Capture, Command, sibling};
use baton_protocol::{Health, Timestamp};
use baton_repo::Repo;
use serde_json::Value;

use crate::cli_verbs::Init;
use crate::core::opencode::{self, Served, files, jsonc};
use crate::core::role_model::RoleModel;
use crate::shell::files::replace;
use crate::shell::layout::make_folder;

/// The names opencode gives its configuration, in the order in which one that is there is taken.
const NAMES: [&str; 4] = [
    "opencode.jsonc",
    "opencode.json",
    ".opencode/opencode.jsonc",
    ".opencode/opencode.json",
];

/// Writes what is missing. Returns what was done, a sentence each.
pub(crate) fn init(
    cli: &Init,
    repo: &Repo,
    loaded: &config::Loaded,
    output: &Output,
) -> Result<Vec<String>, Failure> {
    let here = std::env::current_dir()
        .map_err(|e| Failure::usage(format!("the working directory cannot be read: {e}")))?;
    let file = find(&here, repo.root());
    let before = read(&file)?;
    let now = jsonc::value(before.as_deref().unwrap_or_default()).map_err(|e| refused(&file, e))?;
    let provider = our_provider(&now).unwrap_or(opencode::PROVIDER).to_owned();
    let models = served(&now, &provider, repo.root(), loaded)?;
    let request = loaded
        .config
        .providers
        .first()
        .map(|p| p.request.clone())
        .filter(|r| !r.is_empty())
        .unwrap_or_else(opencode::usual_request);
    let mut wanted = opencode::wanted(&provider, &models, &request);
    if before.is_some() {
        // A file that is there has its schema line, or does without.
        wanted.as_object_mut().map(|w| w.remove("$schema"));
    }
    for model in models.iter().filter(|m| m.context.is_none()) {
        output.note(&format!(
            "the context of `{}` is not known, so no limit was written for it; add limit.context, or \
             run this again when the server is ready",
            model.id
        ));
    }
    let filled = jsonc::fill(before.as_deref().unwrap_or_default(), &wanted)
        .map_err(|e| refused(&file, e))?;
    if let Some(path) = filled.blocked.first() {
        return Err(refused(
            &file,
            format!("`{path}` is no object there, so nothing was changed; mend it first"),
        ));
    }
    if let Some(note) = opencode::left_out(&now, &provider) {
        output.note(&note);
    }
    let mut done = Vec::new();
    if !filled.added.is_empty() {
        if let Some(text) = &before {
            done.push(back_up(&file, text)?);
        }
        if let Some(folder) = file.parent() {
            make_folder(folder)?;
        }
        replace(&file, filled.text.as_bytes())?;
        done.push(format!(
            "{}: added {}",
            file.display(),
            filled.added.join(", ")
        ));
    }
    let folder = file
        .parent()
        .filter(|p| p.file_name().is_some_and(|n| n == ".opencode"))
        .map_or_else(|| file.with_file_name(".opencode"), Path::to_owned);
    let model = |name: &str| chosen(&cli.models, name, &provider, loaded);
    done.extend(put(
        &folder,
        ["agent", "agents"],
        &now["agent"],
        files::agents(&model),
    )?);
    done.extend(put(
        &folder,
        ["command", "commands"],
        &now["command"],
        files::commands(),
    )?);
    Ok(done)
}

fn refused(file: &Path, why: String) -> Failure {
    Failure::config(why).at(file.display())
}

/// The nearest configuration from here up to the root; else a new one at the root.
fn find(here: &Path, root: &Path) -> PathBuf {
    let folders = here.ancestors().take_while(|f| f.starts_with(root));
    let found = folders
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
        .find(|file| std::fs::symlink_metadata(file).is_ok());
    found.unwrap_or_else(|| root.join(NAMES[0]))
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    match std::fs::symlink_metadata(file) {
        Err(_) => return Ok(None),
        // A foreign repository must not make us write elsewhere.
        Ok(meta) if !meta.is_file() => {
            return Err(Failure::usage(format!(
                "{} is no plain file; edit what it leads to, or put a file there",
                file.display()
            )));
        }
        Ok(_) => {}
    }
    std::fs::read_to_string(file)
        .map(Some)
        .map_err(|e| Failure::config(format!("cannot read {}: {e}", file.display())))
}

/// A provider that takes its address from our variable is ours, whatever it is called.
fn our_provider(config: &Value) -> Option<&str> {
    let providers = config["provider"].as_object()?;
    let ours = providers.iter().find(|(_, p)| {
        p["options"]["baseURL"]
            .as_str()
            .is_some_and(|url| url.contains("OPENCODE_VLLM_BASE_URL"))
    });
    ours.map(|(id, _)| id.as_str())
}

/// The models: what the server says, else the configuration, else what the file has already.
fn served(
    now: &Value,
    provider: &str,
    root: &Path,
    loaded: &config::Loaded,
) -> Result<Vec<Served>, Failure> {
    if let Some(models) = asked(root).filter(|m| !m.is_empty()) {
        return Ok(models);
    }
    let configured = loaded.config.providers.first();
    let models: Vec<Served> = configured
        .into_iter()
        .flat_map(|p| {
            p.models.iter().map(|id| Served {
                id: id.clone(),
                context: p.context,
            })
        })
        .collect();
    if !models.is_empty() {
        return Ok(models);
    }
    let there = now["provider"][provider]["models"].as_object();
    let models: Vec<Served> = there
        .into_iter()
        .flatten()
        .map(|(id, model)| Served {
            id: id.clone(),
            context: model["limit"]["context"].as_u64(),
        })
        .collect();
    if models.is_empty() {
        return Err(Failure::unavailable(
            "no server answers and no model is configured, so it is not known which model opencode is \
             to use; start the server (vllm-health), or write [[provider]] models = [\"MODEL\"]",
        ));
    }
    Ok(models)
}

fn asked(root: &Path) -> Option<Vec<Served>> {
    let outcome = Command::new(sibling("vllm-health"))
        .arg("--json")
        .cwd(root)
        .capture(Capture::all(16 * 1024 * 1024))
        .timeout(std::time::Duration::from_secs(60))
        .run(&Cancel::new())
        .ok()?;
    let health: Health = baton_protocol::read(&outcome.stdout.text()).ok()?;
    let ready = health.providers.iter().find(|p| p.state.is_ready())?;
    let models = ready.models.iter().map(|m| Served {
        id: m.id.clone(),
        context: m.usable_context,
    });
    Some(models.collect())
}

/// The model `--model` gives an agent. A name of our provider becomes opencode's name for it.
fn chosen(
    models: &[RoleModel],
    agent: &str,
    provider: &str,
    loaded: &config::Loaded,
) -> Option<files::Chosen> {
    let role = if agent == "qwen-worker" {
        "worker"
    } else {
        agent
    };
    let model = models.iter().find(|m| m.role == role)?;
    let (id, name) = model.model.split_once('/')?;
    let ours = loaded.config.providers.first().is_some_and(|p| p.id == id);
    let id = if ours { provider } else { id };
    Some((format!("{id}/{name}"), model.effort.clone()))
}

/// Puts files that are not there yet; one of that name in either folder, or in the configuration, is
/// the user's.
fn put(
    folder: &Path,
    names: [&str; 2],
    configured: &Value,
    files: Vec<files::File>,
) -> Result<Vec<String>, Failure> {
    let mut done = Vec::new();
    let target = names
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_dir())
        .unwrap_or_else(|| folder.join(names[0]));
    for file in files {
        let name = format!("{}.md", file.name);
        let there = configured.get(file.name).is_some()
            || names
                .iter()
                .any(|n| std::fs::symlink_metadata(folder.join(n).join(&name)).is_ok());
        if there {
            continue;
        }
        make_folder(&target)?;
        let path = target.join(&name);
        replace(&path, file.text.as_bytes())?;
        done.push(format!("{}: written", path.display()));
    }
    Ok(done)
}

fn back_up(file: &Path, text: &str) -> Result<String, Failure> {
    let stamp: String = Timestamp::now()
        .to_string()
        .chars()
        .filter(char::is_ascii_digit)
        .take(14)
        .collect();
    let name = file
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or("opencode");
    let backup = file.with_file_name(format!("{name}.bak-{stamp}"));
    replace(&backup, text.as_bytes())?;
    Ok(format!("{}: as it was before", backup.display()))
}
