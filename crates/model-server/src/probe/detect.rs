//! Which program answers, by its own marks.

use baton_protocol::ServerKind;
use serde_json::Value;

use super::answers::Answers;
use super::list;
use super::prometheus::Metrics;

/// The kind of server, as far as the answers so far tell.
pub(crate) fn detect(answers: &Answers) -> Option<ServerKind> {
    let props = answers.json("/props");
    if props
        .as_ref()
        .is_some_and(|p| p.get("role").is_some_and(|r| r == "router"))
    {
        return Some(ServerKind::LlamaCppRouter);
    }
    if answers
        .json("/health")
        .is_some_and(|h| h.get("any_model_resident").is_some())
    {
        return Some(ServerKind::Skein);
    }
    if answers
        .json("/api/hardware")
        .is_some_and(|h| h.get("inference").is_some())
    {
        return Some(ServerKind::Skein);
    }
    by_models(answers)
        .or_else(|| by_header(answers))
        .or_else(|| by_routes(answers, props.as_ref()))
        .or_else(|| by_errors(answers))
}

fn by_models(answers: &Answers) -> Option<ServerKind> {
    let body = answers.json("/v1/models")?;
    let entries = list::entries(&body)?;
    let owners: Vec<&str> = entries
        .iter()
        .filter_map(|e| e.get("owned_by")?.as_str())
        .collect();
    let owned = |name: &str| owners.iter().any(|owner| owner.eq_ignore_ascii_case(name));
    let llama = owned("llamacpp") || owned("llama.cpp");
    if llama && entries.iter().any(|e| e.get("status").is_some()) {
        return Some(ServerKind::LlamaCppRouter);
    }
    if llama {
        return Some(ServerKind::LlamaCpp);
    }
    for (owner, kind) in [
        ("vllm", ServerKind::Vllm),
        ("sglang", ServerKind::SgLang),
        ("library", ServerKind::Ollama),
        ("organization_owner", ServerKind::LmStudio),
        ("llama-swap", ServerKind::LlamaSwap),
        ("llama-skein", ServerKind::Skein),
    ] {
        if owned(owner) && !denied(answers, kind) {
            return Some(kind);
        }
    }
    None
}

/// Whether the routes only this kind has were asked and are not there: the owner is a copy.
fn denied(answers: &Answers, kind: ServerKind) -> bool {
    let own: &[&str] = match kind {
        ServerKind::LmStudio => &["/api/v0/models", "/api/v1/models"],
        ServerKind::Ollama => &["/api/ps", "/api/tags"],
        ServerKind::LlamaSwap => &["/running"],
        _ => return false,
    };
    own.iter()
        .all(|route| answers.status(route).is_some_and(|s| s != 200))
}

fn by_header(answers: &Answers) -> Option<ServerKind> {
    let server = |name: &str| {
        answers.iter().any(|(_, answer)| {
            answer
                .result
                .as_ref()
                .is_ok_and(|reply| reply.server.eq_ignore_ascii_case(name))
        })
    };
    server("llama.cpp").then_some(ServerKind::LlamaCpp)
}

fn by_routes(answers: &Answers, props: Option<&Value>) -> Option<ServerKind> {
    let has = |route: &str, key: &str| answers.json(route).is_some_and(|b| b.get(key).is_some());
    if props.is_some_and(|p| p.get("default_generation_settings").is_some()) {
        return Some(ServerKind::LlamaCpp);
    }
    if answers
        .text("/")
        .is_some_and(|t| t.contains("Ollama is running"))
        || has("/api/ps", "models")
    {
        return Some(ServerKind::Ollama);
    }
    if answers
        .json("/api/v0/models")
        .or_else(|| answers.json("/api/v1/models"))
        .is_some_and(|b| list::entries(&b).is_some())
    {
        return Some(ServerKind::LmStudio);
    }
    if has("/health/readiness", "litellm_version") {
        return Some(ServerKind::LiteLlm);
    }
    if has("/health", "slots_processing") {
        return Some(ServerKind::LlamaCpp);
    }
    if has("/running", "running") {
        return Some(ServerKind::LlamaSwap);
    }
    if has("/get_server_info", "max_total_num_tokens")
        || has("/server_info", "max_total_num_tokens")
        || has("/get_model_info", "model_path")
    {
        return Some(ServerKind::SgLang);
    }
    if has("/info", "max_total_tokens") || has("/info", "max_concurrent_requests") {
        return Some(ServerKind::Tgi);
    }
    let metrics = Metrics::parse(&answers.text("/metrics").unwrap_or_default());
    for (prefix, kind) in [
        ("vllm:", ServerKind::Vllm),
        ("sglang:", ServerKind::SgLang),
        ("llamacpp:", ServerKind::LlamaCpp),
        ("tgi_", ServerKind::Tgi),
    ] {
        if metrics.has_prefix(prefix) {
            return Some(kind);
        }
    }
    // Other servers have this route too (LocalAI, TensorRT-LLM), so the list must look like vLLM's.
    (has("/version", "version") && !is_foreign_list(answers)).then_some(ServerKind::Vllm)
}

/// Whether a model list answers that is not like vLLM's, whose entries all tell their window.
fn is_foreign_list(answers: &Answers) -> bool {
    let Some(body) = answers.json("/v1/models") else {
        return false;
    };
    list::entries(&body).is_some_and(|entries| {
        !entries.is_empty() && entries.iter().all(|e| e.get("max_model_len").is_none())
    })
}

/// The words of errors: what is left to go by when loading, or without a key.
fn by_errors(answers: &Answers) -> Option<ServerKind> {
    for (_, answer) in answers.iter() {
        let Ok(reply) = &answer.result else { continue };
        let text = reply.text();
        let llama = text.contains("Loading model") || text.contains("no slot available");
        if reply.status == 503 && llama {
            return Some(ServerKind::LlamaCpp);
        }
        if text.contains("Unexpected endpoint or method") {
            return Some(ServerKind::LmStudio);
        }
        if reply.status == 401
            && reply.server == "uvicorn"
            && text.trim() == r#"{"error":"Unauthorized"}"#
        {
            return Some(ServerKind::Vllm);
        }
    }
    None
}
