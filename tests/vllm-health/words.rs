//! States that come and go while one looks, and what is said about them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Home, Run, Sim, eventually};
use crate::{ask, long_chat, only, sim};

/// Sends a request to the simulator's own routes.
fn steer(server: &Sim, method: &str, target: &str, body: &str) -> String {
    let address = server.root().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn state(server: &Sim, expected: i32) -> String {
    let document = ask(&server.base_url, &[]).code(expected).json();
    only(&document)["state"].as_str().unwrap().to_owned()
}

#[test]
fn r12_a_model_that_is_loaded_on_demand_sleeps_then_loads_then_answers() {
    for kind in ["llama-swap", "llamacpp-router", "skein"] {
        let server = sim(&["--kind", kind, "--load-time", "300s", "--time-scale", "0.1"]);
        assert_eq!(state(&server, 0), "sleeping", "{kind}");
        let _chat = long_chat(&server);
        let reached = steer(&server, "GET", "/sim/wait?loading=1&timeout_ms=60000", "");
        assert!(reached.starts_with("HTTP/1.1 200"), "{kind}: {reached}");
        assert_eq!(state(&server, 1), "loading", "{kind}");
        steer(&server, "POST", "/sim/release", "{\"gate\":\"load\"}");
        eventually("the model is there", Duration::from_secs(60), || {
            let document = ask(&server.base_url, &[]).json();
            let models = only(&document)["models"].as_array().unwrap().clone();
            models.iter().any(|m| m["state"] == "loaded").then_some(())
        });
    }
}

#[test]
fn an_assumed_number_of_slots_is_said_once_in_a_pipe() {
    let server = sim(&[]);
    let script = format!(
        "vllm-health {} | slot-lock --candidates - -- true",
        server.base_url
    );
    let ended = Run::shell(&script, &Home::new()).run().code(0);
    let said = ended
        .stderr
        .lines()
        .filter(|line| line.contains("assum"))
        .count();
    assert_eq!(said, 1, "{}", ended.stderr);
    // A document from a file was written by somebody else, some other time.
    let home = Home::new();
    let script = format!(
        "vllm-health {} > h.json 2>/dev/null; slot-lock --candidates h.json -- true",
        server.base_url
    );
    let ended = Run::shell(&script, &home).cwd(home.path()).run().code(0);
    assert!(ended.stderr.contains("assum"), "{}", ended.stderr);
}

#[test]
fn a_proof_takes_back_that_nothing_was_proven() {
    let server = sim(&[]);
    let document = ask(&server.base_url, &["--probe"]).code(0).json();
    let reason = only(&document)["state_reason"].as_str().unwrap().to_owned();
    assert!(
        reason.contains("(probed)") && !reason.contains("not probed"),
        "{reason}"
    );
}

#[test]
fn r33_a_line_break_around_a_key_is_no_part_of_it() {
    let server = sim(&["--api-key", "sk-1"]);
    let home = Home::new();
    Run::tool("vllm-health", &home)
        .arg(&server.base_url)
        .env("OPENCODE_VLLM_API_KEY", "sk-1\n")
        .run()
        .code(0);
    // One inside it is named.
    Run::tool("vllm-health", &home)
        .arg(&server.base_url)
        .env("OPENCODE_VLLM_API_KEY", "sk\n-1")
        .run()
        .code(78)
        .stderr_has("the key cannot be sent: its character 3 is a line break");
}

#[test]
fn a_watch_without_a_pause_is_refused() {
    ask("http://127.0.0.1:1", &["--watch", "0s"])
        .code(2)
        .stderr_has("--watch 0s");
}

#[test]
fn r21_a_pasted_route_is_a_usage_error_that_says_so() {
    ask("http://127.0.0.1:1/v1/chat/completions", &[])
        .code(2)
        .stderr_has("leave off what comes after /v1");
}
