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
fn a_launcher_is_a_list_of_words() {
    for (text, said) in [
        (
            "[run]\nlauncher = 'srun -N1'\n",
            "a list of words, as in [\"srun\"",
        ),
        ("[run]\nlauncher = ['']\n", "its first word is empty"),
        (
            "[roles.worker]\nlauncher = [' ', 'x']\n",
            "its first word is empty",
        ),
        ("[run]\nlauncher_io = 'pipe'\n", "`shared`"),
        (
            "[run]\nlauncher_silence = '0s'\n",
            "run.launcher_silence is below",
        ),
        (
            "[run]\nlauncher_starts = '5m'\n",
            "did you mean `launcher_start`?",
        ),
    ] {
        let error = Fixture::new(&[]).user(text).load().unwrap_err().message;
        assert!(error.contains(said), "{text}: {error}");
    }
    let text = "[run]\nlauncher = ['ssh', 'box2']\nlauncher_io = 'stream'\n\
                [roles.planner]\nlauncher = []\n";
    let config = Fixture::new(&[]).user(text).load().unwrap().config;
    assert_eq!(config.run.launcher, ["ssh", "box2"]);
    assert_eq!(config.roles["planner"].launcher.as_deref(), Some(&[][..]));
    assert_eq!(config.roles["planner"].launcher_io, None);
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

#[test]
fn providers_in_tables_by_name_are_answered_with_the_right_spelling() {
    for (text, line) in [
        ("[provider.gpu]\nbase_url = 'http://h/v1'\n", 1),
        ("\n[providers.gpu]\nbase_url = 'http://h/v1'\n", 2),
        ("[[providers]]\nid = 'gpu'\nbase_url = 'http://h/v1'\n", 1),
    ] {
        let error = Fixture::new(&[]).user(text).load().unwrap_err().message;
        assert!(error.contains(&format!("config.toml:{line}: ")), "{error}");
        assert!(error.contains("write [[provider]]"), "{error}");
    }
}

#[test]
fn a_provider_without_an_address_and_one_named_twice_are_told_by_name() {
    let error = |text: &str| Fixture::new(&[]).user(text).load().unwrap_err().message;
    let none = error("[[provider]]\nid = 'gpu'\nslots = 2\n");
    assert!(
        none.contains("config.toml: provider `gpu` has no address"),
        "{none}"
    );
    let twice = "[[provider]]\nid = 'gpu'\nbase_url = 'http://a/v1'\n\
                 [[provider]]\nid = 'gpu'\nbase_url = 'http://b/v1'\n";
    let twice = error(twice);
    assert!(twice.contains("two providers have the id `gpu`"), "{twice}");
}

#[test]
fn a_password_in_an_address_is_not_repeated() {
    let text = "[[provider]]\nid = 'gpu'\nbase_url = 'http://me:hunter2@h:8000/v1?key=abc'\n";
    let error = Fixture::new(&[]).user(text).load().unwrap_err().message;
    assert!(error.contains("`http://…@h:8000/v1?…`"), "{error}");
    assert!(
        !error.contains("hunter2") && !error.contains("abc"),
        "{error}"
    );
}
