//! `orchestrate init`: the project's configuration.

use crate::support::{Ended, Home, Run, repository, write};

fn init(home: &Home, dir: &std::path::Path, args: &[&str]) -> Ended {
    Run::tool("orchestrate", home)
        .arg("init")
        .args(args)
        .cwd(dir)
        .run()
}

fn file(dir: &std::path::Path) -> String {
    std::fs::read_to_string(dir.join(".orchestrator/config.toml")).unwrap()
}

#[test]
fn it_writes_a_file_that_counts_and_a_second_time_changes_no_byte() {
    let home = Home::new();
    let repo = repository(&[]);
    let models = [
        "--model",
        "planner=arc/big#high",
        "--model",
        "explore=arc/small",
    ];
    init(&home, repo.path(), &models)
        .code(0)
        .stderr_has("roles.planner.models = [\"arc/big\"]")
        .stderr_has("no provider is called `arc` yet");
    let before = file(repo.path());
    let ended = init(&home, repo.path(), &models).code(0);
    assert_eq!(ended.json()["changes"], serde_json::json!([]));
    assert_eq!(file(repo.path()), before);
    // What was written is what the tools read.
    let doctor = Run::tool("orchestrate", &home)
        .args(["doctor", "--json"])
        .cwd(repo.path())
        .run()
        .code(0);
    doctor
        .stdout_has("\"key\":\"roles.planner.effort\",\"value\":\"high\"")
        .stdout_has("\"key\":\"roles.explore.models\",\"value\":\"[\\\"arc/small\\\"]\"");
}

#[test]
fn a_file_that_is_there_is_edited_where_asked_and_nowhere_else() {
    let home = Home::new();
    let repo = repository(&[]);
    let before = "# ours\n[run]\nmax_rounds = 1 # one is enough\n";
    write(repo.path(), ".orchestrator/config.toml", before);
    init(&home, repo.path(), &[])
        .code(0)
        .stderr_has("nothing was changed");
    assert_eq!(file(repo.path()), before);
    init(&home, repo.path(), &["--model", "reviewer=arc/q"]).code(0);
    assert!(
        file(repo.path()).starts_with(before),
        "{}",
        file(repo.path())
    );
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_right_word() {
    let home = Home::new();
    let repo = repository(&[]);
    for (model, words) in [
        ("reviewr=arc/q", "did you mean `reviewer`?"),
        ("reviewer=q", "names no provider"),
        (
            "orchestrator=arc/q",
            "orchestrate is a program and needs no model",
        ),
    ] {
        init(&home, repo.path(), &["--model", model])
            .code(2)
            .stderr_has(words);
    }
    assert!(!repo.path().join(".orchestrator/config.toml").exists());
    init(&home, home.path(), &[])
        .code(2)
        .stderr_has("is not inside a git repository");
}

#[test]
fn a_file_that_is_no_toml_is_left_alone() {
    let home = Home::new();
    let repo = repository(&[]);
    write(repo.path(), ".orchestrator/config.toml", "[run\n");
    init(&home, repo.path(), &[])
        .code(78)
        .stderr_has("left alone");
    assert_eq!(file(repo.path()), "[run\n");
}
