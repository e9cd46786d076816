//! `orchestrate handover`: a brief from facts, without a server.

use crate::stage::Stage;
use crate::support::{Home, Run, repository, write};

#[test]
fn it_tells_the_goal_the_plans_the_runs_and_git_and_hides_keys() {
    let key = "sk-abcdef0123456789abcdef0123456789";
    let stage = Stage::new();
    stage
        .home
        .config("[review]\nmode = \"off\"\n[goal]\ncooldown = \"0s\"\nmax_continuations = 1\n");
    for plan in ["plan-1", "plan-2", "goal"] {
        stage.work(plan, "handoff failed 'the payments gateway is missing'");
    }
    write(
        stage.repo.path(),
        ".orchestrator/plans/pay.md",
        "- [x] a\n- [ ] b\n",
    );
    stage
        .orchestrate(&["goal", "make payments work again"])
        .code(3);
    write(
        stage.repo.path(),
        "README.md",
        &format!("payments: {key}\n"),
    );
    let ended = stage
        .tool(&["handover", "focus", "on", "payments", "--text"])
        .env("OPENCODE_VLLM_BASE_URL", "http://127.0.0.1:9/v1")
        .run()
        .code(0);
    for words in [
        "Focus: focus on payments",
        "make payments work again",
        "pay.md: 1 of 2 steps done",
        "the payments gateway is missing",
        "## Git status",
        "M README.md",
        "- README.md",
        "[redacted]",
    ] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    assert!(!ended.stdout.contains(key), "{}", ended.stdout);
}

#[test]
fn a_large_tree_of_changes_stays_within_24_kb() {
    let home = Home::new();
    let repo = repository(&[("a.txt", "x\n")]);
    write(
        repo.path(),
        "a.txt",
        &"long line of änderungen\n".repeat(20_000),
    );
    let ended = Run::tool("orchestrate", &home)
        .arg("handover")
        .cwd(repo.path())
        .run()
        .code(0);
    let brief = ended.json();
    let text = brief["text"].as_str().unwrap();
    assert!(
        text.len() <= 24_000 && text.contains("[cut]"),
        "{}",
        text.len()
    );
    assert_eq!(brief["bytes"], text.len());
}

#[test]
fn a_broken_configuration_and_an_empty_repository_do_not_stop_it() {
    let home = Home::new();
    home.config("[run]\nmax_paralel = 1\n");
    let repo = tempfile::tempdir().unwrap();
    crate::support::git(repo.path(), &["init", "-q"]);
    let ended = Run::tool("orchestrate", &home)
        .args(["handover", "--text"])
        .cwd(repo.path())
        .run()
        .code(0);
    ended
        .stdout_has("Broken configuration")
        .stdout_has("No commits yet");
}
