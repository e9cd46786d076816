//! One reading a kind of server. Each takes the answers of its routes and returns a finding.

mod gateways;
mod health;
mod llamacpp;
mod lmstudio;
mod ollama;
mod openai;
mod sglang;
mod skein;
mod tgi;
mod vllm;

pub(crate) use gateways::{running, upstream};
pub(crate) use health::{Health, health};
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
