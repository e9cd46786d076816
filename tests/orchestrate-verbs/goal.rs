//! `orchestrate goal`: durable, bounded, and worked on until it is reached or needs a person.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::eventually;

const OBJECTIVE: &str = "write one file after the other";

/// Each continuation's worker writes a further file; the look says done when `files` are there.
fn stage(files: usize) -> Stage {
    let stage = Stage::new();
    stage
        .home
        .config("[review]\nmode = \"off\"\n[goal]\ncooldown = \"0s\"\n");
    // The planner is refused twice, so one worker gets the goal as it is.
    stage.work("plan", "handoff failed 'no plan'");
    stage.work(
        "goal",
        "n=$(ls | grep -c '^f' || true); echo x > f$n.txt; handoff completed wrote",
    );
    stage.work(
        "assess",
        &format!(
            "n=$(git ls-files | grep -c '^f' || true)\n\
             if [ $n -ge {files} ]; then handoff completed looked '{{\"done\":true,\"reason\":\"all there\",\"missing\":null,\"question\":null}}'\n\
             else handoff completed looked '{{\"done\":false,\"reason\":\"not all\",\"missing\":\"file number '$n'\",\"question\":null}}'; fi"
        ),
    );
    for plan in ["plan-1", "plan-2"] {
        stage.work(plan, "handoff failed 'no plan'");
    }
    stage
}

fn file(stage: &Stage) -> PathBuf {
    stage.repo.path().join(".orchestrator/goal.json")
}

fn stored(stage: &Stage) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file(stage)).unwrap()).unwrap()
}

#[test]
fn a_goal_is_worked_on_until_a_look_finds_it_reached() {
    let stage = stage(3);
    let ended = stage.orchestrate(&["goal", OBJECTIVE]).code(0);
    let goal = ended.json();
    assert_eq!(goal["status"], "done", "{goal:#}");
    assert_eq!(goal["continuations"], 3);
    assert_eq!(goal["reason"], "all there");
    assert_eq!(
        stage.files("main"),
        ["README.md", "f0.txt", "f1.txt", "f2.txt"]
    );
    assert!(goal["spent"]["tokens"].as_u64().unwrap() > 0);
    // What the look found missing reached the next worker.
    let second = goal["runs"][1].as_str().unwrap();
    let task = stage.repo.path().join(format!(
        ".orchestrator/runs/{second}/tasks/goal.1/task.json"
    ));
    let task = std::fs::read_to_string(task).unwrap();
    assert!(
        task.contains("file number 1") && task.contains(OBJECTIVE),
        "{task}"
    );
}

#[test]
fn o13_o14_three_rounds_without_progress_need_a_person_and_a_changed_tree_is_progress() {
    let stage = stage(3);
    stage.work("goal", "handoff completed 'thought about it'");
    let ended = stage.orchestrate(&["goal", OBJECTIVE]).code(3);
    let goal = ended.json();
    assert_eq!(goal["status"], "blocked", "{goal:#}");
    assert_eq!(goal["continuations"], 3);
    // A restart changes nothing that is stored.
    let before = std::fs::read_to_string(file(&stage)).unwrap();
    stage.orchestrate(&["goal", "run"]).code(3);
    assert_eq!(std::fs::read_to_string(file(&stage)).unwrap(), before);
}

#[test]
fn a_question_for_a_person_blocks_it() {
    let stage = stage(3);
    stage.work(
        "assess",
        "handoff completed asked '{\"done\":false,\"reason\":\"\",\"missing\":null,\"question\":\"Which port?\"}'",
    );
    let ended = stage.orchestrate(&["goal", OBJECTIVE, "--text"]).code(3);
    ended
        .stdout_has("a question for you: Which port?")
        .stdout_has("orchestrate goal resume");
}

#[test]
fn o15_pause_resume_and_clear_do_what_they_say_and_no_restart_changes_them() {
    let stage = stage(9);
    stage
        .orchestrate(&["goal"])
        .code(1)
        .stderr_has("there is no goal");
    stage
        .orchestrate(&["goal", "pause"])
        .code(2)
        .stderr_has("there is no goal");
    // A loop that does one part at a time leaves the goal active.
    stage
        .home
        .config("[review]\nmode = \"off\"\n[goal]\nauto_continue = false\n");
    stage.orchestrate(&["goal", OBJECTIVE]).code(1);
    let mut expected = stored(&stage);
    assert_eq!(expected["status"], "active");
    assert_eq!(expected["continuations"], 1);
    stage.orchestrate(&["goal", "pause"]).code(0);
    let paused = stored(&stage);
    expected["status"] = json!("paused");
    expected["reason"] = json!("you paused it");
    expected["updated_at"] = paused["updated_at"].clone();
    assert_eq!(paused, expected);
    // Paused is paused, also for a loop that starts anew.
    stage.orchestrate(&["goal", "run"]).code(3);
    assert_eq!(stored(&stage), paused);
    stage.orchestrate(&["goal", "resume"]).code(0);
    assert_eq!(stored(&stage)["status"], "active");
    stage
        .orchestrate(&["goal", "another one entirely"])
        .code(2)
        .stderr_has("there is a goal already");
    stage.orchestrate(&["goal", "clear"]).code(0);
    assert!(!file(&stage).exists());
    stage.orchestrate(&["goal", "clear"]).code(0);
    assert_eq!(stage.files("main"), ["README.md", "f0.txt"]);
}

#[test]
fn a_mistyped_action_is_no_goal() {
    let stage = stage(1);
    stage
        .orchestrate(&["goal", "resme"])
        .code(2)
        .stderr_has("is one word");
    assert!(!file(&stage).exists());
}

#[test]
fn the_budget_of_the_goal_ends_it() {
    let stage = stage(9);
    stage.home.config(
        "[review]\nmode = \"off\"\n[goal]\ncooldown = \"0s\"\n\
         [goal.budget]\nmode = \"stop-between-steps\"\nmax_requests = 12\n",
    );
    let ended = stage.orchestrate(&["goal", OBJECTIVE]).code(3);
    let goal = ended.json();
    assert_eq!(goal["status"], "spent", "{goal:#}");
    assert!(
        goal["reason"].as_str().unwrap().contains("budget"),
        "{goal:#}"
    );
    assert!(goal["continuations"].as_u64().unwrap() < 9);
}

#[test]
fn a_goal_edited_by_hand_ends_the_loop_that_began_with_other_words() {
    let stage = stage(9);
    // While the first continuation works, somebody rewrites the goal.
    let edit = format!(
        "sed -i 's/one file after the other/something else/' {}; echo x > f0.txt; handoff completed wrote",
        file(&stage).display()
    );
    stage.work("goal", &edit);
    stage
        .orchestrate(&["goal", OBJECTIVE])
        .code(3)
        .stderr_has("changed or taken away");
    let goal = stored(&stage);
    assert_eq!(goal["objective"], "write something else");
    assert_eq!(goal["status"], "active");
    assert_eq!(goal["continuations"], 1);
}

#[test]
fn a_file_that_somebody_broke_is_an_error_and_stays_as_it_is() {
    let stage = stage(1);
    std::fs::create_dir_all(stage.repo.path().join(".orchestrator")).unwrap();
    std::fs::write(file(&stage), "{ broken").unwrap();
    for action in [
        &["goal"][..],
        &["goal", "run"],
        &["goal", "pause"],
        &["goal", OBJECTIVE],
    ] {
        stage
            .orchestrate(action)
            .code(2)
            .stderr_has("goal.json: it is no goal/1 document");
    }
    assert_eq!(std::fs::read_to_string(file(&stage)).unwrap(), "{ broken");
    stage
        .orchestrate(&["status", "--text"])
        .code(0)
        .stdout_has("unreadable");
    stage.orchestrate(&["goal", "clear"]).code(0);
}

#[test]
fn a_second_loop_is_refused_and_a_background_loop_is_found_and_halted() {
    let stage = stage(99);
    let go = stage.stub("go");
    let wait = format!(
        "until [ -e {} ]; do sleep 0.05; done; n=$(ls | grep -c '^f' || true); echo x > f$n.txt; handoff completed wrote",
        go.display()
    );
    stage.work("goal", &wait);
    let ended = stage.orchestrate(&["goal", OBJECTIVE, "--detach"]).code(0);
    let pid = ended.json()["pid"].as_u64().unwrap();
    stage
        .orchestrate(&["goal", "run"])
        .code(75)
        .stderr_has("works here already");
    let status = stage.orchestrate(&["status", "--json"]).code(0).json();
    assert_eq!(status["goal"]["loop"], format!("pid {pid}"), "{status:#}");
    eventually("the worker runs", Duration::from_secs(60), || {
        stage.workers().contains(&"goal.1".into()).then_some(())
    });
    stage.orchestrate(&["halt", "goal", "--now"]).code(0);
    eventually("the loop ends", Duration::from_secs(60), || {
        let status = stage.orchestrate(&["status", "--json"]).json();
        status["goal"]["loop"].is_null().then_some(())
    });
    assert_eq!(stored(&stage)["status"], "paused");
    // Resumed, it goes on with the same run.
    std::fs::write(&go, "").unwrap();
    stage.work(
        "assess",
        "handoff completed looked '{\"done\":true,\"reason\":\"enough\",\"missing\":null,\"question\":null}'",
    );
    stage.orchestrate(&["goal", "resume"]).code(0);
    let goal = stage.orchestrate(&["goal", "run"]).code(0).json();
    assert_eq!(goal["continuations"], 1, "{goal:#}");
    assert_eq!(stage.files("main"), ["README.md", "f0.txt"]);
    stage.no_process_left();
}

#[test]
fn a_server_that_is_away_counts_nothing_against_the_goal() {
    let stage = stage(1);
    std::fs::write(stage.stub("health.exit"), "69").unwrap();
    stage.orchestrate(&["goal", OBJECTIVE]).code(69);
    std::fs::remove_file(stage.stub("health.exit")).unwrap();
    let goal = stage.orchestrate(&["goal", "run"]).code(0).json();
    assert_eq!(goal["continuations"], 1, "{goal:#}");
}

#[test]
fn a_verb_that_is_switched_off_says_so() {
    let stage = stage(1);
    stage.home.config("[commands]\ngoal = false\n");
    stage
        .orchestrate(&["goal", OBJECTIVE])
        .code(78)
        .stderr_has("goal = false");
}
