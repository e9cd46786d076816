//! When a second round is worth it: concrete gaps, and points left open that the goal names.

use serde_json::{Value, json};

use crate::stage::Stage;

const GOAL: &str = "Add cursor pagination to GET /api/items and update the docs";

fn task(id: &str) -> Value {
    json!({"id": id, "title": format!("Do {id}"), "prompt": format!("Write {id}.txt."),
           "scope": {"write": [format!("{id}.txt")]},
           "verify": [{"command": format!("test -f {id}.txt")}]})
}

/// A worker that is done and says that something is still open.
fn leaves_open(stage: &Stage, task: &str, open: &str) {
    let script = format!("echo x > {task}.txt; handoff completed done null '{open}'");
    stage.work(task, &script);
}

#[test]
fn a_point_left_open_that_the_goal_names_is_planned_in_round_two() {
    let stage = Stage::new();
    stage.planner(&json!({"tasks": [task("paging")]}));
    leaves_open(&stage, "paging", "The docs are not updated yet.");
    stage.planner_says("plan-r2-1", &json!({"tasks": [task("docs")]}));
    let report = stage
        .orchestrate(&["run", GOAL, "--review", "off"])
        .code(0)
        .json();
    assert_eq!(report["rounds"].as_array().unwrap().len(), 2, "{report:#}");
    assert_eq!(report["gaps"], json!([]), "{report:#}");
    assert_eq!(stage.files("main"), ["README.md", "docs.txt", "paging.txt"]);
    let asked = stage.run_folder().join("tasks/plan-r2-1.1/task.json");
    let asked = std::fs::read_to_string(asked).unwrap();
    assert!(asked.contains("The docs are not updated yet."), "{asked}");
}

#[test]
fn a_point_left_open_without_a_planner_becomes_one_task() {
    let stage = Stage::new();
    leaves_open(&stage, "goal", "docs still missing");
    stage.work("left-open-r2", "echo x > docs.txt; handoff completed done");
    stage
        .orchestrate(&["run", GOAL, "--one", "--review", "off"])
        .code(0);
    assert_eq!(stage.workers(), ["goal.1", "left-open-r2.1"]);
    assert_eq!(stage.files("main"), ["README.md", "docs.txt", "goal.txt"]);
}

#[test]
fn wishes_beyond_the_goal_start_no_round() {
    let stage = Stage::new();
    leaves_open(&stage, "goal", "Consider rate limiting GET /api/items.");
    let report = stage
        .orchestrate(&["run", GOAL, "--one", "--review", "off"])
        .code(0)
        .json();
    assert_eq!(report["rounds"].as_array().unwrap().len(), 1, "{report:#}");
}

#[test]
fn a_point_that_stays_open_is_a_gap_and_exit_1() {
    let stage = Stage::new();
    leaves_open(&stage, "goal", "docs still missing");
    leaves_open(
        &stage,
        "left-open-r2",
        "docs still missing, there is no folder for them",
    );
    let ended = stage.orchestrate(&["run", GOAL, "--one", "--review", "off"]);
    let report = ended.code(1).json();
    assert_eq!(report["status"], "incomplete", "{report:#}");
    let gap = report["gaps"][0]["statement"].as_str().unwrap();
    assert!(gap.contains("docs still missing"), "{report:#}");
    assert_eq!(stage.files("main"), ["README.md"]);
}

#[test]
fn a_second_round_s_planner_cannot_call_the_gap_a_question() {
    let stage = Stage::new();
    stage.planner(&json!({"tasks": [task("paging")]}));
    leaves_open(&stage, "paging", "docs still missing");
    for plan in ["plan-r2-1", "plan-r2-2"] {
        stage.planner_says(plan, &json!({"direct": true, "tasks": []}));
    }
    stage.work("left-open-r2", "echo x > docs.txt; handoff completed done");
    stage.orchestrate(&["run", GOAL, "--review", "off"]).code(0);
    assert_eq!(stage.files("main"), ["README.md", "docs.txt", "paging.txt"]);
}
