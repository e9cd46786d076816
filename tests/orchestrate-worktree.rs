//! `orchestrate worktree`: every state, in real repositories.

mod support;

use serde_json::{Value, json};

use support::{Ended, Home, Run, git, repository, write};

struct Yard {
    home: Home,
    repo: tempfile::TempDir,
}

impl Yard {
    fn new() -> Self {
        Self {
            home: Home::new(),
            repo: repository(&[("README.md", "r\n"), (".gitignore", ".env\n")]),
        }
    }

    fn run(&self, args: &[&str]) -> Ended {
        Run::tool("orchestrate", &self.home)
            .arg("worktree")
            .args(args)
            .cwd(self.repo.path())
            .run()
    }

    fn create(&self, name: &str) -> std::path::PathBuf {
        let made = self.run(&["create", name]).code(0).json();
        made["trees"][0]["path"].as_str().unwrap().into()
    }

    fn tree(&self, name: &str) -> Value {
        let list = self.run(&["list"]).code(0).json();
        let trees = list["trees"].as_array().unwrap();
        let found = trees.iter().find(|t| t["name"] == name);
        found
            .unwrap_or_else(|| panic!("no {name}: {list:#}"))
            .clone()
    }

    fn git(&self, args: &[&str]) -> String {
        git(self.repo.path(), args)
    }

    fn records(&self) -> usize {
        let folder = self.repo.path().join(".git/baton-worktrees");
        std::fs::read_dir(folder).map_or(0, std::iter::Iterator::count)
    }
}

#[test]
fn one_is_made_worked_in_and_cleaned_up() {
    let yard = Yard::new();
    yard.home
        .config("[worktree]\ncopy = ['.env']\nsetup = ['echo ready > .env.setup']\n");
    write(yard.repo.path(), ".env", "A=1\n");
    let path = yard.create("try");
    assert!(path.join(".env").exists() && path.join(".env.setup").exists());
    std::fs::remove_file(path.join(".env.setup")).unwrap();
    let tree = yard.tree("try");
    assert_eq!(
        (&tree["state"], &tree["owner"], &tree["branch"]),
        (&json!("ready"), &json!("worktree"), &json!("baton/try"))
    );
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
    // The same from inside it.
    let inside = Run::tool("orchestrate", &yard.home)
        .args(["worktree", "status", "try"])
        .cwd(&path)
        .run()
        .code(0)
        .json();
    assert_eq!(inside["trees"][0]["path"], tree["path"]);
    yard.run(&["create", "try"])
        .code(2)
        .stderr_has("there is a work tree `try`");
    // Dirty: kept, by list and by cleanup.
    write(&path, "new.txt", "1\n");
    assert_eq!(yard.tree("try")["state"], "dirty");
    yard.run(&["status", "try"]).code(1);
    yard.run(&["cleanup", "try", "--confirm"])
        .code(1)
        .stdout_has("uncommitted: new.txt");
    git(&path, &["add", "new.txt"]);
    git(&path, &["commit", "-q", "-m", "work"]);
    assert_eq!(yard.tree("try")["ahead"], 1);
    // Clean: its branch holds the commit, so the tree may go. First only said, then done.
    let said = yard.run(&["cleanup"]).code(0).json();
    assert_eq!(
        (&said["done"], &said["removed"][0]["name"]),
        (&json!(false), &json!("try"))
    );
    assert!(path.exists());
    yard.run(&["cleanup", "--confirm"]).code(0);
    assert!(!path.exists());
    assert_eq!(yard.git(&["log", "-1", "--format=%s", "baton/try"]), "work");
    assert_eq!(yard.records(), 0);
    // Its branch is there still: said, and used when that is asked for.
    yard.run(&["create", "try"])
        .code(2)
        .stderr_has("--branch baton/try");
    yard.run(&["create", "try", "--branch", "baton/try"])
        .code(0);
}

#[test]
fn a_root_outside_the_repository_is_allowed_by_the_configuration() {
    let yard = Yard::new();
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("deep/trees");
    yard.home
        .config(&format!("[worktree]\nroot = '{}'\n", root.display()));
    let path = yard.create("far");
    assert!(path.starts_with(root.canonicalize().unwrap()));
    yard.run(&["cleanup", "far", "--confirm"]).code(0);
    yard.run(&["create", "../near"])
        .code(2)
        .stderr_has("is no name");
    yard.run(&["create", "x", "--from", "nothing"])
        .code(2)
        .stderr_has("nothing");
    assert_eq!(yard.records(), 0);
}

#[test]
fn what_is_not_ours_is_shown_and_never_touched() {
    let yard = Yard::new();
    let outside = tempfile::tempdir().unwrap();
    let foreign = outside.path().join("theirs");
    yard.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "theirs",
        foreign.to_str().unwrap(),
    ]);
    assert_eq!(yard.tree("theirs")["owner"], "foreign");
    yard.run(&["cleanup", "theirs", "--confirm"])
        .code(1)
        .stdout_has("did not make it");
    yard.run(&["push", "theirs", "--confirm"])
        .code(2)
        .stderr_has("did not make it");
    let main = yard.repo.path().canonicalize().unwrap();
    yard.run(&["cleanup", main.to_str().unwrap(), "--confirm"])
        .code(1)
        .stdout_has("the repository's own work tree");
    yard.run(&["cleanup", "--confirm"]).code(0);
    assert!(foreign.exists() && main.join("README.md").exists());
    yard.run(&["status", "nobody"])
        .code(2)
        .stderr_has("no work tree `nobody`");
}

#[test]
fn o09_locked_missing_and_moved_ones_are_told_apart() {
    let yard = Yard::new();
    let path = yard.create("a");
    yard.git(&[
        "worktree",
        "lock",
        "--reason",
        "on a stick",
        path.to_str().unwrap(),
    ]);
    assert_eq!(yard.tree("a")["locked"], "on a stick");
    yard.run(&["cleanup", "a", "--confirm"])
        .code(1)
        .stdout_has("it is locked (on a stick)");
    // Locked and gone: still not ours to forget.
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(yard.tree("a")["state"], "orphaned");
    yard.run(&["cleanup", "a", "--confirm"])
        .code(1)
        .stdout_has("it is locked");
    yard.git(&["worktree", "unlock", path.to_str().unwrap()]);
    yard.run(&["cleanup", "a", "--confirm"]).code(0);
    assert_eq!(yard.records(), 0);
    assert!(!yard.git(&["worktree", "list"]).contains("worktrees/a"));
    // Moved to another place, and onto another branch.
    let path = yard.create("b");
    let outside = tempfile::tempdir().unwrap();
    let elsewhere = outside.path().join("b2");
    yard.git(&[
        "worktree",
        "move",
        path.to_str().unwrap(),
        elsewhere.to_str().unwrap(),
    ]);
    let moved = yard.tree("b");
    assert_eq!(moved["state"], "moved", "{moved:#}");
    yard.run(&["cleanup", "b", "--confirm"])
        .code(1)
        .stdout_has("it is at ");
    assert!(elsewhere.exists());
    let path = yard.create("c");
    git(&path, &["checkout", "-q", "--detach"]);
    assert_eq!(yard.tree("c")["state"], "moved");
    // A folder that git has forgotten holds files: kept.
    let path = yard.create("d");
    std::fs::remove_dir_all(yard.repo.path().join(".git/worktrees/d")).unwrap();
    assert_eq!(yard.tree("d")["state"], "orphaned");
    yard.run(&["cleanup", "d", "--confirm"])
        .code(1)
        .stdout_has("git does not know it");
    assert!(path.exists());
}

#[test]
fn o10_a_half_done_rebase_and_an_unreachable_commit_are_kept() {
    let yard = Yard::new();
    let path = yard.create("a");
    write(&path, "README.md", "mine\n");
    git(&path, &["commit", "-q", "-am", "mine"]);
    write(yard.repo.path(), "README.md", "theirs\n");
    yard.git(&["commit", "-q", "-am", "theirs"]);
    let rebase = std::process::Command::new("git")
        .args(["rebase", "-q", "main"])
        .current_dir(&path)
        .output()
        .unwrap();
    assert!(!rebase.status.success());
    let tree = yard.tree("a");
    assert_eq!(tree["state"], "dirty", "{tree:#}");
    yard.run(&["cleanup", "a", "--confirm"])
        .code(1)
        .stdout_has("rebase");
    git(&path, &["rebase", "--abort"]);
    // A commit that only this tree's HEAD holds.
    git(&path, &["checkout", "-q", "--detach"]);
    write(&path, "x", "1\n");
    git(&path, &["add", "x"]);
    git(&path, &["commit", "-q", "-m", "loose"]);
    yard.run(&["cleanup", "a", "--confirm"]).code(1);
    assert!(path.exists());
}

#[test]
fn o08_submodules_do_not_stand_in_the_way_and_their_changes_count() {
    let yard = Yard::new();
    let library = repository(&[("lib.txt", "1\n")]);
    let allow = "protocol.file.allow=always";
    let url = library.path().to_str().unwrap();
    yard.git(&["-c", allow, "submodule", "--quiet", "add", url, "lib"]);
    yard.git(&["commit", "-q", "-m", "lib"]);
    let made = yard
        .run(&["create", "s"])
        .code(0)
        .stderr_has("submodules are empty in it: lib");
    let path = std::path::PathBuf::from(made.json()["trees"][0]["path"].as_str().unwrap());
    git(
        &path,
        &["-c", allow, "submodule", "--quiet", "update", "--init"],
    );
    write(&path, "lib/lib.txt", "2\n");
    assert_eq!(yard.tree("s")["state"], "dirty");
    yard.run(&["cleanup", "s", "--confirm"]).code(1);
    git(&path, &["-C", "lib", "checkout", "-q", "lib.txt"]);
    yard.run(&["cleanup", "s", "--confirm"]).code(0);
    assert!(!path.exists());
}

#[test]
fn a_crash_while_making_one_leaves_it_pending_and_it_can_be_made_again() {
    let yard = Yard::new();
    yard.home.config("[worktree]\nsetup = ['exit 3']\n");
    yard.run(&["create", "p"]).code(78).stderr_has("exit");
    let tree = yard.tree("p");
    assert_eq!(tree["state"], "pending", "{tree:#}");
    yard.run(&["cleanup", "p", "--confirm"]).code(0);
    yard.home.config("");
    yard.run(&["create", "q"]).code(0);
    assert_eq!(yard.records(), 1);
}

#[test]
fn a_push_needs_a_yes_a_clean_tree_and_forces_nothing() {
    let yard = Yard::new();
    let remote = tempfile::tempdir().unwrap();
    git(remote.path(), &["init", "-q", "--bare"]);
    yard.git(&["remote", "add", "origin", remote.path().to_str().unwrap()]);
    let path = yard.create("a");
    write(&path, "x", "1\n");
    yard.run(&["push", "a", "--confirm"])
        .code(2)
        .stderr_has("commit first");
    git(&path, &["add", "x"]);
    git(&path, &["commit", "-q", "-m", "x"]);
    yard.run(&["push", "a"]).code(2).stderr_has("add --confirm");
    let pushed = yard.run(&["push", "a", "--confirm"]).code(0).json();
    assert_eq!(pushed["branch"], "baton/a");
    assert_eq!(
        git(remote.path(), &["log", "-1", "--format=%s", "baton/a"]),
        "x"
    );
    git(&path, &["commit", "-q", "--amend", "-m", "y"]);
    yard.run(&["push", "a", "--confirm"])
        .code(1)
        .stderr_has("nothing was forced");
    yard.run(&["push", "a", "--remote", "--force", "--confirm"])
        .code(2);
}

#[test]
fn o09_one_that_was_moved_without_git_keeps_its_entry_and_its_work() {
    let yard = Yard::new();
    let path = yard.create("a");
    write(&path, "work.txt", "mine\n");
    git(&path, &["add", "work.txt"]);
    let elsewhere = path.with_file_name("renamed");
    std::fs::rename(&path, &elsewhere).unwrap();
    let moved = yard.tree("a");
    assert_eq!(moved["state"], "moved", "{moved:#}");
    let why = moved["why"].as_str().unwrap();
    assert!(why.contains("git worktree repair"), "{why}");
    yard.run(&["cleanup", "a", "--confirm"]).code(1);
    // The command that is named mends it: the index is as it was.
    let repair = why.rsplit("write: ").next().unwrap();
    let args: Vec<&str> = repair.split_whitespace().skip(1).collect();
    git(yard.repo.path(), &args);
    let staged = git(&elsewhere, &["diff", "--cached", "--name-only"]);
    assert_eq!(staged, "work.txt");
}
