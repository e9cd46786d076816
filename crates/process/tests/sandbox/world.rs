//! A small world to break out of.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_process::sandbox::{Border, Level, Policy, Surroundings, available};
use baton_process::{Cancel, Command, Outcome};
use tempfile::TempDir;

/// A work tree with a neighbour that must stay as it is.
pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) policy: Policy,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work/.git/hooks", "work/src", "outside", "tmp"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("work/.git/config"), "[core]\n").unwrap();
        fs::write(dir.path().join("work/src/a.txt"), "inside\n").unwrap();
        fs::write(dir.path().join("outside/secret"), "the secret\n").unwrap();
        fs::write(dir.path().join("outside/task.json"), "{}\n").unwrap();
        let path = std::env::var_os("PATH");
        let surroundings = Surroundings::new(std::env::var_os("HOME").as_deref(), path.as_deref());
        let policy = Policy {
            tmp: Some(dir.path().join("tmp")),
            minimum: Level::Off,
            launcher: launcher(),
            ..Policy::for_work_tree(dir.path().join("work"), &surroundings)
        };
        Self { dir, policy }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn command(&self, script: &str) -> Command {
        Command::new("sh")
            .arg("-c")
            .arg(script)
            .cwd(self.path("work"))
            .env("OUTSIDE", self.path("outside"))
            .timeout(Duration::from_secs(60))
            .sandbox(self.policy.clone())
    }

    pub(crate) fn run(&self, script: &str) -> Outcome {
        self.command(script).run(&Cancel::new()).unwrap()
    }

    /// Runs an attempt to break out; the neighbour must be untouched whatever it did.
    pub(crate) fn attempt(&self, border: Border, script: &str) -> Option<Outcome> {
        if !covers(&self.policy, border) {
            return None;
        }
        let before = picture(&self.path("outside"));
        let outcome = self.run(script);
        assert_eq!(
            picture(&self.path("outside")),
            before,
            "{script}\n{outcome:?}"
        );
        Some(outcome)
    }

    /// As `attempt`, and it must also have failed.
    pub(crate) fn refused(&self, border: Border, script: &str) {
        if let Some(outcome) = self.attempt(border, script) {
            assert!(!outcome.success(), "{script}\n{outcome:?}");
        }
    }
}

/// The example program of this crate that is nothing but a launcher.
pub(crate) fn launcher() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let launcher = exe
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/launcher");
    assert!(
        launcher.is_file(),
        "`cargo test` builds it; `cargo test --test` does not"
    );
    launcher
}

pub(crate) fn covers(policy: &Policy, border: Border) -> bool {
    let coverage = available(policy).unwrap();
    let covered = coverage.covered.contains(&border);
    if !covered {
        eprintln!("SKIPPED: {}", coverage.describe());
    }
    covered
}

/// Names, modes and contents of everything in a folder.
pub(crate) fn picture(dir: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let mode = path.symlink_metadata().unwrap().permissions().mode();
            let content = fs::read(&path).unwrap_or_default();
            (path, mode, content)
        })
        .collect();
    entries.sort();
    entries
}

pub(crate) fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .arg("-c")
        .arg(format!("command -v {program}"));
    let found = found.run(&Cancel::new()).unwrap().success();
    if !found {
        eprintln!("SKIPPED: there is no {program}");
    }
    found
}
