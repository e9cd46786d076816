//! Lines whose exit code says nothing about the command that judges.

use super::known::{Class, of};
use super::lex::unquoted;
use super::parse::{List, each, parse};
use super::program::{base, inner, is_assignment, plain};
use super::values::substituted;
use super::walk::{End, Lost, walk};

/// Why a command line cannot fail, or cannot be judged by its exit code; none when it can.
///
/// Commands are run with `pipefail` ([`crate::Command::shell`]), so `test | tail` is judged by `test`
/// and is not masked then; [`masked_in_a_plain_shell`] adds what a shell without it hides.
pub fn masked(command: &str) -> Option<String> {
    judged(command, true)
}

/// Like [`masked`], in a shell without `pipefail`: `| tail` and its like hide a failure as well.
pub fn masked_in_a_plain_shell(command: &str) -> Option<String> {
    judged(command, false)
}

/// A command that may judge.
struct Judge {
    class: Class,
    text: String,
    words: Vec<String>,
}

fn judged(command: &str, pipefail: bool) -> Option<String> {
    let list = parse(command)?;
    let mut judges = Vec::new();
    gather(&list, 0, &mut judges);
    let top = judges.iter().map(|j| j.class).max()?;
    if top == Class::Trivial {
        let end = walk(&list, "", top, pipefail);
        let text = &judges.last()?.text;
        return (end.code == 0).then(|| format!("`{text}` succeeds whatever the work is like"));
    }
    if let Some(why) = judges.iter().find_map(|j| shows_nothing(j, top)) {
        return Some(why);
    }
    // Of tests and linters every one must be heard; of other commands the last one judges.
    let all = top >= Class::Check;
    for judge in judges.iter().rev().filter(|j| j.class == top) {
        let end = walk(&list, &judge.text, top, pipefail);
        if !end.reached {
            continue;
        }
        if end.code == 0 {
            return Some(reason(&judge.text, &end));
        }
        if !all {
            return None;
        }
    }
    // Where nothing but constants decides, what is not reached is never run: `true || cargo test`.
    let decides = |j: &Judge| j.class != top && j.class != Class::Trivial && j.words != ["false"];
    let mut tops = judges.iter().filter(|j| j.class == top);
    let is_run = |j: &Judge| walk(&list, &j.text, top, pipefail).reached;
    if !all || judges.iter().any(decides) || tops.clone().any(is_run) {
        return None;
    }
    tops.next().map(|j| format!("`{}` is never run", j.text))
}

fn gather(list: &List<'_>, depth: usize, judges: &mut Vec<Judge>) {
    each(list, &mut |words, text| {
        for word in words.iter().filter(|w| is_assignment(w) && depth < 4) {
            let value = unquoted(word.split_once('=').map_or("", |(_, v)| v));
            if let Some(list) = substituted(&value).and_then(parse) {
                gather(&list, depth + 1, judges);
            }
        }
        let words = plain(words);
        if let Some((_, program)) = inner(&words).filter(|_| depth < 4) {
            // What cannot be read is not accused.
            if let Some(list) = parse(&program) {
                gather(&list, depth + 1, judges);
                return;
            }
        }
        judges.push(Judge {
            class: of(&words),
            text: text.to_owned(),
            words,
        });
    });
}

fn reason(text: &str, end: &End) -> String {
    let last = end.last.trim();
    match &end.lost {
        Some(Lost::Or(after)) => format!("`|| {after}` turns every failure into success"),
        Some(Lost::Pipe(filter)) => {
            format!("the exit code is that of `{filter}`, not of the command before the pipe")
        }
        Some(Lost::If) => "`if` turns the failure of its condition into success".into(),
        Some(Lost::Loop(kind)) => {
            format!("of a `{kind}` loop only the last round counts; add `|| exit 1`")
        }
        Some(Lost::Negated) => "`!` turns failure into success".into(),
        Some(Lost::Background) => "runs in the background; the line ends before it does".into(),
        Some(Lost::Inside(what)) => format!("`{what}` succeeds whatever happens inside it"),
        Some(Lost::Trap) => "the trap at the end replaces the exit code".into(),
        Some(Lost::Sequence) => {
            format!("the exit code is that of `{last}`, not of `{text}` before it")
        }
        None => format!("the line succeeds even when `{text}` fails"),
    }
}

/// Options with which a program lists, builds or forgives instead of judging.
const OPTIONS: &[(&[&str], &[&str], &str)] = &[
    (
        &["cargo"],
        &["--no-run", "--list", "--no-fail"],
        "runs no test",
    ),
    (
        &["pytest", "py.test"],
        &[
            "--collect-only",
            "--co",
            "--fixtures",
            "--setup-plan",
            "--setup-only",
            "--markers",
            "--suppress-no-test-exit-code",
            "--suppress-tests-failed-exit-code",
        ],
        "runs no test, or forgives it",
    ),
    (
        &["jest", "vitest", "mocha", "playwright", "ava"],
        &[
            "--listTests",
            "--list",
            "--dry-run",
            "--showConfig",
            "--testFailureExitCode=0",
        ],
        "runs no test",
    ),
    (
        &["ctest"],
        &["-N", "--show-only", "--print-labels"],
        "runs no test",
    ),
    (
        &["make", "gmake", "ninja"],
        &[
            "-n",
            "--dry-run",
            "--just-print",
            "--recon",
            "-q",
            "--question",
            "-t",
            "--touch",
        ],
        "runs no command",
    ),
    (
        &["make", "gmake"],
        &["-i", "--ignore-errors", "-ik", "-ki"],
        "ignores every failure",
    ),
    (
        &["mvn", "mvnw"],
        &[
            "-DskipTests",
            "-DskipTests=true",
            "-Dmaven.test.skip",
            "-Dmaven.test.skip=true",
            "-Dmaven.test.failure.ignore",
            "-Dmaven.test.failure.ignore=true",
            "-fn",
            "--fail-never",
            "-DtestFailureIgnore=true",
        ],
        "skips or forgives the tests",
    ),
    (
        &["gradle", "gradlew"],
        &["--dry-run", "-m", "-PignoreFailures=true"],
        "runs or forgives every task",
    ),
    (&["dotnet"], &["--list-tests", "-t"], "runs no test"),
    (
        &["phpunit", "pest"],
        &["--list-tests", "--list-groups", "--list-suites"],
        "runs no test",
    ),
    (
        &["rspec", "cucumber", "behave", "robot"],
        &["--dry-run", "-d", "--dryrun", "--nostatusrc"],
        "runs no test, or forgives it",
    ),
    (
        &["tox", "nox"],
        &["--notest", "-l", "--listenvs", "--list", "-n"],
        "runs no test",
    ),
    (
        &["nosetests", "nose2", "trial", "bats"],
        &["--collect-only", "--dry-run", "-n", "--count", "-c"],
        "runs no test",
    ),
    (&["deno"], &["--no-run"], "runs no test"),
    (
        &["npm", "pnpm", "yarn"],
        &["--if-present", "--dry-run"],
        "succeeds where there is no such script",
    ),
    (
        &[
            "pylint",
            "flake8",
            "ruff",
            "bandit",
            "prospector",
            "pydocstyle",
        ],
        &["--exit-zero", "-e0"],
        "ends with 0 whatever it finds",
    ),
    (
        &["golangci-lint"],
        &["--issues-exit-code=0"],
        "ends with 0 whatever it finds",
    ),
    (
        &["go"],
        &["-list", "-exec=true", "-exec=/bin/true", "-c"],
        "runs no test",
    ),
];

/// Why a command judges nothing by its own words.
fn shows_nothing(judge: &Judge, top: Class) -> Option<String> {
    let words: Vec<&str> = judge.words.iter().map(String::as_str).collect();
    let name = base(words.first()?);
    if name == "find" {
        return find_forgets(&words);
    }
    if judge.class < top || judge.class <= Class::Helper {
        return None;
    }
    // What stands behind `--` is for the program that is tested: `cargo test -- --list` lists.
    let options = || words.iter().skip(1);
    let has = |wanted: &[&str]| options().find(|w| wanted.contains(w)).copied();
    if name == "cargo" && words.get(1..3) == Some(&["nextest", "list"]) {
        return Some("`cargo nextest list` runs no test".into());
    }
    for (programs, flags, what) in OPTIONS {
        if let Some(flag) = has(flags).filter(|_| programs.contains(&name)) {
            if name == "cargo" && judge.class != Class::Test {
                continue;
            }
            return Some(format!("`{name} … {flag}` {what}"));
        }
    }
    let asked = has(&["--help", "--version", "-V"]).filter(|_| judge.class >= Class::Check);
    if let Some(flag) = asked {
        return Some(format!("`{name} … {flag}` only describes itself"));
    }
    // `MAKEFLAGS=-i make test`, `PYTEST_ADDOPTS=--collect-only pytest`
    let before: Vec<&str> = judge
        .text
        .split_whitespace()
        .take_while(|w| !w.ends_with(name))
        .collect();
    let forgiving = before.iter().find(|w| {
        let flags = w.split_once('=').map(|(_, v)| v.trim_matches(['"', '\'']));
        (w.starts_with("MAKEFLAGS=") && flags.is_some_and(|f| f.contains(['i', 'n', 't'])))
            || (w.starts_with("PYTEST_ADDOPTS=") && flags.is_some_and(|f| f.contains("--co")))
    });
    forgiving.map(|w| format!("`{w}` keeps the command from judging"))
}

/// `find … -exec cargo test \;` ends with 0 whatever the command says.
fn find_forgets(words: &[&str]) -> Option<String> {
    let at = words
        .iter()
        .position(|w| matches!(*w, "-exec" | "-execdir"))?;
    let end = words[at..].iter().position(|w| *w == ";")?;
    let inner = plain(&words[at + 1..at + end]);
    (of(&inner) > Class::Helper).then(|| {
        format!(
            "`find` succeeds whatever `{}` says; use `-exec … +` or xargs",
            inner.first().map_or("-exec", String::as_str)
        )
    })
}

#[cfg(test)]
mod tests;
