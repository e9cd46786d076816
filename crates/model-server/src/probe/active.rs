//! The only strong sign: a request that is answered. One token, and only into a free slot.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use baton_process::Cancel;
use baton_protocol::ServerKind;
use serde_json::{Value, json};

use crate::client::Client;
use crate::clocks::Clocks;
use crate::errors::{CallError, ErrorClass};
use crate::stream::{ChatAnswer, StreamEvent};

/// What to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// One token.
    Token,
    /// A call of a tool.
    Tools,
    /// An answer that follows a schema.
    Json,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveResult {
    /// What was tried.
    pub what: Active,
    /// Whether it went well; none: accepted, and nothing proven.
    pub ok: Option<bool>,
    /// What happened, in words.
    pub message: String,
    /// How long it took.
    pub took: Duration,
    /// The error, where it did not go well.
    pub error: Option<CallError>,
}

/// Tokens for a tool call or a small object; a model that thinks first needs some more.
const ROOM: u32 = 256;

/// Sends one small request and judges its answer.
///
/// `names` are all names of the wanted model (its id and aliases): another one that answers is a
/// mismatch.
pub fn run_active(
    client: &Client,
    kind: ServerKind,
    model: &str,
    names: &[String],
    what: Active,
    limit: Duration,
    cancel: &Cancel,
) -> ActiveResult {
    let started = Instant::now();
    let clocks = Clocks::all(limit).until(started + limit);
    let answer = client.chat(&request(kind, model, what), &clocks, cancel, &mut |event| {
        // A call need not be finished to prove that calls are enabled.
        match event {
            StreamEvent::Call { name: Some(_), .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    let took = started.elapsed();
    let (ok, message, error) = match answer {
        Ok(answer) => {
            let (ok, message) = judge(&answer, model, names, what);
            (ok, message, None)
        }
        // It did not finish, and it does answer.
        Err(error) if error.partial.is_some() => {
            let message = format!("it answers, and was not done in time: {}", error.message);
            let ok = (what == Active::Token).then_some(true);
            (ok, message, Some(error))
        }
        Err(error) => (Some(false), error.message.clone(), Some(error)),
    };
    ActiveResult {
        what,
        ok,
        message,
        took,
        error,
    }
}

fn request(kind: ServerKind, model: &str, what: Active) -> Value {
    let mut request = json!({
        "model": model,
        "messages": [{"role": "user", "content": "Say ok."}],
        "max_tokens": 1,
        "temperature": 0,
    });
    let more = match what {
        Active::Token => json!({}),
        Active::Tools => json!({
            "messages": [{"role": "user", "content": "Call the tool `report` with status ok."}],
            "max_tokens": ROOM,
            "tools": [{"type": "function", "function": {
                "name": "report",
                "description": "Reports a status.",
                "parameters": {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]},
            }}],
            "tool_choice": "auto",
        }),
        Active::Json => json!({
            "messages": [{"role": "user", "content": "Answer with the status ok."}],
            "max_tokens": ROOM,
            "response_format": {"type": "json_schema", "json_schema": {"name": "status", "schema": {
                "type": "object",
                "properties": {"status": {"type": "string", "enum": ["ok"]}},
                "required": ["status"],
                "additionalProperties": false,
            }}},
        }),
    };
    if let (Some(request), Value::Object(more)) = (request.as_object_mut(), more) {
        request.extend(more);
        // These servers know the switch; others may refuse a field they do not know.
        let can_switch = matches!(
            kind,
            ServerKind::Vllm
                | ServerKind::SgLang
                | ServerKind::LlamaCpp
                | ServerKind::LlamaCppRouter
        );
        if can_switch && what != Active::Token {
            let kwargs = json!({"enable_thinking": false});
            request.insert("chat_template_kwargs".to_owned(), kwargs);
        }
    }
    request
}

fn judge(
    answer: &ChatAnswer,
    model: &str,
    names: &[String],
    what: Active,
) -> (Option<bool>, String) {
    if let Some(by) = &answer.model
        && by != model
        && !names.contains(by)
    {
        let message = format!("asked for the model `{model}`, and `{by}` answered");
        return (Some(false), message);
    }
    let yes = |message: &str| (Some(true), message.to_owned());
    match what {
        Active::Token => yes("a completion of one token came back"),
        Active::Tools if !answer.tool_calls.is_empty() => yes("a tool call came back"),
        Active::Tools if answer.truncated => {
            let message = "tools are accepted, and the tokens did not suffice for a call";
            (None, message.to_owned())
        }
        Active::Tools => {
            let message = format!(
                "tools are accepted, and no call came back, only text ({}): the model does not \
                 call tools, or its calls are not parsed (vLLM: --tool-call-parser NAME; llama.cpp: \
                 --jinja and a chat template with tool calls)",
                crate::errors::head(&answer.content)
            );
            (None, message)
        }
        Active::Json => {
            let text = answer.content.trim();
            let parsed = serde_json::from_str::<Value>(text).ok();
            if parsed.is_some_and(|v| v.get("status").is_some_and(|s| s == "ok")) {
                return yes("an answer that follows its schema came back");
            }
            if answer.truncated {
                let message = "the schema was accepted, and the tokens did not suffice (thinking?)";
                return (None, message.to_owned());
            }
            let message = format!(
                "the schema was accepted and not followed; it answered: {}",
                crate::errors::head(text)
            );
            (Some(false), message)
        }
    }
}

impl ActiveResult {
    /// Whether nothing at all came back in time, although the server says that it can answer.
    pub fn is_silence(&self) -> bool {
        self.error
            .as_ref()
            .is_some_and(|e| matches!(e.class, ErrorClass::TimedOut(_)) && e.partial.is_none())
    }

    /// Whether it failed because of the key, which the lists of some servers do not ask for.
    pub fn is_rejected(&self) -> bool {
        matches!(
            self.error.as_ref().map(|e| &e.class),
            Some(ErrorClass::KeyRejected)
        )
    }

    /// Whether it failed because the model is being loaded.
    pub fn is_loading(&self) -> bool {
        matches!(
            self.error.as_ref().map(|e| &e.class),
            Some(ErrorClass::Loading)
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Active, judge};
    use crate::stream::whole_answer;

    fn answered(message: &serde_json::Value, what: Active) -> (Option<bool>, String) {
        let body =
            json!({"model": "b", "choices": [{"message": message, "finish_reason": "stop"}]});
        judge(&whole_answer(&body).unwrap(), "b", &[], what)
    }

    #[test]
    fn r16_another_model_that_answers_is_a_mismatch() {
        let body = json!({"model": "b", "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]});
        let answer = whole_answer(&body).unwrap();
        let (ok, words) = judge(&answer, "a", &[], Active::Token);
        assert_eq!(ok, Some(false));
        assert!(words.contains("`a`") && words.contains("`b`"), "{words}");
        let (ok, _) = judge(&answer, "a", &["b".to_owned()], Active::Token);
        assert_eq!(ok, Some(true));
    }

    #[test]
    fn r34_text_in_place_of_a_call_proves_nothing() {
        let (ok, words) = answered(&json!({"content": "```json {} ```"}), Active::Tools);
        assert_eq!(ok, None);
        assert!(words.contains("--tool-call-parser"), "{words}");
        let call =
            json!({"tool_calls": [{"id": "a", "function": {"name": "report", "arguments": "{}"}}]});
        assert_eq!(answered(&call, Active::Tools).0, Some(true));
    }

    #[test]
    fn an_answer_must_follow_its_schema() {
        let with = |text: &str| answered(&json!({"content": text}), Active::Json).0;
        assert_eq!(with("{\"status\":\"ok\"}"), Some(true));
        assert_eq!(with("ok"), Some(false));
    }
}
