//! Reading and writing the forms of a report, and what the tool says of itself.

use serde_json::{Value, json};

use crate::kit::{A, Case, Judged, envelope, handoff, markdown};
use crate::support::{Home, Run};

fn tool(args: &[&str], stdin: &str) -> crate::support::Ended {
    Run::tool("handoff-check", &Home::new())
        .args(args)
        .stdin(stdin)
        .run()
}

#[test]
fn headings_become_a_hand_off() {
    let text = markdown(&["src/a.rs"]);
    let read = tool(&["--from", "markdown"], &text).code(0).json();
    assert_eq!(read["schema"], "handoff/1");
    assert_eq!(
        read["files_changed"],
        json!([{"path": "src/a.rs", "scope": ""}])
    );
    assert_eq!(read["status"], "completed");
    tool(&["--from", "markdown"], "no report at all")
        .code(2)
        .stderr_has("no report found");
}

#[test]
fn an_envelope_goes_there_and_back_byte_by_byte() {
    let start = envelope(&["src/a.rs"]).to_string();
    let handed = tool(&["--emit", "handoff"], &start).code(0).stdout;
    let back = tool(&["--emit", "envelope"], &handed).code(0).stdout;
    assert_eq!(back.trim_end(), start);
}

#[test]
fn an_envelope_with_an_id_of_other_letters_goes_there_and_back() {
    for id in [
        "Task 1/2: größer",
        "..",
        "/",
        "a.",
        "fix.lock",
        "a/.lock.",
        &"x/".repeat(64),
    ] {
        let mut start = envelope(&["src/a.rs"]);
        start["taskId"] = json!(id);
        let handed = tool(&["--emit", "handoff"], &start.to_string()).code(0);
        let back = tool(&["--emit", "envelope"], &handed.stdout).code(0).stdout;
        assert_eq!(back.trim_end(), start.to_string());
    }
    // Judged: near enough to be a warning, and no more.
    let mut case = Case::new(A);
    case.task["id"] = json!("auth-login");
    case.write("src/a.rs", "2\n");
    let mut report = envelope(&["src/a.rs"]);
    report["taskId"] = json!("auth/login");
    case.judge(report.to_string())
        .exit(0)
        .check("task", "warning", "\"auth/login\"");
    report["taskId"] = json!("auth/logout");
    case.judge(report.to_string())
        .exit(1)
        .check("task", "fail", "auth-logout");
}

#[test]
fn four_headings_are_written_and_read_like_five() {
    let example = include_str!("../../crates/protocol/examples/handoff-1.json");
    let mut report: Value = serde_json::from_str(example).unwrap();
    report["risks"] = json!([{"severity": "high", "statement": "slow on large pages"}]);
    for (form, headings) in [
        (
            "markdown-4",
            [
                "## Summary",
                "## Files changed",
                "## Verification",
                "## Open issues",
            ],
        ),
        (
            "markdown",
            ["## Outcome", "## Files", "## Risks", "## Follow-up"],
        ),
    ] {
        let text = tool(&["--emit", form], &report.to_string()).code(0).stdout;
        for heading in headings {
            assert!(text.contains(heading), "{text}");
        }
        let read = tool(&["--from", "markdown"], &text).code(0).json();
        assert_eq!(read["files_changed"], report["files_changed"]);
        assert_eq!(read["risks"], report["risks"]);
        assert_eq!(read["outcome"], report["outcome"]);
        let again = tool(&["--emit", form], &read.to_string()).code(0).stdout;
        assert_eq!(again, text);
    }
}

#[test]
fn a_hand_off_of_worker_run_becomes_an_envelope_and_headings() {
    let example = include_str!("../../crates/protocol/examples/handoff-1.json");
    let envelope: Value = tool(&["--emit", "envelope"], example).code(0).json();
    assert_eq!(envelope["version"], 1);
    assert_eq!(envelope["taskId"], "fix-page");
    assert_eq!(envelope.as_object().unwrap().len(), 13);
    let again = tool(&["--emit", "handoff"], &envelope.to_string())
        .code(0)
        .json();
    assert_eq!(again["files_changed"][0]["path"], "src/page.rs");
    let headings = tool(&["--emit", "markdown"], example).code(0).stdout;
    for heading in [
        "## Outcome",
        "## Files",
        "## Verification",
        "## Risks",
        "## Follow-up",
    ] {
        assert!(headings.contains(heading), "{headings}");
    }
    let read = tool(&["--from", "markdown"], &headings).code(0).json();
    assert_eq!(read["files_changed"][0]["path"], "src/page.rs");
    assert_eq!(read["verification"][0]["status"], "pass");
}

#[test]
fn what_does_not_fit_an_envelope_is_cut_and_said() {
    let mut report = handoff(&["src/a.rs"]);
    report["outcome"] = json!("x".repeat(9000));
    let ended = tool(&["--emit", "envelope"], &report.to_string()).code(0);
    let ended = ended.stderr_has("the outcome was cut from 9000 to 8000 characters");
    assert_eq!(
        ended.json()["outcome"].as_str().unwrap().chars().count(),
        8000
    );
    report["files_changed"] = json!([{"path": "a\"b", "scope": ""}]);
    tool(&["--emit", "envelope"], &report.to_string())
        .code(2)
        .stderr_has("$.filesChanged[0].path: has quotes or control characters");
}

#[test]
fn a_report_that_is_the_error_of_the_tool_before_is_passed_on() {
    let case = Case::new(A);
    let error = json!({"schema": "error/1", "tool": "worker-run", "kind": "unavailable",
        "message": "no server", "retryable": true, "detail": null});
    case.run()
        .stdin(error.to_string())
        .run()
        .code(2)
        .stderr_has("worker-run failed before: no server");
}

#[test]
fn keys_are_kept_out_and_fail_the_report() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let mut report = handoff(&["src/a.rs"]);
    report["outcome"] = json!("Used ghp_0123456789abcdefghijABCDEFGHIJ to push.");
    let judged = case
        .judge(report.to_string())
        .exit(1)
        .check("secrets", "fail", "change that key");
    assert!(!judged.0.stdout.contains("ghp_"));
    let emitted = tool(&["--emit", "markdown"], &report.to_string())
        .code(0)
        .stdout;
    assert!(
        emitted.contains("[redacted]") && !emitted.contains("ghp_"),
        "{emitted}"
    );
}

#[test]
fn the_tool_explains_itself_and_names_the_right_flag() {
    let explained = tool(&["--explain"], "").code(0).stdout;
    for id in ["report", "files", "scope", "verification", "basis"] {
        assert!(explained.lines().any(|l| l.starts_with(id)), "{explained}");
    }
    tool(&["--help"], "")
        .code(0)
        .stdout_has("Exit status: 0 true")
        .stdout_has("handoff-check scope --allow");
    tool(&["--tsak", "x"], "").code(2).stderr_has("--task");
    tool(&[], "{}").code(2).stderr_has("Give --task FILE");
    tool(&["--task", "/no/such/file"], "{}")
        .code(2)
        .stderr_has("/no/such/file");
    let case = Case::new(A);
    Judged(case.run().run())
        .0
        .code(2)
        .stderr_has("is empty; expected a report");
}

#[test]
fn people_get_a_table() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let text = Judged(
        case.run()
            .arg("--text")
            .stdin(handoff(&["src/a.rs"]).to_string())
            .run(),
    );
    text.0
        .code(0)
        .stdout_has("hand-off of t1: true (worker-passed)")
        .stdout_has("ok      scope");
}
