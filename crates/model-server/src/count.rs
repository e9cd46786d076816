//! Counting the tokens of a request by asking the server that will get it.

use std::time::Duration;

use baton_process::Cancel;
use baton_protocol::ServerKind;
use serde_json::{Map, Value};

use crate::client::{Client, Whole};
use crate::clocks::Clocks;
use crate::errors::{CallError, ErrorClass, Reply, classify};
use crate::replay::prepare;
use crate::stream::number;

/// Counting takes milliseconds, also on a busy server; a sleeping one must load its model first.
const COUNT_LIMIT: Duration = Duration::from_secs(30);

/// How a kind of server counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) at_root: bool,
    pub(crate) route: &'static str,
    pub(crate) body: Value,
    pub(crate) answer_key: &'static str,
}

impl Client {
    /// The tokens of a chat request's prompt (messages, tools and template), as this server counts.
    ///
    /// vLLM and llama.cpp count exactly what they will report as `prompt_tokens`; TGI lists the tokens
    /// of the rendered chat; SGLang counts chats in some versions and bare texts in the others. Servers
    /// that do not count give an error of class [`ErrorClass::FeatureOff`].
    pub fn count_tokens(&self, kind: ServerKind, request: &Value) -> Result<u64, CallError> {
        self.count_tokens_within(kind, request, &Clocks::all(COUNT_LIMIT), &Cancel::new())
    }

    /// The same with clocks and cancellation.
    pub fn count_tokens_within(
        &self,
        kind: ServerKind,
        request: &Value,
        clocks: &Clocks,
        cancel: &Cancel,
    ) -> Result<u64, CallError> {
        let base = self.endpoint().base.to_string();
        let Some(question) = question(kind, request) else {
            let message = format!("{base}: this kind of server does not count tokens");
            return Err(CallError::new(ErrorClass::FeatureOff, message));
        };
        let url = if question.at_root {
            self.endpoint().at_root(question.route)
        } else {
            self.endpoint().at_api(question.route)
        };
        let whole = self.whole(url.clone(), Some(&question.body), clocks, cancel)?;
        answer(&url, &question, &whole)
    }
}

/// What to ask, where a kind of server counts at all.
pub(crate) fn question(kind: ServerKind, request: &Value) -> Option<Question> {
    // The history goes through the same mending as the real request, so that both agree.
    let (request, _) = prepare(request);
    match kind {
        ServerKind::Vllm | ServerKind::SgLang => Some(Question {
            at_root: true,
            route: "/tokenize",
            body: for_vllm(&request),
            answer_key: "count",
        }),
        ServerKind::LlamaCpp
        | ServerKind::LlamaCppRouter
        | ServerKind::LlamaSwap
        | ServerKind::Skein => Some(Question {
            at_root: false,
            route: "/chat/completions/input_tokens",
            body: for_llama_cpp(&request),
            answer_key: "input_tokens",
        }),
        ServerKind::Tgi => Some(Question {
            at_root: true,
            route: "/chat_tokenize",
            body: for_tgi(&request),
            answer_key: "tokenize_response",
        }),
        _ => None,
    }
}

/// TGI takes the chat itself; without `stream` it is not asked for one.
fn for_tgi(request: &Value) -> Value {
    let mut body = for_llama_cpp(request);
    if let Some(object) = body.as_object_mut() {
        object.entry("model").or_insert_with(|| "tgi".into());
    }
    body
}

/// vLLM counts only what it is told: the messages, the tools and the template's arguments. The old
/// name of thinking in the history is dropped by `/tokenize` but not by chat.
fn for_vllm(request: &Value) -> Value {
    let mut body = Map::new();
    for key in ["model", "messages", "tools", "chat_template_kwargs"] {
        if let Some(value) = request.get(key) {
            body.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(messages) = body.get_mut("messages").and_then(Value::as_array_mut) {
        for message in messages.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(thinking) = message.remove("reasoning_content") {
                message.entry("reasoning").or_insert(thinking);
            }
        }
    }
    body.insert("add_generation_prompt".to_owned(), Value::Bool(true));
    Value::Object(body)
}

fn for_llama_cpp(request: &Value) -> Value {
    let mut body = request.clone();
    if let Some(object) = body.as_object_mut() {
        object.remove("stream");
        object.remove("stream_options");
    }
    body
}

/// A count is a number, or the tokens one by one.
fn counted(value: &Value) -> Option<u64> {
    match value {
        Value::Array(tokens) => Some(tokens.len() as u64),
        other => number(other),
    }
}

fn answer(url: &str, question: &Question, whole: &Whole) -> Result<u64, CallError> {
    let head = &whole.head;
    let parsed = serde_json::from_slice::<Value>(&whole.body).ok();
    let count = parsed
        .as_ref()
        .filter(|_| head.status == 200)
        .and_then(|body| counted(body.get(question.answer_key)?))
        // A prompt without a token does not exist: such an answer is a misunderstanding.
        .filter(|count| *count > 0);
    if let Some(count) = count {
        return Ok(count);
    }
    if head.status == 200 && parsed.is_some() {
        let message = format!(
            "{url} answered without `{}`: it does not count tokens",
            question.answer_key
        );
        return Err(CallError::new(ErrorClass::FeatureOff, message).with_status(200));
    }
    let mut error = classify(&Reply {
        url,
        status: head.status,
        content_type: &head.content_type,
        retry_after: &head.retry_after,
        proxy: &head.proxy,
        body: &whole.body,
    });
    // 422: a body the route does not know, as SGLang says to a chat where it counts bare texts only.
    if matches!(head.status, 404 | 405 | 422 | 501) && error.class == ErrorClass::Deterministic {
        error.class = ErrorClass::FeatureOff;
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use baton_protocol::ServerKind;
    use serde_json::{Value, json};

    use super::{answer, question};
    use crate::client::Whole;
    use crate::errors::ErrorClass;
    use crate::net::Head;

    fn asked(kind: ServerKind, status: u16, body: &Value) -> Result<u64, ErrorClass> {
        let question = question(kind, &json!({"messages": []})).unwrap();
        let head = Head {
            status,
            content_type: "application/json".to_owned(),
            ..Head::default()
        };
        let whole = Whole {
            head,
            body: body.to_string().into_bytes(),
        };
        answer("u", &question, &whole).map_err(|e| e.class)
    }

    #[test]
    fn both_servers_counts_are_read() {
        let vllm = json!({"count": 175, "max_model_len": 4096, "tokens": [1], "token_strs": null});
        assert_eq!(asked(ServerKind::Vllm, 200, &vllm), Ok(175));
        let llama = json!({"input_tokens": 31, "object": "response.input_tokens"});
        assert_eq!(asked(ServerKind::LlamaCpp, 200, &llama), Ok(31));
    }

    #[test]
    fn sglang_counts_and_tgi_lists() {
        let sglang = json!({"tokens": [1, 2, 3], "count": 3, "max_model_len": 4096});
        assert_eq!(asked(ServerKind::SgLang, 200, &sglang), Ok(3));
        let token = json!({"id": 1, "text": "a", "start": 0, "stop": 1});
        let tgi = json!({"tokenize_response": [token, token], "templated_text": "<user>a"});
        assert_eq!(asked(ServerKind::Tgi, 200, &tgi), Ok(2));
        let chat = json!({"model": "m", "messages": [], "stream": true, "tools": []});
        let question = question(ServerKind::Tgi, &chat).unwrap();
        assert_eq!(question.route, "/chat_tokenize");
        assert_eq!(question.body.get("stream"), None);
    }

    #[test]
    fn an_sglang_that_counts_texts_only_does_not_count_chats() {
        let missing = json!({"detail": [{"type": "missing", "loc": ["body", "prompt"],
            "msg": "Field required"}]});
        assert_eq!(
            asked(ServerKind::SgLang, 422, &missing),
            Err(ErrorClass::FeatureOff)
        );
    }

    #[test]
    fn a_llama_server_taken_for_vllm_is_noticed() {
        let empty = json!({"tokens": []});
        assert_eq!(
            asked(ServerKind::Vllm, 200, &empty),
            Err(ErrorClass::FeatureOff)
        );
        let missing =
            json!({"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}});
        assert_eq!(
            asked(ServerKind::LlamaCpp, 404, &missing),
            Err(ErrorClass::FeatureOff)
        );
        assert!(question(ServerKind::Ollama, &json!({})).is_none());
    }

    #[test]
    fn vllm_is_asked_with_tools_and_the_new_name_of_thinking() {
        let request = json!({
            "model": "m", "max_tokens": 5, "temperature": 0, "tools": [{"type": "function"}],
            "messages": [{"role": "assistant", "content": "x", "reasoning_content": "t"}],
        });
        let question = question(ServerKind::Vllm, &request).unwrap();
        assert_eq!(
            question.body,
            json!({
                "model": "m", "tools": [{"type": "function"}], "add_generation_prompt": true,
                "messages": [{"role": "assistant", "content": "x", "reasoning": "t"}],
            })
        );
    }
}
