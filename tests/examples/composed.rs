//! The snippets, the Makefile and the workflow, each against a simulated server.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{Home, Run, Sim, git, repository, write};
use crate::{examples, has};

/// A repository with the sample's files, and a server that knows what to do with it.
fn sample() -> (tempfile::TempDir, Sim, Home) {
    let mut files = Vec::new();
    for folder in ["lib", "test"] {
        for entry in fs::read_dir(examples().join("sample").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap());
            files.push((name, fs::read_to_string(path).unwrap()));
        }
    }
    let borrowed: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let script = examples().join("quickstart-model.toml");
    (
        repository(&borrowed),
        Sim::start(["--script", script.to_str().unwrap()]),
        Home::new(),
    )
}

const TASK: &str = r#"{"schema": "task/1", "id": "clip", "role": "implementer",
    "title": "clip() loses the last character",
    "prompt": "clip TEXT N in lib/clip.sh must print the first N characters of TEXT.",
    "scope": {"write": ["lib/clip.sh"], "read": null},
    "verify": [{"command": "sh test/clip.sh", "timeout_ms": 20000}]}"#;

fn compose(name: &str, home: &Home) -> Run {
    Run::program(examples().join("compose").join(name), home)
}

#[test]
fn when_ready_runs_the_command_in_its_place() {
    let sim = Sim::start::<&str>([]);
    let home = Home::new();
    let ready = compose("when-ready.sh", &home).args(["sh", "-c", "echo ran; exit 7"]);
    let ended = ready.server(&sim.base_url).run().code(7);
    assert_eq!(ended.stdout, "ran\n");
}

#[test]
fn what_fits_leaves_out_files_from_the_end() {
    let sim = Sim::start(["--context", "8000"]);
    let home = Home::new();
    let dir = repository(&[
        ("prompt.md", "Say what these do."),
        ("a", "short"),
        ("b", "short too"),
    ]);
    write(dir.path(), "c", &"many words in a long file\n".repeat(4000));
    let run = compose("what-fits.sh", &home).args(["prompt.md", "a", "b", "c"]);
    let ended = run.cwd(dir.path()).server(&sim.base_url).run().code(0);
    assert_eq!(ended.stdout, "a\nb\n");
}

#[test]
fn any_program_finds_the_server_in_its_environment() {
    if !has("curl") || !has("jq") {
        return;
    }
    let sim = Sim::start::<&str>([]);
    let home = Home::new();
    let run = compose("any-program.sh", &home).stdin("Write a haiku about locks.");
    run.server(&sim.base_url)
        .run()
        .code(0)
        .stdout_has("haiku about locks");
}

#[test]
fn ask_many_answers_every_question() {
    if !has("jq") {
        return;
    }
    let (repo, sim, home) = sample();
    let questions = "Where is clip()?\nWhere is slug()?\nWhere is pages()?\n";
    let run = compose("ask-many.sh", &home)
        .cwd(repo.path())
        .stdin(questions);
    let ended = run.server(&sim.base_url).run().code(0);
    let answered: BTreeSet<String> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .inspect(|answer| assert_eq!(answer["status"], "completed", "{answer}"))
        .map(|answer| answer["question"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(answered.len(), 3, "{ended:#?}");
}

#[test]
fn the_gate_commits_what_is_true() {
    if !has("jq") {
        return;
    }
    let (repo, sim, home) = sample();
    write(home.path(), "task.json", TASK);
    let run = compose("gate.sh", &home)
        .arg(home.path().join("task.json"))
        .cwd(repo.path());
    run.server(&sim.base_url)
        .run()
        .code(0)
        .stdout_has("committed ");
    assert_eq!(
        git(repo.path(), &["log", "-1", "--format=%s"]),
        "clip() loses the last character"
    );
    assert_eq!(git(repo.path(), &["status", "--porcelain"]), "");
}

#[test]
fn the_gate_keeps_out_what_is_not() {
    if !has("jq") {
        return;
    }
    let (repo, _, home) = sample();
    // The built-in model changes nothing, so the task's check stays red.
    let sim = Sim::start::<&str>([]);
    write(home.path(), "task.json", TASK);
    let run = compose("gate.sh", &home)
        .arg(home.path().join("task.json"))
        .cwd(repo.path());
    run.server(&sim.base_url)
        .run()
        .code(1)
        .stderr_has("not committed");
    // A task that is not there is said, and is no verdict on anything.
    compose("gate.sh", &home)
        .arg(home.path().join("missing.json"))
        .cwd(repo.path())
        .server(&sim.base_url)
        .run()
        .code(1)
        .stdout_has("no verdict: cannot read")
        .stderr_has("not committed");
    assert_eq!(git(repo.path(), &["log", "-1", "--format=%s"]), "start");
}

#[test]
fn the_makefile_asks_and_fixes() {
    if !has("make") || !has("jq") {
        return;
    }
    let (repo, sim, home) = sample();
    write(repo.path(), "questions/clip.txt", "Where is clip()?\n");
    write(repo.path(), "questions/slug.txt", "Where is slug()?\n");
    write(home.path(), "task.json", TASK);
    let make = || {
        let run = Run::program("make", &home)
            .arg("-f")
            .arg(examples().join("Makefile"));
        run.cwd(repo.path()).server(&sim.base_url)
    };
    make().args(["-j", "8", "answers"]).run().code(0);
    for name in ["clip", "slug"] {
        let text = fs::read_to_string(repo.path().join(format!("out/{name}.json"))).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["status"], "completed", "{answer:#}");
    }
    make()
        .arg("answers")
        .run()
        .code(0)
        .stdout_has("Nothing to be done");
    make().args(["clean"]).run().code(0);
    git(repo.path(), &["add", "-A"]);
    git(repo.path(), &["commit", "-q", "-m", "questions"]);
    let task = format!("TASK={}", home.path().join("task.json").display());
    make().arg("fix").arg(task).run().code(0);
    assert_eq!(
        git(repo.path(), &["log", "-1", "--format=%s"]),
        "clip() loses the last character"
    );
}

/// The `run: |` blocks of a workflow, by the name of their step.
fn run_blocks(workflow: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let (mut name, mut lines) = (String::new(), workflow.lines().peekable());
    while let Some(line) = lines.next() {
        if let Some(step) = line.trim().strip_prefix("- name: ") {
            step.clone_into(&mut name);
        }
        if line.trim() != "run: |" {
            continue;
        }
        let indent = line.len() - line.trim_start().len() + 2;
        let mut script = String::new();
        while let Some(next) =
            lines.next_if(|l| l.trim().is_empty() || l.starts_with(&" ".repeat(indent)))
        {
            script.push_str(next.get(indent..).unwrap_or_default());
            script.push('\n');
        }
        blocks.push((name.clone(), script));
    }
    blocks
}

#[test]
fn the_ci_workflow_works_step_by_step() {
    if !has("jq") {
        return;
    }
    let (repo, sim, home) = sample();
    let remote = home.path().join("remote.git");
    git(
        home.path(),
        &["init", "-q", "--bare", remote.to_str().unwrap()],
    );
    git(
        repo.path(),
        &["remote", "add", "origin", remote.to_str().unwrap()],
    );
    let workflow = fs::read_to_string(examples().join("ci-workflow.yml")).unwrap();
    let goal = "Make slug() in lib/slug.sh print lower case, and make pages() in lib/pages.sh count a page that is not full.";
    let blocks = run_blocks(&workflow);
    assert_eq!(blocks.len(), 4);
    for (name, script) in blocks {
        let run = Run::shell(&script, &home)
            .cwd(repo.path())
            .server(&sim.base_url);
        let ended = run.env("GOAL", goal).env("RUNNER_TEMP", home.path()).run();
        assert_eq!(ended.code, Some(0), "{name}: {ended:#?}");
    }
    let branch = git(&remote, &["log", "--format=%s", "agents/local"]);
    assert!(branch.lines().count() > 1, "{branch}");
}
