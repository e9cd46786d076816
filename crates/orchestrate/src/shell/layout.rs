//! Where a repository's runs are kept.

use std::path::{Path, PathBuf};

use baton_cli::Failure;
use baton_protocol::TaskId;

use crate::core::names;

/// What `.orchestrator/.gitignore` holds: state stays out of git, configuration and plans may go in.
const IGNORED: &str = "\
# Written by orchestrate: its state stays out of git; config.toml and plans/ may be committed.
/runs/
/worktrees/
/goal.json
/halt
/.gitignore
";

/// The `.orchestrator` folder of a repository.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(".orchestrator")
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder().join("runs")
    }

    /// Where plans that people wrote are.
    pub(crate) fn plans(&self) -> PathBuf {
        self.folder().join("plans")
    }

    pub(crate) fn halt_file(&self) -> PathBuf {
        self.folder().join("halt")
    }

    pub(crate) fn run(&self, run: &str) -> RunFolder {
        RunFolder(self.runs().join(run))
    }

    /// Makes the folder and its `.gitignore`. An existing `.gitignore` is a person's and is kept.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        make_folder(&self.runs())?;
        let ignore = self.folder().join(".gitignore");
        if ignore.exists() {
            return Ok(());
        }
        std::fs::write(&ignore, IGNORED)
            .map_err(|e| Failure::internal(format!("cannot write {}: {e}", ignore.display())))
    }

    /// The names of all runs, the oldest first: names begin with the time of their start.
    pub(crate) fn run_names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.runs())
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.path().join("journal.jsonl").is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

/// The folder of one run.
#[derive(Debug, Clone)]
pub(crate) struct RunFolder(PathBuf);

impl RunFolder {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join("journal.jsonl")
    }

    pub(crate) fn report_json(&self) -> PathBuf {
        self.0.join("report.json")
    }

    pub(crate) fn report_text(&self) -> PathBuf {
        self.0.join("report.md")
    }

    pub(crate) fn attempt(&self, task: &TaskId, attempt: u32, placement: u32) -> PathBuf {
        self.0.join(names::attempt_folder(task, attempt, placement))
    }
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path)
        .map_err(|e| Failure::internal(format!("cannot make the folder {}: {e}", path.display())))
}
