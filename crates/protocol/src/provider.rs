//! A provider entry: one model server, as it travels down the pipe and gains fields.
//!
//! vllm-health writes it, ctx-estimate adds `fit`, slot-lock picks one. Keys a reader does not know
//! are kept in `other` and written again, so that an older tool in the middle loses nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::estimate::Fit;

/// What a server can do right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// Nothing accepts connections, or the name does not resolve.
    Unreachable,
    /// It is up and the model is still being loaded.
    Loading,
    /// Ready, nothing running.
    Idle,
    /// Ready, something running, a slot free (or unknown).
    Busy,
    /// Ready, every slot taken.
    Saturated,
    /// Ready after a cold start: the model is asleep.
    Sleeping,
    /// It answers, but its engine makes no progress.
    Stalled,
    /// The model failed to load or the engine is dead.
    Failed,
    /// It is up and refuses the key.
    Rejected,
    /// Something answers, but it is not this kind of API.
    WrongApi,
    /// Cannot be told.
    #[serde(other)]
    Unknown,
}

impl ServerState {
    /// Whether work can be sent (idle, busy or saturated; asleep counts, it wakes).
    pub const fn is_ready(self) -> bool {
        matches!(
            self,
            Self::Idle | Self::Busy | Self::Saturated | Self::Sleeping
        )
    }
}

/// The program behind a base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ServerKind {
    /// vLLM.
    #[serde(rename = "vllm")]
    Vllm,
    /// llama.cpp's llama-server with one model.
    #[serde(rename = "llamacpp")]
    LlamaCpp,
    /// llama-server as a router over several models.
    #[serde(rename = "llamacpp-router")]
    LlamaCppRouter,
    /// Ollama.
    #[serde(rename = "ollama")]
    Ollama,
    /// LM Studio.
    #[serde(rename = "lmstudio")]
    LmStudio,
    /// SGLang.
    #[serde(rename = "sglang")]
    SgLang,
    /// Hugging Face TGI.
    #[serde(rename = "tgi")]
    Tgi,
    /// llama-swap.
    #[serde(rename = "llama-swap")]
    LlamaSwap,
    /// llama-skein.
    #[serde(rename = "skein")]
    Skein,
    /// LiteLLM's proxy.
    #[serde(rename = "litellm")]
    LiteLlm,
    /// Speaks the OpenAI API; nothing more is known.
    #[serde(rename = "openai")]
    OpenAi,
    /// Not known.
    #[serde(other, rename = "unknown")]
    Unknown,
}

/// How far a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SignalSource {
    /// The server says so.
    Exact,
    /// Worked out from something the server says.
    Inferred,
    /// A stated default; settle it by configuration.
    Assumed,
    /// Configured by the user.
    Configured,
    /// Nothing is known.
    #[default]
    #[serde(other)]
    None,
}

/// The state of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// In memory, answers at once.
    Loaded,
    /// Listed, not in memory.
    Unloaded,
    /// Being loaded.
    Loading,
    /// Asleep; the first request wakes it.
    Sleeping,
    /// The last attempt to load it failed.
    Failed,
    /// Cannot be told.
    #[serde(other)]
    Unknown,
}

/// Where the usable context comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextSource {
    /// The served window (`max_model_len` and its cousins).
    ServedWindow,
    /// The share of one slot (`n_ctx` of a slot).
    SlotShare,
    /// The key-value pool is smaller than the window.
    KvPool,
    /// `max_safe_ctx` of llama-skein.
    MaxSafeCtx,
    /// The length the model was loaded with.
    LoadedLength,
    /// The configuration (`context`), because the server does not tell or to lower it.
    Configured,
    /// A base model's window, inherited by a LoRA child.
    Inherited,
    /// Another source.
    #[serde(other)]
    Other,
}

/// One observation that a state rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Signal {
    /// What was looked at, for example `GET /health` or `vllm:num_requests_running`.
    pub name: String,
    /// What was seen: a number, a text, true or false, or null for no answer.
    pub value: Value,
    /// How old the observation is, in milliseconds.
    pub age_ms: u64,
}

/// The server program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Server {
    /// The kind of server.
    pub kind: ServerKind,
    /// Its version, where it tells.
    pub version: Option<String>,
}

/// One model a server offers for chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Model {
    /// The name to send as `model`.
    pub id: String,
    /// Its state.
    pub state: ModelState,
    /// The server's message of the last failed load, or null.
    #[serde(default)]
    pub last_error: Option<String>,
    /// The longest context the server names for it, in tokens.
    #[serde(default)]
    pub max_model_len: Option<u64>,
    /// What ONE request may use now, in tokens; null = unknown.
    pub usable_context: Option<u64>,
    /// Where that number comes from.
    #[serde(default)]
    pub usable_context_source: Option<ContextSource>,
    /// The key-value pool all requests share, in tokens.
    #[serde(default)]
    pub pool_tokens: Option<u64>,
    /// Keys this version does not know, kept as they came.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The server's slots (requests it works on at once). Null = unknown, never 0 for unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slots {
    /// How many there are.
    pub total: Option<u32>,
    /// Requests being worked on.
    pub in_flight: Option<u32>,
    /// Requests waiting in the server's own queue.
    pub waiting: Option<u32>,
    /// Slots free now.
    pub free: Option<u32>,
    /// How `total` is known.
    pub source: SignalSource,
}

/// Measured rates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Speed {
    /// Prompt tokens processed a second.
    pub prefill_tokens_per_s: Option<f64>,
    /// Tokens generated a second, one stream.
    pub decode_tokens_per_s: Option<f64>,
}

/// What went wrong while asking a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProviderError {
    /// A short class, for example `refused`, `timed_out`, `dns`, `tls`, `http`, `html`.
    pub kind: String,
    /// What, where, and what to do next.
    pub message: String,
}

/// One model server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Provider {
    /// The configured name, or `default`.
    pub id: String,
    /// The normalised base URL, ending in the API root (`…/v1`).
    pub base_url: String,
    /// The environment variable that holds the key (never the key), or null.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The program behind it.
    pub server: Server,
    /// What it can do now.
    pub state: ServerState,
    /// The state in words.
    pub state_reason: String,
    /// What the state rests on.
    #[serde(default)]
    pub signals: Vec<Signal>,
    /// How long the first answer took, in milliseconds.
    #[serde(default)]
    pub latency_ms: Option<u64>,
    /// Whether the key was accepted; null = not tested.
    #[serde(default)]
    pub key_ok: Option<bool>,
    /// The models it offers for chat.
    #[serde(default)]
    pub models: Vec<Model>,
    /// Its slots.
    #[serde(default)]
    pub slots: Slots,
    /// Its measured rates.
    #[serde(default)]
    pub speed: Speed,
    /// What went wrong, or null.
    #[serde(default)]
    pub error: Option<ProviderError>,
    /// Added by ctx-estimate; null before.
    #[serde(default)]
    pub fit: Option<Fit>,
    /// Keys this version does not know, kept as they came.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}
