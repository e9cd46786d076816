//! Shell forms whose exit code says nothing about the command inside.

/// Why a command line cannot fail, or cannot be judged by its exit code; none when it can.
///
/// Commands are run with `pipefail`, so `test | tail` is judged by `test` and is not masked then;
/// [`in_a_plain_shell`] adds the forms that hide a failure from a shell without it.
pub(crate) fn always(command: &str) -> Option<String> {
    let parts = split(command);
    let last = parts.last()?;
    let text = last.text.trim();
    if last.before == "&"
        || command.trim_end().ends_with('&') && !command.trim_end().ends_with("&&")
    {
        return Some("runs in the background; the line ends before it does".into());
    }
    if last.before == "||" && succeeds(text) {
        return Some(format!("`|| {text}` turns every failure into success"));
    }
    // `a || true; b`: what fails before the last part is hidden as well, but `b` still judges.
    if matches!(last.before, ";" | "\n") && succeeds(text) {
        return Some(format!(
            "ends with `; {text}`, whose exit code hides the command before it"
        ));
    }
    if parts.len() == 1 && succeeds(text) {
        return Some(format!("`{text}` succeeds whatever the work is like"));
    }
    if last.before == "|" && parts.iter().any(|p| p.text.contains("+o pipefail")) {
        return Some("switches pipefail off and pipes the output".into());
    }
    if let Some(why) = control_flow(&parts)
        .or_else(|| buried(&parts))
        .or_else(|| lists_only(&parts))
    {
        return Some(why);
    }
    let negated = parts.iter().any(|p| p.text.trim_start().starts_with("! "));
    if negated {
        return Some("`!` turns failure into success".into());
    }
    None
}

/// Like [`always`], and `| tail` and its like, whose exit code a plain shell reports instead.
pub(crate) fn in_a_plain_shell(command: &str) -> Option<String> {
    always(command).or_else(|| {
        let parts = split(command);
        let last = parts.last().filter(|p| p.before == "|")?;
        (!command.contains("-o pipefail")).then(|| {
            let filter = last.text.split_whitespace().next().unwrap_or_default();
            format!("the exit code is that of `{filter}`, not of the command before the pipe")
        })
    })
}

/// Whether some part ends the line with a failure of its own, or stops it at the first one.
fn fails_by_itself(parts: &[Part<'_>]) -> bool {
    let ends = |text: &str| {
        let mut words = text
            .split(|c: char| c.is_whitespace() || "{};()".contains(c))
            .filter(|w| !w.is_empty());
        let mut last = "";
        words.any(|word| {
            let found = word == "false"
                || (matches!(last, "exit" | "return") && word != "0")
                || (last == "set" && word.starts_with('-') && word.contains('e'));
            last = word;
            found
        })
    };
    parts.iter().any(|p| ends(p.text))
}

/// `if a; then …; fi` succeeds when `a` fails, and a loop ends with its last round.
fn control_flow(parts: &[Part<'_>]) -> Option<String> {
    let first = parts.first()?.text.split_whitespace().next()?;
    if fails_by_itself(parts) {
        return None;
    }
    match first {
        "if" => Some("`if` turns the failure of its condition into success".into()),
        "for" | "while" | "until" => Some(format!(
            "of a `{first}` loop only the last round counts; add `|| exit 1`"
        )),
        _ => None,
    }
}

/// `cargo test; cat log`: the exit code is that of what comes after the tests.
fn buried(parts: &[Part<'_>]) -> Option<String> {
    let runner = parts.iter().rposition(|p| is_runner(p.text))?;
    let after = parts
        .iter()
        .skip(runner + 1)
        .position(|p| matches!(p.before, ";" | "\n"))?;
    let rest = &parts[runner + 1 + after..];
    let passed_on = rest.iter().any(|p| p.text.contains('$'));
    let last = rest.last()?.text.trim();
    let keyword = matches!(
        last.split_whitespace().next(),
        Some("done" | "fi" | "esac" | "}")
    );
    (!passed_on && !keyword && !fails_by_itself(parts))
        .then(|| format!("the exit code is that of `{last}`, not of the tests before it"))
}

/// The programs and scripts a command line starts, without `./`: the first word of each part, and
/// what an interpreter is given to run.
pub(crate) fn programs(command: &str) -> Vec<&str> {
    const INTERPRETERS: [&str; 14] = [
        "bash", "sh", "dash", "zsh", "python", "python3", "node", "deno", "ruby", "perl", "php",
        "pwsh", "source", ".",
    ];
    let mut found = Vec::new();
    for part in split(command) {
        let mut words = words_of(part.text);
        let Some(first) = words.next() else { continue };
        found.push(first.strip_prefix("./").unwrap_or(first));
        let name = first.rsplit('/').next().unwrap_or(first);
        let script = words.next().filter(|w| !w.starts_with('-'));
        if let Some(script) = script.filter(|_| INTERPRETERS.contains(&name)) {
            found.push(script.strip_prefix("./").unwrap_or(script));
        }
    }
    found
}

/// The words of a command from its program on: no variables, no wrappers.
fn words_of(command: &str) -> impl Iterator<Item = &str> {
    command
        .split_whitespace()
        .map(|w| w.trim_start_matches(['(', '{']))
        .skip_while(|w| {
            w.is_empty()
                || w.contains('=')
                || matches!(*w, "env" | "time" | "nice" | "exec" | "command" | "sudo")
        })
}

/// Whether a command is one that tests or builds.
fn is_runner(command: &str) -> bool {
    const RUNNERS: [&str; 24] = [
        "cargo", "pytest", "py.test", "tox", "nox", "go", "npm", "npx", "yarn", "pnpm", "bun",
        "jest", "vitest", "mocha", "ctest", "make", "gmake", "ninja", "mvn", "gradle", "gradlew",
        "rspec", "phpunit", "dotnet",
    ];
    let first = words_of(command).next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or(first);
    RUNNERS.contains(&name)
        || (name.starts_with("python")
            && command.contains("-m ")
            && (command.contains("pytest") || command.contains("unittest")))
        || (name == "node" && command.contains("--test"))
}

/// Flags with which a runner lists or builds its tests and runs none.
fn lists_only(parts: &[Part<'_>]) -> Option<String> {
    const FLAGS: [(&str, &str); 8] = [
        ("cargo", "--no-run"),
        ("cargo", "--list"),
        ("pytest", "--collect-only"),
        ("pytest", "--co"),
        ("jest", "--listTests"),
        ("ctest", "-N"),
        ("make", "-n"),
        ("make", "--dry-run"),
    ];
    let last = parts.last()?;
    let words: Vec<&str> = last.text.split_whitespace().collect();
    let (runner, flag) = FLAGS.iter().find(|(runner, flag)| {
        let names = |w: &&str| w.rsplit('/').next().is_some_and(|n| n == *runner);
        words.iter().any(names) && words.contains(flag)
    })?;
    Some(format!("`{runner} … {flag}` runs no test"))
}

/// Commands that succeed (or end the line with a fixed code) whatever happened before.
fn succeeds(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        [] | ["exit" | "return"] => false,
        ["exit" | "return", code] => *code == "0",
        [first, ..] => {
            let name = first.rsplit('/').next().unwrap_or(first);
            matches!(
                name,
                "true" | ":" | "echo" | "printf" | "pwd" | "date" | "sleep"
            )
        }
    }
}

struct Part<'a> {
    /// The operator before it.
    before: &'a str,
    text: &'a str,
}

/// Cuts a line at `;`, newlines, `&&`, `||`, `|` and `&` outside quotes, `$(…)` and `(…)`.
fn split(command: &str) -> Vec<Part<'_>> {
    let bytes = command.as_bytes();
    let (mut parts, mut start, mut before) = (Vec::new(), 0, "");
    let (mut quote, mut depth, mut i) = (0u8, 0usize, 0);
    while i < bytes.len() {
        let byte = bytes[i];
        let next = bytes.get(i + 1).copied().unwrap_or(0);
        if quote != 0 {
            if byte == b'\\' && quote == b'"' {
                i += 1;
            } else if byte == quote {
                quote = 0;
            }
            i += 1;
            continue;
        }
        match byte {
            b'\\' => i += 1,
            b'\'' | b'"' | b'`' => quote = byte,
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b'#' if i == 0 || bytes[i - 1].is_ascii_whitespace() => {
                // A comment runs to the end of its line.
                let end = command[i..].find('\n').map_or(command.len(), |n| i + n);
                push(&mut parts, before, &command[start..i]);
                start = end;
                before = ";";
                i = end;
                continue;
            }
            _ if depth > 0 => {}
            b';' | b'\n' | b'|' | b'&' => {
                let redirection =
                    byte == b'&' && (next == b'>' || i > 0 && matches!(bytes[i - 1], b'>' | b'<'));
                if !redirection {
                    let double = matches!(byte, b'|' | b'&') && next == byte;
                    let with_stderr = byte == b'|' && next == b'&';
                    let end = i + 1 + usize::from(double || with_stderr);
                    push(&mut parts, before, &command[start..i]);
                    before = if with_stderr { "|" } else { &command[i..end] };
                    start = end;
                    i = end;
                    continue;
                }
            }
            _ => {}
        }
        i += 1;
    }
    push(&mut parts, before, command.get(start..).unwrap_or_default());
    parts
}

fn push<'a>(parts: &mut Vec<Part<'a>>, before: &'a str, text: &'a str) {
    if !text.trim().is_empty() {
        parts.push(Part { before, text });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{always, in_a_plain_shell};

    #[test]
    fn h20_forms_that_cannot_fail_are_no_evidence() {
        for command in [
            "pytest || true",
            "cargo test ||:",
            "cargo test || echo failed",
            "npm test; echo done",
            "npm test ; exit 0",
            "npm test\ntrue",
            "make check &",
            "true",
            "echo ok",
            "! grep -r TODO src",
            "set +o pipefail; cargo test | tail -5",
            "cargo test || /bin/true # best effort",
            "(cargo test) || true",
            "cargo test; cat test.log",
            "python -m pytest\nls",
            "if cargo test; then echo fine; fi",
            "for t in a b; do pytest $t; done",
            "cargo test --no-run",
            "pytest --collect-only -q",
            "make -n test",
        ] {
            assert!(always(command).is_some(), "{command}");
        }
    }

    #[test]
    fn a_pipe_hides_a_failure_only_from_a_plain_shell() {
        for command in [
            "pytest -q | tail -3",
            "cargo test 2>&1 | tee log",
            "cargo test |& tail",
        ] {
            assert!(always(command).is_none(), "{command}");
            assert!(in_a_plain_shell(command).is_some(), "{command}");
        }
        assert!(in_a_plain_shell("set -o pipefail; pytest | tail -3").is_none());
    }

    #[test]
    fn h21_odd_but_honest_commands_are_not_accused() {
        for command in [
            "cargo test",
            "cd sub && npm test",
            "./run-my-checks.sh",
            "python -c 'import a; print(\"a || true\")'",
            "test -z \"$(git status --porcelain)\"",
            "cargo test > /dev/null 2>&1",
            "cargo test &> log",
            "echo start; cargo test",
            "mkdir -p out || exit 1; make check",
            "cargo test || { cat log; exit 1; }",
            "cargo test || exit 1",
            "for t in a b; do ./t.sh $t || exit 1; done",
            "bash -c 'pytest; echo done' # comment; true",
            "set -e; cargo test; cat test.log",
            "pytest; rc=$?; cat test.log; exit $rc",
            "if ! cargo test; then cat log; exit 1; fi",
            "pytest || exit 1; ls out",
            "make build; make test",
            "cargo build; ./target/debug/x --self-test && cargo test",
            "test -f a || false",
            "git log -n 1 && make",
        ] {
            assert_eq!(always(command), None, "{command}");
            assert_eq!(in_a_plain_shell(command), None, "{command}");
        }
    }

    proptest! {
        #[test]
        fn no_command_makes_it_panic(command in "[a-z|&;\n'\"`(){}#!\\\\ é>]{0,40}") {
            let _ = in_a_plain_shell(&command);
        }

        #[test]
        fn whatever_comes_before_or_true_is_masked(words in "[a-z]{1,8}( [a-z./-]{1,8}){0,4}") {
            let swallowed = format!("{words} || true");
            prop_assert!(always(&swallowed).is_some());
            let buried = format!("{words}; echo done");
            prop_assert!(always(&buried).is_some());
        }
    }
}
