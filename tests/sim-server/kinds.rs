//! What sets the other server kinds apart. Router shapes are recorded; the others are as described.

use serde_json::{Value, json};

use crate::kit::{CHAT, get, open, post, read, release, request, scripted, tool, wait};
use crate::support::Sim;

fn start(kind: &str, more: &[&str]) -> Sim {
    let mut args = vec![
        "--kind",
        kind,
        "--model",
        "a",
        "--model",
        "b",
        "--context",
        "8192",
    ];
    args.extend(more);
    Sim::start(args)
}

fn ask(model: &str) -> Value {
    request("hi", json!({ "model": model }))
}

#[test]
fn every_kind_answers_a_chat_streamed_and_whole() {
    let help = std::process::Command::new(crate::support::sim_server_path())
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for kind in [
        "vllm",
        "llamacpp",
        "llamacpp-router",
        "ollama",
        "lmstudio",
        "sglang",
        "llama-swap",
        "skein",
        "tgi",
        "litellm",
        "openai",
    ] {
        assert!(help.contains(kind), "{kind} is not in\n{help}");
        let sim = start(kind, &[]);
        let mut body = ask("a");
        body["max_tokens"] = json!(50);
        let whole = post(&sim, CHAT, &body);
        assert_eq!(whole.status, 200, "{kind}: {}", whole.text());
        let said = whole.json()["choices"][0]["message"]["content"].clone();
        body["stream"] = json!(true);
        let events = post(&sim, CHAT, &body).events();
        let pieces = events
            .iter()
            .filter_map(|e| e["choices"][0]["delta"]["content"].as_str());
        assert_eq!(pieces.collect::<String>(), said, "{kind}");
    }
}

#[test]
fn r12_a_router_lists_what_is_not_loaded_and_loads_what_is_asked() {
    let sim = start("llamacpp-router", &[]);
    let states = || -> Vec<Value> {
        let list = get(&sim, "/v1/models").json();
        list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["status"]["value"].clone())
            .collect()
    };
    assert_eq!(states(), ["unloaded", "unloaded"]);
    assert_eq!(get(&sim, "/slots?model=a").status, 400);
    assert_eq!(post(&sim, CHAT, &ask("b")).status, 200);
    assert_eq!(states(), ["unloaded", "loaded"]);
    assert_eq!(get(&sim, "/slots?model=b").json()[0]["n_ctx"], 8192);
    assert_eq!(get(&sim, "/props").json()["role"], "router");
    let nameless = json!({"messages": []});
    assert!(
        post(&sim, CHAT, &nameless)
            .text()
            .contains("model name is missing from the request")
    );
    assert!(
        post(&sim, CHAT, &ask("x"))
            .text()
            .contains("model 'x' not found")
    );
}

#[test]
fn o31_another_model_waits_for_the_running_one() {
    let script = "[[rule]]\nwhen.model = 'a'\nanswer = { say = 'x', hold = 'gate' }";
    let args = [
        "--kind",
        "llama-swap",
        "--model",
        "a",
        "--model",
        "b",
        "--slots",
        "4",
    ];
    let sim = scripted(script, &args);
    let first = open(&sim, "POST", CHAT, "", &ask("a").to_string());
    wait(&sim, "held=1");
    let second = open(&sim, "POST", CHAT, "", &ask("b").to_string());
    wait(&sim, "running=1&waiting=1");
    release(&sim, "gate");
    assert!(read(first).is_some());
    assert_eq!(read(second).unwrap().json()["model"], "b");
    let running = get(&sim, "/running").json();
    assert_eq!(running["running"].as_array().unwrap().len(), 1);
    assert_eq!(
        (
            &running["running"][0]["model"],
            &running["running"][0]["state"]
        ),
        (&json!("b"), &json!("ready"))
    );
}

#[test]
fn c11_ollama_cuts_a_long_prompt_and_only_usage_shows_it() {
    let sim = start("ollama", &[]);
    let mut body = request(&"word ".repeat(20_000), json!({"model": "a"}));
    body["tools"] = json!([tool("read", &["path"])]);
    let answer = post(&sim, CHAT, &body);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["usage"]["prompt_tokens"], 4096);
    assert_eq!(
        get(&sim, "/api/ps").json()["models"][0]["context_length"],
        8192
    );
    assert!(
        post(&sim, CHAT, &ask("x"))
            .text()
            .contains("try pulling it first")
    );
}

#[test]
fn r13_to_r15_lm_studio_tells_the_loaded_window_only_natively() {
    let sim = start("lmstudio", &[]);
    assert!(!get(&sim, "/v1/models").text().contains("context"));
    let beta = get(&sim, "/api/v0/models").json();
    assert_eq!(beta["data"][0]["loaded_context_length"], 8192);
    assert_eq!(beta["data"][1]["state"], "not-loaded");
    assert_eq!(get(&sim, "/health").status, 200);
    assert!(get(&sim, "/health").text().contains("Unexpected endpoint"));
    let none = start("lmstudio", &["--fault", "none-loaded"]);
    let native = get(&none, "/api/v1/models").json();
    assert_eq!(native["models"][0]["loaded_instances"], json!([]));
    assert_eq!(
        get(&none, "/api/v0/models").json()["data"][0]["loaded_context_length"],
        Value::Null
    );
}

#[test]
fn skein_tells_hardware_fit_and_states() {
    let sim = start("skein", &[]);
    assert_eq!(
        get(&sim, "/health").json()["models"]["a"]["state"],
        "stopped"
    );
    assert_eq!(
        get(&sim, "/api/hardware").json()["inference"]["slots_total"],
        0
    );
    post(&sim, CHAT, &ask("a"));
    let hardware = get(&sim, "/api/hardware").json();
    assert_eq!(
        hardware["inference"],
        json!({"in_flight": 0, "slots_total": 2, "busy": false})
    );
    assert_eq!(hardware["loaded_model"]["id"], "a");
    let fit = get(&sim, "/api/fit/a?ctx=8000").json();
    assert_eq!(
        (&fit["fit_level"], &fit["max_safe_ctx"]),
        (&json!("tight"), &json!(3440))
    );
    assert_eq!(get(&sim, "/api/fit/a?ctx=9000").json()["max_safe_ctx"], 0);
    let long = post(
        &sim,
        CHAT,
        &request(&"word ".repeat(4000), json!({"model": "a"})),
    );
    assert_eq!(
        (long.status, long.header("x-skein-max-safe-ctx").as_deref()),
        (413, Some("3440"))
    );
}

#[test]
fn the_others_have_their_own_probes_and_errors() {
    let sglang = start("sglang", &[]);
    assert_eq!(
        get(&sglang, "/get_server_info").json()["context_length"],
        8192
    );
    assert!(
        get(&sglang, "/metrics")
            .text()
            .contains("sglang:num_running_reqs{")
    );
    let long = request(&"word ".repeat(20_000), json!({"model": "a"}));
    assert!(
        post(&sglang, CHAT, &long).json()["message"]
            .as_str()
            .unwrap()
            .contains("is longer than")
    );
    let tgi = start("tgi", &[]);
    assert_eq!(get(&tgi, "/info").json()["max_total_tokens"], 8192);
    assert_eq!(post(&tgi, CHAT, &long).status, 422);
    let litellm = start("litellm", &[]);
    assert_eq!(get(&litellm, "/health/liveliness").json(), "I'm alive!");
    assert_eq!(post(&litellm, CHAT, &long).json()["error"]["code"], "400");
    let openai = start("openai", &[]);
    assert_eq!(
        post(&openai, CHAT, &long).json()["error"]["code"],
        "context_length_exceeded"
    );
}

#[test]
fn r23_a_server_behind_a_path() {
    let sim = start("vllm", &["--prefix", "/api"]);
    assert!(sim.base_url.ends_with("/api/v1"), "{}", sim.base_url);
    let root = sim.base_url.trim_end_matches("/api/v1").to_owned();
    let status = |path: &str| {
        let address = root.trim_start_matches("http://");
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        read(stream).unwrap().status
    };
    assert_eq!((status("/api/v1/models"), status("/v1/models")), (200, 404));
}

#[test]
fn q05_q06_cancels_that_are_not_noticed_or_do_harm() {
    let script = "[[rule]]\nanswer = { say = 'x', hold = 'gate' }";
    let deaf = scripted(script, &["--fault", "deaf", "--slots", "1"]);
    drop(open(
        &deaf,
        "POST",
        CHAT,
        "",
        &request("hi", json!({})).to_string(),
    ));
    wait(&deaf, "running=1&held=1");
    release(&deaf, "gate");
    wait(&deaf, "running=0");
    let brittle = scripted(script, &["--fault", "brittle", "--slots", "1"]);
    let first = open(
        &brittle,
        "POST",
        CHAT,
        "",
        &request("hi", json!({"stream": true})).to_string(),
    );
    wait(&brittle, "held=1");
    let queued = open(
        &brittle,
        "POST",
        CHAT,
        "",
        &request("hi", json!({"stream": true})).to_string(),
    );
    wait(&brittle, "waiting=1");
    drop(queued);
    wait(&brittle, "waiting=0");
    release(&brittle, "gate");
    wait(&brittle, "held=0&running=1");
    assert_eq!(get(&brittle, "/sim/state").json()["frozen"], true);
    drop(first);
    wait(&brittle, "running=0");
}
