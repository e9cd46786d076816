//! `orchestrate polish` and `orchestrate restructure`: behaviour stays, and only what is meant changes.

use crate::stage::Stage;
use crate::support::write;

/// A branch with one changed file and one that is as on main.
fn stage() -> Stage {
    let stage = Stage::with_files(&[("a.sh", "echo a\n"), ("b.sh", "echo b\n")]);
    stage.home.config("[review]\nmode = \"off\"\n");
    stage.git(&["switch", "-q", "-c", "feature"]);
    write(stage.repo.path(), "b.sh", "echo  b # TODO\n");
    stage.git(&["commit", "-q", "-am", "change b"]);
    stage
}

const CHECK: [&str; 2] = ["--verify", "test -f a.sh"];

#[test]
fn only_what_changed_on_the_branch_is_polished() {
    let stage = stage();
    stage
        .orchestrate(&["polish", "a.sh", CHECK[0], CHECK[1]])
        .code(2)
        .stderr_has("`a.sh` has not changed since")
        .stderr_has("b.sh");
    stage.work(
        "polish-1",
        "echo 'echo b' > b.sh; handoff completed polished",
    );
    stage.orchestrate(&["polish", CHECK[0], CHECK[1]]).code(0);
    let task = stage.run_folder().join("tasks/polish-1.1/task.json");
    let task: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(task).unwrap()).unwrap();
    assert_eq!(task["scope"]["write"], serde_json::json!(["b.sh"]));
    assert_eq!(stage.git(&["show", "feature:b.sh"]), "echo b");
}

#[test]
fn a_check_that_fails_before_stops_both_before_anything_is_changed() {
    let stage = stage();
    for args in [
        &["polish", "--verify", "false"][..],
        &["restructure", "a.sh", "--verify", "false"],
    ] {
        stage
            .orchestrate(args)
            .code(2)
            .stderr_has("`false` fails before anything was changed");
    }
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn a_restructuring_that_breaks_the_check_reaches_nothing() {
    let stage = stage();
    stage.work("map", "handoff completed 'a.sh is used by nobody'");
    let breaks = "rm a.sh; handoff completed restructured";
    stage.work("restructure", breaks);
    stage
        .orchestrate(&["restructure", "a.sh", CHECK[0], CHECK[1]])
        .code(1);
    assert_eq!(stage.git(&["show", "feature:a.sh"]), "echo a");
}

#[test]
fn restructure_maps_first_and_shows_what_became_of_public_names() {
    let stage = Stage::with_files(&[
        ("lib/a.py", "def run():\n    return 1\n"),
        ("c.py", "x = 1\n"),
    ]);
    stage.home.config("[review]\nmode = \"off\"\n");
    stage.work("map", "handoff completed 'run() is called in c.py:1'");
    stage.work(
        "restructure",
        "printf 'def go():\\n    return 1\\n' > lib/a.py; handoff completed renamed",
    );
    let ended = stage
        .orchestrate(&[
            "restructure",
            "lib/a.py",
            "--scope",
            "module",
            "--verify",
            "test -f lib/a.py",
        ])
        .code(0);
    ended
        .stderr_has("lib/a.py: - def run()")
        .stderr_has("lib/a.py: + def go()")
        .stderr_has("--risk conservative asked for none of that");
    let task = stage.run_folder().join("tasks/restructure.1/task.json");
    let task: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(task).unwrap()).unwrap();
    assert_eq!(task["scope"]["write"], serde_json::json!(["lib/**"]));
    assert!(
        task["prompt"]
            .as_str()
            .unwrap()
            .contains("run() is called in c.py:1")
    );
    assert_eq!(stage.workers(), ["map.1", "restructure.1"]);
}

#[test]
fn what_cannot_be_restructured_is_refused() {
    let stage = stage();
    for (path, words) in [
        ("nowhere.sh", "No such file"),
        ("/etc/passwd", "not in this repository"),
        (".git/config", "belongs to git"),
        (".", "is a folder"),
    ] {
        stage
            .orchestrate(&["restructure", path, CHECK[0], CHECK[1]])
            .code(2)
            .stderr_has(words);
    }
    stage
        .orchestrate(&["restructure", "a.sh"])
        .code(2)
        .stderr_has("no check here");
    stage
        .home
        .config("[commands]\npolish = false\nrestructure = false\nstress-plan = false\n");
    for verb in [
        &["polish"][..],
        &["restructure", "a.sh"],
        &["stress-plan", "x y"],
    ] {
        stage.orchestrate(verb).code(78).stderr_has("switched off");
    }
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn a_dirty_tree_is_told_with_a_way_that_the_verb_has() {
    let stage = Stage::with_files(&[("a.sh", "f() { :; }\n")]);
    write(stage.repo.path(), "mine.txt", "not yet committed\n");
    for args in [
        &["polish", "--since", "HEAD"][..],
        &["restructure", "a.sh"],
        &["goal", "tidy it all up"],
    ] {
        let ended = stage
            .orchestrate(args)
            .code(2)
            .stderr_has("commit them first");
        assert!(!ended.stderr.contains("--allow-dirty"), "{ended:#?}");
    }
    let ended = stage.orchestrate(&["run", "tidy it all up"]).code(2);
    ended.stderr_has("--allow-dirty");
}
