//! Clones: what they share with the repository, and what they never lose.

use crate::support::{TestRepo, git_in};

fn git(dir: &std::path::Path, args: &[&str]) -> String {
    let out = git_in(dir, args);
    assert!(
        out.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).trim_end().to_owned()
}

#[test]
fn a_clone_starts_at_any_commit_also_one_that_no_branch_holds() {
    let test = TestRepo::with(&[("a", "1\n")]);
    let first = test.commit("kept");
    test.write("a", "2\n");
    let lost = test.commit("on no branch");
    test.git(&["reset", "-q", "--hard", &first]);
    let path = test.beside("clone");
    let clone = test.open().clone_to(&path, &lost).unwrap();
    assert_eq!(clone.head().unwrap().commit.unwrap().as_str(), lost);
    assert_eq!(clone.head().unwrap().branch, None);
    assert_eq!(git(&path, &["remote"]), "");
    assert_eq!(git(&path, &["config", "user.name"]), "Tester");
}

#[test]
fn a_shallow_repository_can_be_cloned_and_gets_commits_back() {
    let origin = TestRepo::with(&[("a", "1\n")]);
    origin.write("a", "2\n");
    origin.commit("second");
    let shallow = origin.beside("shallow");
    let url = format!("file://{}", origin.path().display());
    let shown = shallow.display().to_string();
    origin.git(&[
        "-c",
        "protocol.file.allow=always",
        "clone",
        "-q",
        "--depth=1",
        &url,
        &shown,
    ]);
    let repo = baton_repo::Repo::discover(&shallow).unwrap();
    git(&shallow, &["config", "user.name", "S"]);
    git(&shallow, &["config", "user.email", "s@localhost"]);
    let head = repo.head().unwrap().commit.unwrap();
    let path = origin.beside("clone");
    let clone = repo.clone_to(&path, head.as_str()).unwrap();
    std::fs::write(path.join("b"), "x\n").unwrap();
    let made = clone
        .commit_all(&baton_repo::CommitMessage::default())
        .unwrap()
        .unwrap();
    repo.fetch_from_clone(&path, made.as_str()).unwrap();
    assert_eq!(repo.commit(made.as_str()).unwrap(), made);
    // No branch holds it yet, so the clone goes only when the caller says that it is kept.
    assert!(repo.clone_remove(&path, &[]).is_err());
    repo.clone_remove(&path, &[made.as_str()]).unwrap();
    assert!(!path.exists());
}

#[test]
fn o06_a_clone_that_holds_something_is_never_removed() {
    let test = TestRepo::with(&[("a", "1\n")]);
    let repo = test.open();
    let path = test.beside("clone");
    repo.clone_to(&path, "HEAD").unwrap();
    std::fs::write(path.join("new"), "x\n").unwrap();
    let why = repo.clone_holds(&path, &[]).unwrap().unwrap();
    assert!(why.contains("new"), "{why}");
    git(&path, &["stash", "-q", "-u"]);
    let why = repo.clone_holds(&path, &[]).unwrap().unwrap();
    assert!(why.contains("stash"), "{why}");
    git(&path, &["stash", "drop", "-q"]);
    git(&path, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let why = repo.clone_holds(&path, &[]).unwrap().unwrap();
    assert!(why.contains("HEAD"), "{why}");
    git(&path, &["checkout", "-q", "--detach", "HEAD^"]);
    assert_eq!(repo.clone_holds(&path, &[]).unwrap(), None);
}
