//! Failures that a repository's own files hide: recipe lines with `-`, scripts that swallow.

use super::hidden::masked_in_a_plain_shell;
use super::known::{Class, of};
use super::parse::{each, parse};
use super::program::{base, inner, is_python, plain};
use super::{make, settings};

/// How deep a script that calls a script that calls a script is followed.
const DEEPEST: usize = 4;
/// Longer files are programs, not wrappers around a test run.
const LONGEST: usize = 64 << 10;

/// Reads a file of the repository by its name relative to the root; none when there is none.
pub type Read<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Why a command cannot be judged by its exit code because of what it runs: a make target whose
/// recipe ignores failures, an npm script with `|| true`, a shell script that ends with `exit 0`.
pub fn hidden_in_files(command: &str, read: &Read<'_>) -> Option<String> {
    follow(command, "", DEEPEST, read)
}

/// Looks through one command line that runs in this folder of the repository.
pub(super) fn follow(command: &str, folder: &str, depth: usize, read: &Read<'_>) -> Option<String> {
    if depth == 0 {
        return None;
    }
    let list = parse(command)?;
    let mut commands = Vec::new();
    each(&list, &mut |words, _| commands.push(plain(words)));
    let top = commands.iter().map(|words| of(words)).max()?;
    let mut folder = folder.to_owned();
    for words in &commands {
        let Some(first) = words.first() else { continue };
        if matches!(base(first), "cd" | "pushd") {
            folder = join(&folder, words.get(1).map_or("", String::as_str))?;
            continue;
        }
        if of(words) < top.min(Class::Other) {
            continue;
        }
        if let Some(why) = behind(words, &folder, depth, read) {
            return Some(why);
        }
    }
    None
}

/// What stands behind one command.
fn behind(words: &[String], folder: &str, depth: usize, read: &Read<'_>) -> Option<String> {
    if let Some((_, program)) = inner(words) {
        return follow(&program, folder, depth - 1, read);
    }
    let first = words.first()?;
    let name = base(first);
    let file = |name: &str| {
        let text = read(&join(folder, name)?)?;
        (text.len() <= LONGEST).then_some(text)
    };
    match name {
        "make" | "gmake" => return make::hidden(words, folder, depth, read),
        "npm" | "yarn" | "pnpm" | "bun" | "composer" => {
            let (script, text) = package_script(name, words, &file)?;
            let place = format!("the script `{script}`");
            return behind_line(&place, &text, folder, depth, read);
        }
        "just" => return settings::just(words, &file),
        "tox" => return settings::tox(&file),
        "pytest" | "py.test" => return settings::pytest(&file),
        "mvn" | "mvnw" => return settings::maven(&file),
        "gradle" | "gradlew" => return settings::gradle(&file),
        "cargo" => return settings::cargo(&file),
        _ => {}
    }
    // A shell script of the repository.
    let shells = matches!(
        name,
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "source" | "."
    );
    let script = if shells {
        words.iter().skip(1).find(|w| !w.starts_with('-'))?
    } else if first.contains('/') && !first.starts_with('/') {
        first
    } else {
        return None;
    };
    let text = file(script)?;
    let start = text.lines().next().unwrap_or_default();
    let by_shell = start.starts_with("#!") && (start.contains("sh") && !start.contains("fish"));
    if !(by_shell || shells || base(script).rsplit('.').next() == Some("sh"))
        || is_python(base(start))
    {
        return None;
    }
    // A script is a program of its own: no pipefail unless it says so, errexit by its first line.
    let options = start.split_once(' ').map_or("", |(_, o)| o);
    let program = if options.starts_with("-e") || options.contains(" -e") {
        format!("set -e\n{text}")
    } else {
        text
    };
    if judges(&program) {
        let place = format!("`{}`", script.trim_start_matches("./"));
        if let Some(why) = masked_in_a_plain_shell(&program) {
            return Some(format!("{place} hides failures: {why}"));
        }
    }
    follow(&program, folder, depth - 1, read)
}

/// Whether a program runs tests or linters at all; of others we cannot tell what judges.
pub(super) fn judges(program: &str) -> bool {
    let mut found = false;
    if let Some(list) = parse(program) {
        each(&list, &mut |words, _| {
            found |= of(&plain(words)) >= Class::Check;
        });
    }
    found
}

/// One line that a file names, run by `sh -c`.
pub(super) fn behind_line(
    place: &str,
    line: &str,
    folder: &str,
    depth: usize,
    read: &Read<'_>,
) -> Option<String> {
    if let Some(why) = masked_in_a_plain_shell(line) {
        // `echo "no tests here"` hides nothing; it shows nothing, and its output says so.
        return Some(format!("{place} hides failures: {why}"));
    }
    follow(line, folder, depth - 1, read)
}

/// The script that `npm test`, `yarn lint` or `composer check` runs.
fn package_script(
    name: &str,
    words: &[String],
    file: &dyn Fn(&str) -> Option<String>,
) -> Option<(String, String)> {
    let mut names = words[1..].iter().filter(|w| !w.starts_with('-'));
    let first = names.next()?.as_str();
    let script = match first {
        "run" | "run-script" => names.next()?.as_str(),
        "t" | "tst" => "test",
        other => other,
    };
    if name == "npm" && !matches!(first, "run" | "run-script" | "test" | "t" | "tst" | "start") {
        return None;
    }
    let (file_name, key) = if name == "composer" {
        ("composer.json", "scripts")
    } else {
        ("package.json", "scripts")
    };
    let package: serde_json::Value = serde_json::from_str(&file(file_name)?).ok()?;
    let text = match package.get(key)?.get(script)? {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(lines) => {
            let lines: Vec<&str> = lines.iter().filter_map(|l| l.as_str()).collect();
            lines.join(" && ")
        }
        _ => return None,
    };
    Some((script.to_owned(), text))
}

/// A name below a folder, both relative to the root; none when it leads out or is not plain.
pub(super) fn join(folder: &str, name: &str) -> Option<String> {
    if name.starts_with(['/', '~']) || name.contains(['$', '`', '*', '?']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::hidden_in_files;

    fn why(command: &str, files: &[(&str, &str)]) -> Option<String> {
        let read = |name: &str| {
            let found = files.iter().find(|(n, _)| *n == name);
            found.map(|(_, text)| (*text).to_owned())
        };
        hidden_in_files(command, &read)
    }

    #[test]
    fn recipes_that_ignore_failures() {
        for (command, makefile) in [
            ("make test", "test:\n\t-pytest\n"),
            ("make test", "test:\n\t-@pytest -q\n"),
            (
                "make check",
                ".PHONY: check\ncheck: build test\nbuild:\n\tcc x.c\ntest:\n\t@pytest || true\n",
            ),
            ("make -C sub test", "test:\n\tpytest; true\n"),
            ("cd sub && make", "all:\n\tpytest | tee log\n"),
            ("make test", "PYTEST = pytest -q\ntest:\n\t-$(PYTEST)\n"),
            ("make test", ".IGNORE:\ntest:\n\tpytest\n"),
            ("make test", ".IGNORE: test\ntest:\n\tpytest\n"),
            ("make test", "MAKEFLAGS += -i\ntest:\n\tpytest\n"),
            (
                "make test",
                "test:\n\t$(MAKE) unit\nunit:\n\t- go test ./...\n",
            ),
            ("make test", "test: ; -pytest\n"),
            ("make test", "SHELL := /bin/true\ntest:\n\tpytest\n"),
        ] {
            let files = [("Makefile", makefile), ("sub/Makefile", makefile)];
            assert!(why(command, &files).is_some(), "{command}: {makefile}");
        }
        for makefile in [
            "test:\n\tpytest\n",
            "test: clean\n\tpytest\nclean:\n\t-rm -rf out\n",
            "test:\n\t-rm -f log\n\tpytest\n\t@echo ok\n",
            "test:\n\tpytest || exit 1\n",
            "test:\n\tset -o pipefail; pytest | tee log\n",
            "SHELL = /bin/bash -o pipefail\ntest:\n\tpytest | tee log\n",
            "test:\n\tfor t in a b; do ./$$t-test || exit 1; done\n",
            "test:\n\tpytest; rc=$$?; cat log; exit $$rc\n",
            "lint:\n\t-flake8\ntest:\n\tpytest\n",
        ] {
            assert_eq!(
                why("make test", &[("Makefile", makefile)]),
                None,
                "{makefile}"
            );
        }
    }

    #[test]
    fn scripts_that_swallow() {
        let package =
            |script: &str| format!(r#"{{"scripts":{{"test":"{script}","unit":"jest"}}}}"#);
        for script in [
            "jest || true",
            "jest; exit 0",
            "jest | cat",
            "npm run unit || echo failed",
            "jest --passWithNoTests || :",
        ] {
            let text = package(script);
            let files = [("package.json", text.as_str())];
            assert!(why("npm test", &files).is_some(), "{script}");
            assert!(why("npm run test -- --ci", &files).is_some(), "{script}");
            assert!(why("yarn test", &files).is_some(), "{script}");
            assert_eq!(why("npm run unit", &files), None);
        }
        for script in ["jest", "npm run unit && node x.js", "tsc && jest --ci"] {
            let text = package(script);
            assert_eq!(
                why("npm test", &[("package.json", text.as_str())]),
                None,
                "{script}"
            );
        }
        for script in [
            "#!/bin/sh\npytest || true\n",
            "#!/bin/bash\npytest\necho done\n",
            "#!/bin/sh\npytest | tee log\n",
            "#!/usr/bin/env bash\nset -e\n(pytest) || exit 0\n",
        ] {
            assert!(why("./t.sh", &[("t.sh", script)]).is_some(), "{script}");
            assert!(why("bash t.sh", &[("t.sh", script)]).is_some(), "{script}");
        }
        for script in [
            "#!/bin/sh\npytest\n",
            "#!/bin/sh -e\npytest\necho done\n",
            "#!/bin/bash\nset -euo pipefail\ncd \"$(dirname \"$0\")\"\npytest | tee log\n",
            "#!/bin/sh\npytest\nrc=$?\nrm -rf tmp\nexit $rc\n",
            "#!/bin/sh\nif ! pytest; then\n  echo no >&2\n  exit 1\nfi\necho ok\n",
            "#!/usr/bin/env python3\nprint('x || true')\n",
        ] {
            assert_eq!(why("./t.sh", &[("t.sh", script)]), None, "{script}");
        }
    }

    #[test]
    fn settings_that_forgive() {
        for (command, name, text) in [
            ("tox", "tox.ini", "[testenv]\ncommands =\n    - pytest\n"),
            ("tox -e py", "tox.ini", "[testenv]\nignore_outcome = true\n"),
            (
                "pytest",
                "pytest.ini",
                "[pytest]\naddopts = -q --collect-only\n",
            ),
            ("just test", "justfile", "test:\n    -cargo test\n"),
            (
                "mvn test",
                "pom.xml",
                "<testFailureIgnore>true</testFailureIgnore>",
            ),
            ("mvn test", "pom.xml", "<skipTests> true </skipTests>"),
            (
                "./gradlew test",
                "build.gradle",
                "test { ignoreFailures = true }",
            ),
            (
                "cargo test",
                ".cargo/config.toml",
                "[target.x]\nrunner = \"true\"\n",
            ),
        ] {
            assert!(why(command, &[(name, text)]).is_some(), "{command}: {text}");
        }
        for (command, name, text) in [
            (
                "tox",
                "tox.ini",
                "[testenv]\ncommands =\n    - rm -rf x\n    pytest\n",
            ),
            (
                "pytest",
                "pyproject.toml",
                "[tool.pytest.ini_options]\naddopts = \"-q\"\n",
            ),
            (
                "just test",
                "justfile",
                "test:\n    cargo test\nclean:\n    -cargo test\n",
            ),
            (
                "cargo test",
                ".cargo/config.toml",
                "[target.x]\nrunner = \"qemu\"\n",
            ),
            ("mvn test", "pom.xml", "<skipTests>false</skipTests>"),
        ] {
            assert_eq!(why(command, &[(name, text)]), None, "{command}: {text}");
        }
    }
}
