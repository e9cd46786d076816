//! Tools or files: which way of working is taken, and changing over in the middle.

use serde_json::{Value, json};

use super::{FOUR_STEPS, Place, requests};

/// The right file.
const MENDED: &str = r#"
[[rule]]
answer.say = """calc.py
```python
def add(a, b):
    return a + b


def mul(a, b):
    return a * b
```
"""
"#;

/// In tools mode the same failing edit for ever; asked for files, the right one.
fn stuck_with_tools() -> String {
    let stuck = r#"
[[rule]]
when.tools = true
answer.calls = [{ edit = "calc.py", old = "    return a % b", new = "    return a + b" }]
"#;
    format!("{stuck}{MENDED}")
}

#[test]
fn t22_a_model_stuck_with_tools_changes_over_to_files_in_the_same_task() {
    let place = Place::new();
    let sim = place.sim(&stuck_with_tools());
    let events = place.home.path().join("events.jsonl");
    let handoff = place
        .fix(&sim.base_url)
        .arg("--events")
        .arg(&events)
        .run()
        .code(0)
        .json();
    assert_eq!(handoff["status"], "completed");
    assert_eq!(handoff["repairs"]["switched_to_files"], 1);
    assert_eq!(handoff["risks"][0]["severity"], "low");
    let events = std::fs::read_to_string(events).unwrap();
    let modes: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "mode")
        .map(|event| event["mode"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(modes, ["tools", "whole"]);
    assert!(place.calc().contains("a + b"));
}

#[test]
fn a_way_that_a_person_chose_is_kept() {
    let place = Place::new();
    let sim = place.sim(&stuck_with_tools());
    let handoff = place
        .fix(&sim.base_url)
        .args(["--mode", "tools"])
        .run()
        .code(1)
        .json();
    assert_eq!(handoff["status"], "failed");
    assert_eq!(handoff["repairs"]["switched_to_files"], Value::Null);
}

#[test]
fn a_second_attempt_begins_where_the_first_had_to_change_over_to() {
    let place = Place::new();
    let sim = place.sim(&stuck_with_tools());
    place.fix(&sim.base_url).run().code(0);
    super::git(place.repo.path(), &["checkout", "-q", "calc.py"]);
    let before = requests(&sim).len();
    let task = json!({"schema": "task/1", "id": "fix", "prompt": "Fix add() in calc.py", "attempt": 2,
                      "scope": {"write": ["calc.py"]}, "verify": [{"command": "python3 test.py"}]});
    let handoff = place
        .run(&sim.base_url)
        .stdin(task.to_string())
        .run()
        .code(0)
        .json();
    assert_eq!(handoff["repairs"], json!({}), "{handoff}");
    assert_eq!(handoff["usage"]["requests"], 1);
    let new = &requests(&sim)[before..];
    assert!(new.iter().all(|r| r["body"]["tools"].is_null()));
}

#[test]
fn a_small_model_begins_with_files_and_a_large_one_with_tools() {
    for (model, mode) in [("coder-1.5b", "whole"), ("coder-32b", "tools")] {
        let place = Place::new();
        let script = if mode == "whole" {
            stuck_with_tools()
        } else {
            FOUR_STEPS.to_owned()
        };
        let file = place.home.path().join("script.toml");
        std::fs::write(&file, script).unwrap();
        let sim = super::Sim::start(["--script", file.to_str().unwrap(), "--model", model]);
        let handoff = place.fix(&sim.base_url).run().code(0).json();
        let notes = handoff["notes"].to_string();
        assert_eq!(notes.contains("mode whole"), mode == "whole", "{notes}");
    }
}

#[test]
fn a_failed_attempt_is_asked_anew_with_a_thought_first_and_never_unchanged() {
    let place = Place::new();
    let wrong = "calc.py\\n```python\\ndef add(a, b):\\n    return b - a\\n\\n\\ndef mul(a, b):\\n    return a * b\\n```";
    let sim = place.sim(&format!("[[rule]]\nanswer.say = \"{wrong}\"\n"));
    let handoff = place
        .fix(&sim.base_url)
        .args(["--mode", "whole", "--steps", "4"])
        .run()
        .code(3)
        .json();
    assert_eq!(handoff["status"], "budget_spent");
    let bodies: Vec<Value> = requests(&sim)
        .iter()
        .map(|r| r["body"].clone())
        .filter(|body| body["messages"].is_array())
        .collect();
    assert_eq!(bodies.len(), 4);
    for (at, body) in bodies.iter().enumerate() {
        assert!(
            !bodies[..at].contains(body),
            "request {at} is one of the past"
        );
    }
    let second = bodies[1]["messages"][1]["content"].as_str().unwrap();
    let first = bodies[0]["messages"][1]["content"].as_str().unwrap();
    assert!(second.contains("First say in one or two sentences"));
    let same = first
        .bytes()
        .zip(second.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    assert!(
        same * 10 > first.len() * 9,
        "the prefix is kept for the cache"
    );
}

#[test]
fn done_while_a_check_fails_is_a_failed_attempt_and_the_easy_way_out_is_not_offered() {
    let place = Place::new();
    let reluctant = r#"
[[rule]]
times = 1
answer.say = "It looks right to me."
[[rule]]
times = 2
answer.say = "DONE"
"#;
    let sim = place.sim(&format!("{reluctant}{MENDED}"));
    let handoff = place
        .fix(&sim.base_url)
        .args(["--mode", "whole"])
        .run()
        .code(0)
        .json();
    assert_eq!(handoff["repairs"]["done_though_red"], 2, "{handoff}");
    for request in requests(&sim) {
        let messages = request["body"]["messages"].to_string();
        assert!(!messages.contains("with DONE"), "{messages}");
    }
}
