//! The client against a real server. Runs with `BATON_REAL=1` and `OPENCODE_VLLM_BASE_URL`, else it
//! says that it is skipped.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test helper may panic, and a test that skips says so aloud"
)]

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use baton_model_server::probe::{ProbeOptions, probe};
use baton_model_server::{
    CallError, ChatAnswer, Client, Clocks, Endpoint, ErrorClass, StreamEvent,
};
use baton_process::Cancel;
use baton_protocol::{BaseUrl, Provider, Secret};
use serde_json::{Value, json};

struct Real {
    client: Client,
    provider: Provider,
    model: String,
}

/// The real server, if one is wanted.
fn real(test: &str) -> Option<Real> {
    if std::env::var("BATON_REAL").is_ok_and(|v| v == "1") {
        let url = std::env::var("OPENCODE_VLLM_BASE_URL").unwrap();
        let key = std::env::var("OPENCODE_VLLM_API_KEY").ok().map(Secret::new);
        let endpoint = Endpoint::new(BaseUrl::parse(&url).unwrap()).with_key(key);
        let options = ProbeOptions::new("real", url);
        let provider = probe(&endpoint, &options, &Cancel::new());
        assert!(provider.state.is_ready(), "{}", provider.state_reason);
        let model = provider.models.first().unwrap().id.clone();
        return Some(Real {
            client: Client::new(endpoint),
            provider,
            model,
        });
    }
    eprintln!("{test}: skipped; set BATON_REAL=1 to run it against a real server");
    None
}

impl Real {
    fn request(&self, max_tokens: u32) -> Value {
        json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": "You are terse."},
                {"role": "user", "content": "Count from 1 to 50, one number a line. 你好🦀"},
            ],
            "tools": [{"type": "function", "function": {
                "name": "report", "description": "Reports a status.",
                "parameters": {"type": "object", "properties": {"status": {"type": "string"}}},
            }}],
            "max_tokens": max_tokens,
            "temperature": 0,
        })
    }

    fn chat(&self, request: &Value, on: impl FnMut(&StreamEvent)) -> Result<ChatAnswer, CallError> {
        let mut on = on;
        self.client
            .chat(request, &Clocks::default(), &Cancel::new(), &mut |event| {
                on(event);
                ControlFlow::Continue(())
            })
    }
}

#[test]
fn the_count_is_what_the_server_reports_afterwards() {
    let Some(real) = real("the_count_is_what_the_server_reports_afterwards") else {
        return;
    };
    let request = real.request(4);
    let counted = real
        .client
        .count_tokens(real.provider.server.kind, &request)
        .unwrap();
    let answer = real.chat(&request, |_| ()).unwrap();
    assert_eq!(counted, answer.usage.unwrap().prompt);
}

#[test]
fn a_stream_arrives_in_pieces_and_clean() {
    let Some(real) = real("a_stream_arrives_in_pieces_and_clean") else {
        return;
    };
    let mut pieces = 0;
    let answer = real
        .chat(&real.request(24), |event| {
            let is_text = matches!(
                event,
                StreamEvent::Content(_) | StreamEvent::Reasoning(_) | StreamEvent::Call { .. }
            );
            pieces += u32::from(is_text);
        })
        .unwrap();
    assert!(pieces > 1, "{answer:?}");
    assert!(answer.repairs.is_empty(), "{:?}", answer.repairs);
    assert_eq!(answer.model.as_deref(), Some(real.model.as_str()));
}

#[test]
fn an_overflow_is_told_with_the_window() {
    let Some(real) = real("an_overflow_is_told_with_the_window") else {
        return;
    };
    let window = real
        .provider
        .models
        .first()
        .unwrap()
        .usable_context
        .unwrap();
    let words = "word ".repeat(usize::try_from(window).unwrap() + 500);
    let mut request = real.request(4);
    request["messages"][1]["content"] = json!(words);
    let error = real.chat(&request, |_| ()).unwrap_err();
    match error.class {
        ErrorClass::Overflow { limit, .. } => assert_eq!(limit, Some(window)),
        other => panic!("{other:?}: {}", error.message),
    }
    assert!(!error.retryable);
}

#[test]
fn a_cancelled_stream_frees_its_slot() {
    let Some(real) = real("a_cancelled_stream_frees_its_slot") else {
        return;
    };
    let cancel = Cancel::new();
    let mut request = real.request(2000);
    request.as_object_mut().unwrap().remove("tools");
    let started = Instant::now();
    let error = real
        .client
        .chat(&request, &Clocks::default(), &cancel, &mut |event| {
            if matches!(event, StreamEvent::Content(_) | StreamEvent::Reasoning(_)) {
                cancel.cancel();
            }
            ControlFlow::Continue(())
        })
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Cancelled);
    assert!(error.partial.is_some());
    let options = ProbeOptions::new("real", real.provider.base_url.clone());
    let endpoint = real.client.endpoint().clone();
    let freed = (0..50).any(|_| {
        let provider = probe(&endpoint, &options, &Cancel::new());
        // llama-server notices a client that went away later when it is asked too often.
        std::thread::sleep(Duration::from_millis(1200));
        provider.slots.in_flight == Some(0)
    });
    assert!(freed, "still busy {:?} later", started.elapsed());
}
