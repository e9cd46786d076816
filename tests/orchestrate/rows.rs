//! Rows of the bug log that concern orchestrate, by their ids.

use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::{eventually, git};

fn task(id: &str) -> Value {
    json!({"schema": "task/1", "id": id, "prompt": format!("Write {id}.txt."),
           "scope": {"write": [format!("{id}.txt")]},
           "verify": [{"command": format!("test -f {id}.txt")}]})
}

fn plan(ids: &[&str]) -> String {
    let tasks: Vec<Value> = ids.iter().map(|id| task(id)).collect();
    json!({"schema": "plan/1", "goal": "files", "tasks": tasks}).to_string()
}

fn run_plan(stage: &Stage, ids: &[&str], args: &[&str]) -> crate::support::Ended {
    stage
        .tool(&["run", "--from", "-", "--review", "off"])
        .args(args)
        .stdin(plan(ids))
        .run()
}

#[test]
fn o02_four_workers_that_touch_the_index_at_once_do_not_meet() {
    let stage = Stage::new();
    for id in ["a", "b", "c", "d"] {
        let script = format!(
            "echo x > {id}.txt; for i in 1 2 3 4 5; do git add -A; git reset -q; done; \
             handoff completed done"
        );
        stage.work(id, &script);
    }
    run_plan(&stage, &["a", "b", "c", "d"], &["--max-parallel", "4"]).code(0);
    assert_eq!(stage.files("main").len(), 5);
}

#[test]
fn o03_a_lock_of_another_git_is_waited_for_and_never_removed() {
    let stage = Stage::new();
    let lock = stage.repo.path().join(".git/index.lock");
    // Somebody else's git holds the index of the main work tree while the run wants to land.
    let hold = format!(
        "touch {0}; setsid bash -c 'touch {2}; sleep 2; test -e {0} && touch {1}; rm -f {0}' \
         > /dev/null 2>&1 & while ! test -e {2}; do sleep 0.02; done",
        lock.display(),
        stage.stub("still-there").display(),
        stage.stub("holding").display()
    );
    stage.work("a", &hold);
    run_plan(&stage, &["a"], &[]).code(0);
    assert!(
        stage.stub("still-there").exists(),
        "the lock was taken away from its owner"
    );
    assert_eq!(stage.files("main"), ["README.md", "a.txt"]);
}

#[test]
fn o05_a_reset_in_one_tree_does_not_reach_another() {
    let stage = Stage::new();
    stage.work("a", "echo x > a.txt; sleep 0.5; handoff completed done");
    stage.work(
        "b",
        "git reset -q --hard; git clean -qfd; echo x > b.txt; handoff completed done",
    );
    run_plan(&stage, &["a", "b"], &[]).code(0);
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
}

#[test]
fn o06_unfinished_work_in_a_tree_is_kept_and_said() {
    let stage = Stage::new();
    let started = stage.stub("started");
    stage.work(
        "a",
        &format!(
            "trap 'handoff interrupted x' TERM; echo precious > untracked.txt; touch {}; \
             for i in $(seq 600); do sleep 0.1; done",
            started.display()
        ),
    );
    std::fs::write(stage.stub("plan.json"), plan(&["a"])).unwrap();
    let file = stage.stub("plan.json").display().to_string();
    let mut child = stage.start(&["run", "--from", &file, "--review", "off"]);
    eventually("a runs", Duration::from_secs(60), || {
        started.exists().then_some(())
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let clean = stage.orchestrate(&["clean", "--yes"]).code(0).json();
    assert_eq!(clean["removed"], json!([]), "{clean:#}");
    assert!(
        clean["kept"][0]["why"]
            .as_str()
            .unwrap()
            .contains("untracked.txt"),
        "{clean:#}"
    );
    let tree = clean["kept"][0]["path"].as_str().unwrap().to_owned();
    let precious = std::path::Path::new(&tree).join("untracked.txt");
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "precious\n");
}

#[test]
fn o07_what_a_worker_leaves_uncommitted_is_committed_and_nothing_stays_dirty() {
    let stage = Stage::new();
    stage.work(
        "a",
        "echo x > a.txt; git add a.txt; echo y >> a.txt; mkdir d; echo z > d/new.txt; handoff completed done",
    );
    run_plan(&stage, &["a"], &[]).code(0);
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "d/new.txt"]);
    assert_eq!(stage.git(&["show", "main:a.txt"]), "x\ny");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert_eq!(stage.trees(), [""; 0]);
}

/// A work tree of a run, as a crash leaves it: detached, at a commit of its own.
fn leftover(stage: &Stage) -> String {
    run_plan(stage, &["a"], &[]).code(0);
    let run = stage
        .run_folder()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let path = stage
        .repo
        .path()
        .join(format!(".orchestrator/worktrees/{run}-left"));
    let path = path.display().to_string();
    stage.git(&["worktree", "add", "-q", "--detach", &path, "HEAD"]);
    path
}

#[test]
fn o09_a_locked_tree_whose_folder_is_gone_is_named_with_the_way_out() {
    let stage = Stage::new();
    let path = leftover(&stage);
    stage.git(&["worktree", "lock", "--reason", "usb disk", &path]);
    std::fs::remove_dir_all(&path).unwrap();
    let clean = stage.orchestrate(&["clean", "--yes"]).code(0).json();
    let why = clean["kept"][0]["why"].as_str().unwrap();
    assert!(
        why.contains("locked (usb disk)") && why.contains("git worktree unlock"),
        "{clean:#}"
    );
}

#[test]
fn o10_a_detached_commit_that_no_branch_holds_is_kept() {
    let stage = Stage::new();
    let path = leftover(&stage);
    let tree = std::path::Path::new(&path);
    std::fs::write(tree.join("only-here.txt"), "x\n").unwrap();
    git(tree, &["add", "-A"]);
    git(tree, &["commit", "-q", "-m", "only here"]);
    let clean = stage.orchestrate(&["clean", "--yes"]).code(0).json();
    assert!(
        clean["kept"][0]["why"]
            .as_str()
            .unwrap()
            .contains("git branch NAME"),
        "{clean:#}"
    );
    assert!(tree.join("only-here.txt").exists());
    // One whose commit a branch holds goes.
    git(tree, &["branch", "saved"]);
    let clean = stage.orchestrate(&["clean", "--yes"]).code(0).json();
    assert_eq!(clean["kept"], json!([]), "{clean:#}");
    assert!(!tree.exists());
}

#[test]
fn o16_a_task_that_always_fails_ends_after_two_attempts() {
    let stage = Stage::new();
    stage.work("a", "handoff no_answer 'nothing came'");
    run_plan(&stage, &["a"], &[]).code(1);
    assert_eq!(stage.workers(), ["a.1", "a.2"]);
}

#[test]
fn o18_a_server_that_is_lost_for_ever_ends_the_task_within_bounds() {
    let stage = Stage::new();
    stage.work("a", "echo '503 model decommissioned' >&2; exit 69");
    run_plan(&stage, &["a"], &[]).code(69);
    assert_eq!(stage.workers().len(), 3);
}

#[test]
fn o19_a_money_limit_that_cannot_be_kept_is_refused_before_any_request() {
    let stage = Stage::new();
    let ended = run_plan(&stage, &["a"], &["--max-cost-usd", "1"]);
    ended.code(78).stderr_has("price");
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn a_token_limit_stops_between_steps_and_says_so() {
    let stage = Stage::new();
    // Each worker reports 110 tokens.
    let ended = run_plan(
        &stage,
        &["a", "b", "c"],
        &["--max-tokens", "150", "--max-parallel", "1"],
    );
    let report = ended.code(3).json();
    assert_eq!(report["status"], "budget_spent", "{report:#}");
    assert!(
        report["budget"]["exceeded"]
            .as_str()
            .unwrap()
            .contains("max_tokens")
    );
    assert_eq!(stage.workers(), ["a.1", "b.1"]);
    assert_eq!(stage.files("main"), ["README.md"]);
}

#[test]
fn o22_a_crash_after_the_first_worker_loses_none_of_its_work() {
    let stage = Stage::new();
    let started = stage.stub("b.started");
    stage.work("b", &format!("touch {}; exec sleep 600", started.display()));
    std::fs::write(stage.stub("plan.json"), plan(&["a", "b"])).unwrap();
    let file = stage.stub("plan.json").display().to_string();
    let mut child = stage.start(&["run", "--from", &file, "--review", "off"]);
    eventually(
        "a is integrated and b runs",
        Duration::from_secs(60),
        || (started.exists() && stage.journal().contains("\"integrated\"")).then_some(()),
    );
    child.kill().unwrap();
    child.wait().unwrap();
    // The worker of b dies as well, and its next one does the work.
    let process = stage.run_folder().join("tasks/b.1/process.json");
    let process: Value = serde_json::from_str(&std::fs::read_to_string(process).unwrap()).unwrap();
    let pid = i32::try_from(process["pid"].as_u64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).unwrap();
    stage.work("b", "");
    stage
        .orchestrate(&["resume"])
        .code(0)
        .stderr_has("placed again");
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
    assert_eq!(stage.workers().iter().filter(|w| *w == "a.1").count(), 1);
    stage.no_process_left();
}
