//! One reading a kind of server. Each takes the answers of its routes and returns a finding.

mod gateways;
mod llamacpp;
mod lmstudio;
mod ollama;
mod openai;
mod sglang;
mod skein;
mod tgi;
mod vllm;

pub(crate) use gateways::{running, upstream};
pub(crate) use llamacpp::{child_route, loaded_children};

use baton_protocol::ServerKind;

use super::answers::Answers;
use super::finding::Finding;

/// Reads the answers as those of a given kind of server.
pub(crate) fn read(kind: ServerKind, answers: &Answers) -> Finding {
    match kind {
        ServerKind::Vllm => vllm::read(answers),
        ServerKind::LlamaCpp => llamacpp::read_single(answers),
        ServerKind::LlamaCppRouter => llamacpp::read_router(answers),
        ServerKind::Ollama => ollama::read(answers),
        ServerKind::LmStudio => lmstudio::read(answers),
        ServerKind::SgLang => sglang::read(answers),
        ServerKind::Tgi => tgi::read(answers),
        ServerKind::LlamaSwap => gateways::read_llama_swap(answers),
        ServerKind::Skein => skein::read(answers),
        ServerKind::LiteLlm => gateways::read_litellm(answers),
        ServerKind::OpenAi | ServerKind::Unknown => openai::read(answers),
    }
}

/// What `/health` says, shared by the kinds that answer it in the usual way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    Ok,
    Loading(String),
    Down(u16),
    /// A 200 whose body says that all is not well.
    Unwell(String),
    Mute,
    Unknown,
}

/// Words by which servers say in a 200 that they are on their way.
const STARTING: [&str; 8] = [
    "starting",
    "initializ",
    "initialis",
    "warming",
    "warmup",
    "not ready",
    "not_ready",
    "pending",
];

/// Words by which servers say in a 200 that all is not well.
const UNWELL: [&str; 9] = [
    "unhealthy",
    "error",
    "fail",
    "down",
    "dead",
    "unavailable",
    "draining",
    "stopping",
    "terminating",
];

/// What the status in a health body says, where it is a word or a flag: `{"status": "starting"}`,
/// `{"ready": false}`. Unknown words say nothing against the status code.
fn told(body: &serde_json::Value) -> Option<Health> {
    let flag = |key: &str| body.get(key).and_then(serde_json::Value::as_bool) == Some(false);
    let word = ["status", "state", "health"]
        .iter()
        .find_map(|key| body.get(*key)?.as_str())
        .unwrap_or_default()
        .to_lowercase();
    let said = || crate::errors::head(&body.to_string());
    let is = |words: &[&str]| words.iter().any(|w| word.contains(w));
    if is(&UNWELL) || flag("healthy") || flag("ok") || flag("alive") {
        return Some(Health::Unwell(said()));
    }
    (is(&STARTING) || flag("ready")).then(|| {
        let said = said();
        Health::Loading(format!("it is starting (/health says: {said})"))
    })
}

/// Reads `/health`. A body that says "loading" counts more than a status of 200.
pub(crate) fn health(answers: &Answers) -> Health {
    if answers.is_mute("/health") {
        return Health::Mute;
    }
    let Some(reply) = answers.reply("/health") else {
        return Health::Unknown;
    };
    let text = reply.text();
    let lower = text.to_lowercase();
    if lower.contains("loading") {
        let words = reply
            .json()
            .map(|body| crate::errors::message_of(body.get("error").unwrap_or(&body)))
            .filter(|words| !words.is_empty())
            .unwrap_or(text);
        let said = crate::errors::head(&words);
        return Health::Loading(format!("the model is being loaded (/health says: {said})"));
    }
    // llama.cpp before 2025: ready, and every slot is at work.
    if lower.contains("no slot available") {
        return Health::Ok;
    }
    match reply.status {
        200..=299 if lower.contains("unexpected endpoint") => Health::Unknown,
        200..=299 if reply.is_html() => Health::Unknown,
        200..=299 => reply
            .json()
            .and_then(|body| told(&body))
            .unwrap_or(Health::Ok),
        500..=599 => Health::Down(reply.status),
        _ => Health::Unknown,
    }
}
