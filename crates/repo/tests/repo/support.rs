//! Real repositories in temporary folders.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use baton_repo::{GitPath, Repo};
use tempfile::TempDir;

/// A repository that is removed when the test ends.
pub(crate) struct TestRepo {
    dir: TempDir,
}

impl TestRepo {
    /// `git init`, no commit yet.
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("repo")).unwrap();
        let repo = Self { dir };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.git(&["config", "user.name", "Tester"]);
        repo.git(&["config", "user.email", "tester@localhost"]);
        repo
    }

    /// With one commit that holds the given files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self::empty();
        for (name, text) in files {
            repo.write(name, text);
        }
        repo.commit("start");
        repo
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// A path beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn open(&self) -> Repo {
        Repo::discover(&self.path()).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.write_bytes(name.as_bytes(), text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, name: &[u8], content: &[u8]) {
        let path = self.path().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path().join(name)).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let out = git_in(&self.path(), args);
        assert!(
            out.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8_lossy(&out.stdout).trim_end().to_owned()
    }

    /// Every file of the git folder with its content, except object files.
    pub(crate) fn git_state(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        walk(&self.path().join(".git"), &mut found);
        found.sort();
        found
    }
}

fn walk(dir: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else {
            let content = fs::read(&path).unwrap();
            found.push((path, content));
        }
    }
}

pub(crate) fn git_in(dir: &Path, args: &[&str]) -> Output {
    Command::new("git")
        .current_dir(dir)
        .args(["-c", "protocol.file.allow=always"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .unwrap()
}

/// Names for comparing.
pub(crate) fn names<'a>(paths: impl IntoIterator<Item = &'a GitPath>) -> Vec<String> {
    paths.into_iter().map(ToString::to_string).collect()
}
