//! A repository, a task and a report; what the tool said about them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{self, Ended, Home, Run, git, repository};

/// A repository, a task with a recorded base, and a report about it.
pub(crate) struct Case {
    pub(crate) home: Home,
    pub(crate) repo: tempfile::TempDir,
    pub(crate) task: Value,
    pub(crate) flags: Vec<String>,
}

impl Case {
    /// One commit with these files, recorded as the base; the task owns `src/**`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let repo = repository(files);
        let base = git(repo.path(), &["rev-parse", "HEAD"]);
        let task = json!({"schema": "task/1", "id": "t1", "prompt": "do it",
            "scope": {"write": ["src/**"]}, "base": base});
        Self {
            home: Home::new(),
            repo,
            task,
            flags: vec![],
        }
    }

    pub(crate) fn owns(mut self, globs: &[&str]) -> Self {
        self.task["scope"]["write"] = json!(globs);
        self
    }

    pub(crate) fn verify(mut self, commands: &[&str]) -> Self {
        let commands: Vec<Value> = commands
            .iter()
            .map(|c| json!({"command": c, "timeout_ms": 20_000}))
            .collect();
        self.task["verify"] = json!(commands);
        self
    }

    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(|f| (*f).to_owned()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.repo.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        support::write(self.path(), name, text);
        self
    }

    pub(crate) fn commit(&self, message: &str) -> &Self {
        git(self.path(), &["add", "-A"]);
        git(self.path(), &["commit", "-q", "-m", message]);
        self
    }

    pub(crate) fn task_file(&self) -> PathBuf {
        let file = self.home.path().join("task.json");
        std::fs::write(&file, self.task.to_string()).unwrap();
        file
    }

    pub(crate) fn run(&self) -> Run {
        Run::tool("handoff-check", &self.home)
            .arg("--task")
            .arg(self.task_file())
            .arg("--repo")
            .arg(self.path())
            .args(&self.flags)
    }

    /// Judges a report given as text.
    pub(crate) fn judge(&self, report: impl Into<Vec<u8>>) -> Judged {
        Judged(self.run().stdin(report).run())
    }

    /// Judges an honest report in handoff/1 that claims these files.
    pub(crate) fn claim(&self, files: &[&str]) -> Judged {
        self.judge(handoff(files).to_string())
    }
}

/// A whole handoff/1 with these changed files.
pub(crate) fn handoff(files: &[&str]) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|f| json!({"path": f, "scope": "changed"}))
        .collect();
    json!({"schema": "handoff/1", "task_id": "t1", "role": "implementer", "status": "completed",
        "outcome": "The bound is inclusive now.", "files_changed": files, "verification": []})
}

/// A whole version-1 envelope with these changed files.
pub(crate) fn envelope(files: &[&str]) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|f| json!({"path": f, "scope": "changed"}))
        .collect();
    json!({"version": 1, "taskId": "t1", "status": "completed",
        "outcome": "The bound is inclusive now.", "facts": [], "assumptions": [], "filesRead": [],
        "filesChanged": files, "verification": [], "risks": [], "followUp": "none",
        "artifactRefs": [], "reviewState": "not-requested"})
}

/// A whole report with the four headings.
pub(crate) fn markdown(files: &[&str]) -> String {
    let list = match files {
        [] => "None.".to_owned(),
        files => format!("- `{}`", files.join("`\n- `")),
    };
    format!(
        "## Summary\n\nThe bound is inclusive now.\n\n## Files changed\n\n{list}\n\n\
         ## Verification\n\nNone.\n\n## Open issues\n\nNone.\n"
    )
}

/// A run of the tool that printed a verdict.
#[derive(Debug)]
pub(crate) struct Judged(pub(crate) Ended);

impl Judged {
    #[track_caller]
    pub(crate) fn exit(self, code: i32) -> Self {
        Self(self.0.code(code))
    }

    /// Asserts one check's verdict and that its detail holds these words.
    #[track_caller]
    pub(crate) fn check(self, id: &str, verdict: &str, words: &str) -> Self {
        let document = self.0.json();
        let checks = document["checks"].as_array().unwrap();
        let check = checks
            .iter()
            .find(|c| c["id"] == id)
            .unwrap_or_else(|| panic!("no {id}: {document:#}"));
        assert_eq!(check["verdict"], verdict, "{document:#}");
        let detail = check["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{id} lacks {words:?}: {detail}");
        self
    }

    #[track_caller]
    pub(crate) fn changes(self, class: &str, expected: &[&str]) -> Self {
        let document = self.0.json();
        assert_eq!(
            document["changes"][class],
            json!(expected),
            "{class}: {document:#}"
        );
        self
    }

    pub(crate) fn document(&self) -> Value {
        self.0.json()
    }
}

/// The usual repository: one file to work on, one outside the scope.
pub(crate) const A: &[(&str, &str)] = &[("src/a.rs", "1\n"), ("README.md", "r\n")];
