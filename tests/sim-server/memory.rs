//! Models that are loaded when they are asked for: it takes time, it shows, and it ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{CHAT, get, open, post, read, release, request, wait};
use crate::support::{Sim, eventually};

/// A load that ends by its gate, long before its time.
const SLOW: [&str; 2] = ["--load-time", "300s"];

fn start(kind: &str, more: &[&str]) -> Sim {
    let args = ["--kind", kind, "--model", "a", "--model", "b"];
    Sim::start(args.iter().chain(more))
}

/// The state of a model in the words of its kind; empty where it is not mentioned.
fn state(sim: &Sim, kind: &str, model: &str) -> String {
    let of = |list: &Value, key: &str, path: &str| {
        let entry = list.as_array().unwrap().iter().find(|e| e[key] == model);
        entry
            .and_then(|e| e.pointer(path)?.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    match kind {
        "llama-swap" => of(&get(sim, "/running").json()["running"], "model", "/state"),
        "llamacpp-router" => of(
            &get(sim, "/v1/models").json()["data"],
            "id",
            "/status/value",
        ),
        "skein" => of(&get(sim, "/v1/models").json()["data"], "id", "/state"),
        _ => of(&get(sim, "/api/ps").json()["models"], "name", "/name"),
    }
}

#[test]
fn q04_a_load_takes_its_time_and_shows_on_every_kind() {
    for (kind, none, loading, loaded) in [
        ("llama-swap", "", "starting", "ready"),
        ("llamacpp-router", "unloaded", "loading", "loaded"),
        ("skein", "stopped", "starting", "ready"),
        ("ollama", "", "", "a"),
    ] {
        let sim = start(kind, &SLOW);
        assert_eq!(state(&sim, kind, "a"), none, "{kind}");
        let body = request("hi", json!({"model": "a"})).to_string();
        let chat = open(&sim, "POST", CHAT, "", &body);
        wait(&sim, "loading=1&waiting=1&running=0");
        assert_eq!(state(&sim, kind, "a"), loading, "{kind}");
        assert_eq!(get(&sim, "/sim/state").json()["loading"], "a");
        release(&sim, "load");
        assert_eq!(read(chat).unwrap().status, 200, "{kind}");
        assert_eq!(state(&sim, kind, "a"), loaded, "{kind}");
        // It is there now: no second wait.
        assert_eq!(
            post(&sim, CHAT, &request("hi", json!({"model": "a"}))).status,
            200
        );
    }
}

#[test]
fn q12_another_model_is_loaded_only_when_nothing_runs_and_a_client_that_left_changes_nothing() {
    let sim = start("llama-swap", &["--load-time", "300s"]);
    let ask = |model: &str| {
        let body = request("hi", json!({"model": model})).to_string();
        open(&sim, "POST", CHAT, "", &body)
    };
    let first = ask("a");
    wait(&sim, "loading=1");
    drop(first);
    wait(&sim, "waiting=0");
    // The load goes on although nobody waits for it.
    assert_eq!(get(&sim, "/sim/state").json()["loading"], "a");
    let second = ask("b");
    wait(&sim, "waiting=1");
    release(&sim, "load");
    eventually("b is loaded after a", Duration::from_secs(60), || {
        (state(&sim, "llama-swap", "b") == "starting").then_some(())
    });
    assert_eq!(state(&sim, "llama-swap", "a"), "");
    release(&sim, "load");
    assert_eq!(read(second).unwrap().status, 200);
    assert_eq!(get(&sim, "/sim/state").json()["resident"], "b");
}

#[test]
fn an_idle_model_leaves_after_its_keep_alive() {
    let sim = start("ollama", &["--keep-alive", "300ms"]);
    assert_eq!(
        post(&sim, CHAT, &request("hi", json!({"model": "a"}))).status,
        200
    );
    let began = Instant::now();
    eventually("it is unloaded", Duration::from_secs(60), || {
        state(&sim, "ollama", "a").is_empty().then_some(())
    });
    assert!(began.elapsed() >= Duration::from_millis(100));
}

#[test]
fn models_are_loaded_and_unloaded_by_hand() {
    let swap = start("llama-swap", &[]);
    assert_eq!(get(&swap, "/upstream/a/props").json()["total_slots"], 2);
    assert_eq!(state(&swap, "llama-swap", "a"), "ready");
    assert_eq!(get(&swap, "/upstream/c/props").status, 404);
    assert_eq!(get(&swap, "/unload").text(), "OK");
    assert_eq!(state(&swap, "llama-swap", "a"), "");

    let router = start("llamacpp-router", &SLOW);
    let load = json!({"model": "b"});
    assert_eq!(post(&router, "/models/load", &load).json()["success"], true);
    wait(&router, "loading=1");
    release(&router, "load");
    wait(&router, "loading=0");
    assert_eq!(post(&router, "/models/load", &load).status, 400);
    assert_eq!(
        post(&router, "/models/unload", &load).json()["success"],
        true
    );
    assert_eq!(state(&router, "llamacpp-router", "b"), "unloaded");
    assert_eq!(post(&router, "/models/unload", &load).status, 400);

    let ollama = start("ollama", &[]);
    let loaded = post(&ollama, "/api/generate", &json!({"model": "a"})).json();
    assert_eq!(
        (&loaded["done_reason"], &loaded["done"]),
        (&json!("load"), &json!(true))
    );
    assert_eq!(state(&ollama, "ollama", "a"), "a");
    let gone = json!({"model": "a", "messages": [], "keep_alive": 0});
    let gone = post(&ollama, "/api/chat", &gone).json();
    assert_eq!(gone["done_reason"], "unload");
    assert_eq!(state(&ollama, "ollama", "a"), "");
}

/// The lines of a stream of JSON lines.
fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn ollama_s_own_routes_stream_lines_unless_told_otherwise() {
    let sim = start("ollama", &["--context", "4096"]);
    let chat = json!({"model": "a", "messages": [{"role": "user", "content": "hi"}]});
    let answer = post(&sim, "/api/chat", &chat);
    assert_eq!(
        answer.header("content-type").as_deref(),
        Some("application/x-ndjson")
    );
    let all = lines(&answer.text());
    let (last, parts) = all.split_last().unwrap();
    assert!(
        parts
            .iter()
            .all(|l| l["done"] == false && l["model"] == "a")
    );
    assert_eq!(
        (&last["done"], &last["done_reason"]),
        (&json!(true), &json!("stop"))
    );
    assert!(last["prompt_eval_count"].as_u64().unwrap() > 0 && last["eval_count"].is_u64());
    let said: String = parts
        .iter()
        .filter_map(|l| l["message"]["content"].as_str())
        .collect();
    let mut whole = chat.clone();
    whole["stream"] = json!(false);
    let whole = post(&sim, "/api/chat", &whole).json();
    assert_eq!(whole["message"]["content"], said);

    let prompt =
        json!({"model": "a", "prompt": "hi", "stream": false, "options": {"num_predict": 1}});
    let generated = post(&sim, "/api/generate", &prompt).json();
    assert!(generated["response"].is_string() && generated["message"].is_null());
    assert_eq!(generated["done_reason"], "length");

    let missing = post(&sim, "/api/chat", &json!({"model": "c", "messages": []}));
    assert_eq!(
        (missing.status, missing.json()),
        (404, json!({"error": "model 'c' not found"}))
    );
    assert_eq!(post(&sim, "/api/chat", &json!({})).status, 400);
    assert_eq!(post(&sim, "/api/show", &json!({"model": "c"})).status, 404);
    let shown = post(&sim, "/api/show", &json!({"model": "a"})).json();
    assert!(shown["model_info"]["qwen2.context_length"].is_u64());
}

#[test]
fn c11_only_the_native_route_hears_num_ctx() {
    let sim = start("ollama", &["--context", "4096"]);
    let long = "word ".repeat(6000);
    let mut body = json!({"model": "a", "stream": false, "options": {"num_ctx": 16_384},
                          "messages": [{"role": "user", "content": long}]});
    let native = post(&sim, "/api/chat", &body).json();
    assert!(
        native["prompt_eval_count"].as_u64().unwrap() > 6000,
        "{native}"
    );
    body["stream"] = json!(false);
    let cut = post(&sim, CHAT, &body).json();
    assert_eq!(cut["usage"]["prompt_tokens"], 2048);
}

#[test]
fn ollama_s_calls_come_whole_with_objects_for_arguments() {
    let script = "[[rule]]\nanswer.calls = [{ tool = \"read\", with = { path = \"a.rs\" } }]";
    let sim = crate::kit::scripted(script, &["--kind", "ollama", "--model", "a"]);
    let body = json!({"model": "a", "messages": [{"role": "user", "content": "go"}],
                      "tools": [crate::kit::tool("read", &["path"])]});
    let all = lines(&post(&sim, "/api/chat", &body).text());
    let calls: Vec<&Value> = all
        .iter()
        .filter_map(|l| l.pointer("/message/tool_calls/0/function"))
        .collect();
    assert_eq!(
        calls,
        [&json!({"name": "read", "arguments": {"path": "a.rs"}})]
    );
}
