//! Folders outside the repository: workers get those that the configuration names, and the kernel
//! keeps them from all others.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Home, Run, Sim, repository};

/// A home with a folder to read, one to write and one that is nobody's business.
struct Place {
    home: Home,
    repo: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let home = Home::new();
        for folder in ["sets", "out", "other"] {
            std::fs::create_dir(home.path().join(folder)).unwrap();
        }
        std::fs::write(home.path().join("sets/data.txt"), "the data\n").unwrap();
        std::fs::write(home.path().join("other/data.txt"), "not for you\n").unwrap();
        Self {
            home,
            repo: repository(&[("README.md", "hello\n")]),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(path)
    }

    fn orchestrate(&self, args: &[&str], server: &str) -> Run {
        Run::tool("orchestrate", &self.home)
            .args(args)
            .cwd(self.repo.path())
            .server(server)
    }
}

#[test]
fn workers_use_the_folders_that_the_configuration_names_and_no_others() {
    let place = Place::new();
    let at = |path: &str| place.at(path).display().to_string();
    let steps = [
        format!("cat {}/data.txt > copied.txt", at("sets")),
        format!("echo made > {}/made.txt", at("out")),
        format!("echo bad > {}/bad.txt || true", at("sets")),
        format!("cat {}/data.txt > stolen.txt; true", at("other")),
        "rm -f stolen.txt; test -s copied.txt && echo fine".to_owned(),
    ];
    let mut steps: Vec<Value> = steps
        .iter()
        .map(|line| json!({"calls": [{"bash": line}]}))
        .collect();
    steps.push(json!({"calls": [{"done": "copied"}]}));
    let script = place.at("script.json");
    std::fs::write(&script, json!({"rule": [{"step": steps}]}).to_string()).unwrap();
    let sim = Sim::start(["--script".as_ref(), script.as_os_str()]);
    place
        .home
        .config("[external]\nread = ['~/sets/*']\nwrite = ['~/out']\n[review]\nmode = 'off'\n");
    let check = format!(
        "cmp copied.txt {}/data.txt && test -s {}/made.txt",
        at("sets"),
        at("out")
    );
    let plan = json!({"schema": "plan/1", "goal": "Copy it", "direct": false, "gate": {}, "depends": [],
        "notes": "", "tasks": [{"schema": "task/1", "id": "copy", "title": "Copy", "prompt": "Copy the data.",
            "scope": {"write": ["copied.txt"], "read": null}, "verify": [{"command": check}], "narrower": "Copy."}]});
    let report = place
        .orchestrate(&["run", "--from", "-"], &sim.base_url)
        .stdin(plan.to_string())
        .run()
        .code(0)
        .json();
    assert_eq!(report["status"], "completed", "{report:#}");
    let copied = std::fs::read_to_string(place.repo.path().join("copied.txt")).unwrap();
    assert_eq!(copied, "the data\n");
    assert!(place.at("out/made.txt").exists());
    assert!(!place.at("sets/bad.txt").exists(), "reading is not writing");
    // What the model was told, and what it saw of the folder that is not named.
    let seen = crate::support::get(&format!("{}/sim/requests", sim.root()));
    assert!(seen.contains("Commands may also read"), "{seen}");
    assert!(!seen.contains("not for you"));
    let stage = place.repo.path().join(".orchestrator/runs");
    let run = std::fs::read_dir(stage).unwrap().next().unwrap().unwrap();
    let task = std::fs::read_to_string(run.path().join("tasks/copy.1/task.json")).unwrap();
    assert!(task.contains(&at("sets")), "{task}");
    let doctor = place.orchestrate(&["doctor"], &sim.base_url).run().code(0);
    let doctor = doctor.json();
    let check = doctor["checks"].as_array().unwrap().iter();
    let check = check
        .clone()
        .find(|c| c["name"] == "external folders")
        .unwrap();
    assert_eq!(check["status"], "pass");
    assert!(check["message"].as_str().unwrap().contains(&at("out")));
}

#[test]
fn what_is_never_opened_starts_nothing() {
    let place = Place::new();
    let inside = place.repo.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("/", place.at("link")).unwrap();
    for (key, folder) in [
        ("write", "/"),
        ("read", "/"),
        ("write", "~"),
        ("read", "~/.ssh"),
        ("write", "~/.local/bin"),
        ("write", "/etc"),
        ("read", "~/link"),
        ("write", inside.to_str().unwrap()),
        ("write", inside.join(".git/hooks").to_str().unwrap()),
        ("write", inside.parent().unwrap().to_str().unwrap()),
        ("read", "sets"),
    ] {
        place
            .home
            .config(&format!("[external]\n{key} = ['{folder}']\n"));
        let dead = "http://127.0.0.1:9/v1";
        place
            .orchestrate(&["run", "x", "--one"], dead)
            .run()
            .code(78)
            .stderr_has(&format!("[external] {key}: "));
        let doctor = place.orchestrate(&["doctor"], dead).run().code(78).json();
        let check = doctor["checks"].as_array().unwrap().iter();
        let check = check
            .clone()
            .find(|c| c["name"] == "external folders")
            .unwrap();
        assert_eq!(check["status"], "fail", "{key} {folder}");
        assert!(check["fix"].as_str().unwrap().contains("[external]"));
    }
    // A task by hand is held to the same.
    let task = json!({"schema": "task/1", "id": "t", "prompt": "x", "scope": {"write": []},
        "sandbox": {"caches": ["/"]}});
    for (tool, more) in [
        ("worker-run", &["--no-slot"][..]),
        ("handoff-check", &["--rerun"]),
    ] {
        let file = place.at("task.json");
        std::fs::write(&file, task.to_string()).unwrap();
        Run::tool(tool, &place.home)
            .arg("--task")
            .arg(&file)
            .args(more)
            .cwd(place.repo.path())
            .server("http://127.0.0.1:9/v1")
            .run()
            .code(2)
            .stderr_has("$.sandbox.caches of the task: / is everything");
    }
}

#[test]
fn a_foreign_repository_opens_nothing_until_it_is_trusted() {
    let place = Place::new();
    let config = place.repo.path().join(".orchestrator");
    std::fs::create_dir(&config).unwrap();
    std::fs::write(
        config.join("config.toml"),
        "[external]\nread = ['~/other']\n",
    )
    .unwrap();
    let dead = "http://127.0.0.1:9/v1";
    let doctor = place.orchestrate(&["doctor"], dead).run();
    assert!(!doctor.stdout.contains("external folders"), "{doctor:#?}");
    place
        .orchestrate(&["run", "x", "--one", "--allow-dirty"], dead)
        .run()
        .stderr_has("external.read do not count");
    place.orchestrate(&["trust"], dead).run().code(0);
    let doctor = place.orchestrate(&["doctor"], dead).run();
    assert!(doctor.stdout.contains("external folders"), "{doctor:#?}");
}
