//! What the host does to a repository: undo, commit, integrate, make and remove work trees.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{TestRepo, git_in, names};
use baton_repo::{CommitMessage, GitPath, Integration, Removal, RepoError};

fn message(subject: &str) -> CommitMessage {
    CommitMessage {
        subject: subject.into(),
        trailers: vec![("Baton-Task".into(), "t1".into())],
        ..CommitMessage::default()
    }
}

#[test]
fn a_stray_change_is_undone_and_nothing_else() {
    let t = TestRepo::with(&[("a", "1\n"), ("dir/b", "1\n"), ("c", "1\n")]);
    t.write("c", "dirty before\n");
    let repo = t.open();
    let start = repo.snapshot().unwrap();
    t.write("a", "2\n");
    fs::remove_dir_all(t.path().join("dir")).unwrap();
    t.write("dir", "in the way\n");
    t.write("new/deep/file", "x\n");
    t.write("kept", "x\n");
    let paths = ["a", "dir/b", "dir", "new/deep/file"].map(GitPath::from);
    let done = repo.restore(start.as_str(), &paths).unwrap();
    assert_eq!(names(&done.restored), ["a", "dir/b"]);
    assert_eq!(names(&done.removed), ["dir", "new/deep/file"]);
    assert_eq!((t.read("a"), t.read("dir/b")), ("1\n".into(), "1\n".into()));
    assert_eq!(
        (t.read("c"), t.read("kept")),
        ("dirty before\n".into(), "x\n".into())
    );
    assert!(!t.path().join("new").exists());
}

#[test]
fn undoing_never_reaches_outside_the_work_tree() {
    let t = TestRepo::with(&[("a", "1\n")]);
    fs::create_dir(t.beside("outside")).unwrap();
    fs::write(t.beside("outside/file"), "precious").unwrap();
    symlink(t.beside("outside"), t.path().join("link")).unwrap();
    let repo = t.open();
    let tree = repo.tree("HEAD").unwrap();
    repo.restore(tree.as_str(), &[GitPath::from("link/file")])
        .unwrap();
    assert!(t.beside("outside/file").exists());
    for bad in [
        "../outside/file",
        "/etc/passwd",
        ".git/config",
        "x/.GIT/y",
        "",
    ] {
        let error = repo
            .restore(tree.as_str(), &[GitPath::from(bad)])
            .unwrap_err();
        assert!(matches!(error, RepoError::Refused(_)), "{bad}: {error}");
    }
}

#[test]
fn a_commit_takes_everything_and_runs_no_hook() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let hook = t.path().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    git_in(&t.path(), &["config", "core.hooksPath", "hooks"]);
    let repo = t.open();
    assert_eq!(repo.commit_all(&message("nothing")).unwrap(), None);
    t.write("a", "2\n");
    t.write("-new", "1\n");
    let commit = repo
        .commit_all(&message("# not a comment"))
        .unwrap()
        .unwrap();
    assert_eq!(t.git(&["rev-parse", "HEAD"]), commit.to_string());
    assert_eq!(
        t.git(&["log", "-1", "--format=%B"]),
        "# not a comment\n\nBaton-Task: t1"
    );
    assert!(repo.dirty().unwrap().is_empty());
}

#[test]
fn the_first_commit_of_a_repository_works_too() {
    let t = TestRepo::empty();
    t.write("a", "1\n");
    assert!(t.open().commit_all(&message("first")).unwrap().is_some());
}

#[test]
fn o02_a_lock_is_waited_for_and_o03_never_deleted() {
    let t = TestRepo::with(&[("a", "1\n")]);
    t.write("a", "2\n");
    let lock = t.path().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let repo = t.open();
    std::thread::scope(|scope| {
        let committing = scope.spawn(|| repo.commit_all(&message("waits")).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(150));
        assert!(lock.exists(), "the lock of another process was deleted");
        fs::remove_file(&lock).unwrap();
        assert!(committing.join().unwrap().is_some());
    });
}

#[test]
fn o04_a_conflict_is_a_result_and_leaves_everything_as_it_was() {
    let t = TestRepo::with(&[("a", "1\n"), ("b", "1\n")]);
    let repo = t.open();
    let start = repo.commit("HEAD").unwrap();
    let tree = t.beside("wt");
    let worker = repo
        .worktree_add(&tree, Some("baton/r-t1"), "HEAD")
        .unwrap();
    fs::write(tree.join("a"), "worker\n").unwrap();
    let tip = worker.commit_all(&message("worker")).unwrap().unwrap();
    t.write("a", "main\n");
    t.commit("main");
    let outcome = worker.rebase(start.as_str(), "main").unwrap();
    assert_eq!(outcome, Integration::Conflict(vec![GitPath::from("a")]));
    assert_eq!(worker.commit("HEAD").unwrap(), tip);
    assert_eq!(worker.operation_in_progress(), None);
    assert!(worker.dirty().unwrap().is_empty());
    // Without a conflict, the work lands on top and the target follows.
    git_in(&tree, &["reset", "-q", "--hard", start.as_str()]);
    fs::write(tree.join("b"), "worker\n").unwrap();
    worker.commit_all(&message("worker")).unwrap();
    let Integration::Done(tip) = worker.rebase(start.as_str(), "main").unwrap() else {
        panic!("no conflict expected");
    };
    repo.fast_forward("main", tip.as_str()).unwrap();
    assert_eq!(
        (t.read("a"), t.read("b")),
        ("main\n".into(), "worker\n".into())
    );
}

#[test]
fn o04_a_dirty_target_is_not_overwritten() {
    let t = TestRepo::with(&[("a", "1\n"), ("b", "1\n")]);
    let repo = t.open();
    let tree = t.beside("wt");
    let worker = repo.worktree_add(&tree, Some("w"), "HEAD").unwrap();
    fs::write(tree.join("a"), "worker\n").unwrap();
    let tip = worker.commit_all(&message("worker")).unwrap().unwrap();
    t.write("a", "mine\n");
    let error = repo.fast_forward("main", tip.as_str()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, RepoError::Refused(_)), "{text}");
    assert!(text.contains("uncommitted changes in a;"), "{text}");
    assert_eq!(t.read("a"), "mine\n");
}

#[test]
fn a_branch_only_ever_moves_forward() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let repo = t.open();
    repo.create_branch("side", "HEAD").unwrap();
    repo.create_branch("side", "HEAD").unwrap();
    t.write("a", "2\n");
    let two = t.commit("two");
    repo.fast_forward("side", &two).unwrap();
    assert_eq!(repo.branch("side").unwrap().unwrap().as_str(), two);
    assert!(matches!(
        repo.fast_forward("side", "HEAD~1"),
        Err(RepoError::Refused(_))
    ));
    assert!(matches!(
        repo.create_branch("side", "HEAD~1"),
        Err(RepoError::Refused(_))
    ));
    assert!(matches!(
        repo.delete_branch("side", "HEAD~1"),
        Err(RepoError::Refused(_))
    ));
    repo.delete_branch("side", "main").unwrap();
    assert_eq!(repo.branch("side").unwrap(), None);
}

#[test]
fn picked_commits_come_on_top() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let repo = t.open();
    t.git(&["switch", "-q", "-c", "side"]);
    t.write("b", "1\n");
    t.commit("b");
    t.git(&["switch", "-q", "main"]);
    let Integration::Done(tip) = repo.cherry_pick("main", "side").unwrap() else {
        panic!("no conflict expected");
    };
    assert_eq!(repo.head().unwrap().commit, Some(tip));
    assert_eq!(t.read("b"), "1\n");
}

#[test]
fn o06_a_work_tree_with_work_in_it_is_kept() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let repo = t.open();
    let tree = t.beside("wt");
    let worker = repo.worktree_add(&tree, Some("w"), "HEAD").unwrap();
    let refusal = |rule| match repo.worktree_remove(&tree, rule) {
        Err(RepoError::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    fs::write(tree.join("untracked"), "x").unwrap();
    assert!(refusal(Removal::MergedInto("main")).contains("uncommitted changes in untracked"));
    worker.commit_all(&message("w")).unwrap();
    assert!(refusal(Removal::MergedInto("main")).contains("commits that `main` does not hold"));
    repo.fast_forward("main", "w").unwrap();
    repo.worktree_remove(&tree, Removal::MergedInto("main"))
        .unwrap();
    assert!(!tree.exists());
    assert!(repo.branch("w").unwrap().is_some());
}

#[test]
fn o08_a_clean_work_tree_with_submodules_is_removed_a_dirty_one_is_not() {
    let sub = TestRepo::with(&[("s", "1\n")]);
    let t = TestRepo::with(&[("a", "1\n")]);
    t.git(&[
        "submodule",
        "--quiet",
        "add",
        sub.path().to_str().unwrap(),
        "sub",
    ]);
    t.commit("sub");
    let repo = t.open();
    let tree = t.beside("wt");
    repo.worktree_add(&tree, Some("w"), "HEAD").unwrap();
    let out = git_in(&tree, &["submodule", "--quiet", "update", "--init"]);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    fs::write(tree.join("sub/s"), "changed\n").unwrap();
    let error = repo
        .worktree_remove(&tree, Removal::MergedInto("main"))
        .unwrap_err();
    assert!(
        error.to_string().contains("uncommitted changes in sub"),
        "{error}"
    );
    fs::write(tree.join("sub/s"), "1\n").unwrap();
    repo.worktree_remove(&tree, Removal::MergedInto("main"))
        .unwrap();
    assert!(!tree.exists());
}

#[test]
fn o09_a_locked_work_tree_whose_folder_is_gone_names_the_way_out() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let repo = t.open();
    let tree = t.beside("wt");
    repo.worktree_add(&tree, Some("w"), "HEAD").unwrap();
    t.git(&[
        "worktree",
        "lock",
        "--reason",
        "usb disk",
        tree.to_str().unwrap(),
    ]);
    fs::remove_dir_all(&tree).unwrap();
    let listed = repo.worktrees().unwrap();
    let entry = listed
        .iter()
        .find(|w| w.branch.as_deref() == Some("w"))
        .unwrap();
    assert!(entry.missing);
    assert_eq!(entry.locked.as_deref(), Some("usb disk"));
    let error = repo
        .worktree_remove(&tree, Removal::Reachable)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("(usb disk)") && error.contains("git worktree unlock"),
        "{error}"
    );
    t.git(&["worktree", "unlock", tree.to_str().unwrap()]);
    repo.worktree_remove(&tree, Removal::Reachable).unwrap();
    assert_eq!(repo.worktrees().unwrap().len(), 1);
}

#[test]
fn o10_a_detached_leftover_is_kept_while_no_branch_holds_it() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let repo = t.open();
    let tree = t.beside("wt");
    let worker = repo.worktree_add(&tree, None, "HEAD").unwrap();
    assert!(worker.is_detached().unwrap() && worker.is_linked());
    fs::write(tree.join("a"), "2\n").unwrap();
    let tip = worker.commit_all(&message("loose")).unwrap().unwrap();
    let error = repo
        .worktree_remove(&tree, Removal::Reachable)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no branch holds commit"), "{error}");
    repo.create_branch("kept", tip.as_str()).unwrap();
    repo.worktree_remove(&tree, Removal::Reachable).unwrap();
}

#[test]
fn o11_dirt_is_listed_and_batons_own_folder_is_none() {
    let t = TestRepo::with(&[("a", "1\n")]);
    t.write(".orchestrator/runs/r1/journal.jsonl", "{}\n");
    let repo = t.open();
    assert!(repo.dirty().unwrap().is_empty());
    t.write("a", "2\n");
    t.write("new/file", "x\n");
    let dirty = repo.dirty().unwrap();
    assert_eq!(names(dirty.iter().map(|e| &e.path)), ["a", "new/file"]);
}

#[test]
fn o12_a_detached_head_is_told_from_a_branch() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let repo = t.open();
    assert_eq!(repo.head().unwrap().branch.as_deref(), Some("main"));
    assert!(!repo.is_detached().unwrap());
    t.git(&["checkout", "-q", "--detach"]);
    assert!(repo.is_detached().unwrap());
    let unborn = TestRepo::empty().open().head().unwrap();
    assert_eq!(
        (unborn.commit, unborn.branch.as_deref()),
        (None, Some("main"))
    );
}

#[test]
fn a_tree_is_written_out_apart_from_the_repository() {
    let t = TestRepo::with(&[("a", "1\n"), (".gitignore", "ignored\n")]);
    t.write("a", "2\n");
    t.write("sub/new", "3\n");
    t.write("ignored", "x\n");
    let repo = t.open();
    let tree = repo.snapshot().unwrap();
    let before = t.git_state();
    let there = tempfile::tempdir().unwrap();
    repo.materialise(tree.as_str(), there.path()).unwrap();
    let text = |name: &str| fs::read_to_string(there.path().join(name)).unwrap();
    assert_eq!((text("a"), text("sub/new")), ("2\n".into(), "3\n".into()));
    assert!(!there.path().join("ignored").exists());
    let copy = baton_repo::Repo::discover(there.path()).unwrap();
    assert!(copy.dirty().unwrap().is_empty());
    assert_eq!(copy.snapshot().unwrap(), tree);
    let log = git_in(there.path(), &["log", "--format=%s"]);
    assert_eq!(
        String::from_utf8_lossy(&log.stdout),
        "the tree under test\nstart\n"
    );
    assert_eq!(t.git_state(), before);
    // Also before the first commit.
    let t = TestRepo::empty();
    t.write("a", "1\n");
    let repo = t.open();
    let there = tempfile::tempdir().unwrap();
    repo.materialise(repo.snapshot().unwrap().as_str(), there.path())
        .unwrap();
    assert!(there.path().join("a").exists());
}

#[test]
fn ignored_names_and_submodules_are_listed() {
    let t = TestRepo::with(&[
        (".gitignore", "*.log\n"),
        (
            ".gitmodules",
            "[submodule \"x\"]\n\tpath = sub dir\n\turl = ../x\n",
        ),
    ]);
    let repo = t.open();
    let asked = ["a.log", "b.txt", "d/\"q\".log"].map(GitPath::from);
    assert_eq!(
        repo.ignored(&asked).unwrap(),
        [asked[0].clone(), asked[2].clone()]
    );
    assert_eq!(
        repo.submodule_paths("HEAD").unwrap(),
        [GitPath::from("sub dir")]
    );
}
