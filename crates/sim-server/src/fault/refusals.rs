//! Chat requests that are refused, dropped or left waiting: sections C and Q of the bug log, each
//! in the words of the server it came from.

#![expect(
    clippy::unnecessary_wraps,
    reason = "all have the one signature the table wants"
)]

use serde_json::{Value, json};

use super::Act;
use crate::chat::Chat;
use crate::config::Config;
use crate::http::Response;
use crate::tokens;

fn refuse(status: u16, error: &Value) -> Option<Act> {
    Some(Act::Send(
        Response::json(status, &json!({ "error": error })),
        true,
    ))
}

/// The prompt's true size, but never less than one over the window, as an overflow must be.
fn size(chat: &Chat, config: &Config) -> u64 {
    tokens::count(&chat.prompt()).max(config.context + 1)
}

pub(super) fn overflow_llamacpp(chat: &Chat, config: &Config) -> Option<Act> {
    llamacpp_overflow(chat, config, 400)
}

pub(super) fn overflow_llamacpp_500(chat: &Chat, config: &Config) -> Option<Act> {
    llamacpp_overflow(chat, config, 500)
}

fn llamacpp_overflow(chat: &Chat, config: &Config, code: u16) -> Option<Act> {
    let (size, window) = (size(chat, config), config.context);
    let message = if code == 400 {
        format!(
            "request ({size} tokens) exceeds the available context size ({window} tokens), try increasing it"
        )
    } else {
        "the request exceeds the available context size. try increasing the context size or enable context shift"
            .to_owned()
    };
    refuse(
        code,
        &json!({"code": code, "message": message, "type": "exceed_context_size_error",
                "n_prompt_tokens": size, "n_ctx": window}),
    )
}

pub(super) fn overflow_bare(_: &Chat, _: &Config) -> Option<Act> {
    refuse(
        400,
        &json!({"code": 400, "message": "Context size has been exceeded.", "type": "invalid_request_error"}),
    )
}

pub(super) fn overflow_string(_: &Chat, _: &Config) -> Option<Act> {
    refuse(400, &json!("Context size has been exceeded."))
}

pub(super) fn overflow_lmstudio(chat: &Chat, config: &Config) -> Option<Act> {
    let (size, window) = (size(chat, config), config.context);
    refuse(
        400,
        &json!(format!(
            "Trying to keep the first {size} tokens when context the overflows. However, the model is loaded with \
             context length of only {window} tokens, which is not enough. Try to load the model with a larger \
             context length, or provide a shorter input"
        )),
    )
}

pub(super) fn overflow_closed(_: &Chat, _: &Config) -> Option<Act> {
    Some(Act::Close)
}

pub(super) fn overflow_vllm_total(chat: &Chat, config: &Config) -> Option<Act> {
    let window = config.context;
    let output = chat.max_tokens.unwrap_or(window);
    let prompt = tokens::count(&chat.prompt());
    let message = format!(
        "This model's maximum context length is {window} tokens. However, you requested {output} output tokens and \
         your prompt contains at least {prompt} input tokens, for a total of at least {} tokens. Please reduce the \
         length of the input prompt or the number of requested output tokens.",
        window + 1
    );
    refuse(
        400,
        &json!({"message": message, "type": "BadRequestError", "param": "input_tokens", "code": 400}),
    )
}

pub(super) fn overflow_vllm_old(chat: &Chat, config: &Config) -> Option<Act> {
    let window = config.context;
    let prompt = tokens::count(&chat.prompt());
    let output = chat.max_tokens.unwrap_or(window);
    let message = format!(
        "This model's maximum context length is {window} tokens. However, you requested {} tokens ({prompt} in the \
         messages, {output} in the completion). Please reduce the length of the messages or completion.",
        prompt + output
    );
    let body = json!({"object": "error", "message": message, "type": "BadRequestError", "param": null, "code": 400});
    Some(Act::Send(Response::json(400, &body), true))
}

pub(super) fn overflow_parts(chat: &Chat, config: &Config) -> Option<Act> {
    let window = config.context;
    let bare = Chat {
        tools: Vec::new(),
        ..chat.clone()
    };
    let text = tokens::count(&bare.prompt());
    let tools = tokens::count(&chat.prompt()).saturating_sub(text);
    let output = chat.max_tokens.unwrap_or(window);
    let message = format!(
        "This endpoint's maximum context length is {window} tokens. However, you requested about {} tokens ({text} \
         of text input, {tools} of tool input, {output} in the output). Please reduce the length of either one.",
        text + tools + output
    );
    refuse(400, &json!({"message": message, "code": 400}))
}

pub(super) fn overflow_no_user(_: &Chat, _: &Config) -> Option<Act> {
    refuse(
        500,
        &json!({"message": "no user query found in messages", "type": "api_error", "param": null,
                        "code": null}),
    )
}

pub(super) fn overflow_openai(chat: &Chat, config: &Config) -> Option<Act> {
    let message = format!(
        "This model's maximum context length is {} tokens. However, your messages resulted in {} tokens. Please \
         reduce the length of the messages.",
        config.context,
        size(chat, config)
    );
    refuse(
        400,
        &json!({"message": message, "type": "invalid_request_error", "param": "messages",
                        "code": "context_length_exceeded"}),
    )
}

pub(super) fn overflow_skein(chat: &Chat, config: &Config) -> Option<Act> {
    let safe = config.safe_context();
    let message = format!(
        "prompt of about {} tokens exceeds the largest safe context of {safe}",
        size(chat, config)
    );
    let body = json!({"error": {"message": message, "type": "exceed_context_size_error",
                                "code": "prompt_over_max_safe_ctx"}});
    let response = Response::json(413, &body).with("X-Skein-Max-Safe-Ctx", safe.to_string());
    Some(Act::Send(response, true))
}

pub(super) fn overflow_tgi(chat: &Chat, config: &Config) -> Option<Act> {
    let message = format!(
        "Input validation error: `inputs` must have less than {} tokens. Given: {}",
        config.context,
        size(chat, config)
    );
    let body = json!({"error": message, "error_type": "validation"});
    Some(Act::Send(Response::json(422, &body), true))
}

pub(super) fn overflow_sglang(chat: &Chat, config: &Config) -> Option<Act> {
    let message = format!(
        "The input ({} tokens) is longer than the model's context length ({} tokens).",
        size(chat, config),
        config.context
    );
    let body = json!({"object": "error", "message": message, "type": "BadRequestError", "param": null, "code": 400});
    Some(Act::Send(Response::json(400, &body), true))
}

pub(super) fn overflow_empty_413(_: &Chat, _: &Config) -> Option<Act> {
    Some(Act::Send(Response::empty(413), true))
}

pub(super) fn busy_503(_: &Chat, _: &Config) -> Option<Act> {
    refuse(
        503,
        &json!({"message": "server busy, please try again.  maximum pending requests exceeded",
                        "type": "overloaded_error", "param": null, "code": null}),
    )
}

pub(super) fn busy_429(_: &Chat, _: &Config) -> Option<Act> {
    let response =
        Response::json(429, &json!({"error": "Too many requests"})).with("Retry-After", "1");
    Some(Act::Send(response, true))
}

pub(super) fn error_500(_: &Chat, _: &Config) -> Option<Act> {
    let body = "Internal Server Error";
    Some(Act::Send(
        Response::typed(500, "text/plain; charset=utf-8", body),
        true,
    ))
}

pub(super) fn error_empty(_: &Chat, _: &Config) -> Option<Act> {
    Some(Act::Send(Response::empty(500), true))
}

pub(super) fn load_failed(_: &Chat, _: &Config) -> Option<Act> {
    refuse(
        502,
        &json!({"message": "model failed to load: upstream command exited prematurely", "code": 502}),
    )
}

pub(super) fn model_not_loaded(_: &Chat, _: &Config) -> Option<Act> {
    refuse(
        404,
        &json!({"message": "No models loaded. Please load a model first.",
                        "type": "invalid_request_error", "param": "model", "code": "model_not_loaded"}),
    )
}

pub(super) fn no_tool_parser(chat: &Chat, _: &Config) -> Option<Act> {
    if chat.tools.is_empty() {
        return None;
    }
    let message =
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set";
    refuse(
        400,
        &json!({"message": message, "type": "BadRequestError", "param": null, "code": 400}),
    )
}

pub(super) fn reject_null_content(chat: &Chat, _: &Config) -> Option<Act> {
    let messages = chat.body["messages"].as_array()?;
    let bad = messages
        .iter()
        .any(|message| message.get("content").is_none_or(Value::is_null));
    if !bad {
        return None;
    }
    refuse(
        400,
        &json!({"code": 400, "message": "Expected 'content' to be a string or an array",
                        "type": "invalid_request_error"}),
    )
}

pub(super) fn reject_empty_arrays(chat: &Chat, _: &Config) -> Option<Act> {
    let messages = chat.body["messages"].as_array()?;
    let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    let bad = messages
        .iter()
        .any(|message| empty(&message["tool_calls"]) || empty(&message["content"]));
    if !bad {
        return None;
    }
    let message = "[] is too short - 'messages.1.tool_calls'";
    refuse(
        400,
        &json!({"message": message, "type": "invalid_request_error", "param": null, "code": null}),
    )
}

pub(super) fn unsupported_format(chat: &Chat, _: &Config) -> Option<Act> {
    if chat.body["response_format"].is_null() {
        return None;
    }
    refuse(
        400,
        &json!({"message": "'response_format.type' must be 'json_schema' or 'text'",
                        "type": "invalid_request_error", "param": null, "code": null}),
    )
}

pub(super) fn silent(_: &Chat, _: &Config) -> Option<Act> {
    Some(Act::Silence("silent"))
}

pub(super) fn close(_: &Chat, _: &Config) -> Option<Act> {
    Some(Act::Close)
}

pub(super) fn reset(_: &Chat, _: &Config) -> Option<Act> {
    Some(Act::Reset)
}
