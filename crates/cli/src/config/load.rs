//! Loading: files, environment and flags into one configuration.

use std::path::{Path, PathBuf};

use baton_protocol::{BaseUrl, nearest_key};
use toml::Table;

use super::layers::{Origins, merge, remove_untrusted};
use super::providers::{add_first, add_from_environment, check};
use super::trust::is_trusted;
use super::types::{Config, ProviderConfig};
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
        Redactor::new(keys)
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
    if let Some(table) = read_table(&user_file, flags.config_file.is_some())?.map(|(_, t)| t) {
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
            .is_some_and(|all| {
                all.iter()
                    .any(|p| p.get("id").and_then(toml::Value::as_str) == Some(id))
            })
    };
    if let Some(toml::Value::Array(providers)) = table.get_mut("provider") {
        providers.retain(|p| p.get("id").and_then(toml::Value::as_str).is_some_and(known));
    }
}

fn read_table(file: &Path, must_exist: bool) -> Result<Option<(String, Table)>, Failure> {
    let content = match std::fs::read_to_string(file) {
        Ok(content) => content,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !must_exist => return Ok(None),
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
    match toml::from_str::<Config>(&content) {
        Ok(_) => {}
        Err(e) if e.message().contains("missing field `base_url`") => {}
        Err(e) => return Err(place(e.message(), e.span())),
    }
    Ok(Some((content, table)))
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
mod tests {
    use std::fs;
    use std::path::Path;

    use baton_protocol::BaseUrl;

    use super::{ConfigFlags, Loaded, load};
    use crate::config::trust;
    use crate::{Environment, Failure, state_dir};

    struct Fixture {
        dir: tempfile::TempDir,
        env: Environment,
    }

    impl Fixture {
        fn new(variables: &[(&str, &str)]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let home = dir.path().join("home");
            fs::create_dir_all(home.join(".config/baton")).unwrap();
            fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
            fs::create_dir_all(dir.path().join("repo/.orchestrator")).unwrap();
            let home = home.to_str().unwrap().to_owned();
            let mut all = vec![("HOME", home.as_str())];
            all.extend(variables);
            let env = all.into_iter().collect();
            Self { dir, env }
        }

        fn user(self, text: &str) -> Self {
            fs::write(self.dir.path().join("home/.config/baton/config.toml"), text).unwrap();
            self
        }

        fn repo(self, text: &str) -> Self {
            fs::write(self.repo_file(), text).unwrap();
            self
        }

        fn repo_file(&self) -> std::path::PathBuf {
            self.dir.path().join("repo/.orchestrator/config.toml")
        }

        fn load_with(&self, flags: &ConfigFlags) -> Result<Loaded, Failure> {
            load(&self.env, &self.dir.path().join("repo"), flags)
        }

        fn load(&self) -> Result<Loaded, Failure> {
            self.load_with(&ConfigFlags::default())
        }
    }

    const ARC: &str = "[[provider]]\nid = 'arc'\nbase_url = 'http://127.0.0.1:8000'\nslots = 2\n";

    #[test]
    fn with_nothing_the_error_shows_the_line_to_write() {
        let loaded = Fixture::new(&[]).load().unwrap();
        let error = loaded.providers().unwrap_err();
        assert_eq!(error.exit_code(crate::ToolKind::Question).code(), 78);
        assert!(
            error.message.contains("export OPENCODE_VLLM_BASE_URL="),
            "{error}"
        );
    }

    #[test]
    fn the_environment_names_a_provider_and_comes_first() {
        let env = [
            ("OPENCODE_VLLM_BASE_URL", "http://box:9000"),
            ("OPENCODE_VLLM_API_KEY", "local"),
        ];
        let loaded = Fixture::new(&env).user(ARC).load().unwrap();
        let ids: Vec<&str> = loaded
            .config
            .providers
            .iter()
            .map(|p| p.id.as_str())
            .collect();
        assert_eq!(ids, ["default", "arc"]);
        assert_eq!(
            loaded.origins["provider.default.base_url"],
            "OPENCODE_VLLM_BASE_URL"
        );
    }

    #[test]
    fn same_origin_is_one_provider() {
        let env = [("OPENCODE_VLLM_BASE_URL", "http://127.0.0.1:8000/v1/")];
        let loaded = Fixture::new(&env).user(ARC).load().unwrap();
        assert_eq!(loaded.config.providers.len(), 1);
        assert_eq!(loaded.config.providers[0].id, "arc");
        assert_eq!(loaded.config.providers[0].slots, Some(2));
    }

    #[test]
    fn openai_variables_count_only_without_the_first_pair() {
        let env = [("OPENAI_BASE_URL", "http://a:1"), ("OPENAI_API_KEY", "k")];
        let loaded = Fixture::new(&env).load().unwrap();
        assert_eq!(
            loaded.config.providers[0].api_key_env.as_deref(),
            Some("OPENAI_API_KEY")
        );
        let both = [
            ("OPENAI_BASE_URL", "http://a:1"),
            ("OPENCODE_VLLM_BASE_URL", "http://b:1"),
        ];
        let loaded = Fixture::new(&both).load().unwrap();
        assert_eq!(loaded.config.providers.len(), 1);
        assert_eq!(loaded.config.providers[0].base_url.host(), "b");
    }

    #[test]
    fn a_broken_variable_is_named() {
        let env = [("OPENCODE_VLLM_BASE_URL", "127.0.0.1:8000")];
        let error = Fixture::new(&env).load().unwrap_err();
        assert!(
            error.message.starts_with("OPENCODE_VLLM_BASE_URL: "),
            "{error}"
        );
    }

    #[test]
    fn addresses_on_the_command_line_are_the_only_providers() {
        let env = [("OPENCODE_VLLM_BASE_URL", "http://other:1")];
        let flags = ConfigFlags {
            urls: vec![BaseUrl::parse("http://127.0.0.1:8000/v1").unwrap()],
            ..ConfigFlags::default()
        };
        let loaded = Fixture::new(&env).user(ARC).load_with(&flags).unwrap();
        assert_eq!(loaded.config.providers.len(), 1);
        assert_eq!(
            loaded.config.providers[0].slots,
            Some(2),
            "what is configured for it counts"
        );
    }

    #[test]
    fn an_unset_key_variable_is_named_before_any_request() {
        let text = format!("{ARC}api_key_env = 'ARC_KEY'\n");
        let fixture = Fixture::new(&[]).user(&text);
        let loaded = fixture.load().unwrap();
        let error = loaded.config.providers[0]
            .api_key(&fixture.env)
            .unwrap_err();
        assert!(
            error.message.contains("ARC_KEY, which is not set"),
            "{error}"
        );
    }

    #[test]
    fn unknown_keys_name_file_line_and_the_nearest_key() {
        let text = format!("{ARC}reserve_interactve = 1\n");
        let fixture = Fixture::new(&[]).user(&text);
        let error = fixture.load().unwrap_err().message;
        assert!(error.contains("config.toml:5: "), "{error}");
        assert!(
            error.ends_with("did you mean `reserve_interactive`?"),
            "{error}"
        );
    }

    #[test]
    fn a_repository_is_foreign_until_it_is_trusted() {
        let foreign = "[[provider]]\nid = 'evil'\nbase_url = 'http://evil:1'\n[run]\nlauncher = ['sh']\nmax_rounds = 1\n";
        let fixture = Fixture::new(&[]).user(ARC).repo(foreign);
        let loaded = fixture.load().unwrap();
        assert_eq!(loaded.config.providers.len(), 1);
        assert!(loaded.config.run.launcher.is_empty());
        assert_eq!(
            loaded.config.run.max_rounds, 1,
            "harmless keys count at once"
        );
        assert!(
            loaded.notes[0].contains("run.launcher"),
            "{:?}",
            loaded.notes
        );

        trust(
            &state_dir(&fixture.env),
            &fixture.repo_file(),
            foreign.as_bytes(),
        )
        .unwrap();
        let loaded = fixture.load().unwrap();
        assert_eq!(loaded.config.providers.len(), 2);
        assert_eq!(loaded.config.run.launcher, ["sh"]);
        assert!(loaded.notes.is_empty());

        let changed = fixture.repo(&format!("{foreign}max_parallel = 1\n"));
        assert!(
            changed.load().unwrap().config.run.launcher.is_empty(),
            "a change ends the trust"
        );
    }

    #[test]
    fn a_repository_may_adjust_a_provider_of_the_user() {
        let fixture = Fixture::new(&[])
            .user(ARC)
            .repo("[[provider]]\nid = 'arc'\ncontext = 8192\n");
        let loaded = fixture.load().unwrap();
        assert_eq!(loaded.config.providers[0].context, Some(8192));
        assert_eq!(
            loaded.origins["provider.arc.context"],
            fixture.repo_file().display().to_string()
        );
    }

    #[test]
    fn nonsense_values_are_refused() {
        let cases = [
            ("[run]\nmax_parallel = 9\n", "run.max_parallel = 9"),
            ("[budget]\nmode = 'maybe'\n", "budget.mode"),
            (
                "[[provider]]\nid = 'a'\nbase_url = 'http://h'\nslots = 0\n",
                "slots = 0",
            ),
            (
                "[[provider]]\nid = 'a'\nbase_url = 'http://h'\ncontext = 0\n",
                "context = 0",
            ),
            (
                "[[provider]]\nid = 'a'\nbase_url = 'http://h'\ntimeouts = { idle = '5' }\n",
                "duration",
            ),
            ("[[provider]]\nid = 'a'\n", "base_url"),
            ("[run]\nmax_parallel = \n", "config.toml:2"),
        ];
        for (text, word) in cases {
            let error = Fixture::new(&[]).user(text).load().unwrap_err();
            assert!(error.message.contains(word), "{text}: {error}");
        }
        let twice = "[[provider]]\nid = 'a'\nbase_url = 'http://h/v1'\n[[provider]]\nid = 'b'\nbase_url = 'http://H:80'\n";
        assert!(
            Fixture::new(&[])
                .user(twice)
                .load()
                .unwrap_err()
                .message
                .contains("same server")
        );
    }

    #[test]
    fn the_whole_example_of_the_manual_is_read() {
        let text = include_str!("../../examples/config.toml");
        let loaded = Fixture::new(&[]).user(text).load().unwrap();
        assert_eq!(
            loaded.config.providers[0].request["thinking_token_budget"],
            2048
        );
        assert_eq!(loaded.config.roles["implementer"].models, ["arc/qwen38"]);
        assert!(Path::new(&loaded.origins["provider.arc.slots"]).ends_with("config.toml"));
    }
}
