//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use baton_cli::{Common, HasCommon, parse_duration, parse_size};
use baton_protocol::ServerKind;
use clap::Parser;

const EXAMPLES: &str = "\
Exit codes: 0 ready; 1 not ready; 2 usage; 3 could not be judged; 69 nothing is reachable;
78 configuration. With a command: the command's own code, or 69, 78, 125 (our own failure),
126 and 127 (cannot be executed, not found).

Examples:
  vllm-health                                    the servers of environment and configuration
  vllm-health http://127.0.0.1:8000/v1 --model qwen38 --min-context 16k
  vllm-health --wait 5m --probe -- make agents   run when ready, with BATON_MODEL, … set
  vllm-health --samples 3 --interval 5s          finds an engine that hangs behind /health 200
  vllm-health --watch 2s                         a live table; JSON Lines into a pipe
  vllm-health | jq -r '.providers[0].models[].usable_context'
  vllm-health -q && echo go

Without arguments the servers come from OPENCODE_VLLM_BASE_URL (or OPENAI_BASE_URL),
~/.config/baton/config.toml and .orchestrator/config.toml. The key comes from
OPENCODE_VLLM_API_KEY, or from the variable a provider's `api_key_env` names.";

/// Is the model server ready, with which models, what usable context, which slots?
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Base URLs of the servers, with or without /v1; default: all configured ones.
    #[arg(value_name = "URL")]
    pub(crate) targets: Vec<String>,

    /// The same as URL, in worker-run's spelling.
    #[arg(long = "base-url", value_name = "URL", hide = true)]
    pub(crate) base_urls: Vec<String>,

    /// The model that must be served, by its exact name or an alias.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The context one request must be able to use, in tokens (16k = 16,000).
    #[arg(long, value_name = "TOKENS", value_parser = parse_size)]
    pub(crate) min_context: Option<u64>,

    /// Ready means: every server is. The default is --any.
    #[arg(long)]
    pub(crate) all: bool,

    /// Ready means: one of the servers is.
    #[arg(long, conflicts_with = "all")]
    pub(crate) any: bool,

    /// Wait until ready, at most this long (10m when no limit is given).
    #[arg(long, value_name = "LIMIT", num_args = 0..=1, default_missing_value = "10m")]
    pub(crate) wait: Option<String>,

    /// Send one small request, if a slot is free: one token, or `=tools` (a tool call), or `=json`
    /// (an answer that follows a schema).
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "token")]
    pub(crate) probe: Option<String>,

    /// Ask again and again, with this pause.
    #[arg(long, value_name = "PAUSE", value_parser = parse_duration, conflicts_with = "wait")]
    pub(crate) watch: Option<Duration>,

    /// Look several times; a request in work and counters that stand still mean `stalled`.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) samples: u32,

    /// The pause between two samples.
    #[arg(long, value_name = "PAUSE", default_value = "2s", value_parser = parse_duration)]
    pub(crate) interval: Duration,

    /// The limit for asking all servers, who are asked side by side.
    #[arg(long, value_name = "LIMIT", default_value = "3s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    /// The kind of server, where it is not recognised: vllm, llamacpp, llamacpp-router, ollama,
    /// lmstudio, sglang, tgi, llama-swap, skein, litellm or openai.
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    pub(crate) kind: Option<ServerKind>,

    /// Requests a server works on at once, where it does not tell (vLLM does not).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) slots: Option<u32>,

    /// A PEM file with the certificate authority of a server with its own.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,

    /// Do not verify the server's certificate.
    #[arg(long)]
    pub(crate) insecure: bool,

    /// Another configuration file than the user's.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// A command to become when ready, with the choice in its environment.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) common: Common,
}

impl Cli {
    /// The addresses that are named, in either spelling.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &String> {
        self.targets.iter().chain(&self.base_urls)
    }
}

impl HasCommon for Cli {
    fn common(&self) -> &Common {
        &self.common
    }
}

fn parse_kind(text: &str) -> Result<ServerKind, String> {
    let kind = serde_json::from_value(serde_json::Value::String(text.to_owned()));
    match kind {
        Ok(ServerKind::Unknown) | Err(_) => Err(format!(
            "`{text}` is no kind of server; give vllm, llamacpp, llamacpp-router, ollama, lmstudio, \
             sglang, tgi, llama-swap, skein, litellm or openai"
        )),
        Ok(kind) => Ok(kind),
    }
}
