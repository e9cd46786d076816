//! Which files a check rests on: changing them would make the check prove nothing.

/// Whether a file judges the work rather than being it, by the conventions of many languages, or
/// because a verification command names it.
pub(crate) fn is_check_file(path: &str, commands: &[String]) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut segments: Vec<&str> = lower.split('/').collect();
    let Some(name) = segments.pop() else {
        return false;
    };
    let in_test_folder = segments.iter().any(|s| {
        matches!(
            *s,
            "test"
                | "tests"
                | "spec"
                | "specs"
                | "__tests__"
                | "testdata"
                | "fixtures"
                | "golden"
                | "snapshots"
                | "__snapshots__"
                | "e2e"
        )
    });
    in_test_folder || is_test_name(name) || is_build_file(name) || is_named(path, commands)
}

fn is_test_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    stem == "test"
        || stem == "tests"
        || stem == "conftest"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || name.contains(".test.")
        || name.contains(".spec.")
        || matches!(name.rsplit_once('.'), Some((_, "snap" | "golden")))
}

fn is_build_file(name: &str) -> bool {
    matches!(
        name,
        "makefile"
            | "gnumakefile"
            | "justfile"
            | "cmakelists.txt"
            | "build.rs"
            | "build.gradle"
            | "pom.xml"
            | "tox.ini"
            | "noxfile.py"
            | "pytest.ini"
            | "setup.cfg"
            | "jest.config.js"
            | "vitest.config.ts"
            | "package.json"
            | "cargo.toml"
            | "pyproject.toml"
            | "go.mod"
    )
}

/// Whether a command names the file as a word: `python3 test.py`, `./check.sh`, `sh ci/run`.
fn is_named(path: &str, commands: &[String]) -> bool {
    commands.iter().any(|command| {
        command
            .split(|c: char| c.is_whitespace() || ";|&()<>'\"=".contains(c))
            .map(|word| word.trim_start_matches("./"))
            .any(|word| word == path)
    })
}

#[cfg(test)]
mod tests {
    use super::is_check_file;

    #[test]
    fn tests_golden_files_and_build_scripts_are_check_files() {
        for path in [
            "tests/a.rs",
            "src/foo_test.go",
            "pkg/test_x.py",
            "a/b.spec.ts",
            "Makefile",
            "Cargo.toml",
            "x/golden/out.txt",
            "test.py",
            "conftest.py",
        ] {
            assert!(is_check_file(path, &[]), "{path}");
        }
        for path in [
            "src/lib.rs",
            "src/contest.py",
            "latest.py",
            "docs/testing.md",
            "src/attest.rs",
        ] {
            assert!(!is_check_file(path, &[]), "{path}");
        }
    }

    #[test]
    fn a_file_that_a_check_runs_is_one() {
        let commands = ["sh ./ci/run.sh && python3 check.py".to_string()];
        assert!(is_check_file("ci/run.sh", &commands));
        assert!(is_check_file("check.py", &commands));
        assert!(!is_check_file("run.sh", &commands));
    }
}
