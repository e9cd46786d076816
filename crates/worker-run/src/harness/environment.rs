//! Telling a check that fails for reasons of the machine from one that fails because of the code.

/// What is missing on this machine, if a failed check's output says so; the text is for a person.
///
/// Such a task is blocked before any request is sent: no change of the code can make it green.
pub(crate) fn missing(exit_code: Option<i32>, output: &str) -> Option<String> {
    let tail: Vec<&str> = output.lines().rev().take(60).collect();
    if exit_code == Some(127) {
        let line = tail
            .iter()
            .find(|line| line.contains("not found") || line.contains("No such file"));
        return Some(format!(
            "a command of the check is not installed: {}",
            line.map_or("exit code 127", |line| line.trim())
        ));
    }
    if exit_code == Some(126) {
        return Some("a command of the check cannot be executed (exit code 126)".into());
    }
    tail.iter().find_map(|line| {
        let line = line.trim();
        SIGNS
            .iter()
            .find(|(sign, _)| line.contains(sign) && !names_own_file(line))
            .map(|(_, meaning)| {
                format!("{meaning}: {}", line.chars().take(160).collect::<String>())
            })
    })
}

/// A module given by its place (`'./slug'`, `'/repo/slug.js'`) is a file the task may have to write.
fn names_own_file(line: &str) -> bool {
    ["'./", "'../", "'/", "\"./", "\"../"]
        .iter()
        .any(|start| line.contains(start))
}

/// Words that only a missing piece of the environment brings forth.
const SIGNS: &[(&str, &str)] = &[
    (
        "Cannot find module",
        "a Node module is missing (run the setup, for example `npm ci`)",
    ),
    (
        "ERR_MODULE_NOT_FOUND",
        "a Node module is missing (run the setup, for example `npm ci`)",
    ),
    (
        "npm ERR! missing script",
        "the script does not exist in package.json",
    ),
    (
        "npm error Missing script",
        "the script does not exist in package.json",
    ),
    (
        "error: no such command",
        "a cargo subcommand is not installed",
    ),
    (
        "failed to download from",
        "a dependency is not available offline",
    ),
    ("failed to get `", "a dependency is not available offline"),
    (
        "Could not resolve host",
        "a dependency is not available offline",
    ),
    ("error: toolchain '", "a Rust toolchain is not installed"),
    ("No module named pytest", "pytest is not installed"),
    ("command not found", "a command is not installed"),
    ("No rule to make target", "the make target does not exist"),
];

/// A Python module that is missing is the environment's fault only if the repository has no such
/// file: `import slug` fails for a module that the task is to write.
pub(crate) fn missing_python_module(output: &str, paths: &[String]) -> Option<String> {
    let line = output
        .lines()
        .rev()
        .find(|line| line.contains("ModuleNotFoundError: No module named"))?;
    let name = line.split('\'').nth(1)?.split('.').next()?;
    let own = paths.iter().any(|path| {
        path.split('/')
            .any(|segment| segment == name || segment.strip_suffix(".py") == Some(name))
    });
    let common = matches!(
        name,
        "pytest"
            | "numpy"
            | "pandas"
            | "requests"
            | "yaml"
            | "flask"
            | "django"
            | "attr"
            | "hypothesis"
            | "click"
            | "pydantic"
    );
    (!own && common).then(|| format!("the Python module `{name}` is not installed"))
}

#[cfg(test)]
mod tests {
    use super::{missing, missing_python_module};

    #[test]
    fn a_missing_program_or_dependency_is_named() {
        let text = missing(Some(127), "bash: line 1: pytset: command not found\n").unwrap();
        assert!(text.contains("pytset"), "{text}");
        assert!(
            missing(Some(1), "Error: Cannot find module 'express'\n")
                .unwrap()
                .contains("npm ci")
        );
        assert!(missing(Some(2), "make: *** No rule to make target 'tset'.  Stop.\n").is_some());
    }

    #[test]
    fn a_failing_assertion_is_not_the_environment() {
        for output in [
            "AssertionError: 1 != 2",
            "thread 'main' panicked at src/lib.rs:3",
            "error[E0432]: unresolved import",
            "Error: Cannot find module './slug'",
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/w/slug.mjs' imported from /w/t.mjs",
            "ImportError: cannot import name 'slugify' from 'slug'",
        ] {
            assert_eq!(missing(Some(1), output), None, "{output}");
        }
    }

    #[test]
    fn a_python_module_the_task_is_to_write_is_not_missing() {
        let output = "ModuleNotFoundError: No module named 'slug'";
        assert_eq!(missing_python_module(output, &[]), None);
        let pytest = "ModuleNotFoundError: No module named 'pytest'";
        assert!(missing_python_module(pytest, &[]).is_some());
        assert_eq!(
            missing_python_module(pytest, &["pytest/__init__.py".into()]),
            None
        );
    }
}
