//! Loading: files, environment and flags into one configuration.

use std::path::{Path, PathBuf};

use baton_protocol::{BaseUrl, Secret, nearest_key};
use toml::Table;

use super::layers::{Origins, merge, remove_untrusted};
use super::providers::{add_first, add_from_environment, check};
use super::trust::is_trusted;
use super::types::{Config, ProviderConfig};
use crate::places::CONFIG;
use crate::{Environment, Failure, Redactor, config_file, state_dir};

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default)]
pub struct ConfigFlags {
    /// A file to read instead of the user's (`--config FILE`).
    pub config_file: Option<PathBuf>,
    /// Addresses given as arguments. When there are any, they are the only providers.
    pub urls: Vec<BaseUrl>,
}

/// The configuration and where it comes from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The merged configuration.
    pub config: Config,
    /// By dotted path (`run.max_parallel`, `provider.arc.slots`): a file, a variable or a flag.
    pub origins: Origins,
    /// What the user should know (keys that are not trusted), for stderr.
    pub notes: Vec<String>,
    /// The repository root, where the start folder is inside one.
    pub repo_root: Option<PathBuf>,
    /// The repository's configuration file, where there is one.
    pub repo_file: Option<PathBuf>,
}

impl Loaded {
    /// The providers, or an error that says how to name one.
    pub fn providers(&self) -> Result<&[ProviderConfig], Failure> {
        if self.config.providers.is_empty() {
            return Err(Failure::config(
                "OPENCODE_VLLM_BASE_URL is not set and no provider is configured; \
                 write: export OPENCODE_VLLM_BASE_URL=http://127.0.0.1:8000/v1",
            ));
        }
        Ok(&self.config.providers)
    }

    /// A redactor that knows the providers' keys (those that can be read).
    pub fn redactor(&self, env: &Environment) -> Redactor {
        let keys = self
            .config
            .providers
            .iter()
            .filter_map(|p| p.api_key(env).ok().flatten());
        // Of two keys in the environment one is used, and both are secrets.
        let named = ["OPENCODE_VLLM_API_KEY", "OPENAI_API_KEY"];
        let named = named.iter().filter_map(|name| env.get(name));
        Redactor::new(keys.chain(named.map(Secret::new)))
    }
}

/// Loads the configuration for a tool that starts in `start_dir`.
pub fn load(env: &Environment, start_dir: &Path, flags: &ConfigFlags) -> Result<Loaded, Failure> {
    let mut merged = Table::new();
    let mut origins = Origins::new();
    let mut notes = Vec::new();

    let user_file = flags
        .config_file
        .clone()
        .unwrap_or_else(|| config_file(env));
    // A file that was named must be there.
    let is_named = flags.config_file.is_some() || env.absolute_path(CONFIG).is_some();
    if let Some(table) = read_table(&user_file, is_named)?.map(|(_, t)| t) {
        merge(
            &mut merged,
            table,
            &user_file.display().to_string(),
            &mut origins,
        );
    }

    let repo_root = find_repo_root(start_dir);
    let repo_file = repo_root
        .as_ref()
        .map(|root| root.join(".orchestrator/config.toml"));
    let mut found_repo_file = None;
    if let Some(file) = repo_file
        && let Some((content, mut table)) = read_table(&file, false)?
    {
        if !is_trusted(&state_dir(env), &file, content.as_bytes()) {
            let removed = remove_untrusted(&mut table);
            if !removed.is_empty() {
                notes.push(format!(
                    "{}: not trusted, so {} do not count; look at the file, then run: orchestrate trust",
                    file.display(),
                    removed.join(", ")
                ));
            }
            drop_addressless(&mut table, &merged);
        }
        merge(
            &mut merged,
            table,
            &file.display().to_string(),
            &mut origins,
        );
        found_repo_file = Some(file);
    }

    has_addresses(&merged, &origins)?;
    let mut config: Config = merged.try_into().map_err(|e: toml::de::Error| {
        Failure::config(format!("configuration: {}", nearest_key(e.message())))
    })?;
    check(&config.providers)?;
    if flags.urls.is_empty() {
        add_from_environment(env, &mut config.providers, &mut origins)?;
    } else {
        let mut all = config.providers.clone();
        add_from_environment(env, &mut all, &mut origins)?;
        config.providers = only(&flags.urls, &all, &mut origins);
    }
    check_ranges(&config)?;
    Ok(Loaded {
        config,
        origins,
        notes,
        repo_root,
        repo_file: found_repo_file,
    })
}

/// The providers at these addresses, with what is configured for their origins.
fn only(urls: &[BaseUrl], known: &[ProviderConfig], origins: &mut Origins) -> Vec<ProviderConfig> {
    let mut chosen: Vec<ProviderConfig> = Vec::new();
    for url in urls {
        if chosen.iter().any(|p| p.base_url.origin() == url.origin()) {
            continue;
        }
        let mut one: Vec<ProviderConfig> = known
            .iter()
            .filter(|p| p.base_url.origin() == url.origin())
            .cloned()
            .collect();
        // The others are only there so that a fresh name does not collide with one of theirs.
        one.extend(chosen.iter().cloned());
        add_first(&mut one, url.clone(), "command line", None, origins);
        chosen.push(one.swap_remove(0));
    }
    chosen
}

/// A repository may adjust a provider it does not own, but not invent one while it is not trusted.
fn drop_addressless(table: &mut Table, merged: &Table) {
    let known = |id: &str| {
        merged
            .get("provider")
            .and_then(toml::Value::as_array)
            .is_some_and(|all| all.iter().any(|p| id_of(p) == Some(id)))
    };
    if let Some(toml::Value::Array(providers)) = table.get_mut("provider") {
        providers.retain(|p| id_of(p).is_some_and(known));
    }
}

fn read_table(file: &Path, must_exist: bool) -> Result<Option<(String, Table)>, Failure> {
    let content = match std::fs::read_to_string(file) {
        Ok(content) => content,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !must_exist => return Ok(None),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
            return Err(Failure::config(format!(
                "cannot read {}: it is not UTF-8; convert it (from UTF-16, say: iconv -f UTF-16 -t UTF-8)",
                file.display()
            )));
        }
        Err(e) => {
            return Err(Failure::config(format!(
                "cannot read {}: {e}",
                file.display()
            )));
        }
    };
    let place = |message: &str, span: Option<std::ops::Range<usize>>| {
        let line = span.map_or(1, |s| {
            content[..s.start.min(content.len())].matches('\n').count() + 1
        });
        Failure::config(format!(
            "{}:{line}: {}",
            file.display(),
            nearest_key(message)
        ))
    };
    // Read once as the real type, so that a wrong key is reported with its own file and line. A
    // provider that only adjusts another layer's one has no address here; it gets a stand-in.
    let table: Table = content
        .parse()
        .map_err(|e: toml::de::Error| place(e.message(), e.span()))?;
    if let Some((line, advice)) = misspelt_provider(&content, &table) {
        return Err(Failure::config(format!(
            "{}:{line}: {advice}",
            file.display()
        )));
    }
    if let Some(id) = twice_named(&table) {
        return Err(Failure::config(format!(
            "{}: two providers have the id `{id}`; give each its own",
            file.display()
        )));
    }
    match toml::from_str::<Config>(&content) {
        Ok(_) => {}
        Err(e) if e.message().contains("missing field `base_url`") => {}
        Err(e) => return Err(place(e.message(), e.span())),
    }
    Ok(Some((content, table)))
}

/// Every provider has an address once all files are read.
fn has_addresses(merged: &Table, origins: &Origins) -> Result<(), Failure> {
    let providers = merged.get("provider").and_then(toml::Value::as_array);
    for provider in providers.into_iter().flatten() {
        if provider.get("base_url").is_none() {
            let id = id_of(provider).unwrap_or_default();
            let place = format!("provider.{id}.");
            let file = origins
                .iter()
                .find(|(path, _)| path.starts_with(&place))
                .map_or("configuration", |(_, file)| file);
            return Err(Failure::config(format!(
                "{file}: provider `{id}` has no address; write base_url = \"http://HOST:PORT/v1\" below its id"
            )));
        }
    }
    Ok(())
}

/// A name that two providers of one file share, one of which would be lost.
fn twice_named(table: &Table) -> Option<&str> {
    let providers = table.get("provider")?.as_array()?;
    let ids: Vec<&str> = providers.iter().filter_map(id_of).collect();
    ids.iter()
        .enumerate()
        .find(|(at, id)| ids[..*at].contains(id))
        .map(|(_, id)| *id)
}

fn id_of(provider: &toml::Value) -> Option<&str> {
    provider.get("id")?.as_str()
}

/// Providers written as `[provider.NAME]` or `[providers…]`, as other programs want it: the line and
/// what to write instead.
fn misspelt_provider(content: &str, table: &Table) -> Option<(usize, String)> {
    let key = ["provider", "providers"].into_iter().find(|key| {
        table
            .get(*key)
            .is_some_and(|v| *key == "providers" || v.is_table())
    })?;
    let id = table
        .get(key)
        .and_then(toml::Value::as_table)
        .and_then(|providers| providers.keys().next())
        .map_or("NAME", String::as_str);
    let line = content
        .lines()
        .position(|line| {
            line.trim_start()
                .trim_start_matches('[')
                .trim_start()
                .starts_with(key)
        })
        .unwrap_or(0);
    Some((
        line + 1,
        format!(
            "providers are a list, in order of preference; write [[provider]] and below it id = \"{id}\" \
             in place of `{key}`"
        ),
    ))
}

/// The nearest folder upwards with a `.git` (folder, or file in a worktree).
fn find_repo_root(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .find(|dir| dir.join(".git").exists())
        .map(Path::to_owned)
}

fn check_ranges(config: &Config) -> Result<(), Failure> {
    let range = |name: &str, value: u32, least: u32, most: u32| {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(Failure::config(format!(
            "{name} = {value} is out of range; give {least} to {most}"
        )))
    };
    range("run.max_parallel", config.run.max_parallel, 1, 8)?;
    range("run.max_rounds", config.run.max_rounds, 1, 8)?;
    range("review.max_rounds", config.review.max_rounds, 1, 8)?;
    for (name, value) in [
        ("run.launcher_start", config.run.launcher_start),
        ("run.launcher_silence", config.run.launcher_silence),
    ] {
        if value.0 < std::time::Duration::from_secs(1) {
            return Err(Failure::config(format!(
                "{name} is below a second; no launcher is that quick"
            )));
        }
    }
    for (name, budget) in [
        ("budget", &config.budget),
        ("goal.budget", &config.goal.budget),
    ] {
        if !matches!(budget.mode.as_str(), "advisory" | "stop-between-steps") {
            return Err(Failure::config(format!(
                "{name}.mode = `{}`; give `advisory` or `stop-between-steps`",
                budget.mode
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
