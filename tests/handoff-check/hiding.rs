//! What is hidden from git, or what git cannot tell: nobody gets away with it, nobody is accused.

use std::os::unix::fs::PermissionsExt;

use crate::kit::{A, Case, handoff};
use crate::support::{Run, git, write};

/// An hour from now, as git writes times: everything in a test is older.
const LATER: &str = "@4102444800 +0000";

/// A case whose base is younger than all that lies in the repository so far.
fn old(files: &[(&str, &str)]) -> Case {
    let mut case = Case::new(A);
    for (name, text) in files {
        case.write(name, text);
    }
    let dated = format!("GIT_COMMITTER_DATE='{LATER}' git commit -q --amend --no-edit");
    Run::shell(
        &format!("cd '{}' && {dated}", case.path().display()),
        &case.home,
    )
    .run()
    .code(0);
    case.task["base"] = git(case.path(), &["rev-parse", "HEAD"]).into();
    case
}

#[test]
fn rules_that_do_not_travel_hide_no_stray_file() {
    for rules in [".git/info/exclude", "elsewhere/rules"] {
        let case = Case::new(A).owns(&["src/**", "elsewhere/**"]);
        if rules != ".git/info/exclude" {
            git(case.path(), &["config", "core.excludesFile", rules]);
        }
        case.write("src/a.rs", "2\n")
            .write(rules, "stray.txt\nelsewhere/\n")
            .write("stray.txt", "x\n");
        let file = format!("stray.txt (by {rules})");
        case.claim(&["src/a.rs"])
            .exit(0)
            .check("hidden", "warning", &file);
        case.flags(&["--strict"])
            .claim(&["src/a.rs"])
            .exit(1)
            .check("hidden", "fail", &file);
    }
}

#[test]
fn a_folder_that_hides_itself_is_found_and_a_cache_is_none() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n")
        .write("junk/.gitignore", "*\n")
        .write("junk/deep/x", "x\n")
        .write(".cache/.gitignore", "*\n")
        .write(
            ".cache/CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55\n",
        )
        .write("src/own/.gitignore", "*\n");
    let judged = case.claim(&["src/a.rs"]).exit(0).check(
        "hidden",
        "warning",
        "junk/deep (by junk/.gitignore)",
    );
    let shown = judged.0.stdout;
    assert!(
        !shown.contains(".cache/") && !shown.contains("src/own"),
        "{shown}"
    );
}

#[test]
fn what_was_hidden_before_the_work_accuses_nobody() {
    let case = old(&[
        (".git/info/exclude", ".idea/\n"),
        (".idea/workspace.xml", "x\n"),
        ("venv/.gitignore", "*\n"),
        ("venv/bin/x", "x\n"),
    ]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(0)
        .check("hidden", "pass", "");
}

#[test]
fn a_mode_that_git_does_not_look_at_is_not_known() {
    let case = Case::new(A);
    git(case.path(), &["config", "core.filemode", "false"]);
    let program = case.path().join("src/a.rs");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let claimed = case.claim(&["src/a.rs"]).exit(3);
    claimed.check("files", "unknown", "core.filemode is false");
    // What is recorded is known, and what is no change of mode is still untrue.
    git(case.path(), &["update-index", "--chmod=+x", "src/a.rs"]);
    case.claim(&["src/a.rs"]).exit(0);
    case.claim(&["src/a.rs", "README.md"]).exit(1).check(
        "files",
        "fail",
        "claimed_not_changed: README.md",
    );
}

#[test]
fn a_partial_clone_knows_exact_renames_and_accuses_nobody_of_others() {
    let long = "a line\nand another\n".repeat(20) + "an end\n";
    let whole = Case::new(&[
        ("src/long", &long),
        ("src/same", "s\n"),
        ("README.md", "r\n"),
    ]);
    git(whole.path(), &["config", "uploadpack.allowFilter", "true"]);
    let base = git(whole.path(), &["rev-parse", "HEAD"]);
    git(whole.path(), &["mv", "src/long", "src/new"]);
    git(whole.path(), &["mv", "src/same", "src/same2"]);
    whole.write("src/new", &long[7..]).commit("renamed");
    let place = whole.home.path().join("clone");
    let source = format!("file://{}", whole.path().display());
    let target = place.to_str().unwrap();
    git(
        whole.path(),
        &["clone", "-q", "--filter=blob:none", &source, target],
    );
    let judge = |files: &[&str]| {
        let task = whole.task_file();
        let report = handoff(files).to_string();
        let run = Run::tool("handoff-check", &whole.home)
            .arg("--task")
            .arg(task);
        crate::kit::Judged(
            run.arg("--repo")
                .arg(&place)
                .arg("--base")
                .arg(&base)
                .stdin(report)
                .run(),
        )
    };
    judge(&["src/new", "src/long", "src/same2", "src/same"]).exit(0);
    judge(&["src/new", "src/long", "src/same2"]).exit(0);
    judge(&["src/new", "src/same2"])
        .exit(3)
        .check("files", "unknown", "src/long");
    judge(&["src/new"]).exit(1);
    judge(&["src/new", "src/same2", "README.md"]).exit(1);
}

#[test]
fn a_filter_that_is_not_installed_is_named_with_its_cure() {
    let mut case = Case::new(A)
        .verify(&["test -s src/a.rs"])
        .flags(&["--rerun"]);
    case.write(
        ".gitattributes",
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    )
    .write("src/x.bin", "version https://git-lfs.github.com/spec/v1\n")
    .commit("a pointer");
    case.task["base"] = git(case.path(), &["rev-parse", "HEAD"]).into();
    write(
        case.home.path(),
        ".gitconfig",
        "[filter \"lfs\"]\nclean = no-git-lfs clean -- %f\nsmudge = no-git-lfs smudge -- %f\nprocess = no-git-lfs filter-process\nrequired = true\n",
    );
    case.write("src/a.rs", "2\n");
    let ended = case.claim(&["src/a.rs"]).exit(3).0;
    ended.stderr_has("needs `no-git-lfs`, which is not installed here");
}

#[test]
fn a_read_only_mount_is_judged_and_commands_run_on_a_copy() {
    let case = Case::new(A)
        .verify(&["grep -q 2 src/a.rs && touch made-by-the-check"])
        .flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    // In a mount namespace of its own, for which nobody needs to be root.
    let task = case.task_file();
    let tool = assert_cmd::cargo::cargo_bin!("handoff-check").display();
    let (repo, task) = (case.path().display(), task.display());
    let script = format!(
        "unshare --user --map-root-user --mount sh -c 'mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" || exit 77
         touch \"$0/x\" 2>/dev/null && exit 78
         exec {tool} --task {task} --repo \"$0\" --rerun --json' '{repo}'"
    );
    let report = handoff(&["src/a.rs"]).to_string();
    let ended = Run::shell(&script, &case.home).stdin(report).run();
    if ended.code == Some(77) || ended.stderr.contains("unshare:") {
        // This machine lets nobody make namespaces.
        return;
    }
    let judged = crate::kit::Judged(ended.code(0));
    judged.check("verification", "pass", "exit 0");
}
