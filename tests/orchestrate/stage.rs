//! A place for orchestrate to work in, with stand-ins for the other tools: a test says what each
//! worker does.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{self, Ended, Home, Run, eventually, git, repository, tool_path};

/// A repository, and orchestrate with stand-ins for the other tools beside it.
pub struct Stage {
    pub home: Home,
    tools: tempfile::TempDir,
    stubs: tempfile::TempDir,
    pub repo: tempfile::TempDir,
}

impl Stage {
    pub fn new() -> Self {
        Self::with_files(&[("README.md", "hello\n")])
    }

    pub fn with_files(files: &[(&str, &str)]) -> Self {
        let stage = Self {
            home: Home::new(),
            // On the file system of the build, so that the program can be linked there.
            tools: tempfile::tempdir_in(support::tools_dir()).unwrap(),
            stubs: tempfile::tempdir().unwrap(),
            repo: repository(files),
        };
        // The other tools are looked for beside the program, so a link elsewhere meets our stand-ins.
        // (No copies: a file just written may still be open in a process another test is forking.)
        std::fs::hard_link(tool_path("orchestrate"), stage.program()).unwrap();
        let stand_ins = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stub-tools");
        for entry in std::fs::read_dir(stand_ins).unwrap() {
            let entry = entry.unwrap();
            let link = stage.tools.path().join(entry.file_name());
            std::os::unix::fs::symlink(entry.path(), link).unwrap();
        }
        std::fs::create_dir(stage.stubs.path().join("work")).unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/protocol/examples");
        for kind in ["health", "estimate"] {
            let example = examples.join(format!("{kind}-1.json"));
            std::fs::copy(example, stage.stub(&format!("{kind}.json"))).unwrap();
        }
        stage
    }

    pub fn program(&self) -> PathBuf {
        self.tools.path().join("orchestrate")
    }

    pub fn stub(&self, name: &str) -> PathBuf {
        self.stubs.path().join(name)
    }

    /// Says what a task's worker does, in bash; `id.2` is the second attempt only.
    pub fn work(&self, task: &str, script: &str) -> &Self {
        std::fs::write(self.stub("work").join(task), script).unwrap();
        self
    }

    /// The planner answers this.
    pub fn planner(&self, plan: &Value) -> &Self {
        self.planner_says("plan-1", plan)
    }

    pub fn planner_says(&self, job: &str, plan: &Value) -> &Self {
        self.work(job, &format!("handoff completed planned '{plan}'"))
    }

    pub fn tool(&self, args: &[&str]) -> Run {
        Run::program(self.program(), &self.home)
            .args(args)
            .cwd(self.repo.path())
            .env("STUBS", self.stubs.path())
            .server("http://127.0.0.1:9/v1")
    }

    pub fn orchestrate(&self, args: &[&str]) -> Ended {
        self.tool(args).run()
    }

    /// The workers that were started, in order.
    pub fn workers(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.stub("workers.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn git(&self, args: &[&str]) -> String {
        git(self.repo.path(), args)
    }

    /// The files of a branch.
    pub fn files(&self, branch: &str) -> Vec<String> {
        let text = self.git(&["ls-tree", "-r", "--name-only", branch]);
        text.lines().map(str::to_owned).collect()
    }

    /// The work trees besides the main one.
    pub fn trees(&self) -> Vec<String> {
        let text = self.git(&["worktree", "list", "--porcelain"]);
        let paths = text.lines().filter_map(|l| l.strip_prefix("worktree "));
        paths.skip(1).map(str::to_owned).collect()
    }

    pub fn run_folder(&self) -> PathBuf {
        self.run_folder_if_any().unwrap()
    }

    /// The folder of the last run.
    pub fn run_folder_if_any(&self) -> Option<PathBuf> {
        let runs = self.repo.path().join(".orchestrator/runs");
        let mut names: Vec<PathBuf> = std::fs::read_dir(runs)
            .ok()?
            .map(|e| e.unwrap().path())
            .collect();
        names.sort();
        names.pop()
    }

    /// The journal of the last run, or nothing.
    pub fn journal(&self) -> String {
        self.run_folder_if_any()
            .and_then(|f| std::fs::read_to_string(f.join("journal.jsonl")).ok())
            .unwrap_or_default()
    }

    /// Starts it in the background, silent.
    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.tool(args).command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Fails when a process is left that names our folders.
    pub fn no_process_left(&self) {
        let marks = [self.stubs.path(), self.repo.path()].map(|p| p.display().to_string());
        eventually("every process has ended", Duration::from_secs(10), || {
            let left = std::fs::read_dir("/proc")
                .unwrap()
                .flatten()
                .filter_map(|e| std::fs::read(e.path().join("cmdline")).ok())
                .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
                .any(|line| marks.iter().any(|m| line.contains(m.as_str())));
            (!left).then_some(())
        });
    }
}
