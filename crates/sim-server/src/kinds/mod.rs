//! The server kinds: what each answers on its routes, and how it writes a chat answer.

mod llamacpp;
mod llamacpp_chat;
mod llamacpp_probes;
mod openai;
mod vllm;
mod vllm_chat;
mod vllm_metrics;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::chat::Chat;
use crate::config::Config;
use crate::engine::{Rules, Snapshot};
use crate::generate::Output;
use crate::http::{Request, Response};

/// Which server is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// vLLM 0.32, as recorded
    Vllm,
    /// llama-server b11434, as recorded
    Llamacpp,
    /// any server with the OpenAI routes and nothing else
    Openai,
}

impl Kind {
    pub(crate) fn server(self) -> &'static dyn Server {
        match self {
            Self::Vllm => &vllm::Vllm,
            Self::Llamacpp => &llamacpp::LlamaCpp,
            Self::Openai => &openai::OpenAi,
        }
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }
}

/// Numbers that identify one answer.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    /// The tail of the answer's id.
    pub(crate) id: String,
    /// Unix seconds.
    pub(crate) created: u64,
}

/// A request that comes in, and the state it meets.
#[derive(Debug)]
pub(crate) struct Visit<'a> {
    pub(crate) config: &'a Config,
    pub(crate) request: &'a Request,
    pub(crate) now: &'a Snapshot,
    pub(crate) stamp: &'a Stamp,
}

/// How a route is answered.
#[derive(Debug)]
pub(crate) enum Route {
    /// At once.
    Now(Response),
    /// By the model.
    Chat,
}

impl Route {
    pub(crate) fn ok(body: &Value) -> Self {
        Self::Now(Response::json(200, body))
    }
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
    /// Milliseconds the prompt took.
    pub(crate) prompt_ms: f64,
    /// Milliseconds the answer took; 0 while it is being written.
    pub(crate) answer_ms: f64,
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

/// One kind of server.
pub(crate) trait Server: Sync {
    /// How it manages its memory, as far as the command line does not say.
    fn rules(&self, config: &Config) -> Rules;
    /// Answers a route, or says that the model must.
    fn route(&self, visit: &Visit<'_>) -> Route;
    /// Checks a chat request as this kind does it and reads it.
    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response>;
    /// Refuses a prompt that is too long, or says how many tokens may be generated.
    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response>;
    /// The whole answer as one document.
    fn document(&self, reply: &Reply<'_>) -> Value;
    /// The answer as a stream.
    fn events(&self, reply: &Reply<'_>) -> Vec<Event>;
    /// The refusal of a request that finds the queue full.
    fn busy(&self) -> Response;
    /// The error of a request the engine gave up, and whether a stream still ends with `[DONE]`.
    fn aborted(&self) -> (Value, bool);
    /// Whether a stream's headers are sent before a slot is free.
    fn early_headers(&self) -> bool;
    /// The head of a stream.
    fn stream_head(&self) -> Response;
    /// Adds what this kind says in the head of every response.
    fn sign(&self, response: &mut Response, stamp: &Stamp, request: &Request);
    /// Refuses a request without the key it needs on this route.
    fn check_key(&self, key: &str, request: &Request) -> Result<(), Response>;
    /// The model name an answer to this request bears.
    fn answering<'m>(&self, config: &'m Config, asked: &'m str) -> &'m str {
        let served = config.models.iter().any(|model| model == asked);
        if served { asked } else { &config.models[0] }
    }
}

/// An error body in the form most servers use.
pub(crate) fn error(status: u16, kind: &str, message: &str, param: Option<&str>) -> Response {
    let body = json!({"message": message, "type": kind, "param": param, "code": status});
    Response::json(status, &json!({ "error": body }))
}

/// The key a client sent as a bearer token.
fn bearer(request: &Request) -> Option<&str> {
    request.header("authorization")?.strip_prefix("Bearer ")
}

/// Merges the members of `more` into an object.
fn extend(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend::<Map<String, Value>>(more);
    }
}

fn none_if_empty(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        json!(text)
    }
}
