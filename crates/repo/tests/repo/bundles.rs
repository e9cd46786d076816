//! Bundles from one repository to another and back.

use std::fs;

use baton_repo::{Depot, GitPath, ObjectId, Repo};

use crate::support::TestRepo;

fn head(repo: &Repo) -> ObjectId {
    repo.commit("HEAD").expect("a commit")
}

/// A tree of a commit at another host, by a bundle.
fn sent(test: &TestRepo, depot: &Depot, name: &str) -> Repo {
    let repo = test.open();
    let commit = head(&repo);
    let file = test.beside("there.bundle");
    let have = depot.have().expect("references");
    repo.bundle(&file, std::slice::from_ref(&commit), &have)
        .expect("a bundle");
    depot.take_in(&file, &commit).expect("taken in");
    depot
        .check_out(&test.beside(name), &commit)
        .expect("a tree")
}

#[test]
fn work_travels_there_and_back_without_a_reference_here() {
    let test = TestRepo::with(&[("a", "1\n"), ("gone", "x\n"), (".gitignore", "*.env\n")]);
    let depot = Depot::open(&test.beside("depot")).unwrap();
    let there = sent(&test, &depot, "one");
    fs::write(there.root().join("a"), "2\n").unwrap();
    fs::write(there.root().join("new file"), "n\n").unwrap();
    fs::remove_file(there.root().join("gone")).unwrap();
    fs::write(there.root().join("b.env"), "secret\n").unwrap();
    let result = there.record_base().unwrap().name;
    let back = test.beside("back.bundle");
    there
        .bundle(&back, std::slice::from_ref(&result), &[head(&there)])
        .unwrap();

    let references = test.git(&["for-each-ref"]);
    let repo = test.open();
    // What stands in the way and is in no commit is replaced.
    test.write("new file", "in the way\n");
    assert_eq!(repo.unbundle(&back).unwrap(), std::slice::from_ref(&result));
    repo.lay(&result).unwrap();
    assert_eq!(test.read("a"), "2\n");
    assert_eq!(test.read("new file"), "n\n");
    assert_eq!(
        String::from_utf8_lossy(
            &crate::support::git_in(&test.path(), &["status", "--porcelain"]).stdout
        )
        .trim_end(),
        " M a\n D gone\n?? \"new file\"",
    );
    assert_eq!(test.git(&["for-each-ref"]), references);
    assert_eq!(repo.snapshot().unwrap(), there.snapshot().unwrap());
}

#[test]
fn history_travels_once() {
    let test = TestRepo::with(&[("a", "1\n")]);
    let bytes: String = (0..20_000u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_string())
        .collect();
    test.write("large", &bytes);
    test.commit("large");
    let depot = Depot::open(&test.beside("depot")).unwrap();
    sent(&test, &depot, "one");
    let whole = fs::metadata(test.beside("there.bundle")).unwrap().len();
    test.write("a", "2\n");
    test.commit("second");
    let there = sent(&test, &depot, "two");
    let thin = fs::metadata(test.beside("there.bundle")).unwrap().len();
    assert!(thin * 10 < whole, "{thin} of {whole}");
    assert_eq!(fs::read_to_string(there.root().join("a")).unwrap(), "2\n");
    assert_eq!(there.commit("HEAD~2").unwrap().as_str().len(), 40);
}

#[test]
fn packs_are_put_together_when_nobody_uses_them() {
    let test = TestRepo::with(&[("a", "1\n")]);
    let path = test.beside("depot");
    let depot = Depot::open(&path).unwrap();
    sent(&test, &depot, "one");
    let packs = || fs::read_dir(path.join("objects/pack")).unwrap().count();
    // Copies under other names stand for what many tasks have left.
    for entry in fs::read_dir(path.join("objects/pack")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let (stem, end) = name.rsplit_once('.').unwrap();
        for number in 0..70 {
            let copy = format!("{}{number:02}.{end}", &stem[..stem.len() - 2]);
            fs::copy(entry.path(), path.join("objects/pack").join(copy)).unwrap();
        }
    }
    let many = packs();
    Depot::open(&path).unwrap();
    assert_eq!(packs(), many, "it is in use");
    drop(depot);
    let depot = Depot::open(&path).unwrap();
    assert!(packs() < many / 2, "{} of {many}", packs());
    assert_eq!(depot.have().unwrap(), [head(&test.open())]);
}

#[test]
fn what_is_cut_off_foreign_or_rests_on_nothing_is_refused() {
    let test = TestRepo::with(&[("a", "1\n")]);
    let repo = test.open();
    let first = head(&repo);
    test.write("a", "2\n");
    test.commit("second");
    let file = test.beside("thin.bundle");
    repo.bundle(&file, &[head(&repo)], &[first]).unwrap();
    let elsewhere = TestRepo::with(&[("b", "1\n")]);
    let refused = elsewhere.open().unbundle(&file).unwrap_err().to_string();
    assert!(refused.contains("which is not here"), "{refused}");
    let whole = fs::read(&file).unwrap();
    for cut in [0, 20, whole.len() - 10] {
        fs::write(&file, &whole[..cut]).unwrap();
        assert!(repo.unbundle(&file).is_err(), "{cut}");
    }
    fs::write(&file, "Last login: today\n").unwrap();
    let refused = repo.unbundle(&file).unwrap_err().to_string();
    assert!(refused.contains("not a git bundle"), "{refused}");
    // git itself agrees that ours is one.
    fs::write(&file, whole).unwrap();
    test.git(&["bundle", "verify", "-q", file.to_str().unwrap()]);
}

#[test]
fn a_shallow_clone_travels_as_far_as_its_history_goes() {
    let origin = TestRepo::with(&[("a", "1\n")]);
    for text in ["2\n", "3\n", "4\n"] {
        origin.write("a", text);
        origin.git(&["commit", "-qam", "next"]);
    }
    let shallow = origin.beside("shallow");
    let url = format!("file://{}", origin.path().display());
    origin.git(&["clone", "-q", "--depth=2", &url, shallow.to_str().unwrap()]);
    let repo = Repo::discover(&shallow).unwrap();
    let depot = Depot::open(&origin.beside("depot")).unwrap();
    let (base, file) = (head(&repo), origin.beside("x"));
    for (turn, have) in [Vec::new(), vec![base.clone()]].into_iter().enumerate() {
        repo.bundle(&file, std::slice::from_ref(&base), &have)
            .unwrap();
        depot.take_in(&file, &base).unwrap();
        assert_eq!(depot.have().unwrap(), std::slice::from_ref(&base));
        let there = depot
            .check_out(&origin.beside(&format!("there-{turn}")), &base)
            .unwrap();
        assert_eq!(fs::read_to_string(there.root().join("a")).unwrap(), "4\n");
        assert!(there.dirty().unwrap().is_empty());
        // What is done there comes back.
        fs::write(there.root().join("a"), format!("{turn}\n")).unwrap();
        let result = there.record_base().unwrap().name;
        let back = origin.beside("back");
        there
            .bundle(
                &back,
                std::slice::from_ref(&result),
                std::slice::from_ref(&base),
            )
            .unwrap();
        assert_eq!(repo.unbundle(&back).unwrap(), std::slice::from_ref(&result));
        assert_eq!(repo.commit(&format!("{result}^")).unwrap(), base);
    }
}

#[test]
fn files_beside_git_travel_as_a_commit_of_their_own() {
    let test = TestRepo::with(&[("a", "1\n"), (".gitignore", "*.env\n")]);
    test.write("x/test.env", "K=1\n");
    let repo = test.open();
    let extra = repo
        .commit_of(&[GitPath::from("x/test.env")])
        .unwrap()
        .unwrap();
    assert_eq!(
        repo.files_of(extra.as_str()).unwrap(),
        [GitPath::from("x/test.env")]
    );
    assert_eq!(repo.commit_of(&[]).unwrap(), None);
    let depot = Depot::open(&test.beside("depot")).unwrap();
    let base = head(&repo);
    let file = test.beside("b");
    repo.bundle(&file, &[base.clone(), extra.clone()], &[])
        .unwrap();
    depot.take_in(&file, &base).unwrap();
    let there = depot.check_out(&test.beside("t"), &base).unwrap();
    let files = there.files_of(extra.as_str()).unwrap();
    there.restore(extra.as_str(), &files).unwrap();
    assert_eq!(
        fs::read_to_string(there.root().join("x/test.env")).unwrap(),
        "K=1\n"
    );
    assert_eq!(there.snapshot().unwrap(), repo.tree("HEAD").unwrap());
}
