//! The configuration: what people write, merged from its places, with the origin of every value.
//!
//! Order, later wins: built-in defaults, the user's file, the repository's `.orchestrator/config.toml`,
//! flags. The environment names one provider and comes first among the providers. A repository's file
//! is foreign code: its keys that can run programs or send work and keys elsewhere count only after
//! `orchestrate trust`.

mod layers;
mod load;
mod providers;
mod trust;
mod types;
mod values;

pub use load::{ConfigFlags, Loaded, load};
pub use trust::{is_trusted, trust};
pub use types::{
    BudgetConfig, CommandsConfig, Config, ExternalConfig, GitHubConfig, GoalConfig, Isolation,
    LauncherIo, Price, ProviderConfig, ReviewConfig, ReviewMode, RoleConfig, RunConfig,
    SlotsConfig, Timeouts, TraceConfig, TraceMode, WorkMode, WorktreeConfig,
};
pub use values::{DurationText, FirstByte};
