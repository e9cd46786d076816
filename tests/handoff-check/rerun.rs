//! The task's commands: run again in a scratch copy, or shown by receipts.

use serde_json::{Value, json};

use crate::kit::{A, Case, Judged, handoff};
use crate::support::{Run, git};

/// A receipt of `true` with the given tree and exit code.
fn receipt(id: &str, command: &str, tree: &str, code: i32) -> Value {
    json!({"id": id, "source": "check", "command": command, "cwd": ".", "exit_code": code,
        "signal": null, "timed_out": false, "started_at": "2026-11-30T10:15:01.000Z",
        "duration_ms": 5, "tree_before": tree, "tree_after": tree, "output_sha256": "", "output_bytes": 0})
}

/// The hash of the work tree as it is, by git alone.
fn tree(case: &Case) -> String {
    git(case.path(), &["add", "-A"]);
    let tree = git(case.path(), &["write-tree"]);
    git(case.path(), &["reset", "-q"]);
    tree
}

#[test]
fn without_evidence_nobody_can_judge() {
    let case = Case::new(A).verify(&["grep -q 2 src/a.rs"]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(3)
        .check("verification", "unknown", "use --rerun");
}

#[test]
fn a_receipt_counts_only_on_the_tree_at_the_end() {
    let case = Case::new(A).verify(&["grep -q 2 src/a.rs"]);
    case.write("src/a.rs", "2 early\n");
    let early = tree(&case);
    case.write("src/a.rs", "2\n");
    let end = tree(&case);
    let with = |receipts: Value| {
        let mut report = handoff(&["src/a.rs"]);
        report["receipts"] = receipts;
        report["tree"] = json!(end);
        report
    };
    let command = "grep -q 2 src/a.rs";
    let stale = with(json!([receipt("r1", command, &early, 0)]));
    case.judge(stale.to_string()).exit(3).check(
        "verification",
        "unknown",
        "the last edit came after it",
    );
    let fresh = with(json!([
        receipt("r1", command, &early, 1),
        receipt("r2", command, &end, 0)
    ]));
    let judged = case
        .judge(fresh.to_string())
        .exit(0)
        .check("verification", "pass", "receipt r2");
    assert_eq!(judged.document()["admission"], "worker-passed");
    let red = with(json!([
        receipt("r1", command, &early, 0),
        receipt("r2", command, &end, 1)
    ]));
    case.judge(red.to_string())
        .exit(1)
        .check("verification", "fail", "receipt r2: exit 1");
    let other = with(json!([receipt("r1", "true", &end, 0)]));
    case.judge(other.to_string()).exit(3);
    // Receipts inside a model's text are the model's words.
    case.judge(format!("Here it is:\n```json\n{fresh}\n```"))
        .exit(3)
        .check("verification", "unknown", "not run");
    // The tree changed after the hand-over.
    case.write("src/a.rs", "2 later\n");
    case.judge(fresh.to_string())
        .exit(3)
        .check("tree", "unknown", "something changed it since");
}

#[test]
fn the_commands_see_exactly_the_tree_and_change_nothing() {
    let case = Case::new(&[("src/a.rs", "1\n"), (".gitignore", "ignored\n")])
        .verify(&["test ! -e ignored && test -e src/new && echo > src/by-the-test && git status --porcelain"])
        .flags(&["--rerun"]);
    case.write("src/new", "1\n").write("ignored", "1\n");
    git(case.path(), &["add", "src/new"]);
    let before = snapshot(case.path());
    case.claim(&["src/new"])
        .exit(0)
        .check("verification", "pass", "exit 0");
    assert_eq!(snapshot(case.path()), before);
    assert!(!case.path().join("src/by-the-test").exists());
}

/// Every file below a folder, git's own included, with its content and its time.
fn snapshot(root: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let time = path.metadata().unwrap().modified().unwrap();
                files.push((path.clone(), std::fs::read(path).unwrap(), time));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_command_cannot_reach_the_repository_behind_the_border() {
    let case = Case::new(A);
    let target = case.path().join("src/reached");
    let command = format!("! touch '{}'", target.display()).replace("! ", "touch /dev/null; ");
    let case = case.verify(&[&command]).flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    let judged = case.claim(&["src/a.rs"]).exit(1);
    assert!(!target.exists(), "{:#}", judged.document());
}

#[test]
fn a_run_of_no_test_proves_nothing() {
    let case = Case::new(A)
        .verify(&["echo; printf 'Ran 0 tests in 0.000s\\n\\nOK\\n' | cat"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    let judged = case
        .claim(&["src/a.rs"])
        .exit(3)
        .check("verification", "unknown", "vacuous");
    assert_eq!(judged.document()["verification"][0]["vacuous"], true);
}

#[test]
fn what_is_not_installed_is_unknown_and_what_hangs_is_ended() {
    let case = Case::new(A)
        .verify(&["no-such-program-here"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(3)
        .check("verification", "unknown", "exit 127");
    let mut case = case.verify(&["sleep 300 & sleep 300"]);
    case.task["verify"][0]["timeout_ms"] = json!(400);
    let start = std::time::Instant::now();
    case.claim(&["src/a.rs"])
        .exit(1)
        .check("verification", "fail", "did not end within");
    assert!(start.elapsed() < std::time::Duration::from_secs(60));
}

#[test]
fn different_results_are_called_flaky() {
    // The scratch copy remembers how often the command ran.
    let command = "echo x >> count; test $(wc -l < count) -ne 2";
    let case = Case::new(A).verify(&[command]).flags(&["--repeat", "3"]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(3)
        .check("verification", "unknown", "flaky: passed 2 of 3 runs");
}

#[test]
fn red_first_shows_that_the_tests_show_something() {
    let files = [("src/a.sh", "echo 1\n"), ("README.md", "r\n")];
    let case = Case::new(&files)
        .owns(&["src/**", "tests/**"])
        .verify(&["sh tests/test_a.sh"])
        .flags(&["--red-first"]);
    case.write("src/a.sh", "echo 2\n")
        .write("tests/test_a.sh", "test $(sh src/a.sh) = 2\n");
    case.claim(&["src/a.sh", "tests/test_a.sh"]).exit(0).check(
        "red_first",
        "pass",
        "fail without the work",
    );
    // A test that passes on the base too.
    case.write("tests/test_a.sh", "test -e src/a.sh\n");
    case.claim(&["src/a.sh", "tests/test_a.sh"]).exit(1).check(
        "red_first",
        "fail",
        "pass without the work",
    );
    std::fs::remove_dir_all(case.path().join("tests")).unwrap();
    case.claim(&["src/a.sh"])
        .exit(1)
        .check("red_first", "fail", "no test was added");
}

#[test]
fn an_ignored_folder_can_be_brought_along() {
    let case = Case::new(&[("src/a.rs", "1\n"), (".gitignore", "node_modules\n")])
        .verify(&["test -e node_modules/x/index.js"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n")
        .write("node_modules/x/index.js", "1\n");
    case.claim(&["src/a.rs"]).exit(1);
    let case = case.flags(&["--with", "node_modules"]);
    case.claim(&["src/a.rs"]).exit(0);
    let outside = Judged(
        case.run()
            .args(["--with", "../x"])
            .stdin(handoff(&["src/a.rs"]).to_string())
            .run(),
    );
    outside.exit(2);
}

#[test]
fn the_state_in_the_admission_machine() {
    let case = Case::new(A)
        .verify(&["grep -q 2 src/a.rs"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    let state = |judged: Judged| judged.document()["admission"].as_str().unwrap().to_owned();
    assert_eq!(state(case.claim(&["src/a.rs"])), "admitted");
    let reviewed = Judged(
        case.run()
            .arg("--review-required")
            .stdin(handoff(&["src/a.rs"]).to_string())
            .run(),
    );
    assert_eq!(state(reviewed.exit(0)), "review-pending");
    assert_eq!(state(case.claim(&[])), "worker-failed");
    case.write("src/a.rs", "3\n");
    assert_eq!(state(case.claim(&["src/a.rs"])), "orchestrator-failed");
    case.write("src/a.rs", "2\n");
    let masked = case.verify(&["grep 2 src/a.rs || true"]);
    assert_eq!(state(masked.claim(&["src/a.rs"])), "blocked-unknown");
}

/// A repository that another one can hold as a submodule.
fn library(files: &[(&str, &str)]) -> tempfile::TempDir {
    crate::support::repository(files)
}

fn add_submodule(case: &Case, library: &std::path::Path, path: &str) {
    let url = library.to_str().unwrap();
    let allow = "protocol.file.allow=always";
    git(
        case.path(),
        &[
            "-c",
            allow,
            "submodule",
            "--quiet",
            "add",
            "--name",
            "the lib",
            url,
            path,
        ],
    );
    git(case.path(), &["commit", "-q", "-m", "submodule"]);
}

#[test]
fn a_submodule_is_there_when_the_commands_run() {
    let inner = library(&[("data", "inner\n")]);
    let outer = library(&[("value", "7\n")]);
    git(
        outer.path(),
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            inner.path().to_str().unwrap(),
            "deep",
        ],
    );
    git(outer.path(), &["commit", "-q", "-m", "deep"]);
    let mut case = Case::new(A)
        .owns(&["src/**"])
        .verify(&["grep -q 7 vendor/lib/value && git -C vendor/lib status --porcelain | wc -l | grep -q 0"])
        .flags(&["--rerun"]);
    add_submodule(&case, outer.path(), "vendor/lib");
    case.task["base"] = json!(git(case.path(), &["rev-parse", "HEAD"]));
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(0)
        .check("verification", "pass", "exit 0");
    // The one inside it is not checked out, which is said.
    let case = case.verify(&["test ! -e vendor/lib/deep/data"]);
    let judged = case.claim(&["src/a.rs"]).exit(0);
    judged.0.stderr_has("without the submodule vendor/lib/deep");
    // Neither is the outer one in a linked work tree, but it was fetched once.
    let linked = tempfile::tempdir().unwrap();
    let there = linked.path().join("tree");
    git(
        case.path(),
        &["worktree", "add", "-q", there.to_str().unwrap()],
    );
    crate::support::write(&there, "src/a.rs", "2\n");
    let case = case.verify(&["grep -q 7 vendor/lib/value"]);
    let run = Run::tool("handoff-check", &case.home)
        .arg("--task")
        .arg(case.task_file())
        .arg("--repo")
        .arg(&there)
        .arg("--rerun");
    Judged(run.stdin(handoff(&["src/a.rs"]).to_string()).run())
        .exit(0)
        .check("verification", "pass", "exit 0");
}

#[test]
fn work_inside_a_submodule_is_run_as_it_is_and_counts_as_a_change() {
    let library = library(&[("value", "7\n")]);
    let mut case = Case::new(A)
        .owns(&["vendor/lib"])
        .verify(&["grep -q 8 vendor/lib/value && test -e vendor/lib/new"])
        .flags(&["--rerun"]);
    add_submodule(&case, library.path(), "vendor/lib");
    case.task["base"] = json!(git(case.path(), &["rev-parse", "HEAD"]));
    case.write("vendor/lib/value", "8\n")
        .write("vendor/lib/new", "\n");
    // (Git marks a stored object as still in use, by its time, when it meets it again.)
    let files = || {
        let all = snapshot(case.path()).into_iter();
        all.filter(|(p, ..)| !p.to_str().unwrap().contains("/objects/"))
            .collect::<Vec<_>>()
    };
    let before = files();
    case.claim(&["vendor/lib"])
        .exit(0)
        .check("verification", "pass", "exit 0");
    assert!(files() == before, "something in the repository changed");
}

#[test]
fn h20_files_of_the_repository_may_hide_failures_too() {
    let files = [
        ("src/a.rs", "1\n"),
        (
            "check.sh",
            "#!/bin/sh\npython3 -m unittest discover -s none || true\n",
        ),
        ("package.json", "{\"scripts\":{\"test\":\"jest; exit 0\"}}"),
        ("Makefile", "test:\n\t-python3 -m unittest\n"),
    ];
    for (command, why) in [
        ("sh check.sh", "`|| true` turns every failure"),
        ("npm test", "the script `test` hides failures"),
        ("make test", "the recipe of `test` ignores the exit code"),
    ] {
        let case = Case::new(&files).verify(&[command]);
        case.write("src/a.rs", "2\n");
        let mut report = handoff(&["src/a.rs"]);
        let end = tree(&case);
        report["tree"] = json!(end);
        report["receipts"] = json!([receipt("r1", command, &end, 0)]);
        let judged = case
            .judge(report.to_string())
            .exit(3)
            .check("verification", "unknown", why);
        assert_eq!(judged.document()["verification"][0]["masked"], true);
    }
}

#[test]
fn h20_an_exit_code_that_its_own_output_contradicts_is_refused() {
    let script = "import sys\nprint('==== 1 failed, 2 passed in 0.10s ====')\n";
    let case = Case::new(&[("src/a.rs", "1\n"), ("run.py", script)])
        .verify(&["python3 run.py"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    let judged = case.claim(&["src/a.rs"]).exit(3).check(
        "verification",
        "unknown",
        "its own output counts 1 failed",
    );
    assert_eq!(judged.document()["verification"][0]["masked"], true);
}
