//! The verdict against an oracle that compares two trees byte by byte and knows nothing of git.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use baton_protocol::{FileNote, HandoffStatus, Task, TaskId, VerdictKind};
use baton_repo::{ChangeSet, Depth, Globs, Repo};
use proptest::prelude::*;

use crate::checks::changes::BaseSource;
use crate::checks::claims;
use crate::judge::{Known, judge};
use crate::report::{Form, Report, blank};

/// What a worker may do to the repository.
#[derive(Debug, Clone)]
enum Act {
    Write(usize, u8),
    Delete(usize),
    Rename(usize, usize),
    Link(usize),
    Executable(usize),
    Stage,
    Commit,
    /// Puts a file back as it was at the start.
    Undo(usize),
    /// Makes git look away.
    AssumeUnchanged(usize),
}

/// What one file is, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
enum File {
    Plain(Vec<u8>, bool),
    Link(PathBuf),
}

type Tree = BTreeMap<Vec<u8>, File>;

/// Names of any bytes a file may have, in one of three folders.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let odd = proptest::collection::vec(1_u8..=255, 1..10);
    let nasty = proptest::sample::select(vec![
        b"a -> b".to_vec(),
        b"x b".to_vec(),
        b"\"q\"".to_vec(),
        b"tab\t".to_vec(),
        b"nl\n".to_vec(),
        "u\u{2028}".as_bytes().to_vec(),
        b"-n".to_vec(),
        b"[id]".to_vec(),
        b"*".to_vec(),
        b" ".to_vec(),
    ]);
    let plain = "[a-z]{1,6}".prop_map(String::into_bytes);
    let folder = proptest::sample::select(vec!["", "src/", "docs/"]);
    (folder, prop_oneof![odd, nasty, plain])
        .prop_map(|(folder, name)| [folder.as_bytes(), &name].concat())
        .prop_filter(
            "a name git can hold, and not one that changes what git sees",
            |name| {
                let last = name.rsplit(|b| *b == b'/').next().unwrap_or_default();
                let folders = name.split(|b| *b == b'/').count() - 1;
                let depth = usize::from(name.starts_with(b"src/") || name.starts_with(b"docs/"));
                folders == depth
                    && !last.is_empty()
                    && !last.starts_with(b".")
                    && last != b"src"
                    && last != b"docs"
                    && !last.to_ascii_lowercase().starts_with(b"git~")
            },
        )
}

fn act() -> impl Strategy<Value = Act> {
    let file = 0..6_usize;
    prop_oneof![
        4 => (file.clone(), any::<u8>()).prop_map(|(f, b)| Act::Write(f, b)),
        1 => file.clone().prop_map(Act::Delete),
        2 => (file.clone(), file.clone()).prop_map(|(a, b)| Act::Rename(a, b)),
        1 => file.clone().prop_map(Act::Link),
        1 => file.clone().prop_map(Act::Executable),
        1 => Just(Act::Stage),
        1 => Just(Act::Commit),
        1 => file.clone().prop_map(Act::Undo),
        1 => file.prop_map(Act::AssumeUnchanged),
    ]
}

fn git(dir: &Path, args: &[&OsStr]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@localhost",
            "--literal-pathspecs",
        ])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    // Some acts do not fit the state (nothing to commit); what counts is what they leave.
    drop(output);
}

fn git_words(dir: &Path, args: &[&str]) {
    git(dir, &args.iter().map(OsStr::new).collect::<Vec<_>>());
}

/// Every file below a folder but git's own, byte for byte.
fn tree(root: &Path) -> Tree {
    let mut files = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let data = fs::symlink_metadata(&path).unwrap();
            let name = path
                .strip_prefix(root)
                .unwrap()
                .as_os_str()
                .as_bytes()
                .to_vec();
            if name == b".git" {
                continue;
            }
            if data.is_dir() {
                folders.push(path);
            } else if data.is_symlink() {
                files.insert(name, File::Link(fs::read_link(&path).unwrap()));
            } else {
                let executable = data.permissions().mode() & 0o100 != 0;
                files.insert(name, File::Plain(fs::read(&path).unwrap(), executable));
            }
        }
    }
    files
}

fn put(path: &Path, file: Option<&File>) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match file {
        None => {}
        Some(File::Link(to)) => symlink(to, path).unwrap(),
        Some(File::Plain(content, executable)) => {
            fs::write(path, content).unwrap();
            let mode = if *executable { 0o755 } else { 0o644 };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

fn perform(root: &Path, names: &[Vec<u8>], start: &Tree, act: &Act) {
    let at = |i: &usize| root.join(OsStr::from_bytes(&names[i % names.len()]));
    match act {
        Act::Write(i, byte) => put(&at(i), Some(&File::Plain(vec![*byte; 3], false))),
        Act::Delete(i) => put(&at(i), None),
        Act::Rename(i, j) => {
            fs::create_dir_all(at(j).parent().unwrap()).unwrap();
            let _ = fs::rename(at(i), at(j));
        }
        Act::Link(i) => put(&at(i), Some(&File::Link("/etc/passwd".into()))),
        Act::Executable(i) => {
            if fs::symlink_metadata(at(i)).is_ok_and(|d| d.is_file()) {
                fs::set_permissions(at(i), fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Act::Stage => git_words(root, &["add", "-A"]),
        Act::Commit => {
            git_words(root, &["add", "-A"]);
            git_words(root, &["commit", "-q", "-m", "by the worker"]);
        }
        Act::Undo(i) => put(&at(i), start.get(&names[i % names.len()])),
        Act::AssumeUnchanged(i) => {
            let name = OsStr::from_bytes(&names[i % names.len()]);
            let args = ["update-index", "--assume-unchanged", "--"].map(OsStr::new);
            git(root, &[args[0], args[1], args[2], name]);
        }
    }
}

/// The verdict on a report that claims exactly what the oracle saw.
fn verdict(facts: &ChangeSet, claims: &BTreeSet<Vec<u8>>, owned: &Globs) -> VerdictKind {
    let task = Task::new(TaskId::new("t1").unwrap(), "x");
    let mut handoff = blank(TaskId::new("t1").unwrap());
    handoff.status = HandoffStatus::Completed;
    handoff.outcome = "It is done as asked.".into();
    handoff.files_changed = claims
        .iter()
        .filter_map(|c| String::from_utf8(c.clone()).ok())
        .map(|path| FileNote {
            path,
            scope: String::new(),
        })
        .collect();
    let report = Report {
        handoff,
        form: Form::Handoff,
        alone: true,
    };
    let none = Globs::new::<&str>(&[]).unwrap();
    let compared = claims::compare(&report.handoff.files_changed, facts);
    let known = Known {
        task: &task,
        owned,
        protected: &none,
        report: Ok(&report),
        facts,
        base: BaseSource::Task,
        unfinished: None,
        submodules: &[],
        untold: claims::Untold::default(),
        hidden: &[],
        absent: &[],
        clean: true,
        forgiven: &[],
        runs: None,
        red_first: None,
        strict: false,
        review_required: false,
    };
    judge(&known, compared).0.verdict
}

/// How many histories to try; each asks git some twenty questions. `BATON_ORACLE_CASES` asks for more.
fn cases() -> u32 {
    let asked = std::env::var("BATON_ORACLE_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(16)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 60, ..ProptestConfig::default() })]

    /// Whatever a worker does under whatever names: a change outside the scope never passes, and
    /// work inside it that is reported as it is is never called false.
    #[test]
    fn the_verdict_agrees_with_a_byte_by_byte_comparison(
        names in proptest::collection::vec(name(), 6),
        dirty in proptest::collection::vec((0..6_usize, any::<u8>()), 0..3),
        acts in proptest::collection::vec(act(), 0..8),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        git_words(root, &["init", "-q"]);
        for name in names.iter().take(3) {
            put(&root.join(OsStr::from_bytes(name)), Some(&File::Plain(b"start\n".to_vec(), false)));
        }
        git_words(root, &["add", "-A"]);
        git_words(root, &["commit", "-q", "-m", "start"]);
        for (i, byte) in &dirty {
            put(&root.join(OsStr::from_bytes(&names[*i])), Some(&File::Plain(vec![*byte; 4], false)));
        }
        let start = tree(root);
        let base = Repo::discover(root).unwrap().record_base().unwrap().name;
        for act in &acts {
            perform(root, &names, &start, act);
        }
        let end = tree(root);
        let differ: BTreeSet<Vec<u8>> = start.keys().chain(end.keys())
            .filter(|name| start.get(*name) != end.get(*name)).cloned().collect();
        let is_outside = |name: &[u8]| !name.starts_with(b"src/");

        let owned = Globs::new(&["src/**"]).unwrap();
        let repo = Repo::discover(root).unwrap();
        let base = repo.base(base.as_str()).unwrap();
        let hashed = repo.changes_since(base.clone(), Depth::Tree).unwrap();
        let named = Repo::discover(root).unwrap();
        let named = named.changes_since(base.clone(), Depth::TreeName).unwrap();
        prop_assert_eq!(&named.tree, &hashed.tree);
        prop_assert_eq!(named.touched(), hashed.touched());
        let quick = repo.changes_since(base, Depth::Names).unwrap();
        prop_assert_eq!(hashed.touched(), quick.touched());
        let touched: BTreeSet<Vec<u8>> = hashed.touched().iter().map(|p| p.as_bytes().to_vec()).collect();
        prop_assert!(differ.is_subset(&touched), "git missed {:?}", differ.difference(&touched));

        let found = verdict(&hashed, &differ, &owned);
        prop_assert_eq!(found, verdict(&quick, &differ, &owned));
        if differ.iter().any(|name| is_outside(name)) {
            prop_assert_eq!(found, VerdictKind::Fail);
        }
        let honest = touched == differ && !differ.is_empty()
            && differ.iter().all(|name| !is_outside(name) && std::str::from_utf8(name).is_ok());
        if honest {
            prop_assert_eq!(found, VerdictKind::Pass);
        }
    }
}
