//! A repository, a simulated server, and launchers written as small scripts.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Ended, Home, Run, Sim, eventually, git, repository, tools_dir};

/// Both ways for task and hand-off to travel.
pub const WAYS: [&str; 2] = ["shared", "stream"];

/// A place where runs use launchers.
pub struct Yard {
    pub home: Home,
    /// Another home: what a launcher's host has.
    pub there: tempfile::TempDir,
    pub repo: tempfile::TempDir,
    pub sim: Sim,
}

/// A task that makes `FILE` hold a line.
pub fn task(id: &str, file: &str) -> Value {
    json!({"id": id, "title": format!("Write {file}"), "prompt": format!("Write {file} please."),
           "scope": {"write": [file]}, "verify": [{"command": format!("test -s {file}")}]})
}

/// What the model does for it.
pub fn rule(id: &str, file: &str) -> Value {
    json!({"name": id, "when": {"first": format!("Write {file} please.")}, "step": [
        {"calls": [{"write": file, "content": format!("by {id}\n")}]},
        {"calls": [{"done": "written"}]},
    ]})
}

/// The same, but its model answers only after this long.
pub fn slow(id: &str, file: &str, wait: &str) -> Value {
    let mut rule = rule(id, file);
    rule["step"][0]["wait"] = json!(wait);
    rule
}

impl Yard {
    pub fn new(files: &[(&str, &str)], rules: &[Value]) -> Self {
        let home = Home::new();
        let script = home.path().join("script.json");
        std::fs::write(&script, json!({"rule": rules}).to_string()).unwrap();
        Self {
            sim: Sim::start(["--script".into(), script.into_os_string()]),
            there: tempfile::tempdir().unwrap(),
            repo: repository(files),
            home,
        }
    }

    /// One task, and a model that does it.
    pub fn simple() -> Self {
        Self::new(&[("README.md", "x\n")], &[rule("a", "a.txt")])
    }

    pub fn path(&self) -> &Path {
        self.repo.path()
    }

    /// Writes a launcher; `$there` and `$tools` are set, and `run "$@"` starts what is given as on a
    /// host that has its own home and none of our variables.
    pub fn launcher(&self, name: &str, script: &str) -> PathBuf {
        let file = self.there.path().join(name);
        let text = format!(
            "#!/bin/bash\nthere='{}' tools='{}'\n\
             here() {{ env -i HOME=\"$there\" PATH=\"$tools:/usr/bin:/bin\" LC_ALL=C.UTF-8 \"$@\"; }}\n\
             run() {{ cd / && here \"$@\"; }}\n{script}\n",
            self.there.path().display(),
            tools_dir().display(),
        );
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        file
    }

    /// Writes the plan of these tasks beside the home, and names it.
    pub fn plan(&self, tasks: &[Value]) -> PathBuf {
        let mut tasks = tasks.to_vec();
        for task in &mut tasks {
            task["schema"] = json!("task/1");
        }
        let plan = json!({"schema": "plan/1", "goal": "files", "gate": {}, "direct": false,
                          "tasks": tasks, "depends": [], "notes": ""});
        let file = self.home.path().join("plan.json");
        std::fs::write(&file, plan.to_string()).unwrap();
        file
    }

    pub fn tool(&self, args: &[&str]) -> Run {
        Run::tool("orchestrate", &self.home)
            .args(args)
            .cwd(self.path())
            .server(&self.sim.base_url)
    }

    /// A run of one task through a launcher.
    pub fn one(&self, launcher: impl AsRef<OsStr>, io: &str) -> Run {
        self.through(launcher, io, &[task("a", "a.txt")])
    }

    /// A run of these tasks, once each and without review, through a launcher.
    pub fn through(&self, launcher: impl AsRef<OsStr>, io: &str, tasks: &[Value]) -> Run {
        self.tool(&["run", "--review", "off", "--rounds", "1"])
            .args(["--launcher-io", io, "--launcher"])
            .arg(launcher)
            .arg("--from")
            .arg(self.plan(tasks))
    }

    /// Starts it in the background, silent.
    pub fn start(run: &Run) -> Child {
        let mut command = run.command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    pub fn run_folder(&self) -> Option<PathBuf> {
        let runs = self.path().join(".orchestrator/runs");
        let mut names: Vec<PathBuf> = std::fs::read_dir(runs)
            .ok()?
            .map(|e| e.unwrap().path())
            .filter(|p| p.is_dir())
            .collect();
        names.sort();
        names.pop()
    }

    pub fn journal(&self) -> String {
        self.run_folder()
            .and_then(|f| std::fs::read_to_string(f.join("journal.jsonl")).ok())
            .unwrap_or_default()
    }

    /// The records of a kind.
    pub fn records(&self, kind: &str) -> Vec<Value> {
        let lines = self.journal();
        let records = lines
            .lines()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok());
        records.filter(|r| r["type"] == kind).collect()
    }

    /// Asserts that the task's work is on the branch, and nothing is left beside it.
    #[track_caller]
    pub fn is_done(&self) {
        let found = git(self.path(), &["show", "main:a.txt"]);
        assert_eq!(found, "by a", "{}", self.journal());
        assert_eq!(git(self.path(), &["status", "--porcelain"]), "");
        self.no_process_left();
    }

    /// Fails when a process is left that names our folders.
    #[track_caller]
    pub fn no_process_left(&self) {
        let marks = [self.there.path(), self.path()].map(|p| p.display().to_string());
        let left = || -> Vec<String> {
            std::fs::read_dir("/proc")
                .unwrap()
                .flatten()
                .filter_map(|e| std::fs::read(e.path().join("cmdline")).ok())
                .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
                .filter(|line| marks.iter().any(|m| line.contains(m.as_str())))
                .collect()
        };
        eventually("every process has ended", Duration::from_secs(60), || {
            left().is_empty().then_some(())
        });
    }
}

/// The reason the run's task was given up for.
pub fn given_up(yard: &Yard, ended: &Ended) -> String {
    let records = yard.records("gave_up");
    assert_eq!(records.len(), 1, "{ended:#?}\n{}", yard.journal());
    records[0]["reason"].as_str().unwrap().to_owned()
}
