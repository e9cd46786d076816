//! Did a test run run any test? Read from the output of the common runners.

/// What an output says about the tests it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// So many tests were run (skipped ones do not count). One, where only "some" can be told.
    Some(u64),
    /// None: the run proves nothing.
    None,
    /// No count that we know; only the exit code judges.
    Unknown,
}

/// Reads the counts of every runner we know. One that ran something outweighs one that did not:
/// `cargo test` always has empty parts, such as documentation tests.
pub(crate) fn ran(output: &str) -> Ran {
    let plain = without_colours(output);
    let (mut total, mut seen) = (0, false);
    for line in plain.lines() {
        if let Some(count) = count(line) {
            seen = true;
            total += count;
        }
        total = total.saturating_sub(skipped_by_unittest(line));
    }
    match (seen, total) {
        (false, _) => Ran::Unknown,
        (true, 0) => Ran::None,
        (true, n) => Ran::Some(n),
    }
}

/// The number of tests a summary line says were run.
fn count(line: &str) -> Option<u64> {
    let line = line.trim();
    let readers: [fn(&str) -> Option<u64>; 11] = [
        cargo, nextest, pytest, unittest, go, node, jest, mocha, ctest, make, others,
    ];
    readers.iter().find_map(|read| read(line))
}

/// The number right before a word, as in `3 passed`.
fn before(line: &str, word: &str) -> Option<u64> {
    let mut last = None;
    for token in line.split(|c: char| c.is_whitespace() || ",;(".contains(c)) {
        let clean = token.trim_matches(|c: char| !c.is_alphanumeric());
        if clean == word {
            return last;
        }
        last = clean.parse().ok().or(last.filter(|_| clean.is_empty()));
    }
    None
}

/// The number after a prefix, as in `Ran 5 tests`.
fn after(line: &str, prefix: &str) -> Option<u64> {
    let rest = line.strip_prefix(prefix)?.trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn sum(line: &str, words: &[&str]) -> Option<u64> {
    let found: Vec<u64> = words.iter().filter_map(|w| before(line, w)).collect();
    (!found.is_empty()).then(|| found.iter().sum())
}

fn cargo(line: &str) -> Option<u64> {
    line.starts_with("test result:")
        .then(|| sum(line, &["passed", "failed", "measured"]))?
}

fn nextest(line: &str) -> Option<u64> {
    if line.starts_with("error: no tests to run") {
        return Some(0);
    }
    let rest = line.strip_prefix("Summary [")?;
    let (_, rest) = rest.split_once(']')?;
    let rest = rest.trim();
    let number = rest.split([' ', '/']).next()?;
    rest.contains("run:").then(|| number.parse().ok())?
}

fn pytest(line: &str) -> Option<u64> {
    let text = line.trim_matches(['=', ' ']);
    if text.starts_with("no tests ran in")
        || (text.contains(" tests collected in ") || text.contains(" test collected in "))
        || text == "no tests collected"
        || text.starts_with("no tests collected")
    {
        return Some(0);
    }
    // `3 passed, 1 skipped in 0.12s`; the quiet form has no `=`.
    let timed = text.rsplit_once(" in ").is_some_and(|(_, t)| {
        let t = t.split(' ').next().unwrap_or_default();
        t.strip_suffix('s')
            .is_some_and(|n| n.parse::<f64>().is_ok())
    });
    let words = ["passed", "failed", "xpassed", "xfailed", "errors", "error"];
    let idle = ["skipped", "deselected", "warnings", "warning"];
    if !timed || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    sum(text, &words).or_else(|| sum(text, &idle).map(|_| 0))
}

fn unittest(line: &str) -> Option<u64> {
    if line == "NO TESTS RAN" || line.starts_with("NO TESTS RAN ") {
        return Some(0);
    }
    after(line, "Ran ").filter(|_| line.contains(" test") && line.contains(" in "))
}

/// `OK (skipped=3)`: unittest counts skipped tests as run and takes them back here.
fn skipped_by_unittest(line: &str) -> u64 {
    let rest = line
        .trim()
        .strip_prefix("OK (")
        .or(line.trim().strip_prefix("FAILED ("));
    let parts = rest
        .and_then(|r| r.strip_suffix(')'))
        .map(|r| r.split(", "));
    parts
        .into_iter()
        .flatten()
        .find_map(|p| p.strip_prefix("skipped=")?.parse().ok())
        .unwrap_or(0)
}

fn go(line: &str) -> Option<u64> {
    let idle = line.contains("[no test files]") || line.contains("[no tests to run]");
    if line.starts_with("testing: warning: no tests to run") {
        return Some(0);
    }
    let package = line
        .strip_prefix("ok")
        .filter(|r| r.starts_with(['\t', ' ']));
    let failed = line.strip_prefix("FAIL\t");
    let other = line
        .strip_prefix('?')
        .filter(|r| r.starts_with(['\t', ' ']));
    if other.is_some() || (package.is_some() && idle) {
        return idle.then_some(0);
    }
    // `ok  example.com/p  0.004s` and `ok  example.com/p  (cached)`: a cached run ran once.
    let words: Vec<&str> = package.or(failed)?.split_whitespace().collect();
    let result = words.get(1)?;
    let timed = result
        .strip_suffix('s')
        .is_some_and(|n| n.parse::<f64>().is_ok());
    (timed || *result == "(cached)").then_some(1)
}

fn node(line: &str) -> Option<u64> {
    let text = line.strip_prefix("# ").or(line.strip_prefix("ℹ "))?;
    after(text, "pass ").or(after(text, "fail "))
}

/// jest: `Tests:  1 failed, 3 passed, 4 total`; vitest: `Tests  3 passed (3)`.
fn jest(line: &str) -> Option<u64> {
    if line.starts_with("No tests found") || line.starts_with("No test files found") {
        return Some(0);
    }
    let rest = line
        .strip_prefix("Tests:")
        .or(line.strip_prefix("Tests "))?;
    let idle = ["total", "skipped", "todo", "pending"];
    sum(rest, &["passed", "failed"]).or_else(|| sum(rest, &idle).map(|_| 0))
}

fn mocha(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    matches!(words.next(), Some("passing" | "failing")).then_some(number)
}

fn ctest(line: &str) -> Option<u64> {
    if line.starts_with("No tests were found") {
        return Some(0);
    }
    let (head, total) = line.rsplit_once(" out of ")?;
    head.contains("tests passed")
        .then(|| total.trim().parse().ok())?
}

fn make(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("make")?;
    let rest = rest.split_once(": ")?.1;
    (rest.starts_with("Nothing to be done for") || rest.ends_with("is up to date.")).then_some(0)
}

/// Runners that say plainly when they ran nothing.
fn others(line: &str) -> Option<u64> {
    let lower = line.to_ascii_lowercase();
    let listed = lower.ends_with(" benchmarks") && lower.contains(" tests, ");
    if listed || lower.starts_with("total tests: ") {
        return Some(0);
    }
    let nothing = [
        "no tests executed!",
        "no test is available in",
        "no tests were executed",
        "no specs found",
    ];
    if nothing.iter().any(|n| lower.starts_with(n)) || lower == "1..0" {
        return Some(0);
    }
    if let Some(number) = after(line, "Tests run: ") {
        return Some(number);
    }
    let examples = before(line, "examples").or(before(line, "example"))?;
    line.contains("failure").then_some(examples)
}

/// Removes terminal colours, which stand between a number and its word.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        plain.push_str(&rest[..start]);
        let tail = &rest[start + 2..];
        let end = tail
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(tail.len(), |i| i + 1);
        rest = &tail[end..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Ran, ran};

    #[test]
    fn runs_without_a_test_are_told() {
        for output in [
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 12 filtered out; finished in 0.00s",
            "test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "error: no tests to run",
            "     Summary [   0.004s] 0 tests run: 0 passed, 7 skipped",
            "============ no tests ran in 0.01s ============",
            "no tests ran in 0.01s",
            "=== 5 deselected in 0.02s ===",
            "==== 4 skipped in 0.10s ====",
            "Ran 0 tests in 0.000s\n\nOK",
            "NO TESTS RAN",
            "Ran 3 tests in 0.001s\n\nOK (skipped=3)",
            "12 tests collected in 0.05s",
            "src/lib.rs: test\n\n12 tests, 0 benchmarks",
            "Total Tests: 5",
            "?   \texample.com/p\t[no test files]",
            "ok  \texample.com/p\t0.002s [no tests to run]",
            "# tests 0\n# pass 0\n# fail 0",
            "ℹ tests 2\nℹ pass 0\nℹ fail 0\nℹ skipped 2",
            "No tests found, exiting with code 0",
            "Tests:       4 skipped, 4 total",
            " Tests  2 skipped (2)",
            "\x1b[31mNo test files found, exiting with code 0\x1b[39m",
            "  0 passing (1ms)",
            "No tests were found!!!",
            "make: Nothing to be done for 'test'.",
            "make[1]: 'check' is up to date.",
            "No tests executed!",
            "0 examples, 0 failures",
            "1..0",
            "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0",
        ] {
            assert_eq!(ran(output), Ran::None, "{output}");
        }
    }

    #[test]
    fn runs_with_tests_are_counted() {
        let cases = [
            (
                "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
              test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
                3,
            ),
            (
                "     Summary [   0.2s] 12 tests run: 12 passed, 1 skipped",
                12,
            ),
            ("==== 2 failed, 3 passed, 1 skipped in 1.25s ====", 5),
            ("5 passed in 0.01s", 5),
            ("1 passed, 2 warnings in 62.10s (0:01:02)", 1),
            ("Ran 7 tests in 0.002s\n\nOK", 7),
            ("Ran 7 tests in 0.002s\n\nFAILED (failures=1, skipped=2)", 5),
            ("ok  \texample.com/p\t(cached)", 1),
            (
                "ok  \texample.com/p\t0.004s\tcoverage: 80.0% of statements\n?   \texample.com/q\t[no test files]",
                1,
            ),
            ("# tests 4\n# pass 3\n# fail 1", 4),
            ("Tests:       1 failed, 3 passed, 4 total", 4),
            (
                "\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m3 passed\x1b[39m\x1b[22m\x1b[90m (3)\x1b[39m",
                3,
            ),
            ("  6 passing (20ms)\n  1 failing", 7),
            ("100% tests passed, 0 tests failed out of 9", 9),
            ("Tests run: 5, Failures: 0, Errors: 0, Skipped: 0", 5),
            ("3 examples, 0 failures", 3),
        ];
        for (output, expected) in cases {
            assert_eq!(ran(output), Ran::Some(expected), "{output}");
        }
    }

    #[test]
    fn an_output_without_a_count_is_unknown() {
        for output in [
            "",
            "all good",
            "Checking x v0.1.0\n    Finished",
            "I passed the ball in 3 minutes",
        ] {
            assert_eq!(ran(output), Ran::Unknown, "{output}");
        }
    }

    proptest! {
        #[test]
        fn no_output_makes_it_panic(output in "\\PC{0,80}") {
            let _ = ran(&output);
        }
    }
}
