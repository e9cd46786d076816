//! The server kinds: what each answers on its routes, and how it writes a chat answer.

mod litellm;
mod llamacpp;
mod llamacpp_chat;
mod llamacpp_probes;
mod lmstudio;
mod ollama;
mod ollama_native;
mod openai;
mod router;
mod sglang;
mod skein;
mod swap;
mod tgi;
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
    /// llama-server with several models, one of them loaded, as recorded
    LlamacppRouter,
    /// Ollama, as described: cuts long prompts without a word
    Ollama,
    /// LM Studio, as described
    Lmstudio,
    /// SGLang, as described
    Sglang,
    /// llama-swap before llama.cpp, as described
    LlamaSwap,
    /// llama-skein before llama.cpp, as described
    Skein,
    /// text-generation-inference, as described
    Tgi,
    /// LiteLLM's proxy, as described
    Litellm,
    /// any server with the OpenAI routes and nothing else
    Openai,
}

impl Kind {
    pub(crate) fn server(self) -> &'static dyn Server {
        match self {
            Self::Vllm => &vllm::Vllm,
            Self::Llamacpp => &llamacpp::LlamaCpp,
            Self::LlamacppRouter => &router::Router,
            Self::Ollama => &ollama::Ollama,
            Self::Lmstudio => &lmstudio::LmStudio,
            Self::Sglang => &sglang::Sglang,
            Self::LlamaSwap => &swap::LlamaSwap,
            Self::Skein => &skein::Skein,
            Self::Tgi => &tgi::Tgi,
            Self::Litellm => &litellm::LiteLlm,
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

impl Visit<'_> {
    /// Method and path, to be matched on; HEAD is answered as GET.
    pub(crate) fn target(&self) -> (&str, &str) {
        let method = if self.request.method == "HEAD" {
            "GET"
        } else {
            &self.request.method
        };
        (method, &self.request.path)
    }
}

/// What a route does to the models in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Begins to load this one.
    Load(String),
    /// Loads this one and answers when it is there.
    Bring(String),
    /// Throws out what is there.
    Unload,
}

/// How a route is answered.
#[derive(Debug)]
pub(crate) enum Route {
    /// At once.
    Now(Response),
    /// At once, or when the model is there.
    Memory(Memory, Response),
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

/// One kind of server. What a kind does not say for itself is as any server with the OpenAI routes
/// does it.
pub(crate) trait Server: Sync {
    /// Answers a route, or says that the model must.
    fn route(&self, visit: &Visit<'_>) -> Route;

    /// How it manages its memory, as far as the command line does not say.
    fn rules(&self, config: &Config) -> Rules {
        openai::rules(config)
    }

    /// Checks a chat request as this kind does it and reads it.
    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response> {
        openai::admit_served(config, request)
    }

    /// Refuses a prompt that is too long, or says how many tokens may be generated.
    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        openai::limit(config, chat, prompt)
    }

    /// How many tokens of the prompt are kept; the others are cut off without a word.
    fn kept(&self, _: &Config, _: &Chat, prompt: u64) -> u64 {
        prompt
    }

    /// The whole answer as one document.
    fn document(&self, reply: &Reply<'_>) -> Value {
        openai::document(reply)
    }

    /// The answer as a stream.
    fn events(&self, reply: &Reply<'_>) -> Vec<Event> {
        openai::events(reply)
    }

    /// The refusal of a request that finds the queue full.
    fn busy(&self) -> Response {
        openai::rate_limited()
    }

    /// The error of a request the engine gave up, and whether a stream still ends with `[DONE]`.
    fn aborted(&self) -> (Value, bool) {
        openai::server_error()
    }

    /// Whether a stream's headers are sent before a slot is free.
    fn early_headers(&self) -> bool {
        false
    }

    /// The head of the stream that answers a request.
    fn stream_head(&self, _: &Chat) -> Response {
        Response::empty(200).with("content-type", "text/event-stream")
    }

    /// Adds what this kind says in the head of every response.
    fn sign(&self, _: &mut Response, _: &Stamp, _: &Request) {}

    /// Refuses a request without the key it needs on this route.
    fn check_key(&self, key: &str, request: &Request) -> Result<(), Response> {
        openai::check_key(key, request)
    }

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

/// The rules of a server that brings one model at a time into memory when it is asked for.
fn on_demand(config: &Config, rules: &Rules) -> Rules {
    Rules {
        one_model: true,
        load_time: config.load_time,
        keep_alive: config.keep_alive,
        ..rules.clone()
    }
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

#[cfg(test)]
mod tests;
