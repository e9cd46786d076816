//! `orchestrate run-plan`: a written plan is worked through, and its ticks and status are true.

use std::time::Duration;

use crate::stage::Stage;
use crate::support::{eventually, write};

fn stage() -> Stage {
    let stage = Stage::new();
    stage.home.config("[review]\nmode = \"off\"\n");
    stage
}

fn path(name: &str) -> String {
    format!(".orchestrator/plans/{name}.md")
}

fn put(stage: &Stage, name: &str, text: &str) {
    write(stage.repo.path(), &path(name), text);
}

fn text(stage: &Stage, name: &str) -> String {
    std::fs::read_to_string(stage.repo.path().join(path(name))).unwrap()
}

/// Three steps, each with its own file and check.
const THREE: &str = "# Three files\n\n- [ ] one\n  - files: `one.txt`\n  - verify: `test -f one.txt`\n\
    - [ ] two\n  - files: `two.txt`\n  - verify: `test -f two.txt`\n\
    - [ ] three\n  - files: `three.txt`\n  - verify: `test -f three.txt`\n";

#[test]
fn the_only_open_plan_is_worked_through_and_ticked() {
    let stage = stage();
    put(&stage, "done", "---\nstatus: complete\n---\n- [ ] never\n");
    put(&stage, "three", THREE);
    let report = stage.orchestrate(&["run-plan"]).code(0).json();
    assert_eq!(report["status"], "complete", "{report:#}");
    assert_eq!(report["done"], 3);
    assert_eq!(
        text(&stage, "three"),
        format!(
            "---\nstatus: complete\n---\n\n{}",
            THREE.replace("[ ]", "[x]")
        )
    );
    assert_eq!(
        stage.files("main"),
        ["README.md", "one.txt", "three.txt", "two.txt"]
    );
    assert_eq!(
        stage.workers(),
        ["one.1", "two.1", "three.1"],
        "in the order as written"
    );
    // A second time there is nothing to do, and nothing is done.
    let before = text(&stage, "three");
    stage
        .orchestrate(&["run-plan", "three"])
        .code(0)
        .stderr_has("nothing was started");
    stage
        .orchestrate(&["run-plan"])
        .code(2)
        .stderr_has("no plan in");
    assert_eq!(text(&stage, "three"), before);
    assert_eq!(stage.workers().len(), 3);
}

#[test]
fn a_failing_step_pauses_the_plan_and_what_is_done_reaches_the_branch() {
    let stage = stage();
    put(&stage, "three", THREE);
    stage.work("two", "handoff failed 'I got lost'");
    let ended = stage.orchestrate(&["run-plan", "three"]).code(1);
    let report = ended.json();
    assert_eq!(report["status"], "paused", "{report:#}");
    assert!(
        report["gaps"][0].as_str().unwrap().contains("I got lost"),
        "{report:#}"
    );
    let after = text(&stage, "three");
    assert!(
        after.contains("- [x] one") && after.contains("- [ ] two") && after.contains("- [ ] three"),
        "{after}"
    );
    assert_eq!(stage.files("main"), ["README.md", "one.txt"]);
    assert_eq!(
        stage.workers(),
        ["one.1", "two.1", "two.2"],
        "nothing new after the failure"
    );
    // Mended, it goes on where it stopped and does nothing twice.
    std::fs::remove_file(stage.stub("work").join("two")).unwrap();
    stage.orchestrate(&["run-plan", "three.md"]).code(0);
    assert_eq!(stage.workers()[3..], ["two.1", "three.1"]);
    assert_eq!(stage.git(&["rev-list", "--count", "main"]), "4");
    assert!(!text(&stage, "three").contains("[ ]"));
}

#[test]
fn independent_steps_run_at_once_where_the_plan_allows_it() {
    let stage = stage();
    put(&stage, "free", &format!("---\norder: any\n---\n{THREE}"));
    // Each waits until all three have begun.
    let all =
        "for t in one two three; do until grep -q $t $STUBS/workers.log; do sleep 0.02; done; done";
    for step in ["one", "two", "three"] {
        stage.work(step, all);
    }
    stage
        .orchestrate(&["run-plan", "--max-parallel", "3"])
        .code(0);
    assert_eq!(stage.files("main").len(), 4);
}

#[test]
fn a_halted_plan_goes_on_with_the_same_run() {
    let stage = stage();
    put(&stage, "three", THREE);
    let go = stage.stub("go");
    stage.work(
        "two",
        &format!("until [ -e {} ]; do sleep 0.02; done", go.display()),
    );
    let mut child = stage.start(&["run-plan"]);
    eventually("the second step runs", Duration::from_secs(60), || {
        stage.workers().contains(&"two.1".into()).then_some(())
    });
    // What is done so far can be seen in the plan while it works.
    assert!(
        text(&stage, "three").contains("- [x] one"),
        "{}",
        text(&stage, "three")
    );
    assert!(text(&stage, "three").contains("status: in progress"));
    stage
        .orchestrate(&["run-plan"])
        .code(75)
        .stderr_has("works here already");
    stage.orchestrate(&["halt", "--now"]).code(0);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(text(&stage, "three").contains("status: paused"));
    std::fs::write(go, "").unwrap();
    stage
        .orchestrate(&["run-plan"])
        .code(0)
        .stderr_has("going on with run");
    assert_eq!(stage.files("main").len(), 4);
    let ones = stage
        .workers()
        .iter()
        .filter(|w| w.starts_with("one"))
        .count();
    assert_eq!(ones, 1, "{:?}", stage.workers());
    stage.no_process_left();
}

#[test]
fn plans_lie_in_their_folder_and_nowhere_else() {
    let stage = stage();
    let outside = stage.stub("outside.md");
    std::fs::write(&outside, "- [ ] x\n").unwrap();
    put(&stage, "a", "- [ ] x\n");
    let plans = stage.repo.path().join(".orchestrator/plans");
    std::os::unix::fs::symlink(&outside, plans.join("link.md")).unwrap();
    std::fs::create_dir(plans.join("folder.md")).unwrap();
    for (name, words) in [
        ("link", "leads out of the folder"),
        ("folder", "it is no file"),
        ("../a", "is no plan"),
        ("/etc/passwd", "is no plan"),
        (".orchestrator/plans/../config", "is no plan"),
        ("b", "there are: a"),
    ] {
        stage
            .orchestrate(&["run-plan", name])
            .code(2)
            .stderr_has(words);
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "- [ ] x\n");
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn a_folder_of_plans_that_leads_elsewhere_is_refused() {
    let stage = stage();
    std::fs::create_dir_all(stage.stub("elsewhere")).unwrap();
    std::fs::write(stage.stub("elsewhere/a.md"), "- [ ] x\n").unwrap();
    std::fs::create_dir_all(stage.repo.path().join(".orchestrator")).unwrap();
    let plans = stage.repo.path().join(".orchestrator/plans");
    std::os::unix::fs::symlink(stage.stub("elsewhere"), plans).unwrap();
    stage
        .orchestrate(&["run-plan", "a"])
        .code(2)
        .stderr_has("leads out");
}

#[test]
fn what_cannot_be_worked_on_is_said_before_anything_is_started() {
    let stage = stage();
    for (name, text, words) in [
        ("empty", "", "there are no steps"),
        ("prose", "# Only words\n", "- [ ] What is to be done"),
        (
            "loop",
            "- [ ] a\n  after: 2\n- [ ] b\n  after: 1\n",
            "circle",
        ),
        (
            "lost",
            "- [ ] a\n  after: 9\n",
            "line 1: step `a` waits for number 9",
        ),
        (
            "check",
            "- [ ] a\n  verify: `no-such-program x`\n",
            "no program `no-such-program`",
        ),
        (
            "mine",
            "- [ ] a\n  files: .git/config\n",
            "belongs to the orchestrator or to git",
        ),
        (
            "claims",
            "---\nstatus: done\n---\n- [ ] a\n",
            "says that it is complete, but 1",
        ),
        (
            "role",
            "- [ ] a\n  role: magician\n",
            "wants the role `magician`",
        ),
    ] {
        put(&stage, name, text);
        stage
            .orchestrate(&["run-plan", name])
            .code(2)
            .stderr_has(words);
        assert_eq!(self::text(&stage, name), text, "{name} stays as it is");
    }
    std::fs::write(stage.repo.path().join(path("latin")), b"- [ ] caf\xe9\n").unwrap();
    stage
        .orchestrate(&["run-plan", "latin"])
        .code(2)
        .stderr_has("not UTF-8 (byte 9)");
    put(&stage, "huge", &"- [ ] x\n".repeat(70_000));
    stage
        .orchestrate(&["run-plan", "huge"])
        .code(2)
        .stderr_has("a plan may have 120000");
    stage
        .orchestrate(&["run-plan"])
        .code(2)
        .stderr_has("several plans");
    assert_eq!(stage.workers(), [""; 0]);
}

#[test]
fn odd_files_keep_their_endings_and_their_marks() {
    let stage = stage();
    let before = "\u{feff}# Odd\r\n\r\n1. [ ] one\r\n\t- verify: `test -f one.txt`\r\n\t- [ ] part\r\n\r\n```\r\n- [ ] not a step\r\n```\r\n2. [x] already 🚀\r\n";
    put(&stage, "odd", before);
    stage.orchestrate(&["run-plan"]).code(0);
    let after = text(&stage, "odd");
    let expected = before
        .replace("1. [ ] one", "1. [x] one")
        .replace("- [ ] part", "- [x] part")
        .replace('\u{feff}', "\u{feff}---\r\nstatus: complete\r\n---\r\n\r\n");
    assert_eq!(after, expected);
}

#[test]
fn a_plan_edited_while_it_runs_keeps_the_edits() {
    let stage = stage();
    put(&stage, "three", THREE);
    let file = stage.repo.path().join(path("three"));
    stage.work(
        "one",
        &format!("printf -- '- [ ] four\\n' >> {}", file.display()),
    );
    let report = stage.orchestrate(&["run-plan"]).code(1).json();
    assert_eq!(
        (&report["done"], &report["of"]),
        (&3.into(), &4.into()),
        "{report:#}"
    );
    assert!(text(&stage, "three").ends_with("- [ ] four\n"));
    assert_eq!(report["status"], "paused");
    // The next time the new step is worked on.
    stage.orchestrate(&["run-plan"]).code(0);
    assert_eq!(stage.workers().last().unwrap(), "four.1");
}

#[test]
fn a_dry_run_shows_the_order_and_starts_nothing() {
    let stage = stage();
    put(&stage, "three", THREE);
    let plan = stage.orchestrate(&["run-plan", "--dry-run"]).code(0).json();
    assert_eq!(plan["schema"], "plan/1");
    assert_eq!(
        plan["depends"],
        serde_json::json!([["one", "two"], ["two", "three"]])
    );
    assert_eq!(text(&stage, "three"), THREE);
    assert!(!stage.repo.path().join(".orchestrator/runs").exists());
}

/// A reviewer that approves, whatever it is asked.
const APPROVES: &str = r#"
n() { grep -o "\`$1\` ..[a-z0-9]*" "$TASK" | head -n 1 | grep -o '[a-z0-9]*$'; }
handoff completed fine "{\"schema\":\"review/1\",\"nonce\":\"$(n nonce)\",\"head\":\"$(n head)\",\"base\":\"$(n base)\",\"verdict\":\"approve\",\"findings\":[],\"checks\":{\"diff\":true,\"scope\":true,\"verification\":true}}"
"#;

#[test]
fn a_review_that_gave_no_answer_is_asked_again_and_no_step_is_done_twice() {
    let stage = Stage::new();
    put(&stage, "three", THREE);
    let silent = "handoff completed 'looks fine to me'";
    for review in ["review-1-1", "review-2-1", "review-3-1", "review-4-1"] {
        stage.work(review, silent);
    }
    let ended = stage
        .orchestrate(&["run-plan"])
        .code(3)
        .stderr_has("its review gave no answer");
    assert_eq!(ended.json()["status"], "paused");
    assert_eq!(stage.files("main"), ["README.md"]);
    // The same again: still no answer, and still nothing is done again.
    stage
        .orchestrate(&["run-plan"])
        .code(3)
        .stderr_has("going on with run");
    for review in ["review-5-1", "review-6-1"] {
        stage.work(review, APPROVES);
    }
    let report = stage.orchestrate(&["run-plan"]).code(0).json();
    assert_eq!(report["status"], "complete", "{report:#}");
    assert_eq!(stage.files("main").len(), 4);
    let workers = stage.workers();
    let steps = workers.iter().filter(|w| !w.starts_with("review"));
    assert_eq!(steps.count(), 3, "{workers:?}");
}

#[test]
fn work_that_the_target_could_not_take_is_brought_in_and_not_done_again() {
    let stage = stage();
    put(&stage, "three", THREE);
    // The user makes a file of their own where the second step's is to be.
    let theirs = stage.repo.path().join("two.txt");
    stage.work("three", &format!("echo mine > {}", theirs.display()));
    let ended = stage
        .orchestrate(&["run-plan"])
        .code(3)
        .stderr_has("could not reach main")
        .stderr_has("no step is done again");
    assert_eq!(ended.json()["status"], "paused");
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "mine\n");
    std::fs::remove_file(&theirs).unwrap();
    stage.orchestrate(&["run-plan"]).code(0);
    assert_eq!(stage.workers(), ["one.1", "two.1", "three.1"]);
    assert_eq!(stage.files("main").len(), 4);
    assert!(text(&stage, "three").contains("status: complete"));
}

#[test]
fn work_that_a_person_has_merged_is_done() {
    let stage = stage();
    put(&stage, "three", THREE);
    let theirs = stage.repo.path().join("two.txt");
    stage.work("three", &format!("echo mine > {}", theirs.display()));
    stage.orchestrate(&["run-plan"]).code(3);
    std::fs::remove_file(&theirs).unwrap();
    let branches = stage.git(&["branch", "--format=%(refname:short)", "--list", "baton/*"]);
    stage.git(&["merge", "-q", branches.lines().next().unwrap()]);
    stage.orchestrate(&["run-plan"]).code(0);
    assert_eq!(stage.workers().len(), 3);
    assert!(text(&stage, "three").contains("status: complete"));
}

#[test]
fn what_a_dry_run_finds_sound_the_run_takes_and_what_not_it_refuses_alike() {
    let stage = stage();
    for (text, says) in [
        ("- [ ] A\n  - after: B\n- [ ] B\n  - after: A\n", "circle"),
        ("- [ ] A\n  - files: `../x`\n", "leaves the repository"),
        ("- [ ] A\n  - files: `.git/config`\n", "belongs to"),
        ("- [ ] A\n  - verify: `sh t.sh || true`\n", "hides failures"),
        ("- [ ] A\n- [ ]  \n", "line 2: the step has no words"),
        (
            "---\nstatus: \"Complete\"\n---\n- [ ] A\n",
            "says that it is complete",
        ),
    ] {
        put(&stage, "p", text);
        for more in [&["--dry-run"][..], &[]] {
            let args = [&["run-plan", "p"], more].concat();
            stage.orchestrate(&args).code(2).stderr_has(says);
        }
    }
    assert_eq!(stage.workers(), [""; 0]);
    put(&stage, "p", "- [x] A\n");
    stage
        .orchestrate(&["run-plan", "p", "--dry-run"])
        .code(0)
        .stderr_has("0 of 1 steps");
}

#[test]
fn a_plan_file_that_goes_away_while_it_is_worked_on_costs_nothing_but_its_ticks() {
    let gone = |file: &str| format!("rm -f {file}");
    let broken = |file: &str| format!("printf '\\377\\376' > {file}");
    for spoil in [&gone as &dyn Fn(&str) -> String, &broken] {
        let stage = stage();
        put(&stage, "three", THREE);
        let file = stage.repo.path().join(path("three"));
        let work = format!("{}; echo two > two.txt", spoil(&file.display().to_string()));
        stage.work("two", &work);
        let report = stage
            .orchestrate(&["run-plan"])
            .code(0)
            .stderr_has("could not be ticked off")
            .stderr_has("work are not affected")
            .json();
        assert_eq!(
            (&report["done"], &report["of"], &report["status"]),
            (&3.into(), &3.into(), &serde_json::Value::Null),
            "{report:#}"
        );
        assert_eq!(
            stage.files("main"),
            ["README.md", "one.txt", "three.txt", "two.txt"]
        );
    }
}

#[test]
fn a_plan_file_that_goes_away_hides_no_failure() {
    let stage = stage();
    put(&stage, "three", THREE);
    let file = stage.repo.path().join(path("three"));
    stage.work(
        "two",
        &format!("rm -f {}; handoff failed 'I got lost'", file.display()),
    );
    let ended = stage.orchestrate(&["run-plan"]).code(1);
    assert!(
        ended.json()["gaps"][0]
            .as_str()
            .unwrap()
            .contains("I got lost"),
        "{}",
        ended.json()
    );
    assert_eq!(stage.files("main"), ["README.md", "one.txt"]);
}
