//! The house plan holds: no crate imports another one that the plan does not draw.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const TOOLS: [&str; 6] = [
    "vllm-health",
    "ctx-estimate",
    "slot-lock",
    "worker-run",
    "handoff-check",
    "orchestrate",
];
const SHARED: [&str; 7] = [
    "protocol",
    "process",
    "cli",
    "model-server",
    "tokens",
    "repo",
    "prompt",
];

/// The edges of the plan, without the `baton-` prefix.
fn allowed(package: &str) -> BTreeSet<&'static str> {
    let edges: &[&'static str] = match package {
        "protocol" | "process" => &[],
        "cli" | "model-server" | "tokens" => &["protocol", "process"],
        "repo" => &["process"],
        "prompt" => &["protocol", "tokens", "repo"],
        "sim-server" => &["protocol", "cli", "tokens"],
        tool if TOOLS.contains(&tool) => &SHARED,
        other => panic!("crate {other} is not on the house plan"),
    };
    edges.iter().copied().collect()
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn strings<'a>(list: &'a Value, key: &'a str) -> impl Iterator<Item = &'a str> {
    list.as_array()
        .unwrap()
        .iter()
        .filter_map(move |item| item[key].as_str())
}

#[test]
fn no_edge_that_the_plan_does_not_draw() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let Some(short) = name.strip_prefix("baton-") else {
            continue;
        };
        let allowed = allowed(short);
        for dependency in strings(&package["dependencies"], "name") {
            let Some(target) = dependency.strip_prefix("baton-") else {
                continue;
            };
            if !allowed.contains(target) {
                wrong.push(format!("{short} -> {target}"));
            }
        }
        seen.insert(short.to_owned());
    }
    assert!(
        wrong.is_empty(),
        "edges that DESIGN does not draw: {wrong:?}"
    );
    assert_eq!(seen.len(), TOOLS.len() + SHARED.len() + 1, "{seen:?}");
}

#[test]
fn the_simulator_is_not_published_and_not_installed() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let find = |name: &str| packages.iter().find(|p| p["name"] == name).unwrap();
    assert_eq!(find("baton-sim-server")["publish"], serde_json::json!([]));
    let root = find("baton");
    let bins: BTreeSet<&str> = root["targets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|t| t["kind"][0] == "bin")
        .filter_map(|t| t["name"].as_str())
        .collect();
    assert_eq!(bins, TOOLS.into_iter().collect());
    let installed_with_it = root["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .any(|d| d["name"] == "baton-sim-server" && d["kind"].is_null());
    assert!(
        !installed_with_it,
        "sim-server may only be a dev-dependency of the root"
    );
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut found = Vec::new();
    visit(&root, &mut |file, text| {
        if text.contains("unsafe_code") && text.contains("#![expect")
            || text.contains("#[expect(unsafe_code")
        {
            found.push(file.strip_prefix(&root).unwrap().display().to_string());
        }
    });
    let rooms = ["process/", "tokens/"];
    assert!(found.len() <= 2, "{found:?}");
    for file in &found {
        assert!(
            rooms.iter().any(|room| file.starts_with(room)),
            "unsafe code in {file}"
        );
    }
}

#[test]
fn no_source_file_is_too_long_to_have_one_reason_to_change() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut long = Vec::new();
    visit(&root, &mut |file, text| {
        let name = file
            .file_name()
            .and_then(|n| n.to_str())
            .unwrap_or_default();
        // A table of data may be long, and so may tests; the limit is for code.
        if matches!(name, "table.rs" | "tests.rs") || name.ends_with("_tests.rs") {
            return;
        }
        let code = text
            .split("\n#[cfg(test)]\nmod ")
            .next()
            .unwrap_or_default();
        let lines = code.lines().count();
        if lines > 500 {
            long.push(format!("{}: {lines} lines", file.display()));
        }
    });
    assert!(long.is_empty(), "{long:#?}");
}

fn visit(dir: &Path, look: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, look);
        } else if path.extension().is_some_and(|e| e == "rs")
            && path.to_str().unwrap().contains("/src/")
        {
            look(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}
