//! Scope and protection, in a judgement and for a diff alone.

use serde_json::json;

use crate::kit::{A, Case, Judged, handoff};
use crate::support::{Home, Run, git, git as git_says, write};

#[test]
fn protected_files_are_protected_whatever_the_scope_says() {
    let case = Case::new(A).owns(&["**"]);
    case.write(".orchestrator/config.toml", "x\n");
    case.claim(&[".orchestrator/config.toml"]).exit(1).check(
        "protected",
        "fail",
        ".orchestrator/config.toml",
    );
    let case = Case::new(A).owns(&["**"]);
    case.write(".github/workflows/ci.yml", "x\n")
        .write("LICENSE", "x\n");
    let files = [".github/workflows/ci.yml", "LICENSE"];
    case.claim(&files).exit(0);
    let case = case.flags(&["--protect-ci"]);
    case.claim(&files)
        .exit(1)
        .check("protected", "fail", "ci.yml");
    let case = Case {
        flags: vec!["--protect".into(), "LICENSE".into()],
        ..case
    };
    case.claim(&files)
        .exit(1)
        .check("protected", "fail", "LICENSE");
}

#[test]
fn a_repository_inside_the_repository_hides_its_files() {
    let case = Case::new(A);
    let inner = case.path().join("src/inner");
    write(case.path(), "src/inner/x", "1\n");
    git(&inner, &["init", "-q"]);
    git(&inner, &["add", "-A"]);
    git(&inner, &["commit", "-q", "-m", "x"]);
    case.claim(&["src/inner"])
        .exit(1)
        .check("embedded", "fail", "src/inner");
}

#[test]
fn a_submodule_that_moves_is_one_change() {
    let sub = crate::support::repository(&[("s", "1\n")]);
    let case = Case::new(A);
    git(
        case.path(),
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            sub.path().to_str().unwrap(),
            "src/sub",
        ],
    );
    case.commit("sub");
    let mut task = case.task.clone();
    task["base"] = json!(git_says(case.path(), &["rev-parse", "HEAD"]));
    let case = Case { task, ..case };
    case.claim(&[])
        .exit(3)
        .check("effect", "unknown", "nothing was changed");
    write(case.path(), "src/sub/s", "2\n");
    case.claim(&["src/sub"])
        .exit(0)
        .changes("matched", &["src/sub"]);
    case.claim(&[]).exit(1).changes("unclaimed", &["src/sub"]);
}

#[test]
fn what_was_dirty_at_the_start_is_not_blamed_on_the_worker() {
    let case = Case::new(A);
    case.write("README.md", "mine, not committed\n")
        .write("notes.txt", "mine\n");
    // As worker-run records it: the tree of everything, in a commit no branch holds.
    git(case.path(), &["add", "-A"]);
    let tree = git(case.path(), &["write-tree"]);
    git(case.path(), &["reset", "-q"]);
    let mut task = case.task.clone();
    task["base"] = json!(tree);
    let case = Case { task, ..case };
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(0)
        .changes("outside_scope", &[]);
    case.write("notes.txt", "changed by the worker\n");
    case.claim(&["src/a.rs"])
        .exit(1)
        .changes("outside_scope", &["notes.txt"]);
}

#[test]
fn a_read_only_task_may_change_nothing_and_pass() {
    let case = Case::new(A).owns(&[]);
    let mut report = handoff(&[]);
    report["outcome"] = json!("page() is called from three places.");
    case.judge(report.to_string())
        .exit(0)
        .check("effect", "skipped", "may change nothing");
}

#[test]
fn an_unknown_base_is_named() {
    let case = Case::new(A);
    let mut task = case.task.clone();
    task["base"] = json!("0123456789012345678901234567890123456789");
    let case = Case { task, ..case };
    case.run()
        .stdin(handoff(&[]).to_string())
        .run()
        .code(2)
        .stderr_has("`0123456789012345678901234567890123456789` names no commit or tree");
    let head = Judged(
        case.run()
            .args(["--base", "HEAD"])
            .stdin(handoff(&[]).to_string())
            .run(),
    );
    head.exit(3).check("base", "pass", "by --base");
}

fn scope(home: &Home, diff: &str, flags: &[&str]) -> Judged {
    Judged(
        Run::tool("handoff-check", home)
            .arg("scope")
            .args(flags)
            .stdin(diff)
            .run(),
    )
}

#[test]
fn ownership_of_a_diff_alone() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n")
        .write("README.md", "changed\n");
    let home = Home::new();
    for flags in [
        &["diff"][..],
        &["diff", "--name-only"],
        &["diff", "-z", "--name-status"],
        &["diff", "--raw"],
    ] {
        let diff = git(case.path(), flags);
        scope(&home, &diff, &["--allow", "src/**"])
            .exit(1)
            .changes("outside_scope", &["README.md"]);
        scope(&home, &diff, &["--allow", "src/**", "--allow", "*.md"]).exit(0);
        scope(&home, &diff, &[])
            .exit(1)
            .changes("outside_scope", &["README.md", "src/a.rs"]);
        scope(&home, &diff, &["--allow", "**", "--protect", "README.md"])
            .exit(1)
            .check("protected", "fail", "README.md");
    }
    scope(&home, "", &["--allow", "src/**"]).exit(0);
    scope(&home, "no diff\tat all\n", &["--allow", "**"])
        .0
        .code(2)
        .stderr_has("cannot read the line");
    scope(&home, "", &["--allow", "/etc/**"])
        .0
        .code(2)
        .stderr_has("it is absolute");
}

#[test]
fn a_pipe_from_git_is_a_ci_step() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n").commit("x");
    let script = format!(
        "cd '{}'; git diff HEAD~1 | handoff-check scope --allow 'src/**' -q",
        case.path().display()
    );
    let ended = Run::shell(&script, &case.home).run().code(0);
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_new_ignore_rule_hides_no_stray_file() {
    let case = Case::new(A).owns(&["src/**", ".gitignore"]);
    case.write("src/a.rs", "2\n")
        .write(".gitignore", "stray.txt\n")
        .write("stray.txt", "x\n");
    let files = ["src/a.rs", ".gitignore"];
    case.claim(&files)
        .exit(0)
        .check("hidden", "warning", "stray.txt");
    case.flags(&["--strict"])
        .claim(&files)
        .exit(1)
        .check("hidden", "fail", "stray.txt");
}

#[test]
fn a_history_that_was_rewritten_is_said() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    git(case.path(), &["add", "-A"]);
    git(case.path(), &["commit", "-q", "--amend", "-m", "rewritten"]);
    case.claim(&["src/a.rs"])
        .exit(0)
        .check("base", "warning", "does not descend");
}

#[test]
fn absolute_names_in_headings_are_understood() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let root = case.path().canonicalize().unwrap();
    let name = root.join("src/a.rs").display().to_string();
    case.judge(crate::kit::markdown(&[&name]))
        .exit(0)
        .changes("matched", &["src/a.rs"]);
}
