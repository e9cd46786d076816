//! A faithful simulated model server for tests, demos and benches.
//!
//! It answers on the probe and chat routes of real servers in their recorded shapes, and behind
//! them it works like one: slots with a queue before them, a KV pool, prefix caches, measured
//! rates, and a model whose answers a script decides. It counts tokens with a tokenizer of its
//! own, in which `/tokenize`, `usage` and every limit agree.
//!
//! The program is `examples/sim-server.rs` of the root package. It prints one JSON line,
//! `{"base_url": "http://127.0.0.1:PORT/v1", …}`, and serves until SIGTERM (or until standard
//! input closes, with `--until-eof`).
//!
//! # Scripts
//!
//! A script says what the model answers to what: TOML or JSON, a list of rules, the first that
//! matches answers.
//!
//! ```toml
//! [[rule]]
//! name = "fixer"                              # shown in /sim/requests
//! when.system = "implementer"                 # text that must occur; `*` stands for any text
//! when.last = ["FAILED", "!Traceback"]        # a list: one must occur; `!` must not
//! [[rule.step]]                               # the answer to turn 0 (no assistant message yet)
//! think = "The sign is wrong."
//! calls = [{ edit = "calc.py", old = "a - b", new = "a + b" }]
//! [[rule.step]]                               # turn 1 and every later one
//! calls = [{ done = "add() adds now" }]
//!
//! [[rule]]
//! when = { format = "json_schema", user = "plan" }
//! times = 1                                   # used once, then passed over
//! answer.fill = { tasks = [] }                # follows the request's schema, with these values
//!
//! [[rule]]
//! answer.say = "I read: {{user}}"
//! ```
//!
//! | `when` | matches |
//! |---|---|
//! | `system`, `first`, `user`, `last`, `any` | all system text, first and newest user message, newest message, whole conversation |
//! | `last_role`, `tool`, `result` | role of the newest message; name of the tool whose result it is; newest tool results |
//! | `turn`, `request` | assistant messages so far; number of the chat request: `2`, `"1..3"`, `"2.."` |
//! | `tools`, `offers` | whether any tool is offered; name of an offered tool |
//! | `format`, `model` | `text`, `json_object`, `json_schema` or `choice`; the model asked for |
//!
//! | `answer`, `step` | meaning |
//! |---|---|
//! | `say`, `think`, `repeat` | text and reasoning; say the text that often |
//! | `calls`, `dialect` | tool calls and how they are written: native, hermes, qwen, qwen-unopened, invoke, fenced, fenced-parameters, bare, mistral, llama, pythonic |
//! | `json`, `fill` | exactly this JSON; JSON that follows the request's schema, with these values |
//! | `finish`, `usage`, `model` | what is claimed in their place (`usage = false`: none) |
//! | `wait`, `pace` | real time before the first and before each further token |
//! | `hold`, `hold_end` | gates before the first and the last token; `POST /sim/release {"gate": "…"}` opens one once |
//! | `status`, `body`, `retry_after` | an error in place of an answer |
//! | `faults` | faults that act on this answer alone |
//!
//! A call is `{ tool = "name", with = { … } }`, `{ tool = "name", raw = "no JSON" }`, or a short form
//! that fits itself to the tools the client offers: `read`, `list`, `search`, `bash`, `edit` (with
//! `old` and `new`), `write` (with `content`), `done`; `with` adds arguments.
//!
//! Texts may hold `{{system}}`, `{{user}}`, `{{first}}`, `{{last}}`, `{{model}}`, `{{turn}}`,
//! `{{request}}`, `{{after:TEXT}}` (the word behind TEXT, newest message first), `{{between:A|B}}`
//! and `{{file:PATH}}` (relative to the script).
//!
//! # Steering
//!
//! `GET /sim/requests[?path=…]` lists every request with its body, rule, slot, tokens, times and
//! outcome (`open`, `answered`, `refused`, `hung_up` by the client, `aborted` by the engine, `broken`
//! by a fault); `GET /sim/wait?running=1&waiting=2&held=0&timeout_ms=5000` returns when the engine is
//! in that state, so that a test needs no sleep; `GET /sim/state`, `POST /sim/release`,
//! `POST /sim/script` (the script as body) do what they say.
//!
//! # Faults
//!
//! `--list-faults` names every way to misbehave. `--fault NAME` switches one on, `--fault NAME@3` or
//! `NAME@2..4` for those requests only: chat requests are counted by themselves, others by their
//! path. `POST /sim/faults` with `{"fault": "NAME", "at": "2..4", "times": 1}` does so at run time
//! (`times`: the next so many), `DELETE /sim/faults[?fault=NAME]` switches off.

mod agent;
mod answer;
mod chat;
mod cli;
mod config;
mod connection;
mod control;
mod engine;
mod fault;
mod generate;
mod http;
mod kinds;
mod record;
mod run;
mod script;
mod serve;
mod template;
mod tokens;
mod transport;
mod wire;
mod world;

use std::process::ExitCode;

/// Runs the simulator with the process's own arguments.
pub fn main() -> ExitCode {
    run::main()
}
