//! Settings files that make a runner forgive failures, or run nothing.

use super::recipes::judges;

type File<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The lines of a `key = value` that may go on in indented lines.
fn values<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let indented = line.starts_with([' ', '\t']);
        if !indented {
            let named = line.split_once('=').filter(|(k, _)| k.trim() == key);
            inside = named.is_some();
            found.extend(named.map(|(_, v)| v.trim()));
        } else if inside {
            found.push(line.trim());
        }
    }
    found.retain(|v| !v.is_empty());
    found
}

/// tox ignores the exit code of a command with `-` before it.
pub(super) fn tox(file: File<'_>) -> Option<String> {
    let text = file("tox.ini")?;
    let forgiven = values(&text, "ignore_outcome");
    if forgiven.iter().any(|v| v.eq_ignore_ascii_case("true")) {
        return Some("tox.ini says `ignore_outcome = true`".into());
    }
    let commands = values(&text, "commands");
    let command = commands
        .iter()
        .find(|c| c.strip_prefix('-').is_some_and(|c| judges(c.trim())))?;
    Some(format!("tox.ini ignores the exit code of `{command}`"))
}

/// `addopts` may turn every run into a listing.
pub(super) fn pytest(file: File<'_>) -> Option<String> {
    let names = [
        "pytest.ini",
        ".pytest.ini",
        "pyproject.toml",
        "tox.ini",
        "setup.cfg",
    ];
    names.iter().find_map(|name| {
        let text = file(name)?;
        let added = values(&text, "addopts");
        let lists = added.iter().any(|v| {
            v.split(|c: char| c.is_whitespace() || "\"',[]".contains(c))
                .any(|w| matches!(w, "--collect-only" | "--co" | "--setup-plan"))
        });
        lists.then(|| format!("{name} adds an option with which pytest runs no test"))
    })
}

/// The recipe of a just target, with `-` before a line.
pub(super) fn just(words: &[String], file: File<'_>) -> Option<String> {
    let target = words[1..].iter().find(|w| !w.starts_with('-'))?;
    let text = ["justfile", "Justfile", ".justfile"]
        .iter()
        .find_map(|n| file(n))?;
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            let recipe = line.trim().trim_start_matches('@');
            if let Some(command) = recipe.strip_prefix('-').filter(|_| inside)
                && judges(command.trim_start_matches('@').trim())
            {
                return Some(format!(
                    "the recipe of `{target}` ignores the exit code of `{recipe}`"
                ));
            }
        } else if !line.trim().is_empty() {
            let name = line.trim_start_matches('@').split([':', ' ']).next();
            inside = name == Some(target.as_str());
        }
    }
    None
}

/// Surefire's switches in `pom.xml`.
pub(super) fn maven(file: File<'_>) -> Option<String> {
    let text: String = file("pom.xml")?.split_whitespace().collect();
    let keys = [
        "testFailureIgnore",
        "maven.test.failure.ignore",
        "skipTests",
        "maven.test.skip",
    ];
    let key = keys
        .iter()
        .find(|k| text.contains(&format!("<{k}>true</{k}>")))?;
    Some(format!("pom.xml says `<{key}>true`"))
}

/// `ignoreFailures` of a test task.
pub(super) fn gradle(file: File<'_>) -> Option<String> {
    ["build.gradle", "build.gradle.kts"]
        .iter()
        .find_map(|name| {
            let text: String = file(name)?.split_whitespace().collect();
            let forgives = [
                "ignoreFailures=true",
                "ignoreFailures.set(true)",
                "setIgnoreFailures(true)",
            ];
            forgives
                .iter()
                .any(|f| text.contains(f))
                .then(|| format!("{name} says `ignoreFailures`"))
        })
}

/// A `runner` that runs nothing, in cargo's configuration.
pub(super) fn cargo(file: File<'_>) -> Option<String> {
    [".cargo/config.toml", ".cargo/config"]
        .iter()
        .find_map(|name| {
            let text = file(name)?;
            let runner = values(&text, "runner").into_iter().find(|v| {
                let first = v
                    .split(|c: char| c.is_whitespace() || "\"'[],".contains(c))
                    .find(|w| !w.is_empty())
                    .unwrap_or_default();
                matches!(first.rsplit('/').next(), Some("true" | "echo" | ":"))
            })?;
            Some(format!(
                "{name} names {runner} as the runner: no test is run"
            ))
        })
}
