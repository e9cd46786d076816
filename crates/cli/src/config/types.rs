//! The keys of the configuration. Unknown keys are errors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use baton_protocol::{Access, BaseUrl, Secret};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::values::{DurationText, FirstByte, words, words_if_any};
use crate::{Environment, Failure};

/// The whole configuration with every default filled in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The providers, in order of preference.
    #[serde(rename = "provider")]
    pub providers: Vec<ProviderConfig>,
    /// The roles by name: planner, explore, implementer, reviewer, worker, or one's own.
    pub roles: BTreeMap<String, RoleConfig>,
    /// How runs work.
    pub run: RunConfig,
    /// The review.
    pub review: ReviewConfig,
    /// The budget.
    pub budget: BudgetConfig,
    /// Goals.
    pub goal: GoalConfig,
    /// Which verbs are on.
    pub commands: CommandsConfig,
    /// GitHub.
    pub github: GitHubConfig,
    /// Work trees.
    pub worktree: WorktreeConfig,
    /// Folders outside the repository that workers may use.
    pub external: ExternalConfig,
    /// The trace.
    pub trace: TraceConfig,
    /// Where slots are kept.
    pub slots: SlotsConfig,
}

/// How a model acts: by tool calls, or by files in its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkMode {
    /// By what is known of the model.
    #[default]
    Auto,
    /// Tool calls only.
    Tools,
    /// Whole files.
    Whole,
    /// Search/replace blocks.
    Blocks,
}

/// One model server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// Its name.
    pub id: String,
    /// Its address.
    pub base_url: BaseUrl,
    /// The environment variable that holds its key.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The file that holds its key.
    #[serde(default)]
    pub api_key_file: Option<PathBuf>,
    /// Its models, the preferred first; empty: what the server lists.
    #[serde(default)]
    pub models: Vec<String>,
    /// How many requests at once; none: what the server tells, else a stated assumption.
    #[serde(default)]
    pub slots: Option<u32>,
    /// Slots kept free for class interactive.
    #[serde(default)]
    pub reserve_interactive: u32,
    /// The usable context in tokens, where the server does not tell or to lower it.
    #[serde(default)]
    pub context: Option<u64>,
    /// Merged into every completion request.
    #[serde(default)]
    pub request: Map<String, Value>,
    /// The clocks.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// US dollars per million tokens; none: unknown, not 0.
    #[serde(default)]
    pub price: Option<Price>,
    /// How its models act in worker-run.
    #[serde(default)]
    pub mode: WorkMode,
    /// A PEM file with the certificate authority of a private server.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Accept any certificate.
    #[serde(default)]
    pub insecure: bool,
}

impl ProviderConfig {
    /// A provider known only by its address.
    pub fn new(id: impl Into<String>, base_url: BaseUrl) -> Self {
        Self {
            id: id.into(),
            base_url,
            api_key_env: None,
            api_key_file: None,
            models: Vec::new(),
            slots: None,
            reserve_interactive: 0,
            context: None,
            request: Map::new(),
            timeouts: Timeouts::default(),
            price: None,
            mode: WorkMode::Auto,
            ca_file: None,
            insecure: false,
        }
    }

    /// Its key. A variable or file that the configuration names and that is not there is an error.
    pub fn api_key(&self, env: &Environment) -> Result<Option<Secret>, Failure> {
        if let Some(name) = &self.api_key_env {
            return match env.get(name) {
                // A line break comes along with `$(< file)` in some shells, and with files of secrets.
                Some(key) => Ok(Some(Secret::new(key.trim()))),
                None => Err(Failure::config(format!(
                    "provider `{}`: its key is in {name}, which is not set; write: export {name}=KEY",
                    self.id
                ))),
            };
        }
        let Some(file) = &self.api_key_file else {
            return Ok(None);
        };
        match std::fs::read_to_string(file) {
            Ok(text) if !text.trim().is_empty() => Ok(Some(Secret::new(text.trim()))),
            Ok(_) => Err(Failure::config(format!(
                "provider `{}`: api_key_file {} is empty",
                self.id,
                file.display()
            ))),
            Err(e) => Err(Failure::config(format!(
                "provider `{}`: cannot read api_key_file {}: {e}",
                self.id,
                file.display()
            ))),
        }
    }
}

/// The clocks of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// To open a connection.
    pub connect: DurationText,
    /// To the first byte of an answer.
    pub first_byte: FirstByte,
    /// Between two pieces of a stream.
    pub idle: DurationText,
    /// One whole request.
    pub request: DurationText,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = |s| DurationText(Duration::from_secs(s));
        Self {
            connect: seconds(5),
            first_byte: FirstByte::Auto,
            idle: seconds(120),
            request: seconds(600),
        }
    }
}

/// What tokens cost, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Prompt tokens.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
}

/// Which models a role uses and what it may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleConfig {
    /// `provider/model` or `provider`, in order; empty: every provider.
    pub models: Vec<String>,
    /// Reading only, or writing in scope; none: by the role's name.
    pub access: Option<Access>,
    /// How hard its model shall think: sent as `reasoning_effort`.
    pub effort: Option<String>,
    /// A file with the role's system text instead of the built-in one.
    pub prompt: Option<PathBuf>,
    /// Its own launcher instead of `[run] launcher`; an empty one starts its workers here.
    #[serde(
        deserialize_with = "words_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    pub launcher: Option<Vec<String>>,
    /// Its own way of `[run] launcher_io`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher_io: Option<LauncherIo>,
}

/// What keeps workers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A git worktree each.
    #[default]
    Worktree,
    /// A clone each.
    Clone,
    /// None: one worker at a time in the repository itself.
    None,
}

/// How task and hand-off come to and from a launched worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LauncherIo {
    /// By files: it sees the same folders under the same names.
    #[default]
    Shared,
    /// Through the launcher's stdin and stdout; nothing else is shared.
    Stream,
}

/// How runs work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Workers at once, 1 to 8.
    pub max_parallel: u32,
    /// Rounds of `run`.
    pub max_rounds: u32,
    /// What keeps workers apart.
    pub isolation: Isolation,
    /// Put before each worker's command line, to start it somewhere else.
    #[serde(deserialize_with = "words")]
    pub launcher: Vec<String>,
    /// How task and hand-off come to and from a launched worker.
    pub launcher_io: LauncherIo,
    /// How long a launcher may take until its worker reports.
    pub launcher_start: DurationText,
    /// How long a launched worker may then be silent before it is given up.
    pub launcher_silence: DurationText,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            max_parallel: 2,
            max_rounds: 2,
            isolation: Isolation::default(),
            launcher: Vec::new(),
            launcher_io: LauncherIo::default(),
            launcher_start: DurationText(Duration::from_secs(600)),
            launcher_silence: DurationText(Duration::from_secs(120)),
        }
    }
}

/// Whether there is a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewMode {
    /// None.
    Off,
    /// An explicit approval within `max_rounds`, else a person.
    #[default]
    Bounded,
}

/// The review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewConfig {
    /// Whether there is one.
    pub mode: ReviewMode,
    /// How often it may ask for changes, 1 to 8.
    pub max_rounds: u32,
}

impl Default for ReviewConfig {
    fn default() -> Self {
        Self {
            mode: ReviewMode::default(),
            max_rounds: 2,
        }
    }
}

/// What a run may spend; none: no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetConfig {
    /// `advisory` or `stop-between-steps`.
    pub mode: String,
    /// Turns of models.
    pub max_steps: Option<u64>,
    /// Requests.
    pub max_requests: Option<u64>,
    /// Tokens, prompt and completion.
    pub max_tokens: Option<u64>,
    /// US dollars.
    pub max_cost_usd: Option<f64>,
    /// The whole run.
    pub max_wall: Option<DurationText>,
    /// Retries.
    pub max_retries: Option<u64>,
}

impl Default for BudgetConfig {
    fn default() -> Self {
        Self {
            mode: "advisory".into(),
            max_steps: None,
            max_requests: None,
            max_tokens: None,
            max_cost_usd: None,
            max_wall: None,
            max_retries: None,
        }
    }
}

/// Goals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoalConfig {
    /// Whether a goal goes on by itself.
    pub auto_continue: bool,
    /// How often.
    pub max_continuations: u32,
    /// The pause between two continuations.
    pub cooldown: DurationText,
    /// What the whole goal may spend.
    pub budget: BudgetConfig,
}

impl Default for GoalConfig {
    fn default() -> Self {
        Self {
            auto_continue: true,
            max_continuations: 50,
            cooldown: DurationText(Duration::from_secs(1)),
            budget: BudgetConfig::default(),
        }
    }
}

/// Which verbs are on, and two rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandsConfig {
    /// `orchestrate run`.
    pub run: bool,
    /// `orchestrate goal`.
    pub goal: bool,
    /// `orchestrate run-plan`.
    #[serde(rename = "run-plan")]
    pub run_plan: bool,
    /// `orchestrate restructure`.
    pub restructure: bool,
    /// `orchestrate polish`.
    pub polish: bool,
    /// `orchestrate stress-plan`.
    #[serde(rename = "stress-plan")]
    pub stress_plan: bool,
    /// `orchestrate handover`.
    pub handover: bool,
    /// A role that is needed and not configured is an error.
    pub strict_roles: bool,
    /// A run without an approved review is not completed.
    pub require_review: bool,
}

impl Default for CommandsConfig {
    fn default() -> Self {
        Self {
            run: true,
            goal: true,
            run_plan: true,
            restructure: true,
            polish: true,
            stress_plan: true,
            handover: true,
            strict_roles: false,
            require_review: false,
        }
    }
}

/// GitHub, through `gh` only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GitHubConfig {
    /// Whether reading is allowed.
    pub enabled: bool,
    /// Whether creating issues and pull requests is allowed (with `--confirm` each).
    pub allow_mutations: bool,
}

/// Work trees of writing workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeConfig {
    /// Where they are made; relative to the repository root, or absolute.
    pub root: PathBuf,
    /// Commands that run once in a fresh work tree, with network, before its worker.
    pub setup: Vec<String>,
    /// Files that git does not track and a fresh work tree needs.
    pub copy: Vec<String>,
}

impl Default for WorktreeConfig {
    fn default() -> Self {
        Self {
            root: ".orchestrator/worktrees".into(),
            setup: Vec::new(),
            copy: Vec::new(),
        }
    }
}

/// Folders outside the repository that workers may use: absolute, or from the home as `~/…`; `/*` or
/// `/**` behind one says the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExternalConfig {
    /// Those that every role's commands may read.
    pub read: Vec<String>,
    /// Those that the commands of roles that write may write too.
    pub write: Vec<String>,
}

/// How much of a run is traced; metadata only, never prompts or file contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceMode {
    /// Nothing.
    Off,
    /// While it runs.
    Memory,
    /// Kept with the run.
    #[default]
    Snapshot,
}

/// The trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceConfig {
    /// How much.
    pub mode: TraceMode,
}

/// Where slots are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlotsConfig {
    /// The folder of the slot files; none: see `slot-lock --help`.
    pub directory: Option<PathBuf>,
    /// The store of several hosts (`etcd://HOST:PORT,…/PREFIX`) that is used instead of the folder.
    pub store: Option<String>,
}

impl Config {
    /// The configuration as the text of a file, from which it is read again.
    pub fn text(&self) -> Result<String, Failure> {
        toml::to_string(self)
            .map_err(|e| Failure::internal(format!("cannot write the configuration: {e}")))
    }
}
