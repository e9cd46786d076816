//! The summary lines of the common test runners.

use super::summaries;

/// What one line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) run: u64,
    pub(super) failed: u64,
}

pub(super) const NOTHING: Option<Count> = Some(Count { run: 0, failed: 0 });

/// The tests a summary line says were run. Each line belongs to one runner at most.
pub(super) fn count(line: &str) -> Option<Count> {
    let line = untagged(line.trim());
    let readers: [fn(&str) -> Option<Count>; 22] = [
        nothing, cargo, nextest, pytest, unittest, go, node, jest, mocha, bun, ctest, junit, rspec,
        phpunit, dotnet, gradle, bazel, xctest, gtest, catch, tap, others,
    ];
    let found = readers.iter().find_map(|read| read(line));
    found.or_else(|| summaries::count(line))
}

/// A line without the level that Maven and sbt write before it, and without a mark.
fn untagged(line: &str) -> &str {
    let tags = [
        "[INFO] ",
        "[WARNING] ",
        "[ERROR] ",
        "[info] ",
        "[warn] ",
        "[error] ",
        "✖ ",
        "✗ ",
    ];
    let rest = tags.iter().find_map(|tag| line.strip_prefix(tag));
    rest.unwrap_or(line).trim_start()
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "it ends readers that may find nothing"
)]
pub(super) fn ran(run: u64, failed: u64) -> Option<Count> {
    Some(Count { run, failed })
}

fn tokens(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || ",;(|".contains(c))
        .map(|t| t.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|t| !t.is_empty())
}

/// The number right before a word, as in `3 passed`.
pub(super) fn before(line: &str, word: &str) -> Option<u64> {
    let mut last = None;
    for token in tokens(line) {
        if token == word {
            return last;
        }
        last = token.parse().ok();
    }
    None
}

/// The number after a prefix, as in `Ran 5 tests`.
pub(super) fn after(line: &str, prefix: &str) -> Option<u64> {
    let rest = line.strip_prefix(prefix)?.trim_start();
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The number after a label anywhere in the line, as in `…, Failures: 1, …`.
pub(super) fn labelled(line: &str, label: &str) -> u64 {
    line.find(label)
        .and_then(|at| after(&line[at..], label))
        .unwrap_or(0)
}

pub(super) fn sum(line: &str, words: &[&str]) -> Option<u64> {
    let found: Vec<u64> = words.iter().filter_map(|w| before(line, w)).collect();
    (!found.is_empty()).then(|| found.iter().sum())
}

/// Lines with which a runner says plainly that it ran nothing.
fn nothing(line: &str) -> Option<Count> {
    const SAYS: [&str; 24] = [
        "error: no tests to run",
        "no tests executed!",
        "no test is available in",
        "no test matches the given",
        "no tests were executed",
        "no tests were found",
        "no tests found",
        "error: no tests found",
        "no test files found",
        "no specs found",
        "no tests ran.",
        "no tests collected",
        "there were no tests to run",
        "testing: warning: no tests to run",
        "result: notests",
        "error: no test target matches",
        "no test suites found",
        "no tests to run",
        "no packages to test",
        "none of the selected packages has a ",
        "no projects matched the filters",
        "lerna success no packages found with",
        "running 0 test cases",
        "ran 0 tests",
    ];
    let lower = line.to_ascii_lowercase();
    let says = SAYS.iter().any(|s| lower.starts_with(s));
    // `cargo test -- --list` and `ctest -N` list.
    let listed = lower.ends_with(" benchmarks") && lower.contains(" tests, ");
    if says || listed || lower == "1..0" || line.starts_with("Total Tests: ") {
        return NOTHING;
    }
    // Environments of tox and nox that ran no command.
    let ran_no_command =
        (line.contains(": OK (") && line.contains("=setup[") && !line.contains("cmd["))
            || line.contains(": SKIP (");
    let was_skipped = line.starts_with("nox > Session ") && line.contains(" skipped: ");
    if ran_no_command || was_skipped {
        return NOTHING;
    }
    let rest = line.strip_prefix("make")?.split_once(": ")?.1;
    (rest.starts_with("Nothing to be done for") || rest.ends_with("is up to date."))
        .then_some(Count { run: 0, failed: 0 })
}

fn cargo(line: &str) -> Option<Count> {
    let rest = line.strip_prefix("test result:")?;
    let run = sum(rest, &["passed", "failed", "measured"])?;
    ran(run, before(rest, "failed").unwrap_or(0))
}

fn nextest(line: &str) -> Option<Count> {
    let rest = line.strip_prefix("Summary [")?;
    let (_, rest) = rest.split_once(']')?;
    let rest = rest.trim();
    let number = rest.split([' ', '/']).next()?.parse().ok()?;
    let failed = sum(rest, &["failed", "timed"]).unwrap_or(0);
    rest.contains("run:").then_some(Count {
        run: number,
        failed,
    })
}

fn pytest(line: &str) -> Option<Count> {
    let text = line.trim_matches(['=', ' ']);
    if text.starts_with("no tests ran in")
        || (text.contains(" tests collected in ") || text.contains(" test collected in "))
        || text.starts_with("no tests collected")
    {
        return NOTHING;
    }
    // `3 passed, 1 skipped in 0.12s`; the quiet form has no `=`. Playwright's has brackets.
    let seconds = |t: &str| {
        let t = t.split(' ').next().unwrap_or_default();
        let t = t.trim_end_matches(')');
        t.strip_suffix(['s', 'm'])
            .is_some_and(|n| n.trim_end_matches('m').parse::<f64>().is_ok())
    };
    let timed = text.rsplit_once(" in ").is_some_and(|(_, t)| seconds(t))
        || text.rsplit_once(" (").is_some_and(|(_, t)| seconds(t));
    if !timed || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let words = [
        "passed", "failed", "xpassed", "xfailed", "errors", "error", "flaky",
    ];
    let idle = ["skipped", "deselected", "warnings", "warning"];
    let failed = sum(text, &["failed", "errors", "error"]).unwrap_or(0);
    match sum(text, &words) {
        Some(run) => ran(run, failed),
        None => sum(text, &idle).and(NOTHING),
    }
}

fn unittest(line: &str) -> Option<Count> {
    if line == "NO TESTS RAN" || line.starts_with("NO TESTS RAN ") {
        return NOTHING;
    }
    let run = after(line, "Ran ")?;
    // Python's, and Clojure's.
    let whole = line.contains(" test") && (line.contains(" in ") || line.contains(" containing "));
    whole.then_some(Count { run, failed: 0 })
}

/// `OK (skipped=3)`: unittest counts skipped tests as run and takes them back here; what failed is
/// told here as well.
pub(super) fn skipped_by_unittest(line: &str) -> (u64, u64) {
    let rest = line
        .trim()
        .strip_prefix("OK (")
        .or(line.trim().strip_prefix("FAILED ("));
    let Some(parts) = rest.and_then(|r| r.strip_suffix(')')) else {
        return (0, 0);
    };
    let number = |name: &str| -> u64 {
        parts
            .split(", ")
            .find_map(|p| p.strip_prefix(name)?.parse().ok())
            .unwrap_or(0)
    };
    (number("skipped="), number("failures=") + number("errors="))
}

fn go(line: &str) -> Option<Count> {
    let idle = line.contains("[no test files]") || line.contains("[no tests to run]");
    let starts = |word: &str| {
        line.strip_prefix(word)
            .filter(|r| r.starts_with(['\t', ' ']))
    };
    let package = starts("ok");
    let failed = line.strip_prefix("FAIL\t");
    if starts("?").is_some() || (package.is_some() && idle) {
        return if idle { NOTHING } else { None };
    }
    // `ok  example.com/p  0.004s` and `ok  example.com/p  (cached)`: a cached run ran once.
    let words: Vec<&str> = package.or(failed)?.split_whitespace().collect();
    let result = words.get(1)?;
    let timed = result
        .strip_suffix('s')
        .is_some_and(|n| n.parse::<f64>().is_ok());
    (timed || *result == "(cached)").then_some(Count {
        run: 1,
        failed: u64::from(failed.is_some()),
    })
}

/// Node, tape: `# pass 3`; automake: `# PASS:  3`.
fn node(line: &str) -> Option<Count> {
    let text = line.strip_prefix("# ").or(line.strip_prefix("ℹ "))?;
    let passed = after(text, "pass ")
        .or(after(text, "PASS:"))
        .or(after(text, "XFAIL:"));
    let failed = after(text, "fail ")
        .or(after(text, "FAIL:"))
        .or(after(text, "ERROR:"))
        .or(after(text, "XPASS:"));
    match (passed, failed) {
        (Some(passed), _) => ran(passed, 0),
        (None, Some(failed)) => ran(failed, failed),
        _ => None,
    }
}

/// jest: `Tests:  1 failed, 3 passed, 4 total`; vitest: `Tests  3 passed (3)`; scalatest.
fn jest(line: &str) -> Option<Count> {
    let rest = line
        .strip_prefix("Tests:")
        .or(line.strip_prefix("Tests "))?;
    if rest.contains("Assertions:") {
        return None;
    }
    if let Some(succeeded) = after(rest.trim(), "succeeded ") {
        let failed = labelled(rest, "failed ");
        return ran(succeeded + failed, failed);
    }
    let idle = ["total", "skipped", "todo", "pending"];
    match sum(rest, &["passed", "failed"]) {
        Some(run) => ran(run, before(rest, "failed").unwrap_or(0)),
        None => sum(rest, &idle).and(NOTHING),
    }
}

fn mocha(line: &str) -> Option<Count> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    match words.next()? {
        "passing" => ran(number, 0),
        "failing" => ran(number, number),
        _ => None,
    }
}

/// bun: ` 3 pass` and ` 1 fail`, nothing else in the line.
fn bun(line: &str) -> Option<Count> {
    let (number, word) = line.split_once(' ')?;
    let number = number.parse().ok()?;
    match word {
        "pass" => ran(number, 0),
        "fail" => ran(number, number),
        _ => None,
    }
}

fn ctest(line: &str) -> Option<Count> {
    let (head, total) = line.rsplit_once(" out of ")?;
    let total = total.trim().parse().ok()?;
    let failed = head.rsplit(", ").next().and_then(|part| after(part, ""));
    (head.contains("tests passed") && head.ends_with("failed")).then_some(Count {
        run: total,
        failed: failed.unwrap_or(0),
    })
}

/// Surefire: `Tests run: 5, Failures: 0, Errors: 0, Skipped: 1`.
fn junit(line: &str) -> Option<Count> {
    let line = line.trim_start_matches(['[', ' ']);
    let line = ["INFO]", "WARNING]", "ERROR]"]
        .iter()
        .find_map(|l| line.strip_prefix(l))
        .unwrap_or(line)
        .trim();
    if let Some(run) = after(line, "Tests run: ") {
        // One line a class, which has a time, and one for all; either alone shows the same.
        let failed = labelled(line, "Failures: ") + labelled(line, "Errors: ");
        return ran(run.saturating_sub(labelled(line, "Skipped: ")), failed);
    }
    if line.ends_with(" tests found           ]") || line.ends_with("tests found") {
        return before(line, "tests").filter(|n| *n == 0).and(NOTHING);
    }
    let successful = line.contains(" tests successful");
    let failed = line.contains(" tests failed ") && line.ends_with(']');
    let number = before(line, "tests").filter(|_| successful || failed)?;
    ran(number, if failed { number } else { 0 })
}

/// `3 examples, 1 failure, 1 pending`; minitest, test-unit, `ExUnit`, bats, jasmine alike.
fn rspec(line: &str) -> Option<Count> {
    let subjects = [
        "examples", "example", "runs", "tests", "test", "specs", "spec", "doctests", "doctest",
    ];
    let failed = sum(line, &["failures", "failure", "errors"]);
    if failed.is_none() || !line.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let run = sum(line, &subjects)?;
    let idle = sum(
        line,
        &["pending", "skips", "skipped", "omissions", "excluded"],
    )
    .unwrap_or(0);
    ran(run.saturating_sub(idle), failed.unwrap_or(0))
}

/// `OK (3 tests, 5 assertions)` and `Tests: 5, Assertions: 9, Failures: 1, Skipped: 1.`
fn phpunit(line: &str) -> Option<Count> {
    if let Some(rest) = line.strip_prefix("OK (") {
        let run = sum(rest, &["tests", "test"])?;
        return rest
            .contains("assertion")
            .then_some(Count { run, failed: 0 });
    }
    let run = after(line, "Tests: ").filter(|_| line.contains("Assertions: "))?;
    let idle = labelled(line, "Skipped: ") + labelled(line, "Incomplete: ");
    let failed = labelled(line, "Failures: ") + labelled(line, "Errors: ");
    ran(run.saturating_sub(idle), failed)
}

/// `Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3` and the older form.
fn dotnet(line: &str) -> Option<Count> {
    if line.starts_with("Passed!") || line.starts_with("Failed!") || line.starts_with("Skipped!") {
        let failed = labelled(line, "Failed:");
        return line.contains("Total:").then(|| Count {
            run: labelled(line, "Passed:") + failed,
            failed,
        });
    }
    after(line, "Total tests: ").and_then(|n| ran(n, 0))
}

/// `5 tests completed, 1 failed`
fn gradle(line: &str) -> Option<Count> {
    let run = sum(line, &["tests", "test"]).filter(|_| line.contains("completed"))?;
    let idle = before(line, "skipped").unwrap_or(0);
    ran(
        run.saturating_sub(idle),
        before(line, "failed").unwrap_or(0),
    )
}

/// `Executed 1 out of 2 tests: 1 test passes and 1 fails locally.`; karma: `Executed 3 of 4 …`
fn bazel(line: &str) -> Option<Count> {
    let rest = line.strip_prefix("Executed ")?;
    if let Some((_, rest)) = rest.split_once(" out of ") {
        let failed = sum(rest, &["fails", "fail"]).unwrap_or(0);
        return ran(after(rest, "")?, failed);
    }
    let (number, rest) = rest.split_once(" of ")?;
    let failed = before(rest, "FAILED").unwrap_or(0);
    (rest.contains("SUCCESS") || rest.contains("FAILED")).then(|| Count {
        run: number.parse().unwrap_or(0),
        failed,
    })
}

/// `Executed 3 tests, with 0 failures (0 unexpected) in 0.01 seconds`, and swift-testing's line.
fn xctest(line: &str) -> Option<Count> {
    if let Some(run) = after(line, "Executed ").filter(|_| line.contains("test")) {
        let failed = sum(line, &["failures", "failure"])?;
        return ran(run, failed);
    }
    let (_, rest) = line.split_once("Test run with ")?;
    let run = after(rest, "")?;
    ran(run, u64::from(rest.contains("failed")))
}

/// `[==========] 4 tests from 2 test suites ran.` and `[  FAILED  ] 2 tests, listed below:`
fn gtest(line: &str) -> Option<Count> {
    let rest = line.strip_prefix('[')?;
    if let Some(rest) = rest.strip_prefix("==========] ") {
        return rest.contains(" ran.").then(|| Count {
            run: after(rest, "").unwrap_or(0),
            failed: 0,
        });
    }
    if let Some(rest) = rest.strip_prefix("  FAILED  ] ") {
        let listed = rest.contains("listed below") || rest.contains("FAILED TEST");
        return listed.then(|| Count {
            run: 0,
            failed: after(rest, "").unwrap_or(1),
        });
    }
    // R's testthat: `[ FAIL 0 | WARN 0 | SKIP 0 | PASS 3 ]`
    let failed = after(rest.trim(), "FAIL ")?;
    let passed = labelled(rest, "PASS ");
    ran(passed + failed, failed)
}

/// Catch2 and doctest.
fn catch(line: &str) -> Option<Count> {
    if let Some(rest) = line.strip_prefix("All tests passed (") {
        return ran(sum(rest, &["test"]).unwrap_or(1), 0);
    }
    let line = line.strip_prefix("[doctest] ").unwrap_or(line);
    let rest = line.strip_prefix("test cases:")?;
    let failed = before(rest, "failed").unwrap_or(0);
    ran(before(rest, "passed").unwrap_or(0) + failed, failed)
}

/// `ok 1 - name`, `not ok 2 - name`; a skipped one did not run, a TODO may fail. Also the lines
/// `PASS: name` of automake, busybox and dejagnu.
fn tap(line: &str) -> Option<Count> {
    let upper = line.to_ascii_uppercase();
    if let Some(rest) = line.strip_prefix("not ok ") {
        let counted = rest.starts_with(|c: char| c.is_ascii_digit());
        return counted.then_some(Count {
            run: 1,
            failed: u64::from(!upper.contains("# TODO")),
        });
    }
    if let Some(rest) = line.strip_prefix("ok ") {
        let counted = rest.starts_with(|c: char| c.is_ascii_digit());
        let skipped = upper.contains("# SKIP");
        return counted.then_some(Count {
            run: u64::from(!skipped),
            failed: 0,
        });
    }
    let named = |word: &str| {
        line.strip_prefix(word).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_alphanumeric() || "./_-".contains(c))
        })
    };
    if named("PASS: ") {
        ran(1, 0)
    } else if named("FAIL: ") {
        ran(1, 1)
    } else if named("SKIPPED: ") || named("SKIP: ") || named("UNTESTED: ") {
        NOTHING
    } else {
        None
    }
}

/// prove, tasty and `EUnit`, dart, deno, alcotest.
fn others(line: &str) -> Option<Count> {
    if line.starts_with("Files=") && line.contains("wallclock") {
        return ran(labelled(line, "Tests="), 0);
    }
    if let Some(run) = after(line, "All ").filter(|_| line.contains(" tests passed")) {
        return ran(run, 0);
    }
    // `00:02 +2 -1: Some tests failed.`
    let dart = line.ends_with(": All tests passed!") || line.ends_with(": Some tests failed.");
    if dart {
        let number = |sign: char| -> u64 {
            line.split([' ', ':'])
                .find_map(|w| w.strip_prefix(sign)?.parse().ok())
                .unwrap_or(0)
        };
        return ran(number('+') + number('-'), number('-'));
    }
    if line.starts_with("ok | ") || line.starts_with("FAILED | ") {
        let failed = before(line, "failed").unwrap_or(0);
        return ran(before(line, "passed").unwrap_or(0) + failed, failed);
    }
    let alcotest = line.starts_with("Test Successful in ") || line.contains(" failure! in ");
    before(line, "tests")
        .filter(|_| alcotest && line.ends_with("tests run."))
        .and_then(|run| ran(run, u64::from(!line.starts_with("Test Successful"))))
}
