//! What the configuration decides: isolation, trace, classes, which model goes first.

use std::path::Path;

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::{git, write};

fn task(id: &str, role: &str) -> Value {
    json!({"schema": "task/1", "id": id, "role": role, "prompt": format!("Write {id}.txt."),
           "scope": {"write": [format!("{id}.txt")]},
           "verify": [{"command": format!("test -f {id}.txt")}]})
}

fn plan(tasks: &[Value]) -> String {
    json!({"schema": "plan/1", "goal": "files", "tasks": tasks}).to_string()
}

fn run(stage: &Stage, tasks: &[Value], args: &[&str]) -> crate::support::Ended {
    stage
        .tool(&["run", "--from", "-", "--review", "off"])
        .args(args)
        .stdin(plan(tasks))
        .run()
}

fn two() -> Vec<Value> {
    vec![task("a", "worker"), task("b", "worker")]
}

fn configure(stage: &Stage, text: &str) {
    stage.home.config(text);
}

#[test]
fn a_clone_each_shares_neither_stash_nor_branches_nor_settings() {
    let stage = Stage::new();
    configure(&stage, "[run]\nisolation = 'clone'\n");
    // What a worker does to git in its clone reaches nobody: not the other, not the user.
    let meddle = "echo x > a.txt; git add a.txt; git stash -q; git stash pop -q; git branch mine; \
                  git config user.name Mallory; git remote > remotes.tmp; test ! -s remotes.tmp; \
                  rm remotes.tmp; git branch -D mine -q; handoff completed done";
    stage.work("a", meddle);
    run(&stage, &two(), &[]).code(0);
    assert_eq!(stage.files("main"), ["README.md", "a.txt", "b.txt"]);
    assert_eq!(stage.git(&["stash", "list"]), "");
    assert_eq!(stage.git(&["config", "user.name"]), "Test");
    assert_eq!(stage.git(&["branch", "--list", "mine"]), "");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    let left = stage.repo.path().join(".orchestrator/worktrees");
    assert_eq!(std::fs::read_dir(left).unwrap().count(), 0);
}

#[test]
fn a_clone_that_holds_work_is_kept_and_listed() {
    let stage = Stage::new();
    configure(&stage, "[run]\nisolation = 'clone'\n");
    // Failed twice: what was done is on branches, and the clones are gone.
    stage.work("a", "echo half > a.txt; handoff failed 'half done'");
    run(&stage, &two(), &[]).code(1);
    let kept = stage.git(&[
        "branch",
        "--list",
        "baton/*-a*",
        "--format=%(refname:short)",
    ]);
    assert_eq!(kept.lines().count(), 2, "{kept}");
    let first = kept.lines().next().unwrap();
    assert_eq!(stage.git(&["show", &format!("{first}:a.txt")]), "half");
    // A clone with a stash of its own is nobody's to remove.
    let run_name = stage.run_folder();
    let run_name = run_name.file_name().unwrap().to_str().unwrap();
    let path = format!(".orchestrator/worktrees/{run_name}-left");
    stage.git(&["clone", "-q", ".", &path]);
    let clone = stage.repo.path().join(&path);
    write(&clone, "README.md", "changed\n");
    git(&clone, &["stash", "-q"]);
    let clean = stage.orchestrate(&["clean", "--yes"]).code(0).json();
    let listed = clean["kept"].as_array().unwrap();
    let why = listed
        .iter()
        .find(|e| e["path"].as_str().is_some_and(|p| p.ends_with("-left")))
        .unwrap_or_else(|| panic!("{clean:#}"));
    assert!(why["why"].as_str().unwrap().contains("stash"), "{clean:#}");
    git(&clone, &["stash", "drop", "-q"]);
    stage.orchestrate(&["clean", "--yes"]).code(0);
    assert!(!clone.exists());
}

#[test]
fn isolation_none_is_refused_with_the_reason() {
    let stage = Stage::new();
    configure(&stage, "[run]\nisolation = 'none'\n");
    run(&stage, &two(), &[])
        .code(78)
        .stderr_has("never works in your own tree");
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn branches_of_a_run_that_the_target_holds_are_cleaned() {
    let stage = Stage::new();
    run(&stage, &two(), &[]).code(0);
    let listed = stage.orchestrate(&["clean"]).code(0).json();
    assert_eq!(listed["done"], false);
    assert_eq!(listed["removed"].as_array().unwrap().len(), 1, "{listed:#}");
    assert_ne!(stage.git(&["branch", "--list", "baton/*"]), "");
    stage.orchestrate(&["clean", "--yes"]).code(0);
    assert_eq!(stage.git(&["branch", "--list", "baton/*"]), "");
}

/// The worker of a stage writes events like a real one when it is asked to.
fn with_events(stage: &Stage) {
    let event = |kind: &str, rest: &str| {
        format!(
            r#"{{"schema":"event/1","at":"2026-11-30T12:00:00Z","run":null,"task":null,"type":"{kind}"{rest}}}"#
        )
    };
    let lines = [
        event("request", r#","prompt_tokens":9"#),
        event(
            "tool",
            r#","tool":"edit","arguments":{"path":"secret-name.txt"}"#,
        ),
    ];
    let script = format!(
        "if [ -n \"${{EVENTS:-}}\" ]; then cat > \"$EVENTS\" <<'X'\n{}\nX\nfi; echo x > $ID.txt; handoff completed done",
        lines.join("\n")
    );
    stage.work("a", &script).work("b", &script);
}

fn attempt(stage: &Stage, name: &str) -> bool {
    stage.run_folder().join("tasks/a.1").join(name).exists()
}

#[test]
fn the_trace_is_kept_forgotten_or_never_made() {
    for (mode, kept, summary) in [
        ("snapshot", true, true),
        ("memory", false, false),
        ("off", false, false),
    ] {
        let stage = Stage::new();
        configure(&stage, &format!("[trace]\nmode = '{mode}'\n"));
        with_events(&stage);
        run(&stage, &two(), &[]).code(0);
        assert_eq!(attempt(&stage, "events.jsonl"), kept, "{mode}");
        let file = stage.run_folder().join("trace.json");
        assert_eq!(file.exists(), summary, "{mode}");
        let command = std::fs::read_to_string(stage.run_folder().join("tasks/a.1/command.txt"));
        assert_eq!(
            command.unwrap().contains("--events"),
            mode != "off",
            "{mode}"
        );
        if summary {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains("secret-name"), "counts and durations only");
            let trace: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(trace["tasks"][0]["tools"]["edit"], 1, "{trace:#}");
            assert_eq!(trace["totals"]["requests"], 4, "{trace:#}");
        }
    }
}

fn classes(stage: &Stage) -> Vec<String> {
    let log = std::fs::read_to_string(stage.stub("slot-lock.log")).unwrap();
    log.lines()
        .map(|line| {
            let rest = line.split("--class ").nth(1).unwrap();
            rest.split(' ').next().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn a_person_s_planner_goes_before_workers_and_a_batch_behind_everybody() {
    let plan = json!({"tasks": [{"id": "a", "prompt": "Write a.txt.", "scope": {"write": ["a.txt"]},
                                 "verify": [{"command": "test -f a.txt"}]}]});
    for (class, expected) in [
        ("interactive", ["interactive", "worker"]),
        ("worker", ["worker", "worker"]),
        ("batch", ["batch", "batch"]),
    ] {
        let stage = Stage::new();
        stage.planner(&plan);
        stage
            .orchestrate(&["run", "x", "--review", "off", "--class", class])
            .code(0);
        assert_eq!(classes(&stage), expected, "{class}");
    }
}

#[test]
fn o31_tasks_of_one_model_are_done_before_the_server_swaps() {
    let stage = Stage::new();
    configure(
        &stage,
        "[roles.small]\nmodels = ['sw/m1']\naccess = 'write'\n\
         [roles.big]\nmodels = ['sw/m2']\naccess = 'write'\n",
    );
    let tasks = [
        task("a", "small"),
        task("b", "big"),
        task("c", "small"),
        task("d", "big"),
        task("e", "small"),
    ];
    let report = |id: &str, model: &str| {
        let script = format!(
            "echo x > {id}.txt; handoff() {{ printf '{{\"schema\":\"handoff/1\",\"task_id\":\"{id}\",\
             \"role\":\"r\",\"status\":\"completed\",\"outcome\":\"x\",\"files_changed\":[],\
             \"verification\":[],\"provider\":\"sw\",\"model\":\"{model}\"}}\\n'; exit 0; }}; handoff"
        );
        stage.work(id, &script);
    };
    for (id, model) in [
        ("a", "m1"),
        ("b", "m2"),
        ("c", "m1"),
        ("d", "m2"),
        ("e", "m1"),
    ] {
        report(id, model);
    }
    run(&stage, &tasks, &["--max-parallel", "1"]).code(0);
    assert_eq!(stage.workers(), ["a.1", "c.1", "e.1", "b.1", "d.1"]);
}

#[test]
fn o08_a_repository_with_a_submodule_is_worked_on_and_cleaned_up() {
    let lib = crate::support::repository(&[("lib.txt", "lib\n")]);
    let stage = Stage::new();
    let add = |dir: &Path, args: &[&str]| {
        git(dir, &[&["-c", "protocol.file.allow=always"], args].concat())
    };
    add(
        stage.repo.path(),
        &[
            "submodule",
            "add",
            "-q",
            lib.path().to_str().unwrap(),
            "lib",
        ],
    );
    stage.git(&["commit", "-q", "-m", "lib"]);
    // The worker's setup initialises it, as a real one has to; the tree is clean all the same.
    stage.work(
        "a",
        "git -c protocol.file.allow=always submodule update -q --init; test -f lib/lib.txt; \
         echo x > a.txt; handoff completed done",
    );
    run(&stage, &two(), &[]).code(0);
    assert_eq!(
        stage.files("main"),
        [".gitmodules", "README.md", "a.txt", "b.txt", "lib"]
    );
    assert_eq!(stage.trees(), [""; 0], "no tree is left behind");
    let clean = stage.orchestrate(&["clean", "--yes"]).code(0).json();
    assert_eq!(clean["kept"], json!([]), "{clean:#}");
}

/// A package manager that makes its lock file from the manifests, as real ones do.
const NPM: &str = "#!/bin/sh\n\
    n=$(cat */package.json | grep -c dep-)\n\
    { echo \"{ \\\"count\\\": $n, \"; cat */package.json | grep dep- | sort; echo '}'; } > package-lock.json\n";

#[test]
fn o01_lock_files_that_two_tasks_share_are_made_anew_at_integration() {
    let stage = Stage::with_files(&[
        ("web/a/package.json", "{}\n"),
        ("web/b/package.json", "{}\n"),
        ("web/package-lock.json", "{ \"count\": 0, \n}\n"),
    ]);
    let npm = stage.stub("bin/npm");
    write(&stage.stub("bin"), "npm", NPM);
    std::fs::set_permissions(&npm, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::join_paths(
        std::iter::once(stage.stub("bin"))
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let mut tasks = Vec::new();
    for id in ["a", "b"] {
        // Each adds a dependency and makes the lock file in its own tree: both change the same line.
        let script = format!(
            "echo '\"dep-{id}\"' >> web/{id}/package.json; (cd web && sh {}); handoff completed done",
            npm.display()
        );
        stage.work(id, &script);
        tasks.push(json!({
            "schema": "task/1", "id": id, "prompt": format!("Add dep-{id}."),
            "scope": {"write": [format!("web/{id}/package.json"), "web/package-lock.json"]},
            "verify": [{"command": format!("grep -q dep-{id} web/package-lock.json")}],
        }));
    }
    let ended = stage
        .tool(&["run", "--from", "-", "--review", "off"])
        .stdin(plan(&tasks))
        .env("PATH", path)
        .run()
        .code(0);
    let lock = stage.git(&["show", "main:web/package-lock.json"]);
    assert_eq!(
        lock, "{ \"count\": 2, \n\"dep-a\"\n\"dep-b\"\n}",
        "{}",
        ended.stderr
    );
    assert_eq!(stage.git(&["rev-list", "--count", "main"]), "3");
}
