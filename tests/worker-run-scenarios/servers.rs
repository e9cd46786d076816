//! What the server does: refuses, hangs, stalls, hangs up, overflows.

use serde_json::{Value, json};

use super::kit::{Scenario, bash, four};

fn refusal(status: u16, message: &str) -> Value {
    json!({"status": status, "body": {"error": {"message": message, "type": "service_unavailable", "code": status}}})
}

/// The overflow as vLLM words it.
fn vllm_overflow() -> Value {
    json!({"status": 400, "body": {"error": {"message":
        "This model's maximum context length is 8192 tokens. However, you requested 9012 tokens (6964 in the messages, \
         2048 in the completion). Please reduce the length of the messages or completion.",
        "type": "BadRequestError", "param": null, "code": 400}}})
}

/// The overflow as llama.cpp words it.
fn llama_overflow() -> Value {
    json!({"status": 400, "body": {"error": {"code": 400, "message":
        "request (9012 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "type": "exceed_context_size_error", "n_prompt_tokens": 9012, "n_ctx": 8192}}})
}

#[test]
fn s503() {
    let ended = Scenario::new("s503")
        .steps(vec![refusal(503, "The server is overloaded")])
        .ends("failed", 69)
        .untouched();
    assert!(ended.requests.len() <= 6, "{}", ended.requests.len());
}

#[test]
fn s503x2() {
    Scenario::new("s503x2")
        .limit("queue_ms", 30_000)
        .first(json!({"times": 2, "answer": refusal(503, "The server is overloaded")}))
        .ends("completed", 0)
        .solved(6);
}

#[test]
fn s503html() {
    Scenario::new("s503html")
        .faults(&["proxy-503"])
        .ends("failed", 69)
        .untouched();
}

#[test]
fn s429() {
    let mut answer = refusal(429, "Too many requests");
    answer["retry_after"] = json!("2");
    let ended = Scenario::new("s429")
        .limit("queue_ms", 30_000)
        .first(json!({"times": 2, "answer": answer}))
        .ends("completed", 0)
        .solved(6);
    let arrived = |n: usize| ended.requests[n]["arrived_ms"].as_u64().unwrap();
    assert!(arrived(1) - arrived(0) >= 2000, "Retry-After is honoured");
}

#[test]
fn hang() {
    let ended = Scenario::new("hang")
        .limit("idle_ms", 1500)
        .limit("request_ms", 3000)
        .faults(&["silent"])
        .ends("timed_out", 124)
        .untouched();
    assert!(ended.requests.len() <= 2);
}

#[test]
fn hang_hdr() {
    Scenario::new("hang_hdr")
        .limit("idle_ms", 1500)
        .limit("request_ms", 3000)
        .faults(&["stall-after-headers"])
        .ends("timed_out", 124)
        .untouched();
}

#[test]
fn hang_ping() {
    Scenario::new("hang_ping")
        .limit("idle_ms", 1500)
        .limit("request_ms", 3000)
        .faults(&["stall-with-pings"])
        .ends("timed_out", 124)
        .untouched();
}

#[test]
fn stall() {
    Scenario::new("stall")
        .limit("idle_ms", 1500)
        .limit("request_ms", 3000)
        .faults(&["stall-mid-stream"])
        .ends("timed_out", 124)
        .untouched();
}

#[test]
fn drop() {
    Scenario::new("drop")
        .limit("queue_ms", 30_000)
        .faults(&["drop-mid-stream@1"])
        .ends("completed", 0)
        .solved(5);
}

#[test]
fn dropall() {
    let ended = Scenario::new("dropall")
        .faults(&["drop-mid-stream"])
        .ends("failed", 69)
        .untouched();
    assert!(ended.requests.len() <= 5);
}

/// C-22: a server that refuses whatever is sent is not asked again and again with less.
#[test]
fn ctx400() {
    let ended = Scenario::new("ctx400")
        .first(json!({"when": {"turn": "1.."}, "answer": vllm_overflow()}))
        .ends("overflow", 1)
        .untouched();
    assert!(ended.requests.len() <= 5, "{}", ended.requests.len());
}

#[test]
fn ctx400first() {
    let ended = Scenario::new("ctx400first")
        .steps(vec![vllm_overflow()])
        .ends("overflow", 1)
        .untouched();
    assert!(ended.requests.len() <= 3, "{}", ended.requests.len());
}

#[test]
fn llamactx() {
    let ended = Scenario::new("llamactx")
        .server(&["--kind", "llamacpp"])
        .first(json!({"when": {"turn": "1.."}, "answer": llama_overflow()}))
        .ends("overflow", 1)
        .untouched();
    assert!(ended.requests.len() <= 5, "{}", ended.requests.len());
}

#[test]
fn q07_a_request_that_was_swallowed_is_asked_once_more() {
    let set = Scenario::new("q07").faults(&["silent@1"]).set();
    set.home.config(&format!(
        "[[provider]]\nid = \"p\"\nbase_url = \"{}\"\ntimeouts = {{ first_byte = \"2s\" }}\n",
        set.sim.base_url
    ));
    set.ends("completed", 0).solved(5);
}

#[test]
fn q13_a_connection_closed_while_a_tool_ran_costs_nothing() {
    let mut steps = four();
    steps.insert(1, bash("sleep 1"));
    Scenario::new("q13")
        .steps(steps)
        .faults(&["close-idle"])
        .ends("completed", 0)
        .solved(5);
}

#[test]
fn q14_the_limit_is_kept_and_what_was_done_is_reported() {
    let ended = Scenario::new("q14")
        .limit("wall_ms", 6000)
        .faults(&["silent@3.."])
        .ends("timed_out", 124);
    assert!(ended.calc.contains("return a + b"), "{}", ended.calc);
    assert_eq!(ended.handoff["files_changed"][0]["path"], "calc.py");
    assert!(ended.handoff["usage"]["wall_ms"].as_u64() < Some(20_000));
}
