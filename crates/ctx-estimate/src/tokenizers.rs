//! Finding tokenizers on this machine.

use std::path::{Path, PathBuf};

use baton_cli::{Environment, Failure, cache_dir};
use baton_tokens::{Cache, Family, Tokenizer};

use crate::plan::Named;

/// The cache of compiled tokenizers.
pub(crate) fn cache(env: &Environment) -> Cache {
    Cache::below(&cache_dir(env))
}

/// What `--tokenizer` names: a family, or a file or folder.
pub(crate) fn named(name: &str, env: &Environment) -> Result<Named, Failure> {
    if let Some(family) = Family::from_name(name) {
        return Ok(Named::Family(family));
    }
    let path = Path::new(name);
    if !path.exists() {
        let known = Family::KNOWN.map(Family::name).join(", ");
        return Err(Failure::usage(format!(
            "--tokenizer {name}: neither a file or folder nor a known family ({known})"
        )));
    }
    match cache(env).open(path) {
        Ok(tokenizer) => Ok(Named::Tokenizer(tokenizer)),
        Err(e) => Err(Failure::input(format!(
            "--tokenizer {name}: {e}; name a family instead to get an estimate"
        ))),
    }
}

/// The tokenizer of a model, where this machine has it: the model's name is a path (as with vLLM and
/// llama.cpp), it lies in the Hugging Face cache, or `--cache build SERVER` found it.
pub(crate) fn of_model(
    model: &str,
    env: &Environment,
    mut note: impl FnMut(&str),
) -> Option<Tokenizer> {
    let path = found(model, env).or_else(|| cache(env).source_of(model))?;
    match cache(env).open(&path) {
        Ok(tokenizer) => Some(tokenizer),
        Err(e) => {
            note(&format!("{model}: {e}; its class model is used instead"));
            None
        }
    }
}

/// The tokenizer of what a server calls its model: a path, or a name on the hub.
pub(crate) fn found(origin: &str, env: &Environment) -> Option<PathBuf> {
    local_path(origin).or_else(|| in_hub_cache(origin, env))
}

fn local_path(model: &str) -> Option<PathBuf> {
    let path = Path::new(model);
    let is_model = path.join("tokenizer.json").is_file()
        || path.is_file() && (has_suffix(path, "gguf") || is_blob(path));
    (path.is_absolute() && is_model).then(|| path.to_owned())
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(suffix))
}

/// Ollama keeps its GGUF files as `blobs/sha256-…`.
fn is_blob(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("sha256-"))
}

/// `models--ORG--NAME/snapshots/REVISION/tokenizer.json`, the revision as `refs/main` has it.
fn in_hub_cache(model: &str, env: &Environment) -> Option<PathBuf> {
    let (organisation, name) = model.split_once('/')?;
    if name.contains('/')
        || [organisation, name]
            .iter()
            .any(|part| part.starts_with('.'))
    {
        return None;
    }
    let below_home = || Some(env.absolute_path("HOME")?.join(".cache/huggingface"));
    let hub = env.absolute_path("HF_HUB_CACHE").or_else(|| {
        let home = env.absolute_path("HF_HOME").or_else(below_home)?;
        Some(home.join("hub"))
    })?;
    let folder = hub.join(format!("models--{organisation}--{name}"));
    let revision = std::fs::read_to_string(folder.join("refs/main")).ok()?;
    let file = folder
        .join("snapshots")
        .join(revision.trim())
        .join("tokenizer.json");
    file.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use baton_cli::Environment;

    use super::{in_hub_cache, local_path};

    #[test]
    fn the_hub_cache_is_searched_by_organisation_and_name() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("hub/models--Qwen--Qwen3-8B");
        std::fs::create_dir_all(folder.join("snapshots/abc")).unwrap();
        std::fs::create_dir_all(folder.join("refs")).unwrap();
        std::fs::write(folder.join("refs/main"), "abc\n").unwrap();
        std::fs::write(folder.join("snapshots/abc/tokenizer.json"), "{}").unwrap();
        let env = [("HF_HOME", home.path().to_str().unwrap())];
        let env: Environment = env.into_iter().collect();
        let found = in_hub_cache("Qwen/Qwen3-8B", &env).unwrap();
        assert!(found.ends_with("snapshots/abc/tokenizer.json"));
        assert_eq!(in_hub_cache("Qwen/other", &env), None);
        assert_eq!(in_hub_cache("../../etc", &env), None);
        assert_eq!(in_hub_cache("qwen38", &env), None);
    }

    #[test]
    fn only_an_absolute_path_of_a_model_is_one() {
        assert_eq!(local_path("qwen38"), None);
        assert_eq!(local_path("/etc/passwd"), None);
    }
}
