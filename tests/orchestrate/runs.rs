//! What a run does, with stand-ins for the other tools.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::{eventually, write};

fn task(id: &str, write: &[&str]) -> Value {
    json!({"id": id, "title": format!("Do {id}"), "prompt": format!("Write {id}.txt."),
           "scope": {"write": write}, "verify": [{"command": format!("test -f {id}.txt")}],
           "narrower": format!("Only touch {id}.txt.")})
}

fn two() -> Value {
    json!({"direct": false, "tasks": [task("a", &["a.txt"]), task("b", &["b.txt"])]})
}

#[test]
fn a_goal_becomes_two_tasks_that_reach_the_branch() {
    let stage = Stage::new();
    stage.planner(&two());
    let ended = stage
        .orchestrate(&["run", "write a and b", "--review", "off"])
        .code(0);
    let report = ended.json();
    assert_eq!(report["status"], "completed", "{report:#}");
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
    let log = stage.git(&[
        "log",
        "-2",
        "--format=%s|%(trailers:key=Baton-Task,valueonly)",
    ]);
    assert!(log.contains("Do a|a") && log.contains("Do b|b"), "{log}");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert_eq!(stage.trees(), [""; 0]);
    let mut workers = stage.workers();
    workers.sort();
    assert_eq!(workers, ["a.1", "b.1", "plan-1.1"]);
    let folder = stage.run_folder();
    for file in [
        "journal.jsonl",
        "report.md",
        "tasks/a.1/task.json",
        "tasks/a.1/command.txt",
        "tasks/a.1/handoff.json",
        "tasks/a.1/verdict.json",
        "tasks/a.1/stderr.log",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
}

#[test]
fn a_trivial_question_does_not_fan_out() {
    let stage = Stage::new();
    stage.planner(&json!({"direct": true, "tasks": []}));
    stage.work("answer", "handoff completed 'It says hello.'");
    let ended = stage
        .orchestrate(&["run", "what does the README say?", "--text"])
        .code(0);
    ended.stdout_has("It says hello.");
    assert_eq!(stage.workers(), ["plan-1.1", "answer.1"]);
    assert_eq!(stage.git(&["log", "--oneline"]).lines().count(), 1);
}

#[test]
fn o11_a_dirty_tree_is_refused_with_a_list() {
    let stage = Stage::new();
    write(stage.repo.path(), "README.md", "changed\n");
    write(stage.repo.path(), "new.txt", "new\n");
    let ended = stage.orchestrate(&["run", "do it"]).code(2);
    ended
        .stderr_has("README.md (changed)")
        .stderr_has("new.txt (new)")
        .stderr_has("--allow-dirty");
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn o12_a_detached_head_is_refused() {
    let stage = Stage::new();
    stage.git(&["checkout", "-q", "--detach"]);
    stage
        .orchestrate(&["run", "do it"])
        .code(2)
        .stderr_has("HEAD is detached");
}

#[test]
fn o12_the_result_goes_to_the_branch_the_run_started_on() {
    let stage = Stage::new();
    stage.planner(&two());
    stage.work(
        "a",
        "git -C \"$OLDPWD\" rev-parse HEAD > /dev/null 2>&1 || true",
    );
    stage.git(&["switch", "-q", "-c", "feature"]);
    // While the workers work, the user goes back to main.
    let back = format!("git -C {} switch -q main", stage.repo.path().display());
    stage.work("b", &back);
    stage
        .orchestrate(&["run", "write a and b", "--review", "off"])
        .code(0);
    assert_eq!(stage.files("feature"), ["README.md", "a.txt", "b.txt"]);
    assert_eq!(stage.files("main"), ["README.md"]);
}

#[test]
fn a_failing_worker_gets_one_narrower_retry() {
    let stage = Stage::new();
    stage.planner(&json!({"tasks": [task("a", &["a.txt"])]}));
    stage.work("a.1", "handoff failed 'I got lost'");
    stage
        .orchestrate(&["run", "write a", "--review", "off"])
        .code(0);
    assert_eq!(stage.workers(), ["plan-1.1", "a.1", "a.2"]);
    let second = stage.run_folder().join("tasks/a.2/task.json");
    let second: Value = serde_json::from_str(&std::fs::read_to_string(second).unwrap()).unwrap();
    let prompt = second["prompt"].as_str().unwrap();
    assert!(
        prompt.starts_with("Only touch a.txt.") && prompt.contains("I got lost"),
        "{prompt}"
    );
    assert_eq!(stage.files("main"), ["README.md", "a.txt"]);
}

#[test]
fn a_claim_that_does_not_hold_is_not_integrated() {
    let stage = Stage::new();
    stage.planner(&json!({"tasks": [task("a", &["a.txt"])]}));
    stage.work("a", "handoff completed 'all done, trust me'");
    let ended = stage
        .orchestrate(&["run", "write a", "--review", "off", "--rounds", "1"])
        .code(1);
    let report = ended.json();
    assert_eq!(report["status"], "failed", "{report:#}");
    assert!(
        report["gaps"][0]["statement"]
            .as_str()
            .unwrap()
            .contains("test -f a.txt fails")
    );
    assert_eq!(stage.files("main"), ["README.md"]);
}

#[test]
fn nothing_reaches_the_branch_when_a_gap_stays_and_its_work_is_kept() {
    let stage = Stage::new();
    stage.planner(&two());
    stage.work(
        "b",
        "echo half > half.txt; handoff blocked 'which database?'",
    );
    let ended = stage
        .orchestrate(&["run", "write a and b", "--review", "off"])
        .code(1);
    let report = ended.json();
    assert_eq!(report["status"], "incomplete");
    assert_eq!(stage.files("main"), ["README.md"]);
    let run_branch = report["branch"].as_str().unwrap();
    assert_eq!(stage.files(run_branch), ["README.md", "a.txt"]);
    let kept = report["gaps"][0]["branch"].as_str().unwrap();
    assert_eq!(stage.files(kept), ["README.md", "half.txt"]);
    assert_eq!(
        stage
            .workers()
            .iter()
            .filter(|w| w.starts_with("b."))
            .count(),
        1
    );
}

#[test]
fn merge_partial_lets_the_good_part_through() {
    let stage = Stage::new();
    stage.planner(&two());
    stage.work("b", "handoff blocked 'which database?'");
    stage
        .orchestrate(&["run", "x", "--review", "off", "--merge-partial"])
        .code(1);
    assert_eq!(stage.files("main"), ["README.md", "a.txt"]);
}

#[test]
fn a_planner_that_fails_twice_becomes_one_worker_with_the_goal() {
    let stage = Stage::new();
    let overlapping = json!({"tasks": [task("a", &["x"]), task("b", &["x"])]});
    stage.planner(&overlapping);
    stage.planner_says("plan-2", &overlapping);
    let ended = stage
        .orchestrate(&["run", "do the thing", "--review", "off"])
        .code(0);
    assert_eq!(stage.workers(), ["plan-1.1", "plan-2.1", "goal.1"]);
    ended.stderr_has("both own `x`");
    let task = stage.run_folder().join("tasks/goal.1/task.json");
    let task: Value = serde_json::from_str(&std::fs::read_to_string(task).unwrap()).unwrap();
    assert_eq!(task["prompt"], "do the thing");
    let second = stage.run_folder().join("tasks/plan-2.1/task.json");
    assert!(
        std::fs::read_to_string(second)
            .unwrap()
            .contains("both own `x`")
    );
}

#[test]
fn o04_a_conflict_is_a_gap_with_its_branch_and_round_two_mends_it() {
    let stage = Stage::new();
    let mut plan = two();
    plan["tasks"][0]["scope"]["write"] = json!(["a.txt", "shared.txt"]);
    stage.planner(&plan);
    // b writes outside what it owns; the stand-in check lets that pass, git does not.
    stage.work("a", "echo a > shared.txt");
    stage.work("b", "sleep 0.3; echo b > shared.txt");
    stage.work("b-r2", "echo b > b.txt; handoff completed 'did it again'");
    let ended = stage.orchestrate(&["run", "x", "--review", "off"]).code(0);
    ended
        .stderr_has("both changed shared.txt")
        .stderr_has("round 2");
    assert_eq!(
        stage.files("main"),
        ["README.md", "a.txt", "b.txt", "shared.txt"]
    );
    assert_eq!(
        stage
            .workers()
            .iter()
            .filter(|w| w.starts_with("a."))
            .count(),
        1
    );
}

#[test]
fn integrated_work_is_verified_again_together() {
    let stage = Stage::new();
    let mut plan = two();
    // Each is right alone; together they break a's check.
    plan["tasks"][0]["verify"] = json!([{"command": "test ! -f b.txt"}]);
    stage.planner(&plan);
    let ended = stage
        .orchestrate(&["run", "x", "--review", "off", "--rounds", "1"])
        .code(1);
    let report = ended.json();
    let states: Vec<&str> = report["rounds"][0]["tasks"]
        .as_array()
        .unwrap_or_else(|| panic!("{ended:#?}"))
        .iter()
        .map(|t| {
            t["merge"]["state"]
                .as_str()
                .unwrap_or_else(|| panic!("{ended:#?}"))
        })
        .collect();
    assert!(
        states.contains(&"integrated") && states.contains(&"check_failed"),
        "{states:?}"
    );
    assert_eq!(stage.files("main"), ["README.md"]);
}

#[test]
fn o04_a_target_that_would_be_overwritten_is_left_alone() {
    let stage = Stage::new();
    stage.planner(&json!({"tasks": [task("a", &["a.txt"])]}));
    let mine = stage.repo.path().join("a.txt");
    stage.work("a", &format!("echo mine > {}", mine.display()));
    let ended = stage.orchestrate(&["run", "x", "--review", "off"]).code(3);
    assert_eq!(ended.json()["status"], "needs_person");
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine\n");
    assert_eq!(stage.files("main"), ["README.md"]);
    // Once the user has moved the file away, the run lands without any work done twice.
    std::fs::remove_file(&mine).unwrap();
    stage.orchestrate(&["resume"]).code(0);
    assert_eq!(stage.files("main"), ["README.md", "a.txt"]);
    assert_eq!(
        stage
            .workers()
            .iter()
            .filter(|w| w.starts_with("a."))
            .count(),
        1
    );
}

#[test]
fn a_target_that_moved_gets_the_work_on_top() {
    let stage = Stage::new();
    stage.planner(&json!({"tasks": [task("a", &["a.txt"])]}));
    let commit = format!(
        "cd {}; echo u > user.txt; git add user.txt; git -c user.name=U -c user.email=u@x commit -qm user; cd - > /dev/null",
        stage.repo.path().display()
    );
    stage.work("a", &commit);
    stage
        .orchestrate(&["run", "x", "--review", "off"])
        .code(0)
        .stderr_has("has moved");
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "user.txt"]);
    let subjects = stage.git(&["log", "--format=%s"]);
    assert_eq!(
        subjects.lines().collect::<Vec<_>>(),
        ["Do a", "user", "start"]
    );
}

#[test]
fn a_lost_server_is_another_place_and_not_the_retry() {
    let stage = Stage::new();
    stage.planner(&json!({"tasks": [task("a", &["a.txt"])]}));
    let once = stage.stub("once").display().to_string();
    stage.work(
        "a",
        &format!("if [ ! -e {once} ]; then touch {once}; echo gone >&2; exit 69; fi"),
    );
    stage
        .orchestrate(&["run", "x", "--review", "off"])
        .code(0)
        .stderr_has("placed again");
    assert_eq!(stage.workers(), ["plan-1.1", "a.1", "a.1"]);
}

#[test]
fn no_server_is_69_before_anything_is_made() {
    let stage = Stage::new();
    std::fs::write(stage.stub("health.exit"), "69").unwrap();
    stage.orchestrate(&["run", "x"]).code(69);
    assert!(!stage.repo.path().join(".orchestrator/runs").exists());
}

#[test]
fn no_slot_is_75() {
    let stage = Stage::new();
    std::fs::write(stage.stub("slot-lock.exit"), "75").unwrap();
    let ended = stage.orchestrate(&["run", "x", "--one"]).code(75);
    assert!(
        ended.json()["gaps"][0]["statement"]
            .as_str()
            .unwrap()
            .contains("no slot")
    );
}

#[test]
fn o24_a_worker_that_leaves_no_hand_off_is_an_error() {
    let stage = Stage::new();
    stage.work("goal", "exit 0");
    let ended = stage.orchestrate(&["run", "x", "--one"]).code(1);
    assert!(
        ended.json()["gaps"][0]["statement"]
            .as_str()
            .unwrap()
            .contains("no hand-off")
    );
}

#[test]
fn a_broken_setup_blocks_before_any_request() {
    let stage = Stage::new();
    stage
        .home
        .config("[worktree]\nsetup = ['echo no such package >&2; exit 9']\n");
    let ended = stage.orchestrate(&["run", "x", "--one"]).code(1);
    let gap = ended.json()["gaps"][0]["statement"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        gap.contains("setup") && gap.contains("no such package"),
        "{gap}"
    );
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn fresh_work_trees_get_setup_and_copies() {
    let stage = Stage::with_files(&[(".gitignore", ".env*\nbuilt\n")]);
    write(stage.repo.path(), ".env.test", "K=1\n");
    write(stage.repo.path(), ".env.secret", "K=2\n");
    stage
        .home
        .config("[worktree]\nsetup = ['echo x > built']\ncopy = ['.env.test']\n");
    stage.work("goal", "test -f built && test -f .env.test && test ! -e .env.secret && echo ok > ok.txt; handoff completed done");
    stage
        .orchestrate(&["run", "x", "--one", "--review", "off"])
        .code(0);
    assert_eq!(stage.files("main"), [".gitignore", "ok.txt"]);
}

#[test]
fn plan_only_prints_a_plan_that_from_takes() {
    let stage = Stage::new();
    stage.planner(&two());
    let ended = stage
        .orchestrate(&["run", "--plan-only", "write a and b"])
        .code(0);
    assert_eq!(ended.json()["schema"], "plan/1");
    assert_eq!(stage.workers(), ["plan-1.1"]);
    let again = stage
        .tool(&["run", "--from", "-", "--review", "off"])
        .stdin(ended.stdout)
        .run();
    assert_eq!(again.code(0).json()["status"], "completed");
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
}

#[test]
fn a_given_plan_with_faults_is_refused_and_names_them() {
    let stage = Stage::new();
    let bad = r#"{"schema":"plan/1","goal":"g","tasks":[{"schema":"task/1","id":"a","prompt":"x","scope":{"write":["../x"]}}]}"#;
    let ended = stage.tool(&["run", "--from", "-"]).stdin(bad).run();
    ended.code(2).stderr_has("leaves the repository");
    let unknown = r#"{"schema":"plan/1","goal":"g","taks":[]}"#;
    let ended = stage.tool(&["run", "--from", "-"]).stdin(unknown).run();
    ended.code(2).stderr_has("did you mean `tasks`?");
}

#[test]
fn dry_run_starts_nothing() {
    let stage = Stage::new();
    let ended = stage.orchestrate(&["run", "--dry-run", "x"]).code(0);
    assert_eq!(ended.json()["schema"], "task/1");
    assert_eq!(stage.workers(), [""; 0]);
    assert!(!stage.repo.path().join(".orchestrator").exists());
}

#[test]
fn tasks_that_depend_run_in_order_on_the_integrated_result() {
    let stage = Stage::new();
    let mut plan = two();
    plan["depends"] = json!([["a", "b"]]);
    stage.planner(&plan);
    stage.work("b", "test -f a.txt || handoff failed 'a is not there'");
    stage.orchestrate(&["run", "x", "--review", "off"]).code(0);
    assert_eq!(stage.workers(), ["plan-1.1", "a.1", "b.1"]);
}

/// A long-running worker that tells when it has started.
fn slow(stage: &Stage, task: &str) -> PathBuf {
    let started = stage.stub(&format!("{task}.started"));
    stage.work(
        task,
        &format!(
            "trap 'handoff interrupted stopped' TERM; touch {}; for i in $(seq 600); do sleep 0.1; done",
            started.display()
        ),
    );
    started
}

/// A worker that tells when it has started and goes on when the returned second file appears.
fn held(stage: &Stage, task: &str) -> (PathBuf, PathBuf) {
    let (started, go) = (stage.stub("started"), stage.stub("go"));
    stage.work(
        task,
        &format!(
            "touch {}; while [ ! -e {} ]; do sleep 0.05; done",
            started.display(),
            go.display()
        ),
    );
    (started, go)
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn ctrl_c_ends_the_workers_and_a_resume_does_the_rest() {
    let stage = Stage::new();
    stage.planner(&two());
    let started = slow(&stage, "b");
    let mut child = stage.start(&["run", "x", "--review", "off"]);
    eventually("b runs and a is integrated", LONG, || {
        (started.exists() && stage.journal().contains("\"integrated\"")).then_some(())
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    stage.no_process_left();
    assert_eq!(stage.files("main"), ["README.md"]);
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    stage.work("b", "");
    let report = stage.orchestrate(&["resume"]).code(0).json();
    assert_eq!(report["status"], "completed");
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
    assert_eq!(stage.workers().iter().filter(|w| *w == "a.1").count(), 1);
}

#[test]
fn ctrl_c_at_any_stage_ends_with_130_and_leaves_nothing() {
    for (stage_name, job) in [("planner", "plan-1"), ("reviewer", "review-1-1")] {
        let stage = Stage::new();
        stage.planner(&json!({"tasks": [task("a", &["a.txt"])]}));
        let started = slow(&stage, job);
        let mut child = stage.start(&["run", "x"]);
        eventually(stage_name, LONG, || started.exists().then_some(()));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{stage_name}");
        stage.no_process_left();
        assert_eq!(stage.files("main"), ["README.md"]);
    }
}

#[test]
fn o21_a_killed_orchestrate_leaves_its_worker_and_a_resume_adopts_it() {
    let stage = Stage::new();
    let (started, go) = held(&stage, "goal");
    let mut child = stage.start(&["run", "x", "--one", "--review", "off"]);
    eventually("the worker runs", LONG, || started.exists().then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut resumed = stage.start(&["resume"]);
    eventually("the run is resumed", LONG, || {
        stage.journal().contains("\"resumed\"").then_some(())
    });
    std::fs::write(&go, "").unwrap();
    assert_eq!(resumed.wait().unwrap().code(), Some(0));
    assert_eq!(
        stage.workers(),
        ["goal.1"],
        "the worker was not started twice"
    );
    assert_eq!(stage.files("main"), ["README.md", "goal.txt"]);
}

#[test]
fn halt_lets_workers_finish_and_resume_goes_on() {
    let stage = Stage::new();
    let mut plan = two();
    plan["depends"] = json!([["a", "b"]]);
    stage.planner(&plan);
    let (started, go) = held(&stage, "a");
    let mut child = stage.start(&["run", "x", "--review", "off"]);
    eventually("a runs", LONG, || started.exists().then_some(()));
    let status = stage.orchestrate(&["status"]).code(0).json();
    assert_eq!(status["runs"][0]["state"], "working", "{status:#}");
    stage
        .orchestrate(&["run", "y"])
        .code(75)
        .stderr_has("works on this repository");
    stage.orchestrate(&["halt"]).code(0);
    eventually("the halt is seen", LONG, || {
        stage.journal().contains("halt_asked").then_some(())
    });
    std::fs::write(&go, "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(stage.workers(), ["plan-1.1", "a.1"]);
    stage.orchestrate(&["resume"]).code(0);
    assert_eq!(stage.workers(), ["plan-1.1", "a.1", "b.1"]);
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
}

#[test]
fn halt_now_ends_the_workers() {
    let stage = Stage::new();
    let started = slow(&stage, "goal");
    let mut child = stage.start(&["run", "x", "--one"]);
    eventually("the worker runs", LONG, || started.exists().then_some(()));
    stage.orchestrate(&["halt", "--now"]).code(0);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    stage.no_process_left();
}

#[test]
fn halt_with_nothing_running_says_so() {
    let stage = Stage::new();
    stage
        .orchestrate(&["halt"])
        .code(1)
        .stderr_has("nothing to halt");
}

#[test]
fn show_gives_the_report_and_clean_keeps_what_holds_work() {
    let stage = Stage::new();
    stage.work("goal", "handoff blocked 'which one?'");
    stage.orchestrate(&["run", "x", "--one"]).code(1);
    stage
        .orchestrate(&["show", "--text"])
        .code(0)
        .stdout_has("which one?");
    let clean = stage.orchestrate(&["clean"]).code(0).json();
    assert_eq!(clean["kept"], json!([]));
    stage
        .orchestrate(&["show", "nope"])
        .code(2)
        .stderr_has("no run `nope`");
}

#[test]
fn without_an_approval_nothing_lands() {
    let stage = Stage::new();
    stage.work(
        "review-1-1",
        "handoff completed 'looks good to me, approve'",
    );
    stage.work(
        "review-2-1",
        "handoff completed '' '{\"verdict\":\"approve\"}'",
    );
    let ended = stage.orchestrate(&["run", "x", "--one"]).code(3);
    assert_eq!(ended.json()["status"], "needs_person");
    assert_eq!(stage.files("main"), ["README.md"]);
}

#[test]
fn two_tasks_on_one_seat_are_worked_on_one_after_the_other() {
    let stage = Stage::new();
    stage.planner(&two());
    // Neither may see the other at work.
    let alone = "test ! -e $STUBS/at-work && : > $STUBS/at-work && echo x > $TASK.txt && sleep 0.2 && rm $STUBS/at-work";
    for id in ["a", "b"] {
        stage.work(id, &alone.replace("$TASK", id));
    }
    let ended = stage
        .orchestrate(&[
            "run",
            "write a and b",
            "--max-parallel",
            "1",
            "--review",
            "off",
        ])
        .code(0);
    assert_eq!(ended.json()["status"], "completed", "{}", ended.json());
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
    assert_eq!(
        stage.workers(),
        ["plan-1.1", "a.1", "b.1"],
        "planned once, and not refused"
    );
    let asked =
        std::fs::read_to_string(stage.run_folder().join("tasks/plan-1.1/task.json")).unwrap();
    assert!(asked.contains("one after the other"), "{asked}");
}

#[test]
fn a_plan_with_more_tasks_than_workers_is_taken_and_one_without_end_is_not() {
    let stage = Stage::new();
    let tasks = |n: usize| -> Value {
        (0..n)
            .map(|i| task(&format!("t{i}"), &[&format!("t{i}.txt")]))
            .collect()
    };
    stage.planner(&json!({"direct": false, "tasks": tasks(40)}));
    stage.planner_says("plan-2", &json!({"direct": false, "tasks": tasks(5)}));
    stage
        .orchestrate(&["run", "write five", "--review", "off"])
        .code(0)
        .stderr_has("a round may have at most 8");
    assert_eq!(stage.files("main").len(), 6);
}

#[test]
fn a_branch_that_leaves_no_room_for_ours_is_said_before_anything_is_asked() {
    let stage = Stage::new();
    stage.git(&["checkout", "-q", "-b", "baton"]);
    stage
        .orchestrate(&["run", "do it"])
        .code(2)
        .stderr_has("git branch -m baton NEW-NAME");
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn a_task_whose_file_git_ignores_is_refused_as_its_work_would_be_lost() {
    let stage = Stage::with_files(&[(".gitignore", "/build/\n*.log\n!kept.log\n")]);
    let plan = |files: &[&str]| json!({"direct": false, "tasks": [task("a", files)]});
    stage.planner(&plan(&["a.txt", "build/out.txt"]));
    stage.planner_says("plan-2", &plan(&["a.txt", "kept.log", "build/**"]));
    let ended = stage
        .orchestrate(&["run", "write a", "--review", "off"])
        .code(0);
    ended.stderr_has("`build/out.txt`, which .gitignore keeps out");
    assert_eq!(stage.files("main"), [".gitignore", "a.txt"]);
}

#[test]
fn what_was_taken_off_the_branch_during_the_run_is_not_brought_back() {
    let stage = Stage::new();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "unwanted"]);
    stage.planner(&json!({"direct": false, "tasks": [task("a", &["a.txt"])]}));
    let repo = stage.repo.path().display().to_string();
    stage.work("a", &format!("git -C {repo} reset -q --hard HEAD~1"));
    stage
        .orchestrate(&["run", "write a", "--review", "off"])
        .code(0);
    let log = stage.git(&["log", "--format=%s", "main"]);
    assert!(log.contains("Do a") && !log.contains("unwanted"), "{log}");
    assert_eq!(stage.files("main"), ["README.md", "a.txt"]);
}

#[test]
fn a_report_that_was_spoilt_is_told_from_the_journal() {
    let stage = Stage::new();
    stage.planner(&json!({"direct": false, "tasks": [task("a", &["a.txt"])]}));
    stage
        .orchestrate(&["run", "write a", "--review", "off"])
        .code(0);
    let file = stage.run_folder().join("report.json");
    for spoilt in ["{", ""] {
        std::fs::write(&file, spoilt).unwrap();
        let report = stage
            .orchestrate(&["show"])
            .code(0)
            .stderr_has("made anew from the run's journal")
            .json();
        assert_eq!(report["status"], "completed", "{report:#}");
    }
}
