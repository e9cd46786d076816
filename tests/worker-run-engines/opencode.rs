//! The real opencode, where it is installed (`npm install -g opencode-ai`).

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::kit::{CALC, Place, nobody_has};
use crate::support::{Run, eventually};

/// Whether there is an opencode; says so aloud when not.
fn is_installed(test: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("opencode").is_file());
    if !found {
        eprintln!("{test}: skipped, opencode is not installed");
    }
    found
}

fn opencode(place: &Place) -> Run {
    place.run().args(["--engine", "opencode"])
}

#[test]
fn opencode_solves_a_task() {
    if !is_installed("opencode_solves_a_task") {
        return;
    }
    let steps = json!([
        {"calls": [{"read": "calc.py"}]},
        {"calls": [{"edit": "calc.py", "old": "    return a - b", "new": "    return a + b"}]},
        {"calls": [{"bash": "python3 test.py"}]},
        {"say": "add() adds now."}]);
    let place = Place::new(
        &json!({"rule": [{"step": steps}]}),
        &["--api-key", "correct-horse"],
    );
    let ended = opencode(&place)
        .args(["--events", "-"])
        .env("OPENCODE_VLLM_API_KEY", "correct-horse")
        .run()
        .code(0);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let handoff = lines.last().unwrap();
    assert_eq!(handoff["status"], "completed");
    assert_eq!(handoff["outcome"], "add() adds now.");
    assert_eq!(
        handoff["files_changed"],
        json!([{"path": "calc.py", "scope": ""}])
    );
    let tools: Vec<&str> = lines
        .iter()
        .filter(|l| l["type"] == "tool")
        .map(|l| l["tool"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["read", "edit", "bash"]);
    assert_eq!(
        handoff["usage"]["requests"], 4,
        "no hidden request for a title"
    );
    assert!(place.calc().contains("a + b"));
    let left = std::fs::read_dir(place.home.path()).unwrap().count();
    assert!(
        left <= 2,
        "nothing but the script and our own state is in the home"
    );
}

#[test]
fn opencode_on_an_overflow_without_end_is_ended() {
    if !is_installed("opencode_on_an_overflow_without_end_is_ended") {
        return;
    }
    let overflow = json!({"status": 400, "body": {"error": {"message":
        "This model's maximum context length is 8192 tokens. However, you requested 9012 tokens \
         (6964 in the messages, 2048 in the completion). Please reduce the length of the messages or completion.",
        "type": "BadRequestError", "param": null, "code": 400}}});
    let script = json!({"rule": [
        {"when": {"tools": true, "turn": "1.."}, "answer": overflow},
        {"when": {"tools": true}, "answer": {"calls": [{"read": "calc.py"}]}},
        {"answer": {"say": "A summary of what was done."}}]});
    let place = Place::new(&script, &[]).limit("wall_ms", 110_000);
    let handoff = opencode(&place).run().code(1).json();
    assert_eq!(handoff["status"], "overflow", "{handoff:#}");
    assert!(place.requests().len() <= 40, "{}", place.requests().len());
    assert_eq!(place.calc(), CALC);
}

#[test]
fn opencode_waiting_for_a_server_that_hangs_is_ended() {
    if !is_installed("opencode_waiting_for_a_server_that_hangs_is_ended") {
        return;
    }
    let place = Place::new(&json!({"rule": []}), &["--fault", "stall-after-headers"])
        .limit("wall_ms", 110_000)
        .limit("idle_ms", 1500)
        .limit("request_ms", 2500);
    let handoff = opencode(&place).run().code(124).json();
    assert_eq!(handoff["status"], "timed_out", "{handoff:#}");
    place.is_idle();
}

#[test]
fn ctrl_c_leaves_no_opencode() {
    if !is_installed("ctrl_c_leaves_no_opencode") {
        return;
    }
    let script = json!({"rule": [{"answer": {"say": "x ".repeat(500), "pace": "200ms"}}]});
    let place = Place::new(&script, &[]).limit("wall_ms", 110_000);
    let run = opencode(&place);
    let mut child = run
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(run.input()).unwrap();
    eventually("it asks", Duration::from_secs(100), || {
        (!place.requests().is_empty()).then_some(())
    });
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::INT).unwrap();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let handoff: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(handoff["status"], "interrupted");
    // Its processes carry the path of the simulated server's place nowhere; their prompt does.
    nobody_has(place.repo.path().to_str().unwrap());
    place.is_idle();
}
