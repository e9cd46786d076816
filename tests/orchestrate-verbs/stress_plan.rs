//! `orchestrate stress-plan`: draft, four critiques, a plan that can be worked on.

use serde_json::{Value, json};

use crate::stage::Stage;

const GOAL: &str = "Add rate limiting with Redis fallback";

fn plan(title: &str) -> Value {
    json!({"title": title, "steps": [
        {"title": "one", "details": "Write one.txt.", "files": ["one.txt"], "verify": ["test -f one.txt"]},
        {"title": "two", "details": "Write two.txt.", "files": ["two.txt"], "verify": ["test -f two.txt"], "depends": [1]},
    ]})
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.home.config("[review]\nmode = \"off\"\n");
    stage.work(
        "draft",
        &format!("handoff completed drafted '{}'", plan("Draft")),
    );
    for angle in ["correctness", "simplicity", "security", "feasibility"] {
        let said = json!({"findings": [format!("{angle} says no")]});
        stage.work(
            &format!("critique-{angle}"),
            &format!("handoff completed said '{said}'"),
        );
    }
    stage.work(
        "final",
        &format!("handoff completed done '{}'", plan("Limits")),
    );
    stage
}

#[test]
fn the_plan_is_stored_and_can_be_run() {
    let stage = stage();
    let ended = stage.orchestrate(&["stress-plan", GOAL]).code(0);
    let answer = ended.json();
    assert_eq!(answer["objections"], 4);
    let file = answer["file"].as_str().unwrap();
    assert!(
        file.ends_with(".orchestrator/plans/add-rate-limiting-with-redis-fallback.md"),
        "{file}"
    );
    let text = std::fs::read_to_string(file).unwrap();
    assert!(
        text.contains("# Limits") && text.contains("security: security says no"),
        "{text}"
    );
    let mut workers = stage.workers();
    workers.sort();
    assert_eq!(workers.len(), 6, "{workers:?}");
    // What the critics said reached the last word.
    let last = stage.run_folder().join("tasks/final.1/task.json");
    assert!(
        std::fs::read_to_string(last)
            .unwrap()
            .contains("feasibility says no")
    );
    // A second plan for the same goal does not overwrite the first.
    stage
        .orchestrate(&["stress-plan", GOAL])
        .code(0)
        .stdout_has("fallback-2.md");
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    stage
        .orchestrate(&["run-plan", "add-rate-limiting-with-redis-fallback"])
        .code(0);
    assert_eq!(stage.files("main"), ["README.md", "one.txt", "two.txt"]);
}

#[test]
fn a_critic_that_says_nothing_is_not_a_critic_that_found_nothing() {
    let stage = stage();
    stage.work("critique-security", "handoff failed 'no idea'");
    let ended = stage.orchestrate(&["stress-plan", GOAL]).code(3);
    assert_eq!(ended.json()["unanswered"], json!(["security"]));
    let ended = ended.stderr_has("no answer was given on security");
    let text = std::fs::read_to_string(ended.json()["file"].as_str().unwrap()).unwrap();
    assert!(text.contains("security: no answer was given"), "{text}");
}

#[test]
fn a_final_plan_that_cannot_be_worked_on_is_asked_for_once_more() {
    let stage = stage();
    let mut bad = plan("Bad");
    bad["steps"][0]["verify"] = json!(["no-such-program"]);
    stage.work("final", &format!("handoff completed done '{bad}'"));
    stage.work(
        "final-2",
        &format!("handoff completed done '{}'", plan("Good")),
    );
    let ended = stage.orchestrate(&["stress-plan", GOAL]).code(0);
    let text = std::fs::read_to_string(ended.json()["file"].as_str().unwrap()).unwrap();
    assert!(text.contains("# Good"), "{text}");
    stage.work("final-2", &format!("handoff completed done '{bad}'"));
    stage
        .orchestrate(&["stress-plan", "Another goal"])
        .code(1)
        .stderr_has("the final plan");
    assert!(
        !stage
            .repo
            .path()
            .join(".orchestrator/plans/another-goal.md")
            .exists()
    );
}

#[test]
fn without_a_draft_nothing_is_written() {
    let stage = stage();
    stage.work("draft", "handoff completed 'I would rather not'");
    stage
        .orchestrate(&["stress-plan", GOAL])
        .code(1)
        .stderr_has("the draft");
    assert!(!stage.repo.path().join(".orchestrator/plans").exists());
}
