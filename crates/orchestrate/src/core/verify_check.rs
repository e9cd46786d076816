//! Whether a verification command can show anything here: its program exists, its target exists, and
//! its form does not hide a failure.

use std::collections::BTreeSet;

use baton_process::line;

/// What the repository and the machine offer to a command.
pub(crate) struct Offer<'a> {
    /// Every tracked or new file, relative to the root.
    pub files: &'a BTreeSet<String>,
    /// Whether a program is on the search path.
    pub has_program: &'a dyn Fn(&str) -> bool,
    /// Whether this interpreter (`python3`) finds this module.
    pub has_module: &'a dyn Fn(&str, &str) -> bool,
    /// The text of a file, where it is small.
    pub read: &'a dyn Fn(&str) -> Option<String>,
}

/// What is wrong with a command, or none.
pub(crate) fn fault(command: &str, offer: &Offer<'_>) -> Option<String> {
    let command = command.trim();
    if command.is_empty() {
        return Some("it is empty".into());
    }
    let hidden = line::masked(command).or_else(|| line::hidden_in_files(command, offer.read));
    if let Some(why) = hidden {
        return Some(format!("it hides failures: {why}"));
    }
    first_commands(command)
        .iter()
        .find_map(|words| program_fault(words, offer))
}

/// The words of the simple commands joined by `&&`, save what changes the folder: behind a `cd` a
/// path means something else, so nothing after one is looked at.
fn first_commands(command: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for part in command.split("&&") {
        let words: Vec<String> = part
            .split_whitespace()
            .skip_while(|w| is_assignment(w))
            .map(|w| w.trim_matches(['"', '\'']).to_owned())
            .collect();
        match words.first().map(String::as_str) {
            None => {}
            Some("cd" | "pushd") => break,
            Some(_) => found.push(words),
        }
    }
    found
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn program_fault(words: &[String], offer: &Offer<'_>) -> Option<String> {
    let program = words.first()?.as_str();
    if program.contains(['$', '(', '`', '{', '<', '>', '[', '!', '*']) {
        return None;
    }
    if let Some(path) = program.strip_prefix("./") {
        return (!offer.files.contains(path))
            .then(|| format!("there is no file `{path}` in the repository"));
    }
    if program.contains('/') && !program.starts_with('/') {
        return (!offer.files.contains(program) && !(offer.has_program)(program))
            .then(|| format!("there is no file `{program}` in the repository"));
    }
    if BUILTINS.contains(&program) {
        return None;
    }
    if !(offer.has_program)(program) {
        return Some(format!("there is no program `{program}` here"));
    }
    match program {
        "cargo" => needs_file(offer, &["Cargo.toml"], "cargo"),
        "npm" | "pnpm" | "yarn" => npm_fault(words, offer),
        "make" => make_fault(words, offer),
        "python" | "python3" => module_fault(words, offer),
        "go" => needs_file(offer, &["go.mod"], "go"),
        _ => None,
    }
}

const BUILTINS: &[&str] = &[
    "test", "[", "true", "false", "set", "if", "for", "while", "!", "exit", "export", "source",
    ".", "bash", "sh", "env", "timeout", "time", "diff", "grep",
];

/// `python3 -m NAME` where NAME is neither installed nor in the repository.
fn module_fault(words: &[String], offer: &Offer<'_>) -> Option<String> {
    let [program, flag, module, ..] = words else {
        return None;
    };
    if flag != "-m" {
        return None;
    }
    let top = module.split('.').next().unwrap_or(module);
    let own = format!("{top}/");
    let there = offer.files.contains(&format!("{top}.py"))
        || offer.files.iter().any(|file| file.starts_with(&own))
        || (offer.has_module)(program, top);
    (!there).then(|| format!("`{program}` has no module `{top}` here"))
}

fn needs_file(offer: &Offer<'_>, names: &[&str], program: &str) -> Option<String> {
    let there = names.iter().any(|name| {
        let below = format!("/{name}");
        offer.files.iter().any(|f| f == name || f.ends_with(&below))
    });
    (!there).then(|| {
        format!(
            "`{program}` needs {}, which is not here",
            names.join(" or ")
        )
    })
}

fn npm_fault(words: &[String], offer: &Offer<'_>) -> Option<String> {
    if let Some(fault) = needs_file(offer, &["package.json"], words.first()?) {
        return Some(fault);
    }
    let script = match (words.get(1)?.as_str(), words.get(2)) {
        ("run" | "run-script", Some(script)) => script.as_str(),
        ("test" | "t", _) => "test",
        _ => return None,
    };
    let text = (offer.read)("package.json")?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    let there = package.get("scripts").and_then(|s| s.get(script)).is_some();
    (!there).then(|| format!("package.json has no script `{script}`"))
}

fn make_fault(words: &[String], offer: &Offer<'_>) -> Option<String> {
    let names = ["GNUmakefile", "makefile", "Makefile"];
    if words.iter().any(|w| w == "-C" || w == "-f") {
        return None;
    }
    let Some(name) = names.iter().find(|n| offer.files.contains(**n)) else {
        return Some("`make` needs a Makefile, which is not here".into());
    };
    let target = words
        .iter()
        .skip(1)
        .find(|w| !w.starts_with('-') && !is_assignment(w))?;
    let text = (offer.read)(name)?;
    (!makes(&text, target)).then(|| format!("{name} has no target `{target}`"))
}

/// Whether a makefile names the target. Pattern rules and includes may make any target.
fn makes(text: &str, target: &str) -> bool {
    text.lines().any(|line| {
        line.starts_with("include")
            || line.starts_with("-include")
            || (!line.starts_with(['\t', '#'])
                && line.split_once(':').is_some_and(|(left, _)| {
                    left.contains(['%', '$']) || left.split_whitespace().any(|t| t == target)
                }))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Offer, fault};

    fn check(command: &str) -> Option<String> {
        let files: BTreeSet<String> = ["Makefile", "package.json", "run.sh", "tests/t.py"]
            .map(String::from)
            .into();
        fault(
            command,
            &Offer {
                files: &files,
                has_program: &|name| ["make", "npm", "python3", "cargo"].contains(&name),
                has_module: &|_, module| ["pytest", "unittest"].contains(&module),
                read: &|name| match name {
                    "Makefile" => Some("all: x\ncheck lint: all\n\ttrue\n".into()),
                    "package.json" => Some(r#"{"scripts":{"test":"x","lint":"y"}}"#.into()),
                    _ => None,
                },
            },
        )
    }

    #[test]
    fn a_module_that_is_not_installed_is_no_check() {
        let missing = check("python3 -m nose").unwrap();
        assert_eq!(missing, "`python3` has no module `nose` here");
        assert_eq!(check("python3 -m unittest"), None);
        assert_eq!(
            check("python3 -m tests.t"),
            None,
            "a module of the repository"
        );
    }

    #[test]
    fn commands_that_exist_pass() {
        for command in [
            "make check",
            "make lint -j4",
            "npm test",
            "npm run lint",
            "./run.sh",
            "python3 -m pytest tests/t.py",
            "A=1 python3 x.py",
            "test -f README.md",
            "make check && npm test",
            "cd sub && whatever",
            "make check 2>&1 | tail -5",
            "python3 -c 'print(1 || true)'",
        ] {
            assert_eq!(check(command), None, "{command}");
        }
    }

    #[test]
    fn commands_that_cannot_work_are_named() {
        for (command, says) in [
            ("", "empty"),
            ("pytest -q", "no program `pytest`"),
            ("cargo test", "needs Cargo.toml"),
            ("make docs", "no target `docs`"),
            ("npm run build", "no script `build`"),
            ("./test.sh", "no file `test.sh`"),
            ("make check && pytest", "no program `pytest`"),
        ] {
            let fault = check(command).unwrap_or_default();
            assert!(fault.contains(says), "{command}: {fault}");
        }
    }

    #[test]
    fn forms_that_hide_a_failure_are_refused() {
        for command in [
            "make check || true",
            "make check ; echo ok",
            "npm test ||  echo failed",
            "npm test||true",
            "! make check",
            "make all && ! make check",
            "make check &",
        ] {
            assert!(
                check(command).unwrap_or_default().contains("hides"),
                "{command}"
            );
        }
    }
}
