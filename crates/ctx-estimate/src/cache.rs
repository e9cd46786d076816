//! `--cache`: building, listing, pruning and verifying compiled tokenizers.

use std::path::PathBuf;

use baton_cli::{Environment, Failure, Output};
use baton_protocol::Exit;
use baton_tokens::{Entry, TokenizerError};
use serde_json::json;

use crate::cli::CacheAction;
use crate::tokenizers::cache;

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
                "--cache build needs a tokenizer.json, a model folder or a GGUF file"
            }
            _ => "only --cache build takes paths",
        }));
    }
    let entries = match action {
        CacheAction::Build => {
            let built = sources.iter().map(|source| cache.build(source));
            built.collect::<Result<Vec<Entry>, TokenizerError>>()
        }
        CacheAction::List | CacheAction::Verify => cache.entries(),
        CacheAction::Prune => cache.prune(),
    };
    let entries = entries.map_err(|e| Failure::input(e.to_string()))?;
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
