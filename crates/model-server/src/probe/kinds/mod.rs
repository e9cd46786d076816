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
    Mute,
    Unknown,
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
    if lower.contains("no slot available") {
        return Health::Ok;
    }
    match reply.status {
        200..=299 if lower.contains("unexpected endpoint") => Health::Unknown,
        200..=299 if reply.is_html() => Health::Unknown,
        200..=299 => Health::Ok,
        500..=599 => Health::Down(reply.status),
        _ => Health::Unknown,
    }
}
