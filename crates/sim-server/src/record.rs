//! The list of requests a test asserts on.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::http::Request;

/// One request and what became of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Record {
    /// Counts all requests, from 1.
    pub(crate) n: u64,
    /// Counts chat requests, from 1; null for the others.
    pub(crate) chat: Option<u64>,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    /// All headers in lower case; the authorization is masked.
    pub(crate) headers: Map<String, Value>,
    pub(crate) body_bytes: usize,
    /// The body where it is JSON.
    pub(crate) body: Value,
    /// `open`, `answered`, `refused`, `hung_up` (by the client), `aborted` (by the engine), or the
    /// name of the fault that ended it.
    pub(crate) outcome: String,
    pub(crate) status: Option<u16>,
    /// The rule of the script; empty for the built-in model.
    pub(crate) rule: Option<String>,
    pub(crate) faults: Vec<String>,
    pub(crate) slot: Option<usize>,
    pub(crate) prompt_tokens: Option<u64>,
    pub(crate) cached_tokens: Option<u64>,
    pub(crate) completion_tokens: Option<u64>,
    pub(crate) finish: Option<String>,
    /// Milliseconds since the server started.
    pub(crate) arrived_ms: u64,
    pub(crate) started_ms: Option<u64>,
    pub(crate) ended_ms: Option<u64>,
}

impl Record {
    pub(crate) fn new(n: u64, chat: Option<u64>, request: &Request, arrived_ms: u64) -> Self {
        let mask = |name: &str, value: &str| match name {
            "authorization" | "x-api-key" | "api-key" => {
                let scheme = value.split_once(' ').map_or("", |(scheme, _)| scheme);
                Value::String(format!("{scheme} ***").trim().to_owned())
            }
            _ => Value::String(value.to_owned()),
        };
        let headers = request
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), mask(name, value)));
        Self {
            n,
            chat,
            method: request.method.clone(),
            path: request.path.clone(),
            query: request.query.clone(),
            headers: headers.collect(),
            body_bytes: request.body.len(),
            body: serde_json::from_slice(&request.body).unwrap_or_default(),
            outcome: "open".to_owned(),
            status: None,
            rule: None,
            faults: Vec::new(),
            slot: None,
            prompt_tokens: None,
            cached_tokens: None,
            completion_tokens: None,
            finish: None,
            arrived_ms,
            started_ms: None,
            ended_ms: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_recorded() {
        let request = Request {
            headers: vec![("authorization".into(), "Bearer secret".into())],
            ..Request::default()
        };
        let text = serde_json::to_string(&Record::new(1, None, &request, 0)).unwrap();
        assert!(
            text.contains("Bearer ***") && !text.contains("secret"),
            "{text}"
        );
    }
}
