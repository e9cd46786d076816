//! From a status and a body to an error class. Pure, and liberal in what it reads.

use std::time::Duration;

use serde_json::Value;

use super::overflow::overflow;
use super::{CallError, ErrorClass};

/// What is known of a reply that is not a usable answer.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// The address that was asked.
    pub url: &'a str,
    /// The HTTP status.
    pub status: u16,
    /// The `Content-Type`, or empty.
    pub content_type: &'a str,
    /// The `Retry-After`, or empty.
    pub retry_after: &'a str,
    /// What a proxy said about itself (`X-Squid-Error`, `Via`), or empty.
    pub proxy: &'a str,
    /// The body, as far as it was read.
    pub body: &'a [u8],
}

/// Classifies a reply with an error status, or one that is no JSON although JSON was due.
pub fn classify(reply: &Reply<'_>) -> CallError {
    let text = String::from_utf8_lossy(reply.body);
    let text = text.trim_start_matches('\u{feff}').trim();
    if reply.body.starts_with(&[0x1f, 0x8b]) {
        return not_api(
            reply,
            "the body is gzip although nothing says so (no Content-Encoding): look for a proxy \
             that compresses",
        );
    }
    if is_html(reply.content_type, text) {
        let proxy = if reply.proxy.is_empty() {
            String::new()
        } else {
            format!(" from a proxy ({})", reply.proxy)
        };
        let advice = if reply.status == 401 || reply.status == 403 {
            "something in front of the server asks for a login"
        } else {
            "check the base URL and the proxy settings"
        };
        return not_api(
            reply,
            &format!(
                "a web page{proxy}, not an API answer ({advice}); it begins: {}",
                head(text)
            ),
        );
    }
    let body = serde_json::from_str::<Value>(text).ok();
    let error = body
        .as_ref()
        .map_or_else(|| Value::String(text.to_owned()), error_of);
    let mut result = judge(Some(reply.status), &error, reply.url);
    result.status = Some(reply.status);
    result.retry_after = reply
        .retry_after
        .trim()
        .parse()
        .ok()
        .map(Duration::from_secs);
    if body.is_none() && !text.is_empty() && reply.status < 400 {
        return not_api(
            reply,
            &format!("no JSON; check the base URL; it begins: {}", head(text)),
        );
    }
    result
}

/// Classifies an error object that came inside a stream (or a 200 answer).
pub fn classify_stream_error(error: &Value, url: &str) -> CallError {
    let error = error_of(error);
    let status = error
        .get("code")
        .and_then(crate::stream::number)
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code));
    let mut result = judge(status, &error, url);
    result.status = status.or(Some(200));
    result
}

/// The error inside a body: `{"error": …}`, `{"detail": …}`, or the body itself.
fn error_of(body: &Value) -> Value {
    ["error", "detail"]
        .iter()
        .find_map(|key| body.get(*key).filter(|e| !e.is_null()))
        .unwrap_or(body)
        .clone()
}

/// The words of an error: a string, or the `message` of an object.
pub(crate) fn message_of(error: &Value) -> String {
    let text = match error {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => ["message", "msg", "error", "detail", "reason", "status"]
            .iter()
            .find_map(|key| error.get(*key))
            .map(|inner| match inner {
                Value::String(text) => text.clone(),
                Value::Object(_) => message_of(inner),
                other => other.to_string(),
            }),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    text.map(|t| t.trim().to_owned()).unwrap_or_default()
}

fn judge(status: Option<u16>, error: &Value, url: &str) -> CallError {
    let words = message_of(error);
    let lower = words.to_lowercase();
    let kind = error
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let has = |needles: &[&str]| needles.iter().any(|n| lower.contains(n));
    let code = status.unwrap_or(500);
    let said = if words.is_empty() {
        format!("{url} answered {code} without a word")
    } else {
        format!("{url} answered {code}: {}", head_of(&words, 600))
    };
    if code == 401 || code == 403 || kind == "authentication_error" {
        return CallError::new(
            ErrorClass::KeyRejected,
            format!(
                "{said} (the key is missing or wrong; set api_key_env, or OPENCODE_VLLM_API_KEY)"
            ),
        );
    }
    if let Some(found) = overflow(error) {
        return CallError::new(
            ErrorClass::Overflow {
                prompt_tokens: found.prompt_tokens,
                limit: found.limit,
            },
            said,
        );
    }
    if code == 413 {
        let class = ErrorClass::Overflow {
            prompt_tokens: None,
            limit: None,
        };
        return CallError::new(class, said);
    }
    if has(&["enable-auto-tool-choice", "tool-call-parser"]) {
        return CallError::new(
            ErrorClass::FeatureOff,
            format!("{said} (start vLLM with --enable-auto-tool-choice --tool-call-parser NAME)"),
        );
    }
    if has(&["--jinja", "reasoning-parser", "reasoning_parser"])
        || (code == 501 && kind == "not_supported_error")
    {
        return CallError::new(ErrorClass::FeatureOff, said);
    }
    let about_a_model = lower.contains("model");
    if (code == 404 && about_a_model)
        || kind == "model_not_found"
        || (code == 400
            && about_a_model
            && has(&[
                "not found",
                "does not exist",
                "not exist",
                "unknown model",
                "invalid model name",
                "could not find",
            ]))
    {
        return CallError::new(ErrorClass::UnknownModel, said);
    }
    if has(&[
        "loading model",
        "model is loading",
        "still loading",
        "currently loading",
        "being loaded",
        "model_not_loaded",
        "no models loaded",
    ]) || kind == "model_not_loaded"
        || error.get("code").and_then(Value::as_str) == Some("model_not_loaded")
    {
        return CallError::new(ErrorClass::Loading, said);
    }
    let busy = has(&[
        "currently busy",
        "server busy",
        "server is busy",
        "too many requests",
        "overloaded",
        "no slot available",
        "maximum pending requests",
        "queue is full",
        "queue full",
        "rate limit",
    ]);
    if code == 429 && has(&["insufficient_quota", "exceeded your current quota"]) {
        return CallError::new(ErrorClass::Deterministic, said);
    }
    if code == 429 || (busy && code >= 429) {
        return CallError::new(ErrorClass::Busy, said);
    }
    let hopeless = has(&[
        "failed to parse",
        "invalid request",
        "not implemented",
        "unsupported",
        "not supported",
        "too large to process",
        "invalid_request_error",
        "cannot schedule new futures after shutdown",
    ]) || kind == "invalid_request_error";
    if (400..500).contains(&code) && code != 408 && code != 425 || code == 501 {
        return CallError::new(ErrorClass::Deterministic, said);
    }
    if hopeless && !lower.contains("after shutdown") {
        return CallError::new(ErrorClass::Deterministic, said);
    }
    CallError::new(ErrorClass::Transient, said)
}

fn not_api(reply: &Reply<'_>, what: &str) -> CallError {
    let mut error = CallError::new(
        ErrorClass::NotApi,
        format!("{} answered {}: {what}", reply.url, reply.status),
    );
    error.status = Some(reply.status);
    // A gateway's page about a dead or slow server behind it passes when that server is back.
    error.retryable = matches!(reply.status, 502..=504);
    error
}

/// Whether this is a web page.
pub(crate) fn is_html(content_type: &str, text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    content_type.to_ascii_lowercase().contains("text/html")
        || start.starts_with("<!doctype")
        || start.starts_with("<html")
        || start.starts_with("<head")
}

/// The first 80 characters, on one line.
pub(crate) fn head(text: &str) -> String {
    head_of(text, 80)
}

fn head_of(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(limit).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
