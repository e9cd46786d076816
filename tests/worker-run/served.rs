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

#[test]
fn what_the_run_writes_about_itself_in_the_work_tree_is_no_change() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let command = format!(
        "'{}' --no-slot --prompt 'Fix add()' --write calc.py --verify 'python3 test.py' --events events.jsonl >out.json 2>log.txt",
        super::support::tool_path("worker-run").display()
    );
    Run::shell(&command, &place.home)
        .server(&sim.base_url)
        .cwd(place.repo.path())
        .run()
        .code(0);
    let handoff: Value =
        serde_json::from_slice(&std::fs::read(place.repo.path().join("out.json")).unwrap())
            .unwrap();
    assert_eq!(
        handoff["files_changed"],
        json!([{"path": "calc.py", "scope": ""}])
    );
    let events = std::fs::read_to_string(place.repo.path().join("events.jsonl")).unwrap();
    assert!(events.contains(r#""type":"end""#), "it is whole: {events}");
}

#[test]
fn a_limit_of_file_sizes_leaves_a_document() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    for blocks in [0, 1, 16] {
        let command = format!(
            "ulimit -f {blocks}; exec '{}' --no-slot --prompt 'Fix add()' --write calc.py --verify 'python3 test.py' --events '{}' | cat",
            super::support::tool_path("worker-run").display(),
            place.home.path().join("events.jsonl").display()
        );
        let document = Run::shell(&command, &place.home)
            .server(&sim.base_url)
            .cwd(place.repo.path())
            .run()
            .json();
        let schema = document["schema"].as_str().unwrap();
        assert!(matches!(schema, "handoff/1" | "error/1"), "{document}");
        super::git(place.repo.path(), &["checkout", "-q", "."]);
    }
}

#[test]
fn a_server_that_dies_in_the_middle_leaves_a_hand_off() {
    let place = Place::new();
    let sim = place.sim(
        "[[rule]]\n[[rule.step]]\ncalls = [{ read = 'calc.py' }]\n[[rule.step]]\nsay = 'x'\nhold = 'gate'\n",
    );
    let task = json!({"schema": "task/1", "id": "t", "prompt": "Fix add()", "scope": {"write": ["calc.py"]},
        "verify": [{"command": "python3 test.py"}], "limits": {"queue_ms": 1000}});
    let mut command = place
        .run(&sim.base_url)
        .arg("--task")
        .arg(write_task(&place, &task))
        .command();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    support_get(&format!("{}/sim/wait?held=1&timeout_ms=60000", sim.root()));
    drop(sim);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(69));
    let handoff: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(handoff["status"], "failed", "{handoff}");
    assert_eq!(handoff["usage"]["steps"], 1);
}

fn write_task(place: &Place, task: &Value) -> std::path::PathBuf {
    let path = place.home.path().join("task.json");
    std::fs::write(&path, task.to_string()).unwrap();
    path
}
