//! Section H of the bug log, row by row.

use serde_json::{Value, json};

use crate::kit::{A, Case, Judged, envelope, handoff, markdown};
use crate::support::{self, Run, git};

#[test]
fn h01_a_claimed_file_without_a_difference() {
    let case = Case::new(&[("src/index.html", "old\n")]);
    case.claim(&["src/index.html"])
        .exit(1)
        .check("files", "fail", "claimed_not_changed: src/index.html")
        .changes("missing", &["src/index.html"]);
}

#[test]
fn h02_a_claimed_new_file_that_is_not_there() {
    let case = Case::new(A);
    case.claim(&["src/report.md"])
        .exit(1)
        .check("files", "fail", "src/report.md");
}

#[test]
fn h03_outputs_of_a_script_that_never_ran() {
    let case = Case::new(A);
    case.write("src/clean.py", "print()\n");
    case.claim(&["src/clean.py", "src/clean.csv", "src/findings.md"])
        .exit(1)
        .changes("matched", &["src/clean.py"])
        .changes("missing", &["src/clean.csv", "src/findings.md"]);
    // Named as artefacts instead: the same.
    let mut report = handoff(&["src/clean.py"]);
    report["artifacts"] =
        json!([{"kind": "file", "reference": "src/clean.csv", "description": ""}]);
    case.judge(report.to_string())
        .exit(1)
        .check("artifacts", "fail", "src/clean.csv");
}

#[test]
fn h04_the_three_classes_of_claims() {
    let case = Case::new(&[("src/a", "1\n"), ("src/b", "1\n"), ("src/c", "1\n")]);
    case.write("src/a", "2\n").write("src/b", "2\n");
    case.claim(&["src/a", "src/c"])
        .exit(1)
        .changes("matched", &["src/a"])
        .changes("unclaimed", &["src/b"])
        .changes("missing", &["src/c"]);
    case.claim(&["src/a", "src/b"])
        .exit(0)
        .check("files", "pass", "2 files");
}

#[test]
fn h05_committed_work_is_measured_against_the_recorded_base() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n").commit("by the worker");
    case.claim(&["src/a.rs"])
        .exit(0)
        .changes("committed", &["src/a.rs"]);
    case.claim(&[]).exit(1).changes("unclaimed", &["src/a.rs"]);
}

#[test]
fn h06_untracked_files_count_and_no_repository_is_its_own_error() {
    let case = Case::new(A);
    case.write("src/solution.py", "x\n");
    case.claim(&["src/solution.py"])
        .exit(0)
        .changes("untracked", &["src/solution.py"]);
    let plain = tempfile::tempdir().unwrap();
    let ended = Run::tool("handoff-check", &case.home)
        .arg("--task")
        .arg(case.task_file())
        .arg("--repo")
        .arg(plain.path())
        .stdin(handoff(&[]).to_string())
        .run()
        .code(2)
        .stderr_has("is not inside a git repository");
    assert_eq!(ended.json()["schema"], "error/1");
}

#[test]
fn h07_committed_staged_unstaged_and_untracked_are_shown_apart() {
    let case = Case::new(&[
        ("src/c", "1\n"),
        ("src/s", "1\n"),
        ("src/w", "1\n"),
        ("src/.gitignore", "scratch\n"),
    ]);
    case.write("src/c", "2\n").commit("c");
    case.write("src/s", "2\n");
    git(case.path(), &["add", "src/s"]);
    case.write("src/w", "2\n")
        .write("src/new", "2\n")
        .write("src/scratch", "on disk only\n");
    case.claim(&["src/c", "src/s", "src/w", "src/new"])
        .exit(0)
        .changes("committed", &["src/c"])
        .changes("staged", &["src/s"])
        .changes("unstaged", &["src/w"])
        .changes("untracked", &["src/new"]);
}

#[test]
fn h08_before_the_first_commit_the_base_is_the_empty_tree() {
    let case = Case::new(&[]);
    let repo = tempfile::tempdir().unwrap();
    git(repo.path(), &["init", "-q"]);
    support::write(repo.path(), "src/a", "1\n");
    git(repo.path(), &["add", "-A"]);
    support::write(repo.path(), "src/a", "2\n");
    let case = Case { repo, ..case };
    let mut task = case.task.clone();
    task["base"] = Value::Null;
    let case = Case { task, ..case };
    case.claim(&["src/a"])
        .exit(0)
        .changes("staged", &["src/a"])
        .changes("unstaged", &["src/a"])
        .changes("matched", &["src/a"]);
}

#[test]
fn h09_a_commit_that_the_work_tree_has_undone_is_seen() {
    let case = Case::new(A);
    case.write("README.md", "changed\n").commit("outside");
    case.write("README.md", "r\n");
    case.claim(&[])
        .exit(1)
        .changes("outside_scope", &["README.md"]);
}

#[test]
fn h10_odd_names_are_compared_byte_by_byte() {
    let odd = [
        "src/café.txt",
        "src/a b.txt",
        "src/x b/y.txt",
        "src/\"q\".txt",
        "src/tab\there",
        "src/line\nbreak",
        "src/u\u{2028}v",
        "src/normal -> file.txt",
    ];
    let case = Case::new(A);
    for name in odd {
        case.write(name, "x\n");
    }
    case.claim(&odd)
        .exit(0)
        .changes("missing", &[])
        .changes("unclaimed", &[]);
    case.commit("odd");
    case.claim(&odd).exit(0);
}

#[test]
fn a_name_that_is_not_utf8_is_reported_and_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let case = Case::new(A);
    let name = std::ffi::OsStr::from_bytes(b"src/\xff.txt");
    std::fs::write(case.path().join("src/a.rs"), "1\n").unwrap();
    std::fs::write(case.path().join(name), "x\n").unwrap();
    case.claim(&[])
        .exit(1)
        .check("names", "fail", r#""src/\xff.txt""#);
}

#[test]
fn h11_a_rename_is_checked_under_both_names() {
    let text = "a line\n".repeat(30);
    let case = Case::new(&[("README.md", &text), ("src/old", &text)]);
    git(case.path(), &["mv", "src/old", "src/new"]);
    case.claim(&["src/new"])
        .exit(0)
        .changes("matched", &["src/new", "src/old"]);
    git(case.path(), &["mv", "README.md", "src/readme -> moved"]);
    case.claim(&["src/new", "src/readme -> moved"])
        .exit(1)
        .changes("outside_scope", &["README.md"]);
}

#[test]
fn h12_a_name_with_an_arrow_is_one_file() {
    let case = Case::new(&[("src/normal -> file.txt", "1\n")]);
    case.write("src/normal -> file.txt", "2\n");
    case.claim(&["src/normal -> file.txt"]).exit(0);
    case.judge(markdown(&["src/normal -> file.txt"])).exit(0);
}

#[test]
fn h13_the_report_is_found_in_any_fence_or_bare() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let pretty = serde_json::to_string_pretty(&handoff(&["src/a.rs"])).unwrap();
    for text in [
        format!("Here you are:\n\n```json\n{pretty}\n```\nDone."),
        format!("```handoff\n{pretty}\n```"),
        format!("~~~\n{pretty}\n~~~"),
        format!("I fixed fn main() {{ }} and report: {pretty} That is all."),
        format!("{{\"type\": \"result\", \"result\": {}}}", json!(pretty)),
        format!("{{\"report\": {pretty}}}"),
        serde_json::to_string_pretty(&envelope(&["src/a.rs"])).unwrap(),
        format!(
            "{}\n\n```json\n{}\n```",
            markdown(&["src/a.rs"]),
            envelope(&["src/a.rs"])
        ),
        markdown(&["src/a.rs"]),
    ] {
        case.judge(text.clone())
            .exit(0)
            .check("report", "pass", "one ");
    }
}

#[test]
fn two_reports_are_an_error_that_names_both() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let text = format!("{}\n\n{}\n", handoff(&["src/a.rs"]), handoff(&[]));
    case.judge(text).exit(2).check(
        "report",
        "fail",
        "handoff/1 at line 1 and handoff/1 at line 3",
    );
    // The same one twice is one.
    let text = format!("{0}\n\n{0}\n", handoff(&["src/a.rs"]));
    case.judge(text).exit(0);
}

#[test]
fn h14_every_wrong_field_is_named_and_git_is_still_asked() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let mut report = envelope(&["src/a.rs"]);
    report["status"] = json!("complete");
    report["risks"] = json!([{"severity": "huge", "statement": "x"}]);
    report.as_object_mut().unwrap().remove("followUp");
    let judged = case
        .judge(report.to_string())
        .exit(2)
        .changes("unstaged", &["src/a.rs"]);
    for words in [
        "$.followUp: is missing",
        "$.risks[0].severity: is `huge`, expected one of: low, medium, high, critical",
        "$.status: is `complete`",
    ] {
        assert!(
            judged.0.stderr.contains(words),
            "{words}: {}",
            judged.0.stderr
        );
    }
}

#[test]
fn h15_broken_json_is_not_an_empty_result() {
    let case = Case::new(A);
    let whole = handoff(&[]).to_string();
    let comma = whole.replacen(',', ",,", 1);
    case.judge(comma)
        .exit(2)
        .check("report", "fail", "is not JSON");
    let cut = &whole[..whole.len() - 20];
    case.judge(cut)
        .exit(2)
        .check("report", "fail", "is cut off");
    case.judge(format!("```json\n{cut}\n```\n"))
        .exit(2)
        .check("report", "fail", "is cut off");
    let ended = case.run().stdin("  \n").run().code(2);
    assert_eq!(ended.json()["kind"], "input");
}

#[test]
fn h16_a_pointer_is_no_report() {
    let case = Case::new(A);
    for text in [
        r#"{"report":"see final message"}"#,
        "See the final message above.",
        "```json\n{\"report\": \"See above\"}\n```",
    ] {
        case.judge(text)
            .exit(2)
            .check("report", "fail", "points elsewhere");
    }
    let mut report = handoff(&[]);
    report["outcome"] = json!("see final message");
    case.judge(report.to_string())
        .exit(1)
        .check("content", "fail", "empty_report");
}

#[test]
fn h17_completed_with_nothing_said_is_no_success() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    for outcome in ["", "   ", "Done.", "I'll start by looking at the parser."] {
        let mut report = handoff(&["src/a.rs"]);
        report["outcome"] = json!(outcome);
        case.judge(report.to_string())
            .exit(1)
            .check("content", "fail", "empty_report");
    }
    case.judge("I'll start by looking at the parser.")
        .exit(2)
        .check("report", "fail", "no report");
}

#[test]
fn h18_only_a_terminal_status_of_completed_passes() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    for status in [
        "blocked",
        "failed",
        "timed_out",
        "interrupted",
        "budget_spent",
        "overflow",
        "no_answer",
    ] {
        let mut report = handoff(&["src/a.rs"]);
        report["status"] = json!(status);
        let judged = case
            .judge(report.to_string())
            .exit(1)
            .check("status", "fail", status);
        assert_eq!(judged.document()["admission"], "worker-failed");
    }
    let mut report = handoff(&["src/a.rs"]);
    report.as_object_mut().unwrap().remove("status");
    case.judge(report.to_string())
        .exit(2)
        .check("report", "fail", "$.status: is missing");
    let mut report = envelope(&["src/a.rs"]);
    report["status"] = json!("in-progress");
    case.judge(report.to_string())
        .exit(1)
        .check("status", "fail", "in-progress");
}

#[test]
fn h19_the_report_may_be_a_file_given_by_name() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let file = case.home.path().join("handoff.json");
    std::fs::write(&file, handoff(&["src/a.rs"]).to_string()).unwrap();
    Judged(case.run().arg(&file).run()).exit(0);
    Judged(case.run().arg(case.home.path().join("none.json")).run()).exit(2);
}

#[test]
fn h20_exit_codes_that_belong_to_something_else_are_no_evidence() {
    let case = Case::new(A)
        .verify(&["exit 3 | tail -1"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(1)
        .check("verification", "fail", "exit 3");
    for masked in ["false || true", "false; echo done"] {
        let case = Case::new(A).verify(&[masked]).flags(&["--rerun"]);
        case.write("src/a.rs", "2\n");
        let judged = case.claim(&["src/a.rs"]).exit(3).check(
            "verification",
            "unknown",
            "refused as evidence",
        );
        assert_eq!(judged.document()["verification"][0]["masked"], true);
    }
    let mut report = handoff(&["src/a.rs"]);
    report["verification"] =
        json!([{"command": "pytest | tail -3", "status": "pass", "result": "exit 0"}]);
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    case.judge(report.to_string())
        .exit(0)
        .check("claims", "warning", "that of `tail`");
}

#[test]
fn h21_our_own_run_decides_not_a_list_of_known_commands() {
    let case = Case::new(&[
        ("src/a.rs", "1\n"),
        (
            "mini-runner",
            "#!/bin/sh\ngrep -q 2 src/a.rs && echo fine\n",
        ),
    ])
    .verify(&["sh ./mini-runner"])
    .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(0)
        .check("verification", "pass", "judged by the exit code");
}

#[test]
fn h22_an_old_log_is_no_test_run() {
    let case = Case::new(&[("src/a.rs", "1\n"), ("ci.log", "12 passed in 0.1s\n")])
        .verify(&["grep -q 2 src/a.rs"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "3\n");
    let mut report = handoff(&["src/a.rs"]);
    report["verification"] =
        json!([{"command": "cat ci.log", "status": "pass", "result": "12 passed"}]);
    case.judge(report.to_string())
        .exit(1)
        .check("verification", "fail", "exit 1")
        .check(
            "claims",
            "warning",
            "`cat ci.log` is called passed, but it is no command of the task",
        );
}

#[test]
fn h23_a_yardstick_made_by_the_worker_is_flagged() {
    let case = Case::new(&[("src/a.rs", "1\n"), ("src/golden/a.txt", "1\n")])
        .verify(&["diff src/a.rs src/golden/a.txt"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n")
        .write("src/golden/a.txt", "2\n");
    case.claim(&["src/a.rs", "src/golden/a.txt"]).exit(0).check(
        "basis",
        "warning",
        "src/golden/a.txt",
    );
    let case = case.flags(&["--strict"]);
    case.claim(&["src/a.rs", "src/golden/a.txt"]).exit(1).check(
        "basis",
        "fail",
        "src/golden/a.txt",
    );
}

#[test]
fn h24_a_dirty_tree_is_part_of_the_verdict() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n").write("src/new.rs", "2\n");
    case.claim(&[])
        .exit(1)
        .check("state", "pass", "1 unstaged, 1 untracked")
        .changes("unclaimed", &["src/a.rs", "src/new.rs"]);
}

#[test]
fn h25_no_glob_owns_nothing_and_an_absent_scope_is_an_error() {
    let case = Case::new(A).owns(&[]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(1)
        .changes("outside_scope", &["src/a.rs"]);
    let mut task = case.task.clone();
    task["scope"] = json!({"read": ["src/**"]});
    let case = Case { task, ..case };
    let ended = case.run().stdin(handoff(&[]).to_string()).run().code(2);
    let ended = ended.stderr_has("$.scope.write of the task is missing");
    assert_eq!(ended.json()["schema"], "error/1");
}
