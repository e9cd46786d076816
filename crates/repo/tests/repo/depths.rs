//! However little is asked of git, the answer is the same: in every state a repository can be in,
//! the three depths name the same files and the same tree.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use baton_repo::{ChangeKind, Depth};

use crate::support::{self, TestRepo, names};

/// Asserts that all depths agree against a base, and that the tree's name is git's own.
#[track_caller]
fn agree(t: &TestRepo, base: &str) -> Vec<String> {
    let at = |depth| {
        let repo = t.open();
        let base = repo.base(base).unwrap();
        repo.changes_since(base, depth).unwrap()
    };
    let (quick, named, whole) = (at(Depth::Names), at(Depth::TreeName), at(Depth::Tree));
    assert_eq!(named.tree, whole.tree);
    for other in [&quick, &named] {
        assert_eq!(names(other.touched()), names(whole.touched()));
        assert_eq!(names(other.names().staged()), names(whole.names().staged()));
        assert_eq!(
            names(other.names().unstaged()),
            names(whole.names().unstaged())
        );
        assert_eq!(
            names(other.names().committed()),
            names(whole.names().committed())
        );
        assert_eq!(other.index_only, whole.index_only);
    }
    names(whole.touched())
}

/// One of each: modified, staged, both, deleted, new, link, mode, folder for file, file for folder.
fn busy() -> TestRepo {
    let t = TestRepo::with(&[
        ("modified", "1\n"),
        ("staged", "1\n"),
        ("both", "1\n"),
        ("undone", "1\n"),
        ("gone", "1\n"),
        ("gone-staged", "1\n"),
        ("uncached", "1\n"),
        ("run", "1\n"),
        ("link", "1\n"),
        ("file-to-dir", "1\n"),
        ("dir-to-file/a", "1\n"),
        ("deep/er/kept", "1\n"),
        ("crlf", "1\n"),
    ]);
    t.write("staged", "2\n");
    t.write("both", "2\n");
    t.write("undone", "2\n");
    t.write("added", "1\n");
    t.git(&["add", "staged", "both", "undone", "added"]);
    t.write("both", "3\n");
    t.write("undone", "1\n");
    t.write("modified", "2\n");
    t.remove("gone");
    t.git(&["rm", "-q", "gone-staged"]);
    t.git(&["rm", "-q", "--cached", "uncached"]);
    fs::set_permissions(t.path().join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    t.remove("link");
    symlink("modified", t.path().join("link")).unwrap();
    t.remove("file-to-dir");
    t.write("file-to-dir/x", "1\n");
    t.remove("dir-to-file/a");
    fs::remove_dir(t.path().join("dir-to-file")).unwrap();
    t.write("dir-to-file", "1\n");
    t.write("deep/er/new", "1\n");
    t.write("later", "1\n");
    t.git(&["add", "-N", "later"]);
    t.write("crlf", "1\r\n2\r\n");
    symlink("/nowhere", t.path().join("dangling")).unwrap();
    t
}

const BUSY: [&str; 19] = [
    "added",
    "both",
    "crlf",
    "dangling",
    "deep/er/new",
    "dir-to-file",
    "dir-to-file/a",
    "file-to-dir",
    "file-to-dir/x",
    "gone",
    "gone-staged",
    "later",
    "link",
    "modified",
    "run",
    "staged",
    "uncached",
    "undone",
    "",
];

#[test]
fn every_kind_of_change_at_once() {
    let t = busy();
    assert_eq!(agree(&t, "HEAD"), BUSY[..18]);
    // Against an older commit, and against a recorded work tree that was not clean.
    let t = busy();
    let old = t.git(&["rev-parse", "HEAD"]);
    let recorded = t.open().record_base().unwrap().name;
    t.git(&["commit", "-q", "-m", "what was staged"]);
    t.write("modified", "4\n");
    t.write("late", "1\n");
    t.write("staged", "1\n");
    agree(&t, &old);
    // Three of the commit differ from what was on disk then: they were staged in another state.
    let expected = ["both", "late", "modified", "staged", "uncached", "undone"];
    assert_eq!(agree(&t, recorded.as_str()), expected);
}

#[test]
fn indexes_of_every_form() {
    type Make = fn(&TestRepo);
    let forms: [(&str, Make); 5] = [
        ("version 4", |t| {
            t.git(&["update-index", "--index-version", "4"]);
        }),
        ("split", |t| {
            t.git(&["update-index", "--split-index"]);
        }),
        ("untracked cache", |t| {
            t.git(&["update-index", "--untracked-cache"]);
            t.git(&["status"]);
        }),
        ("no checksum", |t| {
            t.git(&["config", "index.skipHash", "true"]);
            t.git(&["update-index", "--force-write-index"]);
        }),
        ("marked", |t| {
            t.git(&["update-index", "--assume-unchanged", "modified", "gone"]);
            t.git(&["update-index", "--skip-worktree", "crlf"]);
        }),
    ];
    for (form, make) in forms {
        let t = busy();
        make(&t);
        let before = t.git_state();
        assert_eq!(agree(&t, "HEAD"), BUSY[..18], "{form}");
        assert_eq!(t.git_state(), before, "{form}");
    }
}

#[test]
fn settings_and_attributes_that_change_what_git_stores() {
    type Make = fn(&TestRepo);
    let forms: [(&str, Make); 9] = [
        ("autocrlf", |t| {
            t.git(&["config", "core.autocrlf", "true"]);
        }),
        ("input", |t| {
            t.git(&["config", "core.autocrlf", "input"]);
        }),
        ("filemode", |t| {
            t.git(&["config", "core.filemode", "false"]);
        }),
        ("ignorecase", |t| {
            t.git(&["config", "core.ignorecase", "true"]);
        }),
        ("quotepath", |t| {
            t.git(&["config", "core.quotepath", "true"]);
        }),
        ("text", |t| t.write(".gitattributes", "* text=auto\n")),
        ("info", |t| {
            fs::create_dir_all(t.path().join(".git/info")).unwrap();
            fs::write(
                t.path().join(".git/info/attributes"),
                "crlf text eol=crlf\n",
            )
            .unwrap();
        }),
        ("ident", |t| t.write("deep/.gitattributes", "new ident\n")),
        ("encoding", |t| {
            t.write(".gitattributes", "wide working-tree-encoding=UTF-16\n");
            t.write_bytes(b"wide", b"\xff\xfea\0\n\0");
        }),
    ];
    for (form, make) in forms {
        let t = busy();
        t.write("deep/er/new", "$Id$\n");
        make(&t);
        let touched = agree(&t, "HEAD");
        assert!(touched.iter().any(|n| n == "modified"), "{form}");
    }
}

#[test]
fn only_what_git_would_store_counts_as_a_change() {
    let t = TestRepo::with(&[("a", "1\n"), ("b", "1\n")]);
    t.git(&["config", "core.autocrlf", "true"]);
    t.write("a", "1\r\n");
    t.write("b", "2\r\n");
    assert_eq!(agree(&t, "HEAD"), ["b"]);
}

#[test]
fn a_name_that_differs_in_case_only_hides_nothing() {
    let t = TestRepo::with(&[("readme", "1\n")]);
    t.git(&["config", "core.ignorecase", "true"]);
    t.write("README", "2\n");
    assert_eq!(agree(&t, "HEAD"), ["README"]);
    t.remove("readme");
    assert_eq!(agree(&t, "HEAD"), ["README", "readme"]);
}

#[test]
fn a_file_put_back_to_its_old_size_and_time_hides_nothing() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let file = t.path().join("a");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let set_time = || {
        let file = fs::File::options().append(true).open(&file).unwrap();
        file.set_modified(old).unwrap();
    };
    set_time();
    t.git(&["config", "core.checkStat", "minimal"]);
    t.git(&["config", "core.trustctime", "false"]);
    t.git(&["update-index", "--refresh"]);
    // git compares whole seconds; what changes within the same one it cannot tell either.
    let changed = |path: &Path| fs::metadata(path).unwrap().ctime();
    let (begun, probe) = (changed(&file), t.path().join(".git/probe"));
    while {
        fs::write(&probe, "").unwrap();
        changed(&probe) == begun
    } {
        std::thread::yield_now();
    }
    t.write("a", "2\n");
    set_time();
    assert_eq!(agree(&t, "HEAD"), ["a"]);
}

#[test]
fn what_stands_in_for_a_commit_hides_nothing() {
    let t = TestRepo::with(&[("a", "1\n"), ("b", "1\n")]);
    let base = t.git(&["rev-parse", "HEAD"]);
    t.write("a", "2\n");
    t.commit("by the worker");
    let fake = t.git(&["commit-tree", "HEAD^{tree}", "-m", "fake"]);
    t.git(&["replace", &base, &fake]);
    let head = t.git(&["rev-parse", "HEAD"]);
    fs::create_dir_all(t.path().join(".git/info")).unwrap();
    fs::write(t.path().join(".git/info/grafts"), format!("{head}\n")).unwrap();
    assert_eq!(agree(&t, &base), ["a"]);
    let repo = t.open();
    let facts = repo.changes_since(repo.base(&base).unwrap(), Depth::Names);
    assert!(facts.unwrap().descends);
}

#[test]
fn a_file_written_outside_of_a_sparse_checkout_is_seen() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let t = TestRepo::with(&[("src/a", "1\n"), ("other/b", "1\n"), ("other/c", "1\n")]);
        t.git(&["sparse-checkout", "set", "--cone", index, "src"]);
        assert_eq!(agree(&t, "HEAD"), [""; 0]);
        t.write("src/a", "2\n");
        t.write("other/b", "2\n");
        t.write("third/new", "2\n");
        assert_eq!(agree(&t, "HEAD"), ["other/b", "src/a", "third/new"]);
    }
}

#[test]
fn a_work_tree_that_is_said_to_be_elsewhere_is_an_error_of_its_own() {
    let t = TestRepo::with(&[("a", "1\n")]);
    let elsewhere = t.beside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    t.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    let error = baton_repo::Repo::discover(&t.path()).unwrap_err();
    assert!(error.to_string().contains("core.worktree"), "{error}");
}

#[test]
fn a_filter_of_the_repository_that_must_run_is_not_run_and_no_error() {
    let t = TestRepo::with(&[("a", "1\n"), (".gitattributes", "*.bin filter=x\n")]);
    let mark = t.beside("ran");
    let clean = format!("touch {}; cat", mark.display());
    t.git(&["config", "filter.x.clean", &clean]);
    t.git(&["config", "filter.x.required", "true"]);
    t.write("new.bin", "1\n");
    assert_eq!(agree(&t, "HEAD"), ["new.bin"]);
    assert!(!mark.exists());
}

#[test]
fn a_repository_with_longer_hashes() {
    let t = TestRepo::empty();
    fs::remove_dir_all(t.path().join(".git")).unwrap();
    t.git(&["init", "-q", "--object-format=sha256", "-b", "main"]);
    t.git(&["config", "user.name", "x"]);
    t.git(&["config", "user.email", "x@localhost"]);
    t.write("a", "1\n");
    t.write("dir/b", "1\n");
    let base = t.commit("start");
    assert_eq!(base.len(), 64);
    t.write("dir/b", "2\n");
    t.write("dir/c", "2\n");
    assert_eq!(agree(&t, &base), ["dir/b", "dir/c"]);
    t.commit("done");
    assert_eq!(agree(&t, &base), ["dir/b", "dir/c"]);
}

#[test]
fn renames_are_paired_only_as_far_as_is_needed() {
    let lines: Vec<String> = (0..40).map(|i| format!("line {i}\n")).collect();
    let text = lines.concat();
    let t = TestRepo::with(&[("a", &text), ("b", &format!("{text}b\n")), ("c", "c\n")]);
    fs::rename(t.path().join("a"), t.path().join("a2")).unwrap();
    t.remove("b");
    t.write("b2", &format!("{text}b\nmore\n"));
    let repo = t.open();
    let base = repo.base("HEAD").unwrap();
    let mut facts = repo.changes_since(base, Depth::Names).unwrap();
    let kinds = |facts: &baton_repo::ChangeSet| -> Vec<ChangeKind> {
        facts.net.iter().map(|c| c.kind).collect()
    };
    repo.pair_renames(&mut facts, |_| true).unwrap();
    assert_eq!(facts.net.len(), 4);
    // Asked twice: the second time those of the same content are pairs.
    let asked = std::cell::Cell::new(0);
    repo.pair_renames(&mut facts, |_| asked.replace(asked.get() + 1) == 1)
        .unwrap();
    assert_eq!((asked.get(), facts.net.len()), (2, 3));
    repo.pair_renames(&mut facts, |_| false).unwrap();
    assert_eq!(kinds(&facts), [ChangeKind::Renamed, ChangeKind::Renamed]);
    assert_eq!(names(facts.touched()), ["a", "a2", "b", "b2"]);
    // The same once it is committed.
    t.commit("moved");
    let repo = t.open();
    let base = repo.base("HEAD~1").unwrap();
    let mut facts = repo.changes_since(base, Depth::Names).unwrap();
    assert_eq!(facts.committed.len(), 4);
    repo.pair_renames(&mut facts, |_| false).unwrap();
    assert_eq!((facts.net.len(), facts.committed.len()), (2, 2));
}

#[test]
fn a_repository_inside_is_left_to_git() {
    let t = TestRepo::with(&[("a", "1\n")]);
    fs::create_dir(t.path().join("empty")).unwrap();
    support::git_in(&t.path().join("empty"), &["init", "-q"]);
    t.write("a", "2\n");
    assert_eq!(agree(&t, "HEAD"), ["a", "empty"]);
}
