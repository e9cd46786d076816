//! What the tests with real launchers share: the quickstart's repository, model and goal.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Home, Run, Sim, git};

const GOAL: &str = "Make slug() in lib/slug.sh print lower case, and make pages() in lib/pages.sh \
                    count a page that is not full.";

/// The quickstart's sample, with its simulated model.
pub struct Sample {
    pub home: Home,
    pub dir: tempfile::TempDir,
    pub sim: Sim,
}

impl Sample {
    pub fn new() -> Self {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        let dir = tempfile::tempdir().unwrap();
        let copied = Command::new("cp")
            .arg("-R")
            .arg(examples.join("sample"))
            .arg(dir.path().join("sample"))
            .status();
        assert!(copied.unwrap().success());
        let sample = Self {
            home: Home::new(),
            sim: Sim::start(["--script".into(), examples.join("quickstart-model.toml")]),
            dir,
        };
        git(&sample.repo(), &["init", "-q", "-b", "main"]);
        git(&sample.repo(), &["config", "user.name", "Test"]);
        git(
            &sample.repo(),
            &["config", "user.email", "test@example.invalid"],
        );
        git(&sample.repo(), &["add", "-A"]);
        git(&sample.repo(), &["commit", "-q", "-m", "Three bugs"]);
        sample
    }

    pub fn repo(&self) -> PathBuf {
        self.dir.path().join("sample")
    }

    /// The quickstart's run, with a launcher.
    pub fn run(&self, launcher: &str, io: &str) -> Run {
        Run::tool("orchestrate", &self.home)
            .args(["run", GOAL, "--launcher", launcher, "--launcher-io", io])
            .cwd(self.repo())
            .server(&self.sim.base_url)
    }

    /// Asserts that the goal is reached.
    #[track_caller]
    pub fn is_done(&self, report: &Value) {
        assert_eq!(report["status"], "completed", "{report:#}");
        for test in ["test/slug.sh", "test/pages.sh"] {
            let status = Command::new("sh")
                .arg(test)
                .current_dir(self.repo())
                .status();
            assert!(status.unwrap().success(), "{test}");
        }
        assert_eq!(git(&self.repo(), &["status", "--porcelain"]), "");
    }

    pub fn journal(&self) -> String {
        let runs = self.repo().join(".orchestrator/runs");
        let mut names: Vec<PathBuf> = std::fs::read_dir(runs)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        names.sort();
        let last = names.pop().map(|f| f.join("journal.jsonl"));
        last.and_then(|f| std::fs::read_to_string(f).ok())
            .unwrap_or_default()
    }

    /// The records of a kind.
    pub fn records(&self, kind: &str) -> Vec<Value> {
        let text = self.journal();
        let all = text
            .lines()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok());
        all.filter(|r| r["type"] == kind).collect()
    }
}

/// Finds a program, also where only root's PATH leads.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
