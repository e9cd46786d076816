//! Recorded runs, taken again: without a server, in another place, with the same requests.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::kit::{Scenario, Set, bash, done, edit, four, read, requests};
use crate::support::{Home, Run, git};

/// Records a scenario; the folder with the recording.
fn recorded(scenario: Scenario, status: &str, code: i32) -> (Set, PathBuf) {
    let mut set = scenario.set();
    let dir = set.home.path().join("run");
    set.run = set.run.arg("--record").arg(&dir);
    let ended = set.run.clone().run();
    assert_eq!(ended.json()["status"], status, "{ended:#?}");
    ended.code(code);
    (set, dir)
}

fn replay(home: &Home, dir: &Path) -> Run {
    Run::tool("worker-run", home)
        .cwd(home.path())
        .arg("replay")
        .arg(dir)
}

#[track_caller]
fn the_same(set: &Set, dir: &Path) -> Value {
    let before = git(set.repo.path(), &["status", "--porcelain"]);
    let ended = replay(&set.home, dir).run();
    let found = ended.json();
    assert_eq!(found["same"], true, "{ended:#?}");
    ended.code(0);
    assert_eq!(
        git(set.repo.path(), &["status", "--porcelain"]),
        before,
        "the repository is not touched"
    );
    found
}

fn again(scenario: Scenario, status: &str, code: i32) -> Value {
    let (set, dir) = recorded(scenario, status, code);
    let asked = requests(&set.sim).len();
    let found = the_same(&set, &dir);
    assert_eq!(found["handoff"]["status"], status);
    assert_eq!(found["steps_recorded"], asked);
    assert_eq!(requests(&set.sim).len(), asked, "no server was asked");
    found
}

#[test]
fn a_solved_task_comes_to_the_same_requests_and_files() {
    let odd = "cd .. && cd - > /dev/null; mkdir -p sub/deep && echo $RANDOM $$ > sub/deep/new.txt; \
               printf '#!/bin/sh\\n' > run.sh; chmod +x run.sh; ln -s calc.py link; rm README.md; \
               date +%N; pwd; seq 1 20000";
    let mut steps = four();
    steps[0] = bash(odd);
    steps.insert(1, bash("cd sub && cat deep/new.txt"));
    steps.insert(2, bash("ls; date +%N"));
    let scenario = Scenario::new("replayed")
        .file("README.md", "gone soon\n".into())
        .steps(steps);
    let found = again(scenario, "completed", 0);
    let changed = found["handoff"]["files_changed"].to_string();
    for path in ["calc.py", "link", "run.sh", "sub/deep/new.txt", "README.md"] {
        assert!(changed.contains(path), "{path} in {changed}");
    }
}

#[test]
fn failures_come_out_the_same() {
    let refusal = json!({"status": 503, "body": {"error": {"message": "overloaded"}}});
    let overflow = json!({"status": 400, "body": {"error": {"message":
        "This model's maximum context length is 8192 tokens. However, you requested 9012 tokens.",
        "type": "BadRequestError", "code": 400}}});
    again(
        Scenario::new("s503x2")
            .limit("queue_ms", 30_000)
            .first(json!({"times": 2, "answer": refusal})),
        "completed",
        0,
    );
    again(
        Scenario::new("ctx400").first(json!({"when": {"turn": "1.."}, "answer": overflow})),
        "overflow",
        1,
    );
    again(Scenario::new("repeat").steps(vec![read()]), "failed", 1);
    again(
        Scenario::new("dropall").faults(&["drop-mid-stream"]),
        "failed",
        69,
    );
    again(
        Scenario::new("stall")
            .limit("idle_ms", 1000)
            .faults(&["stall-mid-stream"]),
        "timed_out",
        124,
    );
    again(
        Scenario::new("think-tag-split").faults(&["think-tag", "one-byte", "crlf"]),
        "completed",
        0,
    );
}

#[test]
fn another_request_is_named_by_step_and_path() {
    let (set, dir) = recorded(Scenario::new("changed"), "completed", 0);
    let file = dir.join("exchanges/0002.request.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("I read the file.", "I wrote a file.")).unwrap();
    let ended = replay(&set.home, &dir).run().code(1);
    let found = ended.json();
    assert_eq!(found["same"], false);
    assert_eq!(found["difference"]["step"], 2);
    assert_eq!(found["difference"]["path"], "$.messages[2].content");
    assert!(
        ended
            .stderr
            .contains("request 2 differs at $.messages[2].content"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_run_that_was_killed_can_be_replayed_as_far_as_it_came() {
    let (set, dir) = recorded(Scenario::new("killed"), "completed", 0);
    let file = dir.join("run.json");
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    run["end"] = Value::Null;
    std::fs::write(&file, run.to_string()).unwrap();
    std::fs::remove_file(dir.join("exchanges/0004.json")).unwrap();
    let found = the_same(&set, &dir);
    assert_eq!(found["steps_recorded"], 3);
}

#[test]
fn from_a_step_on_the_server_answers() {
    let (set, dir) = recorded(Scenario::new("live"), "completed", 0);
    let before = requests(&set.sim).len();
    let other = json!({"rule": [{"step": [
        read(), edit(), bash("pwd; cat calc.py"), {"calls": [{"done": "another end"}]}]}]});
    crate::support::post(
        &format!("{}/sim/script", set.sim.root()),
        &other.to_string(),
    );
    let found = replay(&set.home, &dir)
        .server(&set.sim.base_url)
        .args(["--from", "3", "--no-slot"])
        .run()
        .code(0)
        .json();
    assert_eq!(found["steps_replayed"], 2);
    assert_eq!(found["handoff"]["outcome"], "another end");
    assert_eq!(found["handoff"]["status"], "completed");
    let asked = requests(&set.sim);
    assert_eq!(asked.len(), before + 2);
    let last = asked.last().unwrap()["body"]["messages"].to_string();
    assert!(
        last.contains(set.repo.path().canonicalize().unwrap().to_str().unwrap()),
        "the model is told the recorded place: {last}"
    );
    assert!(last.contains("return a + b"), "{last}");
}

#[test]
fn no_key_is_in_a_recording() {
    let key = "correct-horse-battery-staple";
    let leak = bash(&format!("echo {key} > calc.txt; echo {key}"));
    let mut set = Scenario::new("secret")
        .steps(vec![leak, edit(), done()])
        .set();
    let dir = set.home.path().join("run");
    set.run = set
        .run
        .env("OPENCODE_VLLM_API_KEY", key)
        .arg("--record")
        .arg(&dir);
    set.run.clone().run().code(0);
    let found = std::process::Command::new("grep")
        .args(["-rl", key])
        .arg(&dir)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    let again = replay(&set.home, &dir)
        .env("OPENCODE_VLLM_API_KEY", key)
        .server("http://127.0.0.1:9/v1")
        .run();
    assert_eq!(again.json()["same"], true, "{again:#?}");
}

#[test]
fn a_wrong_folder_is_said() {
    let set = Scenario::new("folders").set();
    let inside = set.run.clone().args(["--record", "run"]).run().code(2);
    assert!(
        inside.stderr.contains("lies in the repository"),
        "{inside:#?}"
    );
    let full = set.home.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("x"), "x").unwrap();
    let full = set.run.clone().arg("--record").arg(&full).run().code(2);
    assert!(full.stderr.contains("is not empty"), "{full:#?}");
    replay(&set.home, Path::new("/nowhere"))
        .run()
        .code(2)
        .stderr_has("/nowhere/run.json");
}
