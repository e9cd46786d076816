//! What worker-run learns of the server, and what it shows of itself to other holders.

use std::process::Stdio;

use serde_json::{Value, json};

use super::support::Run;
use super::{FOUR_STEPS, Place, support_get};

#[test]
fn a_request_in_flight_is_flagged_in_the_slot() {
    let place = Place::new();
    let script = format!(
        "[[rule]]\ntimes = 1\nanswer = {{ say = 'Let me see.', hold = 'gate' }}\n{FOUR_STEPS}"
    );
    let sim = place.sim(&script);
    let mut command = Run::tool("worker-run", &place.home)
        .server(&sim.base_url)
        .cwd(place.repo.path())
        .args([
            "--prompt",
            "Fix add() in calc.py",
            "--write",
            "calc.py",
            "--verify",
            "python3 test.py",
        ])
        .command();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    support_get(&format!("{}/sim/wait?held=1&timeout_ms=60000", sim.root()));
    let status = Run::tool("slot-lock", &place.home)
        .server(&sim.base_url)
        .args(["status", "--json"])
        .run()
        .json();
    let text = status.to_string();
    assert!(text.contains(r#""in_flight":true"#), "{text}");
    super::post(
        &format!("{}/sim/release", sim.root()),
        &json!({"gate": "gate"}),
    );
    let output = child.wait_with_output().unwrap();
    let handoff: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(handoff["status"], "completed", "{handoff}");
}

#[test]
fn the_model_and_its_window_come_from_the_server() {
    let place = Place::new();
    let file = place.home.path().join("script.toml");
    std::fs::write(&file, FOUR_STEPS).unwrap();
    let sim = super::Sim::start([
        "--script".into(),
        file.into_os_string(),
        "--kind".into(),
        "llamacpp".into(),
        "--model".into(),
        "coder".into(),
        "--context".into(),
        "6000".into(),
    ]);
    let events = place.home.path().join("events.jsonl");
    let handoff = place
        .fix(&sim.base_url)
        .arg("--events")
        .arg(&events)
        .run()
        .code(0)
        .json();
    assert_eq!(handoff["model"], "coder");
    // llama-server tells how long it read, so its queue is known.
    assert!(
        handoff["usage"]["queue_ms"].is_u64(),
        "{}",
        handoff["usage"]
    );
    let events = std::fs::read_to_string(events).unwrap();
    let server: Value = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["type"] == "server")
        .unwrap();
    assert_eq!(server["context_tokens"], 6000);
    assert_eq!(server["kind"], "llamacpp");
}

#[test]
fn a_queue_that_cannot_be_told_is_null() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let handoff = place.fix(&sim.base_url).run().code(0).json();
    assert_eq!(handoff["usage"]["queue_ms"], Value::Null);
    assert!(handoff["usage"]["prefill_ms"].is_u64());
}
