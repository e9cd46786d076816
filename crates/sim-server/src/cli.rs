//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::config::Config;
use crate::fault::{self, Active};
use crate::kinds::Kind;

/// A simulated model server: it prints one JSON line with its `base_url` and serves until SIGTERM.
#[derive(Debug, Parser)]
#[command(name = "sim-server", version, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// Address to listen on.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Which server to be: vllm, llamacpp, llamacpp-router (as recorded); ollama, lmstudio, sglang, llama-swap,
    /// skein, tgi, litellm, openai (as described).
    #[arg(long, value_enum, default_value_t = Kind::Vllm, hide_possible_values = true)]
    kind: Kind,
    /// Name of the served model; repeat it for aliases.
    #[arg(long = "model", value_name = "NAME", default_value = "qwen38")]
    models: Vec<String>,
    /// Tokens one request may use, prompt and answer together.
    #[arg(long, value_name = "TOKENS", default_value = "32768", value_parser = size)]
    context: u64,
    /// Requests that run at the same time; the others queue.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    slots: u16,
    /// Tokens the KV pool holds [default: enough for all slots].
    #[arg(long, value_name = "TOKENS", value_parser = size)]
    pool: Option<u64>,
    /// Refuse requests when so many wait already.
    #[arg(long, value_name = "N")]
    queue_limit: Option<usize>,
    /// Keep a slot busy so long after its client hung up.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = humantime::parse_duration)]
    cancel_lag: Duration,
    /// Take so long to load a model that is asked for (llama-swap, skein, ollama, llamacpp-router).
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = humantime::parse_duration)]
    load_time: Duration,
    /// Unload a model that was idle for so long (the same kinds) [default: never].
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    keep_alive: Option<Duration>,
    /// All slots share one pool of one window (llama.cpp without --parallel).
    #[arg(long)]
    unified: bool,
    /// Demand this key.
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Serve under this path only, as behind a proxy.
    #[arg(long, value_name = "/PATH", default_value = "", value_parser = prefix, hide_default_value = true)]
    prefix: String,
    /// Serve HTTPS with a self-signed certificate, which is written to FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) tls: Option<PathBuf>,
    /// Be a server without tool-call parser.
    #[arg(long)]
    no_tools: bool,
    /// Be a server without reasoning parser.
    #[arg(long)]
    no_reasoning: bool,
    /// What the model answers (TOML or JSON); see below.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Misbehave: NAME, or NAME@N for the N-th request, NAME@2..4, NAME@3..; repeatable.
    #[arg(long = "fault", value_name = "NAME[@N]", value_parser = fault::parse)]
    pub(crate) faults: Vec<Active>,
    /// Print every fault with the bug-log rows it rebuilds, and end.
    #[arg(long)]
    pub(crate) list_faults: bool,
    /// Real seconds per simulated second: 1 is the speed of the measured hardware, 0 no waiting.
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) time_scale: f64,
    /// Also end when standard input is closed.
    #[arg(long)]
    pub(crate) until_eof: bool,
}

impl Cli {
    pub(crate) fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    pub(crate) fn config(&self) -> Config {
        Config {
            kind: self.kind,
            models: self.models.clone(),
            context: self.context,
            slots: self.slots.into(),
            pool: self.pool,
            queue_limit: self.queue_limit,
            cancel_lag: self.cancel_lag,
            load_time: self.load_time,
            keep_alive: self.keep_alive,
            api_key: self.api_key.clone(),
            prefix: self.prefix.clone(),
            tools: !self.no_tools,
            reasoning: !self.no_reasoning,
            load_tracking: true,
            unified: self.unified,
            trained_context: self.context.max(131_072),
        }
    }
}

/// Reads a path that comes before all others.
fn prefix(text: &str) -> Result<String, String> {
    let path = text.trim_end_matches('/');
    if path.is_empty() || path.starts_with('/') {
        Ok(path.to_owned())
    } else {
        Err("write it as /word".to_owned())
    }
}

/// Reads a number of tokens: `4096`, `16k` (thousands) or `16Ki` (times 1024).
fn size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text {
        t if t.ends_with("Ki") => (t.trim_end_matches("Ki"), 1024),
        t if t.ends_with('k') => (t.trim_end_matches('k'), 1000),
        t => (t, 1),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "write a number like 4096, 16k or 32Ki".to_owned())?;
    if number == 0 {
        Err("must be at least 1".to_owned())
    } else {
        Ok(number * factor)
    }
}

const AFTER_HELP: &str = "\
Script (the first rule that matches answers; else a built-in model does):
  [[rule]]
  when.system = \"implementer\"         # text that must occur; * any text, ! not, a list any of
  [[rule.step]]                       # the answer to turn 0
  think = \"The sign is wrong.\"
  calls = [{ edit = \"calc.py\", old = \"a - b\", new = \"a + b\" }]
  [[rule.step]]                       # turn 1 and later
  calls = [{ done = \"add() adds now\" }]

  [[rule]]
  when = { format = \"json_schema\" }
  times = 1
  answer.fill = { verdict = \"approve\" }   # follows the request's schema
  when    system first user last any last_role tool result turn request tools offers format model
  answer  say think calls dialect json fill finish usage model wait pace hold hold_end repeat
          status body retry_after faults
  calls   { tool = \"name\", with = {..} } or { tool = \"name\", raw = \"text\" }, or for whatever tools
          are offered: read list search bash edit(old,new) write(content) done
  dialect native hermes qwen qwen-unopened invoke fenced fenced-parameters bare mistral llama
          pythonic
  texts   {{user}} {{first}} {{last}} {{system}} {{model}} {{turn}} {{request}} {{after:TEXT}}
          {{between:A|B}} {{file:PATH}}

Steering it:
  GET  /sim/requests[?path=..]        every request with body, rule, slot, tokens, times, outcome
  GET  /sim/wait?running=1&waiting=2&held=0&loading=1&timeout_ms=5000
  POST /sim/faults {\"fault\": \"NAME\", \"at\": \"2..4\", \"times\": 1}     DELETE /sim/faults[?fault=NAME]
  GET  /sim/state     POST /sim/release {\"gate\": \"..\"}     POST /sim/script (the script as body)
       the gate \"load\" ends a load before its --load-time

Examples:
  sim-server --port 8000
  sim-server --script fix.toml --slots 1 --time-scale 1
  sim-server --kind llamacpp --fault loading@1..3 --fault eof-mid-tool-call@2
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
        assert_eq!((size("16k"), size("16Ki")), (Ok(16_000), Ok(16_384)));
        assert!(size("0").is_err() && size("x").is_err());
    }
}
