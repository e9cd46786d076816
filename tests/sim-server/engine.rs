//! Slots, queue, pool, caches, limits and cancelling.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Answer, CHAT, chats, get, open, post, read, release, request, scripted, wait};
use crate::support::{Sim, eventually};

const HELD: &str = "[[rule]]\nwhen.user = 'held'\nanswer = { say = 'at last', hold = 'gate' }\n";

fn hold(sim: &Sim) -> std::net::TcpStream {
    let body = request("held", json!({"stream": true})).to_string();
    open(sim, "POST", CHAT, "", &body)
}

fn metric(sim: &Sim, name: &str) -> f64 {
    let text = get(sim, "/metrics").text();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn usage(answer: &Answer) -> Value {
    answer.json()["usage"].clone()
}

#[test]
fn requests_queue_first_in_first_out_and_the_metrics_show_it() {
    let sim = scripted(HELD, &["--slots", "1"]);
    let first = hold(&sim);
    wait(&sim, "held=1");
    let second = hold(&sim);
    wait(&sim, "running=1&waiting=1");
    let third = hold(&sim);
    wait(&sim, "running=1&waiting=2");
    assert!((metric(&sim, "vllm:num_requests_waiting{") - 2.0).abs() < 0.1);
    assert_eq!(get(&sim, "/load").json(), json!({"server_load": 3}));
    for stream in [first, second, third] {
        release(&sim, "gate");
        assert!(read(stream).unwrap().text().ends_with("data: [DONE]\n\n"));
    }
    let order: Vec<u64> = chats(&sim)
        .iter()
        .map(|r| r["started_ms"].as_u64().unwrap())
        .collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn vllm_sends_headers_to_a_queued_stream_and_llamacpp_does_not() {
    for (kind, early) in [("vllm", true), ("llamacpp", false)] {
        let sim = scripted(HELD, &["--slots", "1", "--kind", kind]);
        let first = hold(&sim);
        wait(&sim, "held=1");
        let queued = hold(&sim);
        wait(&sim, "waiting=1");
        let started = chats(&sim)[1]["status"] == 200;
        assert_eq!(started, early, "{kind}");
        release(&sim, "gate");
        release(&sim, "gate");
        assert!(read(first).is_some() && read(queued).unwrap().complete);
    }
}

#[test]
fn q05_a_cancelled_request_frees_its_slot_at_once_or_after_the_lag() {
    for (lag, running) in [("0s", 0), ("1h", 1)] {
        let sim = scripted(HELD, &["--slots", "1", "--cancel-lag", lag]);
        let stream = hold(&sim);
        wait(&sim, "held=1");
        drop(stream);
        wait(&sim, "held=0");
        wait(&sim, &format!("running={running}"));
        // With a lag, the slot cannot tell that the request has ended; only the record can.
        eventually("the record is closed", Duration::from_secs(20), || {
            (chats(&sim)[0]["outcome"] == "hung_up").then_some(())
        });
    }
}

#[test]
fn a_queued_client_that_leaves_is_taken_out_of_the_queue() {
    let sim = scripted(HELD, &["--slots", "1"]);
    let first = hold(&sim);
    wait(&sim, "held=1");
    let queued = hold(&sim);
    wait(&sim, "waiting=1");
    drop(queued);
    wait(&sim, "waiting=0&running=1");
    release(&sim, "gate");
    assert!(read(first).unwrap().complete);
}

#[test]
fn a_request_larger_than_the_pool_waits_for_ever_on_vllm() {
    let sim = Sim::start(["--context", "4096", "--pool", "64"]);
    let stream = open(
        &sim,
        "POST",
        CHAT,
        "",
        &request(&"word ".repeat(200), json!({})).to_string(),
    );
    wait(&sim, "waiting=1&running=0");
    drop(stream);
    wait(&sim, "waiting=0");
}

#[test]
fn r36_a_shared_pool_that_runs_over_aborts_everything_on_llamacpp() {
    let args = [
        "--kind",
        "llamacpp",
        "--context",
        "1024",
        "--unified",
        "--slots",
        "4",
    ];
    let sim = scripted(HELD, &args);
    let long = request(&"held ".repeat(600), json!({"stream": true})).to_string();
    let first = open(&sim, "POST", CHAT, "", &long);
    wait(&sim, "held=1");
    let second = open(&sim, "POST", CHAT, "", &long);
    for stream in [first, second] {
        let text = read(stream).unwrap().text();
        assert!(text.contains("Context size has been exceeded."), "{text}");
        assert!(!text.contains("[DONE]"), "{text}");
    }
    wait(&sim, "running=0");
}

#[test]
fn the_second_turn_finds_its_prefix_in_the_cache() {
    for (kind, block) in [("vllm", 16), ("llamacpp", 1)] {
        let sim = Sim::start(["--kind", kind]);
        let text = "The quick brown fox jumps over the lazy dog. ".repeat(20);
        let first = usage(&post(&sim, CHAT, &request(&text, json!({}))));
        assert_eq!(first["prompt_tokens_details"]["cached_tokens"], 0);
        let mut longer = request(&text, json!({}));
        let more = json!({"role": "user", "content": "And now?"});
        longer["messages"].as_array_mut().unwrap().push(more);
        let second = usage(&post(&sim, CHAT, &longer));
        let cached = second["prompt_tokens_details"]["cached_tokens"]
            .as_u64()
            .unwrap();
        assert!(
            cached > 150 && cached.is_multiple_of(block),
            "{kind}: {second}"
        );
    }
}

#[test]
fn tokenize_usage_and_the_limit_agree() {
    let messages = json!([{"role": "system", "content": "Be terse."},
                          {"role": "user", "content": "Naïve 日本語 🦀?"}]);
    let count = |sim: &Sim, path: &str, key: &str| {
        post(sim, path, &json!({"messages": messages})).json()[key]
            .as_u64()
            .unwrap()
    };
    let vllm = Sim::start(["--kind", "vllm"]);
    let counted = count(&vllm, "/tokenize", "count");
    let asked = json!({"messages": messages});
    assert_eq!(usage(&post(&vllm, CHAT, &asked))["prompt_tokens"], counted);
    let window = counted.to_string();
    let tight = Sim::start(["--kind", "llamacpp", "--context", &window]);
    assert_eq!(
        count(&tight, "/v1/chat/completions/input_tokens", "input_tokens"),
        counted
    );
    let refused = post(&tight, CHAT, &asked);
    assert_eq!(refused.json()["error"]["n_prompt_tokens"], counted);
    let roomy = Sim::start([
        "--kind",
        "llamacpp",
        "--context",
        &(counted + 1).to_string(),
    ]);
    let cut = post(&roomy, CHAT, &asked).json();
    assert_eq!(cut["choices"][0]["finish_reason"], "length");
    assert_eq!(cut["usage"]["total_tokens"], counted + 1);
}

#[test]
fn simulated_time_passes_at_the_measured_rates() {
    // A tenth of real time: 106 tokens at 53 a second take 200 ms alone.
    let script = "[[rule]]\nanswer.say = 'x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x'";
    let sim = scripted(script, &["--time-scale", "0.1"]);
    let clock = std::time::Instant::now();
    let answer = post(&sim, CHAT, &request("hi", json!({})));
    let tokens = usage(&answer)["completion_tokens"].as_u64().unwrap();
    let expected = f64::from(u32::try_from(tokens).unwrap()) / 53.0 * 0.1;
    let took = clock.elapsed().as_secs_f64();
    assert!(
        took >= expected * 0.95,
        "{tokens} tokens in {took} s, expected {expected} s"
    );
}
