//! What git sees, in repositories made for the purpose. The bug log's rows carry their ids.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::{self, TestRepo, names};
use baton_repo::{ChangeKind, Depth, GitPath, Mode, Repo, RepoError};

#[test]
fn h05_a_commit_on_a_clean_tree_is_a_change_against_the_recorded_base() {
    let t = TestRepo::with(&[("a.txt", "1\n")]);
    let base = t.open().record_base().unwrap().name;
    t.write("a.txt", "2\n");
    t.commit("by the worker");
    let changes = t.open().changes(base.as_str()).unwrap();
    assert_eq!(names(changes.names().committed()), ["a.txt"]);
    assert_eq!(names(changes.touched()), ["a.txt"]);
    assert!(changes.names().unstaged().is_empty());
}

#[test]
fn h06_a_new_file_counts_and_no_repository_is_an_error_of_its_own() {
    let t = TestRepo::with(&[("a.txt", "1\n")]);
    t.write("solution.py", "x\n");
    let changes = t.open().changes("HEAD").unwrap();
    assert_eq!(names(changes.names().untracked()), ["solution.py"]);
    let plain = tempfile::tempdir().unwrap();
    let error = Repo::discover(plain.path()).unwrap_err();
    assert!(matches!(error, RepoError::NotARepository(_)), "{error}");
    let gone = Repo::discover(&plain.path().join("nowhere")).unwrap_err();
    assert!(matches!(gone, RepoError::NotARepository(_)), "{gone}");
}

#[test]
fn a_bare_repository_has_no_work_tree() {
    let t = TestRepo::empty();
    support::git_in(&t.path(), &["init", "-q", "--bare", "../bare.git"]);
    for place in [t.beside("bare.git"), t.path().join(".git")] {
        let error = Repo::discover(&place).unwrap_err();
        assert!(matches!(error, RepoError::Bare(_)), "{error}");
    }
}

#[test]
fn h07_committed_staged_unstaged_and_untracked_are_shown_apart() {
    let t = TestRepo::with(&[
        ("c", "1\n"),
        ("s", "1\n"),
        ("w", "1\n"),
        (".gitignore", "scratch\n"),
    ]);
    t.write("scratch", "kept on disk\n");
    t.git(&["add", "-f", "scratch"]);
    let base = t.commit("base");
    t.write("c", "2\n");
    t.commit("c");
    t.git(&["rm", "-q", "--cached", "scratch"]);
    t.write("s", "2\n");
    t.git(&["add", "s"]);
    t.write("w", "2\n");
    t.write("new", "2\n");
    let changes = t.open().changes(&base).unwrap();
    assert_eq!(names(changes.names().committed()), ["c"]);
    assert_eq!(names(changes.names().staged()), ["s", "scratch"]);
    assert_eq!(names(changes.names().unstaged()), ["w"]);
    assert_eq!(names(changes.names().untracked()), ["new"]);
    assert_eq!(names(changes.touched()), ["c", "new", "s", "scratch", "w"]);
}

#[test]
fn h08_before_the_first_commit_everything_counts_against_the_empty_tree() {
    let t = TestRepo::empty();
    t.write("a.txt", "1\n");
    t.git(&["add", "a.txt"]);
    t.write("a.txt", "2\n");
    let repo = t.open();
    let base = repo.base_of_head().unwrap();
    let changes = repo.changes_since(base, Depth::Tree).unwrap();
    assert_eq!(names(changes.touched()), ["a.txt"]);
    assert_eq!(names(changes.names().staged()), ["a.txt"]);
    assert_eq!(names(changes.names().unstaged()), ["a.txt"]);
    assert_eq!(changes.net[0].kind, ChangeKind::Added);
    // A base recorded then is found again after the first commit.
    let t = TestRepo::empty();
    t.write("mine", "1\n");
    let base = t.open().record_base().unwrap().name;
    t.write("theirs", "1\n");
    t.commit("first");
    let changes = t.open().changes(base.as_str()).unwrap();
    assert_eq!(names(changes.touched()), ["theirs"]);
}

#[test]
fn h09_a_commit_that_the_work_tree_has_undone_is_still_a_change() {
    let t = TestRepo::with(&[("a.txt", "1\n")]);
    let base = t.open().record_base().unwrap().name;
    t.write("a.txt", "2\n");
    t.commit("by the worker");
    t.write("a.txt", "1\n");
    let changes = t.open().changes(base.as_str()).unwrap();
    assert!(changes.net.is_empty());
    assert_eq!(names(changes.touched()), ["a.txt"]);
}

#[test]
fn a_staged_change_that_the_work_tree_has_undone_is_still_a_change() {
    let t = TestRepo::with(&[("a.txt", "1\n")]);
    t.write("a.txt", "2\n");
    t.git(&["add", "a.txt"]);
    t.write("a.txt", "1\n");
    let changes = t.open().changes("HEAD").unwrap();
    assert_eq!(names(changes.touched()), ["a.txt"]);
}

#[test]
fn h10_names_are_bytes() {
    let t = TestRepo::with(&[("keep", "1\n")]);
    let odd: [&[u8]; 10] = [
        "café.txt".as_bytes(),
        b"a b.txt",
        b"x b/y.txt",
        b"\"q\".txt",
        b"tab\there",
        b"line\nbreak",
        "u\u{2028}v".as_bytes(),
        b"\xff\xfe.bin",
        b" leading and trailing ",
        b"-dash",
    ];
    for name in odd {
        t.write_bytes(name, b"1\n");
    }
    let mut expected: Vec<GitPath> = odd.iter().map(|n| GitPath::new(*n)).collect();
    expected.sort();
    let untracked = t.open().changes("HEAD").unwrap();
    let found: Vec<GitPath> = untracked.names().untracked().into_iter().cloned().collect();
    assert_eq!(found, expected);
    let base = t.open().commit("HEAD").unwrap();
    t.commit("odd");
    let committed = t.open().changes(base.as_str()).unwrap();
    let found: Vec<GitPath> = committed.touched().into_iter().cloned().collect();
    assert_eq!(found, expected);
}

#[test]
fn h11_a_rename_has_two_names_staged_or_not() {
    let text = "a line\n".repeat(40);
    let t = TestRepo::with(&[("old", &text), ("src", &text)]);
    t.git(&["mv", "old", "new -> name"]);
    let changes = t.open().changes("HEAD").unwrap();
    assert_eq!(changes.net[0].kind, ChangeKind::Renamed);
    assert_eq!(names(changes.touched()), ["new -> name", "old"]);
    assert_eq!(names(changes.names().staged()), ["new -> name", "old"]);
    t.git(&["reset", "-q", "--hard"]);
    // In the second column: moved without telling git, then marked as to be added.
    fs::rename(t.path().join("old"), t.path().join("other")).unwrap();
    t.git(&["add", "-N", "other"]);
    let changes = t.open().changes("HEAD").unwrap();
    assert_eq!(names(changes.touched()), ["old", "other"]);
    assert_eq!(names(changes.names().unstaged()), ["old", "other"]);
}

#[test]
fn h11_a_copy_does_not_touch_its_source() {
    let text = "a line\n".repeat(40);
    let t = TestRepo::with(&[("src", &text)]);
    t.write("copy", &text);
    t.write("src", &format!("{text}more\n"));
    t.commit("copied");
    let changes = t.open().changes("HEAD~1").unwrap();
    let copy = changes
        .net
        .iter()
        .find(|c| c.kind == ChangeKind::Copied)
        .unwrap();
    assert_eq!(copy.from.as_ref().unwrap().to_string(), "src");
    assert_eq!(names(copy.touched()), ["copy"]);
}

#[test]
fn h12_a_name_with_an_arrow_is_one_file() {
    let t = TestRepo::with(&[("normal -> file.txt", "1\n")]);
    t.write("normal -> file.txt", "2\n");
    let changes = t.open().changes("HEAD").unwrap();
    assert_eq!(names(changes.touched()), ["normal -> file.txt"]);
}

#[test]
fn modes_links_deletions_and_kinds_are_told() {
    let t = TestRepo::with(&[
        ("run", "1\n"),
        ("gone", "1\n"),
        ("kind", "1\n"),
        ("dir/f", "1\n"),
    ]);
    fs::set_permissions(t.path().join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    t.remove("gone");
    t.remove("kind");
    symlink("run", t.path().join("kind")).unwrap();
    fs::remove_dir_all(t.path().join("dir")).unwrap();
    t.write("dir", "now a file\n");
    symlink("/etc/passwd", t.path().join("link")).unwrap();
    let changes = t.open().changes("HEAD").unwrap();
    let of = |name: &str| {
        changes
            .net
            .iter()
            .find(|c| c.path == GitPath::from(name))
            .unwrap()
    };
    assert!(of("run").is_mode_only());
    assert_eq!(of("run").new_mode, Mode::Executable);
    assert_eq!(of("gone").kind, ChangeKind::Deleted);
    assert_eq!(of("kind").kind, ChangeKind::TypeChanged);
    assert_eq!(of("link").new_mode, Mode::Symlink);
    assert_eq!(of("dir/f").kind, ChangeKind::Deleted);
    assert_eq!(of("dir").kind, ChangeKind::Added);
}

#[test]
fn a_file_that_was_dirty_at_the_start_is_not_a_change_unless_it_changes_again() {
    let t = TestRepo::with(&[("mine", "1\n"), ("both", "1\n")]);
    t.write("mine", "dirty\n");
    t.write("both", "dirty\n");
    t.git(&["add", "both"]);
    t.write("untracked", "dirty\n");
    let base = t.open().record_base().unwrap().name;
    assert!(t.open().changes(base.as_str()).unwrap().is_empty());
    t.write("both", "again\n");
    let changes = t.open().changes(base.as_str()).unwrap();
    assert_eq!(names(changes.touched()), ["both"]);
    // Committing what was dirty as it was is no change either.
    t.commit("all of it");
    let changes = t.open().changes(base.as_str()).unwrap();
    assert_eq!(names(changes.touched()), ["both"]);
    assert_eq!(names(changes.names().committed()), ["both"]);
}

#[test]
fn the_same_state_is_recorded_under_the_same_name() {
    let t = TestRepo::with(&[("a", "1\n")]);
    t.write("a", "2\n");
    let first = t.open().record_base().unwrap().name;
    assert_eq!(t.open().record_base().unwrap().name, first);
    assert_eq!(
        t.open().base(first.as_str()).unwrap().tree,
        t.open().snapshot().unwrap()
    );
}

#[test]
fn a_clean_work_tree_is_recorded_by_its_own_commit() {
    let t = TestRepo::with(&[("a", "1\n"), (".gitignore", "scratch\n")]);
    t.write("scratch", "ignored\n");
    let head = t.git(&["rev-parse", "HEAD"]);
    let repo = t.open();
    let recorded = repo.record_base().unwrap();
    assert_eq!(recorded.name.as_str(), head);
    assert_eq!(recorded.tree, repo.tree("HEAD").unwrap());
    assert_eq!(repo.snapshot().unwrap(), recorded.tree);
    t.write("a", "2\n");
    assert_ne!(repo.snapshot().unwrap(), recorded.tree);
    // Whatever makes it unclean needs a record of its own.
    let dirty: [&[&str]; 3] = [
        &["add", "a"],
        &["update-index", "--assume-unchanged", "a"],
        &["rm", "-q", "--cached", "a"],
    ];
    for command in dirty {
        t.git(command);
        let now = t.open().record_base().unwrap();
        assert_ne!(now.name.as_str(), head, "{command:?}");
        assert_eq!(t.open().base(now.name.as_str()).unwrap().tree, now.tree);
    }
}

#[test]
fn a_file_that_is_added_by_force_counts_at_once() {
    let t = TestRepo::with(&[("a", "1\n"), (".gitignore", "scratch\n")]);
    t.write("scratch", "1\n");
    let repo = t.open();
    let start = repo.snapshot().unwrap();
    assert_eq!(repo.snapshot().unwrap(), start);
    t.git(&["add", "--force", "scratch"]);
    assert_ne!(repo.snapshot().unwrap(), start);
    t.git(&["rm", "-q", "--cached", "scratch"]);
    assert_eq!(repo.snapshot().unwrap(), start);
    std::fs::write(t.path().join(".git/info/exclude"), "b\n").unwrap();
    t.write("b", "hidden\n");
    assert_eq!(repo.snapshot().unwrap(), start);
    std::fs::write(t.path().join(".git/info/exclude"), "\n").unwrap();
    assert_ne!(repo.snapshot().unwrap(), start);
}

#[test]
fn looking_changes_nothing_in_the_repository() {
    let t = TestRepo::with(&[("a", "1\n"), ("b", "1\n")]);
    t.write("a", "2\n");
    t.write("new", "3\n");
    t.git(&["add", "new"]);
    let before = t.git_state();
    let repo = t.open();
    repo.changes("HEAD").unwrap();
    let tree = repo.snapshot().unwrap();
    repo.dirty().unwrap();
    repo.worktrees().unwrap();
    let text = repo.diff_text("HEAD", tree.as_str(), &[]).unwrap();
    assert!(String::from_utf8_lossy(&text).contains("+2"));
    assert_eq!(repo.line_counts("HEAD", tree.as_str()).unwrap().len(), 2);
    let file = repo
        .read_file(tree.as_str(), &GitPath::from("new"))
        .unwrap();
    assert_eq!(file.as_deref(), Some(&b"3\n"[..]));
    assert_eq!(t.git_state(), before);
}

#[test]
fn a_snapshot_follows_every_edit_even_within_one_clock_tick() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let repo = t.open();
    let start = repo.snapshot().unwrap();
    assert_eq!(start, repo.tree("HEAD").unwrap());
    let mut seen = vec![start.clone()];
    for text in ["2\n", "3\n", "4\n", "5\n"] {
        t.write("a", text);
        let now = repo.snapshot().unwrap();
        assert!(!seen.contains(&now), "{text}");
        seen.push(now);
    }
    t.write("a", "1\n");
    assert_eq!(repo.snapshot().unwrap(), start);
}

#[test]
fn flags_that_make_git_look_away_hide_nothing() {
    let t = TestRepo::with(&[("assumed", "1\n"), ("skipped", "1\n")]);
    t.git(&["update-index", "--assume-unchanged", "assumed"]);
    t.git(&["update-index", "--skip-worktree", "skipped"]);
    t.write("assumed", "2\n");
    t.write("skipped", "2\n");
    assert_eq!(t.git(&["status", "--porcelain"]), "");
    let changes = t.open().changes("HEAD").unwrap();
    assert_eq!(names(changes.touched()), ["assumed", "skipped"]);
}

#[test]
fn an_embedded_repository_is_seen_and_does_not_break_the_rest() {
    let t = TestRepo::with(&[("a", "1\n")]);
    fs::create_dir(t.path().join("empty")).unwrap();
    support::git_in(&t.path().join("empty"), &["init", "-q"]);
    fs::create_dir(t.path().join("full")).unwrap();
    let full = t.path().join("full");
    support::git_in(&full, &["init", "-q"]);
    support::git_in(
        &full,
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
        ],
    );
    t.write("a", "2\n");
    let changes = t.open().changes("HEAD").unwrap();
    assert_eq!(names(changes.touched()), ["a", "empty", "full"]);
    let full = changes
        .net
        .iter()
        .find(|c| c.path == GitPath::from("full"))
        .unwrap();
    assert_eq!(full.new_mode, Mode::Submodule);
    assert_eq!(names(changes.names().untracked()), ["empty", "full"]);
}

#[test]
fn the_repositorys_own_settings_run_nothing() {
    let t = TestRepo::with(&[("a", "1\n"), (".gitattributes", "* filter=x diff=x\n")]);
    let mark = t.beside("ran");
    let touch = format!("touch {}; cat", mark.display());
    for key in [
        "filter.x.clean",
        "filter.x.smudge",
        "diff.x.textconv",
        "diff.x.command",
        "diff.external",
        "core.fsmonitor",
        "filter.a=b.clean",
    ] {
        t.git(&["config", key, &touch]);
    }
    t.write(".gitattributes", "* filter=x diff=x\nb* filter=a=b\n");
    t.write("a", "2\n");
    t.write("b", "2\n");
    let hook = t.path().join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let repo = t.open();
    let tree = repo.changes("HEAD").unwrap().tree.unwrap();
    repo.diff_text("HEAD", tree.as_str(), &[]).unwrap();
    repo.dirty().unwrap();
    assert!(!mark.exists());
}
