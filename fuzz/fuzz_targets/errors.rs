//! The classifier of errors: it never fails, its words fit one line, and its numbers are numbers.

#![no_main]

use baton_model_server::errors::{Reply, classify, classify_stream_error, overflow};
use baton_model_server::{CallError, ErrorClass};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const URL: &str = "http://127.0.0.1:8000/v1/chat/completions";

fn check(error: &CallError) {
    assert!(error.message.contains(URL), "it says where: {error:?}");
    assert!(
        error.message.chars().count() < 1200,
        "it is short: {error:?}"
    );
    assert!(
        !error.message.contains(['\n', '\r']),
        "it is one line: {error:?}"
    );
    if let ErrorClass::Overflow {
        prompt_tokens,
        limit,
    } = error.class
    {
        assert!(prompt_tokens != Some(0) && limit != Some(0));
        assert!(!error.retryable, "the same request overflows again");
    }
    if matches!(
        error.class,
        ErrorClass::KeyRejected | ErrorClass::UnknownModel | ErrorClass::FeatureOff
    ) {
        assert!(!error.retryable);
    }
}

fuzz_target!(|input: &[u8]| {
    let [a, b, body @ ..] = input else { return };
    let status = 200 + (u16::from(*a) * 2 + u16::from(*b & 1)) % 400;
    let content_type = ["application/json", "text/html", "text/plain", ""][usize::from(b >> 6)];
    let reply = Reply {
        url: URL,
        status,
        content_type,
        retry_after: if b & 2 == 0 { "" } else { "3" },
        proxy: if b & 4 == 0 { "" } else { "squid" },
        body,
    };
    let error = classify(&reply);
    assert_eq!(error.status, Some(status));
    check(&error);
    let value = serde_json::from_slice::<Value>(body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()));
    check(&classify_stream_error(&value, URL));
    check(&classify_stream_error(&json!({ "error": value }), URL));
    // The same words mean the same, as a text and as a message.
    if let Value::String(text) = &value {
        assert_eq!(overflow(&value), overflow(&json!({ "message": text })));
    }
});
