//! How one simulated server is set up.

use std::time::Duration;

use crate::kinds::Kind;

/// The set-up of a server.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) kind: Kind,
    /// The names under which the model is served; never empty.
    pub(crate) models: Vec<String>,
    /// The window of one request, in tokens.
    pub(crate) context: u64,
    /// The window the model was trained for, which is not the one that counts.
    pub(crate) trained_context: u64,
    pub(crate) slots: usize,
    /// Tokens in the KV pool; by default just enough for every slot.
    pub(crate) pool: Option<u64>,
    pub(crate) queue_limit: Option<usize>,
    pub(crate) cancel_lag: Duration,
    /// How long it takes to load a model, on kinds that do so on demand.
    pub(crate) load_time: Duration,
    /// How long an idle model stays in memory, on the same kinds; none: for ever.
    pub(crate) keep_alive: Option<Duration>,
    pub(crate) api_key: Option<String>,
    /// What comes before every path, as behind a proxy; empty or `/word`.
    pub(crate) prefix: String,
    /// All slots share one pool that is no larger than one window.
    pub(crate) unified: bool,
    /// Whether the tool-call parser is switched on.
    pub(crate) tools: bool,
    /// Whether the reasoning parser is switched on.
    pub(crate) reasoning: bool,
    /// Whether `/load` counts.
    pub(crate) load_tracking: bool,
}

impl Config {
    /// Tokens the KV pool holds.
    pub(crate) fn pool_tokens(&self) -> u64 {
        let windows = if self.unified { 1 } else { self.slots as u64 };
        self.pool.unwrap_or(self.context.saturating_mul(windows))
    }

    /// What llama-skein calls the safe context: the window less 8 % and an output reserve.
    pub(crate) fn safe_context(&self) -> u64 {
        (self.context * 92 / 100).saturating_sub(4096)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            kind: Kind::Vllm,
            models: vec!["qwen38".to_owned()],
            context: 32_768,
            trained_context: 131_072,
            slots: 2,
            pool: None,
            queue_limit: None,
            cancel_lag: Duration::ZERO,
            load_time: Duration::ZERO,
            keep_alive: None,
            api_key: None,
            prefix: String::new(),
            unified: false,
            tools: true,
            reasoning: true,
            load_tracking: true,
        }
    }
}
