//! `--cache`: building, listing, pruning and verifying compiled tokenizers.

use std::path::{Path, PathBuf};

use baton_cli::config::{ConfigFlags, load};
use baton_cli::{Environment, Failure, Output};
use baton_protocol::Exit;
use baton_tokens::Entry;
use serde_json::json;

use crate::cli::CacheAction;
use crate::server::{Served, served};
use crate::tokenizers::{cache, found};

/// Runs one action and tells what is there (or was built or removed).
pub(crate) fn run(
    action: CacheAction,
    sources: &[PathBuf],
    env: &Environment,
    output: &Output,
) -> Result<Exit, Failure> {
    let cache = cache(env);
    if sources.is_empty() == (action == CacheAction::Build) {
        return Err(Failure::usage(match action {
            CacheAction::Build => {
                "--cache build needs a tokenizer.json, a model folder, a GGUF file, a server's URL, or \
                 `server` for the configured ones"
            }
            _ => "only --cache build takes paths",
        }));
    }
    let entries = match action {
        CacheAction::Build => {
            let built = sources.iter().map(|source| build(source, env, output));
            built.collect::<Result<Vec<_>, _>>()?.concat()
        }
        CacheAction::List | CacheAction::Verify => cache.entries().map_err(|e| of_tokenizer(&e))?,
        CacheAction::Prune => cache.prune().map_err(|e| of_tokenizer(&e))?,
    };
    let document = json!({
        "folder": cache.folder(),
        "tokenizers": entries.iter().map(|entry| json!({
            "file": entry.file, "bytes": entry.bytes, "source": entry.source,
            "problem": entry.problem,
        })).collect::<Vec<_>>(),
    });
    output.document(&document, || {
        text(action, &entries, &cache.folder().display().to_string())
    })?;
    let damaged = entries.iter().any(|entry| entry.problem.is_some());
    let bad = action == CacheAction::Verify && damaged;
    Ok(if bad { Exit::No } else { Exit::Yes })
}

fn of_tokenizer(error: &baton_tokens::TokenizerError) -> Failure {
    Failure::input(error.to_string())
}

/// What `--cache build` is given that is no file: the configured servers, or one by its address.
fn is_server(source: &Path) -> bool {
    let named = source.to_str().unwrap_or_default();
    let is_url = named.starts_with("http://") || named.starts_with("https://");
    is_url || named == "server" && !source.exists()
}

fn build(source: &Path, env: &Environment, output: &Output) -> Result<Vec<Entry>, Failure> {
    if !is_server(source) {
        return Ok(vec![
            cache(env).build(source).map_err(|e| of_tokenizer(&e))?,
        ]);
    }
    let config = load(env, Path::new("."), &ConfigFlags::default())?;
    let url = source.to_str().filter(|named| *named != "server");
    let served = served(url, &config, env, output)?;
    served.iter().map(|one| build_served(one, env)).collect()
}

/// Builds the tokenizer of a server's model, where that lies on this machine, and keeps in mind whose
/// it is.
fn build_served(served: &Served, env: &Environment) -> Result<Entry, Failure> {
    let Served { url, model, origin } = served;
    let give = "give a folder with its tokenizer.json and tokenizer_config.json, or its GGUF file, \
                as --cache build PATH";
    let Some(origin) = origin else {
        return Err(Failure::input(format!(
            "{url} does not tell where its model {model} comes from, and no server hands out its \
             vocabulary; {give}"
        )));
    };
    let Some(path) = found(origin, env) else {
        return Err(Failure::input(format!(
            "{url} has its model {model} from {origin}, which is not on this machine; {give}"
        )));
    };
    let cache = cache(env);
    let entry = cache.build(&path).map_err(|e| of_tokenizer(&e))?;
    cache.remember(model, &path).map_err(|e| of_tokenizer(&e))?;
    Ok(entry)
}

fn text(action: CacheAction, entries: &[Entry], folder: &str) -> String {
    let done = match action {
        CacheAction::Build => "built",
        CacheAction::Prune => "removed",
        CacheAction::List | CacheAction::Verify => "",
    };
    let line = |entry: &Entry| {
        let state = entry.problem.as_deref().unwrap_or("intact");
        let state = if done.is_empty() { state } else { done };
        let megabytes = entry.bytes.div_ceil(100_000);
        format!(
            "{:>3}.{} MB  {state}  {}\n",
            megabytes / 10,
            megabytes % 10,
            entry.source
        )
    };
    let lines: String = entries.iter().map(line).collect();
    format!("{lines}{} tokenizer(s) in {folder}\n", entries.len())
}
