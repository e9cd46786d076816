//! Repositories in the states they are found in: in the middle of something, odd of make, owned by
//! others. The facts are right, or it is said plainly that nobody can tell.

use crate::kit::{A, Case, handoff};
use crate::support::{git, repository, write};

/// Git may fail here: a conflict is what is wanted.
fn try_git(case: &Case, args: &[&str]) {
    let _ = std::process::Command::new("git")
        .current_dir(case.path())
        .args(["-c", "user.name=x", "-c", "user.email=x@localhost"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_EDITOR", "true")
        .output()
        .unwrap();
}

/// Two branches that changed the same file, or two files.
fn branches(theirs: &str) -> Case {
    let case = Case::new(&[("src/a.rs", "1\n"), ("src/b.rs", "1\n")]);
    git(case.path(), &["checkout", "-q", "-b", "theirs"]);
    case.write(theirs, "theirs\n").commit("theirs");
    git(case.path(), &["checkout", "-q", "-"]);
    case.write("src/a.rs", "ours\n").commit("ours");
    case
}

#[test]
fn a_conflict_is_no_finished_work() {
    for verb in ["merge", "rebase", "cherry-pick"] {
        let case = branches("src/a.rs");
        try_git(&case, &[verb, "theirs"]);
        case.claim(&["src/a.rs"])
            .exit(1)
            .check("state", "fail", "in conflict: src/a.rs");
    }
}

#[test]
fn what_is_half_done_is_said() {
    let case = branches("src/b.rs");
    try_git(&case, &["merge", "--no-commit", "--no-ff", "theirs"]);
    case.claim(&["src/a.rs", "src/b.rs"]).exit(0).check(
        "state",
        "warning",
        "in the middle of a merge (git merge --continue or --abort)",
    );
    // The commit that is tried first happens to be as the base: nobody is accused for that.
    let case = Case::new(A);
    for i in 0..4 {
        case.write("src/a.rs", &format!("{i}\n")).commit("step");
    }
    let base = case.task["base"].as_str().unwrap().to_owned();
    try_git(&case, &["bisect", "start", "HEAD", &base]);
    case.claim(&["src/a.rs"])
        .exit(3)
        .check("state", "unknown", "git bisect reset");
}

#[test]
fn a_repository_without_a_commit_hides_no_files() {
    let case = Case::new(A);
    write(case.path(), "stray/x", "1\n");
    git(&case.path().join("stray"), &["init", "-q"]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(1)
        .check("embedded", "fail", "stray")
        .changes("outside_scope", &["stray"]);
}

#[test]
fn settings_made_by_the_worker_hide_nothing() {
    for settings in [
        &[("status.showUntrackedFiles", "no")][..],
        &[("core.ignorecase", "true")],
        &[("status.renames", "copies"), ("diff.renames", "copies")],
        &[
            ("core.fsmonitor", "false;"),
            ("core.untrackedCache", "true"),
        ],
    ] {
        let case = Case::new(A);
        for (name, value) in settings {
            git(case.path(), &["config", name, value]);
        }
        case.write("src/a.rs", "2\n").write("readme.MD", "stray\n");
        case.claim(&["src/a.rs"])
            .exit(1)
            .changes("outside_scope", &["readme.MD"]);
    }
}

#[test]
fn variables_of_a_hook_do_not_lead_elsewhere() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    let run = case
        .run()
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/tmp")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("GIT_CONFIG_PARAMETERS", "'core.bare=true'");
    run.stdin(handoff(&["src/a.rs"]).to_string()).run().code(0);
}

#[test]
fn a_lock_of_somebody_at_work_is_in_nobodys_way() {
    let case = Case::new(A);
    case.write("src/a.rs", "2\n");
    write(case.path(), ".git/index.lock", "");
    case.claim(&["src/a.rs"]).exit(0);
    assert!(case.path().join(".git/index.lock").exists());
}

#[test]
fn files_become_folders_and_links_and_back() {
    let case = Case::new(&[("src/a", "1\n"), ("src/b", "1\n"), ("src/d/x", "1\n")]);
    let at = |name: &str| case.path().join(name);
    std::fs::remove_file(at("src/a")).unwrap();
    case.write("src/a/inner", "1\n");
    std::fs::remove_file(at("src/b")).unwrap();
    std::os::unix::fs::symlink("a/inner", at("src/b")).unwrap();
    std::fs::remove_dir_all(at("src/d")).unwrap();
    case.write("src/d", "1\n");
    let all = ["src/a", "src/a/inner", "src/b", "src/d", "src/d/x"];
    case.claim(&all).exit(0);
    case.commit("all of it");
    case.claim(&all).exit(0);
}

#[test]
fn a_rerun_in_a_repository_of_longer_hashes() {
    let repo = tempfile::tempdir().unwrap();
    git(repo.path(), &["init", "-q", "--object-format=sha256"]);
    write(repo.path(), "src/a.rs", "1\n");
    git(repo.path(), &["add", "-A"]);
    git(repo.path(), &["commit", "-q", "-m", "start"]);
    let case = Case::new(A).verify(&["grep -q 2 src/a.rs"]);
    let mut case = Case { repo, ..case };
    case.task["base"] = git(case.path(), &["rev-parse", "HEAD"]).into();
    let case = case.flags(&["--rerun"]);
    case.write("src/a.rs", "2\n");
    case.claim(&["src/a.rs"])
        .exit(0)
        .check("verification", "pass", "exit 0");
}

#[test]
fn a_shallow_clone_and_a_missing_base_are_told_apart() {
    let case = Case::new(A);
    let old = case.task["base"].as_str().unwrap().to_owned();
    case.write("src/a.rs", "2\n").commit("newer");
    let shallow = tempfile::tempdir().unwrap();
    let from = format!("file://{}", case.path().display());
    git(shallow.path(), &["clone", "-q", "--depth", "1", &from, "."]);
    let mut case = Case {
        repo: shallow,
        ..case
    };
    case.write("src/a.rs", "3\n");
    case.run()
        .stdin(handoff(&["src/a.rs"]).to_string())
        .run()
        .code(2)
        .stderr_has(&format!("`{old}` names no commit or tree"));
    case.task["base"] = git(case.path(), &["rev-parse", "HEAD"]).into();
    case.claim(&["src/a.rs"]).exit(0);
}

#[test]
fn a_file_in_a_submodule_stands_for_it_and_git_refuses_nobody_s_verdict() {
    let inner = repository(&[("x", "1\n")]);
    let mut case = Case::new(A);
    let source = inner.path().display().to_string();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &source,
        "src/sub",
    ];
    git(case.path(), &add);
    std::os::unix::fs::symlink("..", case.path().join("src/up")).unwrap();
    case.commit("a submodule and a link");
    case.task["base"] = git(case.path(), &["rev-parse", "HEAD"]).into();
    // Nothing changed, and git refuses to say whether these names are ignored.
    case.claim(&["src/sub/x", "src/up/README.md"])
        .exit(1)
        .check(
            "files",
            "fail",
            "claimed_not_changed: src/sub/x, src/up/README.md",
        );
    case.write("src/sub/x", "2\n");
    case.claim(&["src/sub/x"])
        .exit(0)
        .changes("matched", &["src/sub"]);
}
