//! LiteLLM's proxy, as described in its documentation and in bug reports; not recorded.

use serde_json::{Value, json};

use super::{Route, Server, Visit, bearer, openai};
use crate::chat::Chat;
use crate::config::Config;
use crate::http::{Request, Response};

/// The kind itself.
pub(super) struct LiteLlm;

impl Server for LiteLlm {
    fn route(&self, visit: &Visit<'_>) -> Route {
        match visit.target() {
            ("GET", "/health/liveliness" | "/health/liveness") => Route::ok(&json!("I'm alive!")),
            ("GET", "/health/readiness") => Route::ok(
                &json!({"status": "healthy", "db": "Not connected", "litellm_version": "1.77.0"}),
            ),
            ("GET", "/v1/models" | "/models") => Route::ok(&openai::models(visit, "openai")),
            ("GET", "/model/info" | "/v1/model/info") => Route::ok(&model_info(visit.config)),
            ("POST", "/v1/chat/completions" | "/chat/completions") => Route::Chat,
            _ => Route::Now(Response::json(404, &json!({"detail": "Not Found"}))),
        }
    }

    fn admit(&self, config: &Config, request: &Request) -> Result<Chat, Response> {
        let chat = openai::admit(request)?;
        if config.models.contains(&chat.model) {
            return Ok(chat);
        }
        let message = format!(
            "/chat/completions: Invalid model name passed in model={}. Call `/v1/models` to view available models",
            chat.model
        );
        Err(refusal(400, "invalid_request_error", &message))
    }

    fn limit(&self, config: &Config, chat: &Chat, prompt: u64) -> Result<u64, Response> {
        let window = config.context;
        if prompt >= window {
            let message = format!(
                "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: \
                 OpenAIException - This model's maximum context length is {window} tokens. However, your messages \
                 resulted in {prompt} tokens."
            );
            return Err(refusal(400, "invalid_request_error", &message));
        }
        Ok(openai::room(config, chat, prompt))
    }

    fn check_key(&self, key: &str, request: &Request) -> Result<(), Response> {
        if request.path.starts_with("/health/live") || bearer(request) == Some(key) {
            return Ok(());
        }
        Err(refusal(
            401,
            "auth_error",
            "Authentication Error, No api key passed in.",
        ))
    }
}

/// Codes are texts here.
fn refusal(status: u16, kind: &str, message: &str) -> Response {
    let body = json!({"message": message, "type": kind, "param": null, "code": status.to_string()});
    Response::json(status, &json!({ "error": body }))
}

fn model_info(config: &Config) -> Value {
    let entry = |model: &String| {
        json!({
            "model_name": model,
            "litellm_params": {"model": format!("openai/{model}"), "api_base": "http://127.0.0.1:8000/v1"},
            "model_info": {"id": format!("id-{model}"), "max_input_tokens": config.context,
                           "max_tokens": config.context, "mode": "chat"},
        })
    };
    json!({"data": config.models.iter().map(entry).collect::<Vec<_>>()})
}
