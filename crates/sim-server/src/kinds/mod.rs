//! The server kinds: what each answers on its routes, and how it writes a chat answer.

mod vllm;
mod vllm_chat;
mod vllm_metrics;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::chat::Chat;
use crate::config::Config;
use crate::engine::{Rules, Snapshot};
use crate::generate::Output;
use crate::http::{Request, Response};

/// Which server is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// vLLM 0.32, as recorded.
    Vllm,
}

/// Numbers that identify one answer.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    /// The tail of the answer's id.
    pub(crate) id: String,
    /// Unix seconds.
    pub(crate) created: u64,
}

/// All that a kind needs to write an answer down.
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    pub(crate) chat: &'a Chat,
    pub(crate) output: &'a Output,
    pub(crate) stamp: &'a Stamp,
    pub(crate) model: &'a str,
    pub(crate) prompt: u64,
    pub(crate) cached: u64,
    /// What a script says about usage: fields to replace, or `false` for none at all.
    pub(crate) usage: Option<&'a Value>,
}

impl Reply<'_> {
    /// The usage object after a script had its say; `None` where it is to be left out.
    fn usage(&self, mut honest: Value) -> Option<Value> {
        match self.usage {
            Some(Value::Bool(false)) => return None,
            Some(Value::Object(fields)) => {
                for (key, value) in fields {
                    honest[key] = value.clone();
                }
            }
            _ => {}
        }
        Some(honest)
    }
}

/// One event of a stream and how many generated tokens it stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) data: Value,
    pub(crate) tokens: u64,
}

/// How a route is answered.
#[derive(Debug)]
pub(crate) enum Route {
    /// At once.
    Now(Response),
    /// By the model.
    Chat,
}

impl Kind {
    /// How this kind manages its memory, as far as the command line does not say.
    pub(crate) fn rules(self, config: &Config) -> Rules {
        match self {
            Self::Vllm => Rules {
                slots: config.slots,
                pool: config.pool.unwrap_or(config.context * config.slots as u64),
                block: 16,
                own_prefix: false,
                abort_when_full: false,
                queue_limit: config.queue_limit,
                cancel_lag: config.cancel_lag,
            },
        }
    }

    /// Answers a route, or says that the model must.
    pub(crate) fn route(
        self,
        config: &Config,
        request: &Request,
        now: &Snapshot,
        stamp: &Stamp,
    ) -> Route {
        match self {
            Self::Vllm => vllm::route(config, request, now, stamp),
        }
    }

    /// Checks a chat request as this kind does it and reads it.
    pub(crate) fn admit(self, config: &Config, request: &Request) -> Result<Chat, Response> {
        match self {
            Self::Vllm => vllm_chat::admit(config, request),
        }
    }

    /// Refuses a prompt that is too long, or says how many tokens may be generated.
    pub(crate) fn limit(self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        match self {
            Self::Vllm => vllm_chat::limit(config, chat, prompt),
        }
    }

    /// The whole answer as one document.
    pub(crate) fn document(self, reply: &Reply<'_>) -> Value {
        match self {
            Self::Vllm => vllm_chat::document(reply),
        }
    }

    /// The answer as a stream.
    pub(crate) fn events(self, reply: &Reply<'_>) -> Vec<Event> {
        match self {
            Self::Vllm => vllm_chat::events(reply),
        }
    }

    /// The refusal of a request that finds the queue full.
    pub(crate) fn busy(self) -> Response {
        match self {
            Self::Vllm => vllm::busy(),
        }
    }

    /// The error of a request the engine gave up.
    pub(crate) fn aborted(self) -> Value {
        match self {
            Self::Vllm => vllm::engine_dead(),
        }
    }

    /// Whether a stream's headers are sent before a slot is free.
    pub(crate) const fn headers_while_queued(self) -> bool {
        matches!(self, Self::Vllm)
    }

    /// The head of a stream.
    pub(crate) fn stream_head(self) -> Response {
        match self {
            Self::Vllm => {
                Response::empty(200).with("content-type", "text/event-stream; charset=utf-8")
            }
        }
    }

    /// Adds what this kind says in the head of every response.
    pub(crate) fn sign(self, response: &mut Response, stamp: &Stamp, request: &Request) {
        match self {
            Self::Vllm => vllm::sign(response, stamp, request),
        }
    }

    /// Whether the request carries the key it needs on this route.
    pub(crate) fn key_ok(self, config: &Config, request: &Request) -> Result<(), Response> {
        let Some(key) = &config.api_key else {
            return Ok(());
        };
        let bearer = request
            .header("authorization")
            .and_then(|v| v.strip_prefix("Bearer "));
        match self {
            Self::Vllm if !request.path.starts_with("/v1") || bearer == Some(key) => Ok(()),
            Self::Vllm => Err(Response::json(401, &json!({"error": "Unauthorized"}))),
        }
    }
}

/// An error body in the form most servers use.
pub(crate) fn error(status: u16, kind: &str, message: &str, param: Option<&str>) -> Response {
    let body = json!({"message": message, "type": kind, "param": param, "code": status});
    Response::json(status, &json!({ "error": body }))
}

impl Kind {
    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
        }
    }
}
