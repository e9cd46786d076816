//! LM Studio, as described in its documentation and in bug reports; not recorded. The OpenAI list
//! tells no window; the two native lists do.

use serde_json::{Value, json};

use super::{Route, Server, Visit, openai};
use crate::chat::Chat;
use crate::config::Config;
use crate::http::{Request, Response};

/// The kind itself.
pub(super) struct LmStudio;

impl Server for LmStudio {
    fn route(&self, visit: &Visit<'_>) -> Route {
        match visit.target() {
            ("GET", "/v1/models") => Route::ok(&openai::models(visit, "organization_owner")),
            ("GET", "/api/v0/models") => Route::ok(&beta_list(visit.config)),
            ("GET", "/api/v1/models") => Route::ok(&native_list(visit.config)),
            ("POST", "/v1/chat/completions" | "/api/v0/chat/completions") => Route::Chat,
            // Whatever it does not know it answers with 200 and an error.
            (method, path) => {
                let message = format!("Unexpected endpoint or method. ({method} {path})");
                Route::ok(&json!({ "error": message }))
            }
        }
    }

    fn admit(&self, _: &Config, request: &Request) -> Result<Chat, Response> {
        openai::admit(request)
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        let window = config.context;
        if prompt >= window {
            let message = format!(
                "Trying to keep the first {prompt} tokens when context the overflows. However, the model is loaded \
                 with context length of only {window} tokens, which is not enough. Try to load the model with a \
                 larger context length, or provide a shorter input"
            );
            return Err(Response::json(400, &json!({ "error": message })));
        }
        Ok(openai::room(config, chat, prompt))
    }

    fn document(&self, reply: &super::Reply<'_>) -> Value {
        let mut whole = openai::document(reply);
        whole["stats"] = json!({});
        whole
    }

    fn check_key(&self, _: &str, _: &Request) -> Result<(), Response> {
        Ok(())
    }
}

/// The first model is loaded, the others wait to be.
fn beta_list(config: &Config) -> Value {
    let entry = |(at, model): (usize, &String)| {
        let mut entry = json!({
            "id": model, "object": "model", "type": "llm", "publisher": "qwen", "arch": "qwen2",
            "compatibility_type": "gguf", "quantization": "Q4_K_M",
            "state": if at == 0 { "loaded" } else { "not-loaded" },
            "max_context_length": config.trained_context,
        });
        if at == 0 {
            entry["loaded_context_length"] = json!(config.context);
        }
        entry
    };
    json!({"object": "list", "data": config.models.iter().enumerate().map(entry).collect::<Vec<_>>()})
}

fn native_list(config: &Config) -> Value {
    let entry = |(at, model): (usize, &String)| {
        let instance = json!({"id": model, "config": {"context_length": config.context,
                              "parallel": config.slots}});
        let instances = if at == 0 {
            json!([instance])
        } else {
            json!([])
        };
        json!({
            "type": "llm", "publisher": "qwen", "key": model, "display_name": model, "architecture": "qwen2",
            "quantization": {"name": "Q4_K_M", "bits_per_weight": 4}, "size_bytes": 1_111_370_240_u64,
            "loaded_instances": instances, "max_context_length": config.trained_context,
            "format": "gguf", "capabilities": {"vision": false, "trained_for_tool_use": true},
        })
    };
    json!({"models": config.models.iter().enumerate().map(entry).collect::<Vec<_>>()})
}
