//! What worker-run does not do: run git where the disk tells enough.

use std::os::unix::fs::PermissionsExt as _;

use super::support::{Run, git};
use super::{FOUR_STEPS, Place};

/// The first words of each git command that a run started.
fn git_commands(place: &Place, run: Run) -> Vec<String> {
    let bin = place.home.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let log = place.home.path().join("git.log");
    let path = std::env::var("PATH").unwrap();
    // The tools themselves must not find the wrapper where it looks for git.
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> '{}'\nPATH='{path}'; export PATH; exec git \"$@\"\n",
        log.display()
    );
    std::fs::write(bin.join("git"), script).unwrap();
    std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let _ = std::fs::remove_file(&log);
    run.env("PATH", format!("{}:{path}", bin.display()))
        .run()
        .code(0);
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let verb = |line: &str| {
        let mut words = line.split(' ').skip_while(|word| *word != "-C").skip(2);
        words.next().unwrap_or_default().to_string()
    };
    log.lines().map(verb).collect()
}

#[test]
fn four_steps_on_a_clean_work_tree_take_five_runs_of_git() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let run = place
        .run(&sim.base_url)
        .args(["--prompt", "Fix add() in calc.py", "--pack", "none"]);
    assert_eq!(
        git_commands(&place, run),
        ["rev-parse", "status", "add", "write-tree", "diff-tree"]
    );
    assert_eq!(
        git(place.repo.path(), &["status", "--porcelain"]),
        " M calc.py"
    );
}

#[test]
fn a_clean_work_tree_is_measured_against_its_own_commit() {
    let place = Place::new();
    let sim = place.sim(FOUR_STEPS);
    let handoff = place.fix(&sim.base_url).run().code(0).json();
    let head = git(place.repo.path(), &["rev-parse", "HEAD"]);
    assert_eq!(handoff["base"], head.trim());
    assert_eq!(handoff["files_changed"][0]["path"], "calc.py");
    // Now it is dirty, and what was there before is nobody's work.
    let sim = place.sim(FOUR_STEPS);
    let again = place
        .run(&sim.base_url)
        .args(["--prompt", "Fix add() in calc.py", "--write", "calc.py"])
        .run()
        .json();
    assert_ne!(again["base"], head.trim());
    assert_eq!(again["files_changed"].as_array().unwrap().len(), 0);
}
