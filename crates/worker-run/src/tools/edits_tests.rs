use super::{Seen, edit, write};
use crate::edit::apply::Edit;
use crate::tools::worktree::WorkTree;
use baton_protocol::{Scope, Task, TaskId, VerifyCommand};
use baton_repo::Repo;
use std::path::Path;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@e"])
        .args(args)
        .current_dir(dir)
        .status()
        .unwrap();
    assert!(status.success());
}

fn tree(scope: &[&str], files: &[(&str, &[u8])]) -> (tempfile::TempDir, WorkTree) {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q"]);
    for (path, bytes) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-qm", "x"]);
    let mut task = Task::new(TaskId::new("t").unwrap(), "x");
    task.scope = Some(Scope {
        write: Some(scope.iter().map(ToString::to_string).collect()),
        read: None,
    });
    task.verify.push(VerifyCommand {
        command: "python3 test.py".into(),
        timeout_ms: None,
    });
    let tree = WorkTree::new(Repo::discover(dir.path()).unwrap(), &task, true).unwrap();
    (dir, tree)
}

fn one(old: &str, new: &str) -> Vec<Edit> {
    vec![Edit {
        old: old.into(),
        new: new.into(),
        ..Edit::default()
    }]
}

const CALC: &[u8] = b"def add(a, b):\n    return a - b\n";

#[test]
fn e12_a_file_that_changed_since_it_was_seen_is_not_written() {
    let (dir, tree) = tree(&["**"], &[("calc.py", CALC)]);
    let mut seen = Seen::default();
    seen.note("calc.py", CALC);
    std::fs::write(
        dir.path().join("calc.py"),
        "other = 1\ndef add(a, b):\n    return a - b\n",
    )
    .unwrap();
    for refused in [
        write(&tree, &mut seen, "calc.py", "x = 1\n").unwrap_err(),
        edit(&tree, &mut seen, "calc.py", &one("a - b", "a + b")).unwrap_err(),
    ] {
        assert!(refused.contains("read it again"), "{refused}");
    }
    let mut unseen = Seen::default();
    assert!(
        write(&tree, &mut unseen, "calc.py", "x = 1\n")
            .unwrap_err()
            .contains("read it first")
    );
    assert!(
        edit(&tree, &mut unseen, "calc.py", &one("a - b", "a + b"))
            .unwrap()
            .changed
    );
}

#[test]
fn e18_an_edit_of_a_missing_file_is_never_a_create() {
    let (dir, tree) = tree(&["**"], &[("calc.py", CALC)]);
    let refused = edit(&tree, &mut Seen::default(), "php", &one("a - b", "a + b")).unwrap_err();
    assert!(refused.contains("does not exist"), "{refused}");
    assert!(!dir.path().join("php").exists());
}

#[test]
fn e19_a_create_beside_a_like_named_file_is_a_create() {
    let (dir, tree) = tree(&["**"], &[("app.py", CALC)]);
    write(&tree, &mut Seen::default(), "app2.py", "x = 1\n").unwrap();
    assert_eq!(std::fs::read(dir.path().join("app.py")).unwrap(), CALC);
    assert_eq!(
        std::fs::read(dir.path().join("app2.py")).unwrap(),
        b"x = 1\n"
    );
}

#[test]
fn e10_a_whole_file_in_another_encoding_is_refused() {
    let gbk = b"\xc4\xe3\xba\xc3\n";
    let (dir, tree) = tree(&["**"], &[("a.txt", gbk)]);
    let mut seen = Seen::default();
    seen.note("a.txt", gbk);
    assert!(
        write(&tree, &mut seen, "a.txt", "hello\n")
            .unwrap_err()
            .contains("not valid UTF-8")
    );
    assert_eq!(std::fs::read(dir.path().join("a.txt")).unwrap(), gbk);
}

#[test]
fn files_of_others_and_of_the_checks_are_refused() {
    let (_dir, tree) = tree(
        &["src/**"],
        &[
            ("src/a.py", CALC),
            ("src/test_a.py", CALC),
            ("other.py", CALC),
        ],
    );
    let mut seen = Seen::default();
    assert!(
        edit(&tree, &mut seen, "other.py", &one("a - b", "x"))
            .unwrap_err()
            .contains("outside")
    );
    assert!(
        edit(&tree, &mut seen, "src/test_a.py", &one("a - b", "x"))
            .unwrap_err()
            .contains("checks")
    );
    assert!(write(&tree, &mut seen, "src/test_new.py", "def test(): pass\n").is_ok());
    assert!(write(&tree, &mut seen, "src/conftest.py", "x = 1\n").is_err());
}

#[test]
fn a_test_the_scope_names_may_be_changed() {
    let (_dir, tree) = tree(&["tests/**"], &[("tests/test_a.py", CALC)]);
    assert!(
        edit(
            &tree,
            &mut Seen::default(),
            "tests/test_a.py",
            &one("a - b", "x")
        )
        .is_ok()
    );
}

#[test]
fn a_wreck_is_refused_once_and_done_when_meant() {
    let long = (0..20)
        .map(|n| format!("x{n} = {n}\n"))
        .collect::<Vec<_>>()
        .concat();
    let (dir, tree) = tree(&["**"], &[("a.py", long.as_bytes())]);
    let mut seen = Seen::default();
    seen.note("a.py", long.as_bytes());
    assert!(
        write(&tree, &mut seen, "a.py", "obj['a.py']\n")
            .unwrap_err()
            .contains("damaged")
    );
    assert_eq!(
        std::fs::read_to_string(dir.path().join("a.py")).unwrap(),
        long
    );
    assert!(write(&tree, &mut seen, "a.py", "obj['a.py']\n").is_ok());
}

#[test]
fn a_command_that_strays_is_undone_and_said() {
    let (dir, tree) = tree(
        &["src/**"],
        &[("src/a.py", CALC), ("test.py", b"assert 0\n")],
    );
    let before = tree.snapshot().unwrap();
    std::fs::write(
        dir.path().join("src/a.py"),
        "def add(a, b):\n    return a + b\n",
    )
    .unwrap();
    std::fs::write(dir.path().join("test.py"), "pass\n").unwrap();
    std::fs::write(dir.path().join("new.txt"), "x").unwrap();
    let settled = tree.settle(&before).unwrap();
    assert_eq!(settled.kept, ["src/a.py"]);
    let undone: Vec<&str> = settled.undone.iter().map(|(p, _)| p.as_str()).collect();
    assert_eq!(undone, ["new.txt", "test.py"]);
    assert_eq!(
        std::fs::read(dir.path().join("test.py")).unwrap(),
        b"assert 0\n"
    );
    assert!(!dir.path().join("new.txt").exists());
}

#[test]
fn an_empty_file_is_filled_by_an_edit_without_old_text() {
    let (dir, tree) = tree(&["**"], &[("empty.py", b""), ("calc.py", CALC)]);
    let mut seen = Seen::default();
    assert!(
        edit(&tree, &mut seen, "empty.py", &one("", "x = 1\n"))
            .unwrap()
            .changed
    );
    assert_eq!(
        std::fs::read(dir.path().join("empty.py")).unwrap(),
        b"x = 1\n"
    );
    assert!(edit(&tree, &mut seen, "calc.py", &one("", "x = 1\n")).is_err());
}
