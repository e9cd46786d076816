//! What a verification command rests on: the worker must not have made its own yardstick.

use baton_process::line;
use baton_protocol::Check;
use baton_repo::{Change, ChangeKind, GitPath};

use super::{list, pass, skipped, warning};

/// Why a file is one the checks rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A command runs it.
    Named,
    /// A recorded expectation.
    Golden,
    /// A test.
    Test,
    /// It decides what the command runs.
    Setup,
}

const TEST_FOLDERS: [&str; 8] = [
    "test",
    "tests",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "testing",
    "integration-tests",
];
const GOLDEN_FOLDERS: [&str; 10] = [
    "golden",
    "goldens",
    "snapshots",
    "__snapshots__",
    "testdata",
    "fixtures",
    "expected",
    "baselines",
    "cassettes",
    "references",
];
const GOLDEN_ENDINGS: [&str; 6] = [
    ".snap",
    ".golden",
    ".expected",
    ".approved",
    ".approved.txt",
    ".baseline",
];

/// What a runner reads to decide what to run.
const SETUP: [(&[&str], &[&str]); 7] = [
    (
        &["cargo"],
        &[
            "Cargo.toml",
            "build.rs",
            "config.toml",
            "nextest.toml",
            "rust-toolchain.toml",
        ],
    ),
    (
        &[
            "npm", "npx", "yarn", "pnpm", "node", "jest", "vitest", "mocha", "bun", "tsc",
        ],
        &[
            "package.json",
            "jest.config.js",
            "jest.config.ts",
            "jest.config.mjs",
            "vitest.config.ts",
            "vitest.config.js",
            "vitest.config.mts",
            ".mocharc.json",
            ".mocharc.js",
            "tsconfig.json",
        ],
    ),
    (
        &[
            "pytest", "python", "python3", "tox", "nox", "uv", "poetry", "hatch",
        ],
        &[
            "pyproject.toml",
            "pytest.ini",
            "setup.cfg",
            "tox.ini",
            "noxfile.py",
            "conftest.py",
        ],
    ),
    (&["make", "gmake"], &["Makefile", "makefile", "GNUmakefile"]),
    (&["go"], &["go.mod"]),
    (
        &["ctest", "cmake"],
        &["CMakeLists.txt", "CTestTestfile.cmake"],
    ),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
];

/// Why the commands rest on this file; none when they do not.
pub(crate) fn of(path: &GitPath, commands: &[String]) -> Option<Basis> {
    let text = path.to_str()?;
    let words: Vec<&str> = commands
        .iter()
        .flat_map(|c| c.split(|c: char| c.is_whitespace() || "'\"();&|=<>".contains(c)))
        .map(|w| w.strip_prefix("./").unwrap_or(w))
        .collect();
    let starts = |c: &String| line::programs(c).iter().any(|p| p == text);
    if commands.iter().any(starts) {
        return Some(Basis::Named);
    }
    let (folders, name) = text
        .rsplit_once('/')
        .map_or((vec![], text), |(f, n)| (f.split('/').collect(), n));
    let lies_in = |list: &[&str]| folders.iter().any(|f| list.contains(f));
    if lies_in(&GOLDEN_FOLDERS)
        || GOLDEN_ENDINGS.iter().any(|e| name.ends_with(e))
        || name.contains(".golden.")
    {
        return Some(Basis::Golden);
    }
    let decides = |(runners, files): &(&[&str], &[&str])| {
        files.contains(&name)
            && words
                .iter()
                .any(|w| runners.contains(&w.rsplit('/').next().unwrap_or(w)))
    };
    if SETUP.iter().any(decides) {
        return Some(Basis::Setup);
    }
    (lies_in(&TEST_FOLDERS) || is_test_name(name)).then_some(Basis::Test)
}

/// Whether a file is a test by its name, whatever its folder.
pub(crate) fn is_test_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    name.contains(".test.")
        || name.contains(".spec.")
        || name == "conftest.py"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || stem == "tests"
}

/// Whether a changed file is a test or something recorded for one.
pub(crate) fn is_test(path: &GitPath) -> bool {
    matches!(of(path, &[]), Some(Basis::Test | Basis::Golden))
}

/// `basis`: the worker did not change what the verification rests on, unless the task's scope
/// names it. A new test is no such change; a new or changed expectation is.
pub(crate) fn basis(changes: &[&Change], commands: &[String], scope: &[String]) -> Check {
    if commands.is_empty() {
        return skipped("basis", "the task has no verification command");
    }
    let mut flagged = Vec::new();
    for change in changes {
        for path in change.touched() {
            let Some(basis) = of(path, commands) else {
                continue;
            };
            let new = change.kind == ChangeKind::Added;
            if (basis == Basis::Test && new) || is_named(path, scope) {
                continue;
            }
            let why = match basis {
                Basis::Named => "a command runs it",
                Basis::Golden => "a recorded expectation",
                Basis::Test => "a test",
                Basis::Setup => "it decides what a command runs",
            };
            let line = format!("{path} ({why})");
            if !flagged.contains(&line) {
                flagged.push(line);
            }
        }
    }
    if flagged.is_empty() {
        pass(
            "basis",
            "what the commands rest on is unchanged, or the scope names it",
        )
    } else {
        warning(
            "basis",
            format!("the worker changed what verifies it: {}", list(flagged)),
        )
    }
}

/// Whether the scope speaks of this very file, or of tests or expectations as such: `**` does not.
fn is_named(path: &GitPath, scope: &[String]) -> bool {
    let text = path.to_str().unwrap_or_default();
    scope.iter().any(|pattern| {
        let owns =
            baton_repo::Globs::new(std::slice::from_ref(pattern)).is_ok_and(|g| g.matches(path));
        let segments = || pattern.split('/');
        let speaks = segments().any(|s| TEST_FOLDERS.contains(&s) || GOLDEN_FOLDERS.contains(&s))
            || segments()
                .next_back()
                .is_some_and(|s| is_test_name(&s.replace('*', "x")) || s.contains("test"));
        owns && (speaks || pattern == text)
    })
}

#[cfg(test)]
mod tests {
    use baton_repo::GitPath;

    use super::{Basis, is_named, of};

    #[test]
    fn h23_what_a_command_rests_on() {
        let commands = [
            "cargo test".to_owned(),
            "bash scripts/check.sh && ./run.py".to_owned(),
        ];
        let basis = |p: &str| of(&GitPath::from(p), &commands);
        assert_eq!(basis("scripts/check.sh"), Some(Basis::Named));
        assert_eq!(basis("run.py"), Some(Basis::Named));
        assert_eq!(
            of(
                &GitPath::from("src/a.rs"),
                &["grep -q 2 src/a.rs".to_owned()]
            ),
            None
        );
        assert_eq!(basis("tests/golden/a.txt"), Some(Basis::Golden));
        assert_eq!(basis("src/out.snap"), Some(Basis::Golden));
        assert_eq!(basis("tests/api.rs"), Some(Basis::Test));
        assert_eq!(basis("pkg/a_test.go"), Some(Basis::Test));
        assert_eq!(basis("Cargo.toml"), Some(Basis::Setup));
        for none in [
            "src/lib.rs",
            "package.json",
            "src/contest.rs",
            "latest.py",
            "README.md",
        ] {
            assert_eq!(basis(none), None, "{none}");
        }
    }

    #[test]
    fn a_scope_names_tests_only_when_it_speaks_of_them() {
        let named = |p: &str, s: &str| is_named(&GitPath::from(p), &[s.to_owned()]);
        assert!(named("tests/a.rs", "tests/**") && named("tests/a.rs", "tests/a.rs"));
        assert!(named("src/a.test.ts", "src/*.test.ts") && named("Cargo.toml", "Cargo.toml"));
        assert!(!named("tests/a.rs", "**") && !named("src/a.test.ts", "src/**"));
        assert!(!named("other/tests/a.rs", "tests/**"));
    }
}
