//! Everything in `examples/` does what it says.
#![expect(clippy::unwrap_used, reason = "a test helper may panic")]
#![expect(clippy::print_stderr, reason = "a skipped test says so aloud")]

#[path = "examples/composed.rs"]
mod composed;
#[path = "examples/demo.rs"]
mod demo;
#[path = "examples/quickstart.rs"]
mod quickstart;
#[path = "examples/real_model.rs"]
mod real_model;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use support::{Home, Run};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !found {
        eprintln!("SKIPPED: there is no {program}");
    }
    found
}

#[test]
fn every_example_is_run_here() {
    let known = [
        "README.md",
        "Makefile",
        "ci-workflow.yml",
        "compose",
        "demo.cast",
        "demo.sh",
        "launchers.toml",
        "quickstart-model.toml",
        "quickstart.sh",
        "real-model.sh",
        "sample",
        "sim-server.rs",
    ];
    let snippets = [
        "any-program.sh",
        "ask-many.sh",
        "gate.sh",
        "what-fits.sh",
        "when-ready.sh",
    ];
    assert_eq!(names(&examples()), known.map(String::from).into());
    assert_eq!(
        names(&examples().join("compose")),
        snippets.map(String::from).into()
    );
    let list = fs::read_to_string(examples().join("README.md")).unwrap();
    for name in known
        .iter()
        .filter(|name| !["README.md", "compose"].contains(name))
    {
        assert!(
            list.contains(name),
            "examples/README.md does not name {name}"
        );
    }
    for name in snippets {
        assert!(
            list.contains(name),
            "examples/README.md does not name {name}"
        );
    }
}

fn names(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).unwrap().flatten();
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_launchers_are_a_configuration_that_doctor_reads() {
    let home = Home::new();
    let report = Run::tool("orchestrate", &home)
        .arg("doctor")
        .cwd(home.path())
        .env("BATON_CONFIG", examples().join("launchers.toml"))
        .run()
        .json();
    let checks = report["checks"].as_array().unwrap();
    assert_eq!(checks[0]["name"], "configuration", "{report:#}");
    assert_eq!(checks[0]["status"], "pass", "{report:#}");
    let launchers = checks.iter().filter(|c| c["name"] == "launcher").count();
    assert_eq!(launchers, 2, "{report:#}");
}

#[test]
fn the_scripts_are_free_of_shell_traps() {
    if has("shellcheck") {
        let script = "shellcheck examples/*.sh examples/compose/*.sh .ci/run";
        let home = Home::new();
        Run::shell(script, &home)
            .cwd(env!("CARGO_MANIFEST_DIR"))
            .run()
            .code(0);
    }
}
