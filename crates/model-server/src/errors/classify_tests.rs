//! Every error body of the recorded servers and the bug log, as bytes.

use super::super::ErrorClass;
use super::{Reply, classify, classify_stream_error};

fn class_of(status: u16, body: &str) -> (ErrorClass, bool) {
    let error = classify(&reply(status, "application/json", body));
    assert_eq!(error.status, Some(status));
    (error.class, error.retryable)
}

fn reply<'a>(status: u16, content_type: &'a str, body: &'a str) -> Reply<'a> {
    Reply {
        url: "http://h/v1/chat/completions",
        status,
        content_type,
        retry_after: "",
        proxy: "",
        body: body.as_bytes(),
    }
}

fn overflow(prompt_tokens: Option<u64>, limit: Option<u64>) -> (ErrorClass, bool) {
    (
        ErrorClass::Overflow {
            prompt_tokens,
            limit,
        },
        false,
    )
}

#[test]
fn c02_an_overflow_with_status_500_is_not_retried() {
    let body = r#"{"error":{"code":500,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}"#;
    assert_eq!(class_of(500, body), overflow(Some(1407), Some(256)));
}

#[test]
fn c04_an_error_that_is_plain_text_is_read() {
    assert_eq!(
        class_of(400, r#"{"error":"Context size has been exceeded."}"#),
        overflow(None, None)
    );
    assert_eq!(class_of(413, ""), overflow(None, None));
}

#[test]
fn c13_the_lost_user_turn_is_an_overflow_and_no_crash() {
    let body = r#"{"error":{"message":"no user query found in messages","type":"api_error"}}"#;
    assert_eq!(class_of(500, body), overflow(None, None));
}

#[test]
fn r01_q11_loading_and_busy_are_two_kinds_of_503() {
    let loading = r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
    assert_eq!(class_of(503, loading), (ErrorClass::Loading, true));
    for busy in [
        r#"{"error":"server busy, please try again. maximum pending requests exceeded"}"#,
        r#"{"error":{"message":"The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.","type":"Service Unavailable","param":null,"code":503}}"#,
    ] {
        assert_eq!(class_of(503, busy), (ErrorClass::Busy, true), "{busy}");
    }
    assert_eq!(
        class_of(429, r#"{"error":"Too many requests"}"#),
        (ErrorClass::Busy, true)
    );
    assert_eq!(class_of(503, ""), (ErrorClass::Transient, true));
}

#[test]
fn r32_r33_both_servers_words_for_a_rejected_key() {
    for body in [
        r#"{"error":"Unauthorized"}"#,
        r#"{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}"#,
        "",
    ] {
        let error = classify(&reply(401, "application/json", body));
        assert_eq!(error.class, ErrorClass::KeyRejected);
        assert!(!error.retryable);
        assert!(
            error.message.contains("OPENCODE_VLLM_API_KEY"),
            "{}",
            error.message
        );
    }
}

#[test]
fn r34_missing_tool_flags_are_named_and_not_retried() {
    let body = r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}}"#;
    let error = classify(&reply(400, "application/json", body));
    assert_eq!(error.class, ErrorClass::FeatureOff);
    assert!(!error.retryable && error.message.contains("--tool-call-parser"));
}

#[test]
fn unknown_models_of_all_servers() {
    for (status, body) in [
        (
            404,
            r#"{"error":{"message":"The model `nope` does not exist. Valid aliases: qwen38.","type":"NotFoundError","param":"model","code":404}}"#,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"model 'x' not found","type":"invalid_request_error"}}"#,
        ),
        (
            404,
            r#"{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}"#,
        ),
    ] {
        assert_eq!(
            class_of(status, body),
            (ErrorClass::UnknownModel, false),
            "{body}"
        );
    }
    // A wrong path is not a wrong model.
    assert_eq!(
        class_of(404, r#"{"detail":"Not Found"}"#),
        (ErrorClass::Deterministic, false)
    );
}

#[test]
fn r03_no_model_loaded_is_loading() {
    let body = r#"{"error":{"code":"model_not_loaded","message":"no model"}}"#;
    assert_eq!(class_of(400, body), (ErrorClass::Loading, true));
}

#[test]
fn a_router_that_does_not_load_models_will_not_load_this_one() {
    let body =
        r#"{"error":{"code":400,"message":"model is not loaded","type":"invalid_request_error"}}"#;
    assert_eq!(class_of(400, body), (ErrorClass::Deterministic, false));
}

#[test]
fn a_request_that_fails_every_time_is_not_retried() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"Grammar error: x","type":"Bad Request","code":400}}"#,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: x","type":"server_error"}}"#,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"image input is not supported","type":"server_error"}}"#,
        ),
        (422, r#"{"detail":[{"msg":"field required"}]}"#),
        (501, r#"{"error":{"message":"nope"}}"#),
    ] {
        let (class, retryable) = class_of(status, body);
        assert!(!retryable, "{class:?} {body}");
    }
}

#[test]
fn a_dead_engine_is_transient() {
    for body in [
        r#"{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","param":null,"code":500}}"#,
        r#"{"error":{"message":"cannot schedule new futures after shutdown","type":"InternalServerError","code":500}}"#,
    ] {
        assert_eq!(class_of(500, body), (ErrorClass::Transient, true));
    }
    assert_eq!(
        class_of(502, "upstream died"),
        (ErrorClass::Transient, true)
    );
}

#[test]
fn r26_a_web_page_is_named_with_its_first_80_characters() {
    let page = format!(
        "<!DOCTYPE html>\n<html><head><title>Portal</title>{}",
        "x".repeat(200)
    );
    let error = classify(&reply(200, "text/html; charset=utf-8", &page));
    assert_eq!(error.class, ErrorClass::NotApi);
    assert!(error.message.contains("web page") && error.message.contains("<title>Portal"));
    assert!(error.message.contains("http://h/v1/chat/completions"));
    assert!(error.message.chars().count() < 300);
    assert_eq!(class_of(200, "Not here").0, ErrorClass::NotApi);
}

#[test]
fn r29_a_proxy_s_page_is_named_as_such() {
    let mut squid = reply(503, "text/html", "<html>ERR_CONNECT_FAIL</html>");
    squid.proxy = "X-Squid-Error: ERR_CONNECT_FAIL 111";
    let error = classify(&squid);
    assert!(
        error.message.contains("from a proxy (X-Squid-Error"),
        "{}",
        error.message
    );
    assert!(error.retryable, "the gateway's server may come back");
}

#[test]
fn s33_gzip_without_a_header_is_named() {
    let mut gzip = reply(200, "application/json", "");
    gzip.body = &[0x1f, 0x8b, 8, 0];
    let error = classify(&gzip);
    assert_eq!(error.class, ErrorClass::NotApi);
    assert!(error.message.contains("gzip"));
}

#[test]
fn errors_inside_a_stream_use_their_own_code() {
    let error = classify_stream_error(
        &serde_json::json!({"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}),
        "http://h",
    );
    assert_eq!(
        error.class,
        ErrorClass::Overflow {
            prompt_tokens: None,
            limit: None
        }
    );
    let error = classify_stream_error(&serde_json::json!({"message": "quota exceeded"}), "u");
    assert!(error.message.contains("quota exceeded"));
}

#[test]
fn retry_after_is_read() {
    let mut busy = reply(429, "application/json", "{}");
    busy.retry_after = "7";
    assert_eq!(classify(&busy).retry_after.map(|d| d.as_secs()), Some(7));
}

mod any_bytes {
    use proptest::prelude::*;

    use super::super::{Reply, classify};

    proptest! {
        #[test]
        fn are_classified_without_a_panic(
            status in 100u16..600,
            body in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let error = classify(&Reply {
                url: "u", status, content_type: "", retry_after: "x", proxy: "", body: &body,
            });
            prop_assert!(!error.message.is_empty());
        }
    }
}
