//! More summaries: of build tools, and of runners that count suites, scenarios or labelled numbers.

use super::runners::{Count, NOTHING, after, before, labelled, ran, sum};

/// The tests a summary line says were run.
pub(super) fn count(line: &str) -> Option<Count> {
    let readers: [fn(&str) -> Option<Count>; 11] = [
        nothing, task, dots, labels, meson, ratio, scenarios, totals, julia, cypress, skipped,
    ];
    readers.iter().find_map(|read| read(line))
}

/// Lines with which a runner says plainly that it ran nothing.
fn nothing(line: &str) -> Option<Count> {
    const BEGINNINGS: [&str; 21] = [
        "there are no tests to run",
        "tests are skipped.",
        "test run summary: zero tests ran",
        "info  no tests found",
        "error: no test modules found",
        "error: no test targets were found",
        "error: no test specified",
        "info: found 0 test targets",
        "warning: no tests to run",
        "no examples found",
        "no test cases matched",
        "no tests found for given includes",
        "no tests defined",
        "all tests have been excluded",
        "all examples were filtered out",
        "all available tests: 0",
        "all tests skipped",
        "ninja: no work to do",
        "nothing to test",
        "1..0 ",
        "tests  no tests",
    ];
    let lower = line.to_ascii_lowercase();
    let lower = lower.trim_start_matches("> ");
    let says = BEGINNINGS.iter().any(|b| lower.starts_with(b))
        || lower == "no tests ran"
        || lower.ends_with("couldn't find any files to test")
        || lower.ends_with(": no tests ran.")
        || lower.ends_with(": all tests skipped.");
    says.then_some(NOTHING).flatten()
}

/// Gradle: `> Task :app:test`, and how it went. A task that is up to date ran once.
fn task(line: &str) -> Option<Count> {
    let task = line.strip_prefix("> Task :")?;
    let (name, outcome) = task.split_once(' ').unwrap_or((task, ""));
    if !name.to_ascii_lowercase().ends_with("test") {
        return None;
    }
    match outcome {
        "" | "UP-TO-DATE" | "FROM-CACHE" => ran(1, 0),
        "FAILED" => ran(1, 1),
        "NO-SOURCE" | "SKIPPED" => NOTHING,
        _ => None,
    }
}

/// `..F.s   [100%]`: all that the quietest pytest says.
fn dots(line: &str) -> Option<Count> {
    let (marks, percent) = line.split_once(' ')?;
    let percent = percent.trim().strip_prefix('[')?.strip_suffix("%]")?;
    percent.trim().parse::<u8>().ok()?;
    let is_mark = |c: char| matches!(c, '.' | 'F' | 'E' | 's' | 'x' | 'X');
    if !marks.chars().all(is_mark) {
        return None;
    }
    let number = |wanted: &str| {
        let found = marks.chars().filter(|c| wanted.contains(*c));
        found.fold(0, |n, _| n + 1)
    };
    ran(number(".FExX"), number("FE"))
}

/// `Test summary: total: 3, failed: 0, succeeded: 3`, `Test Count: 3, Passed: 3, Failed: 0`,
/// `succeeded: 3`, sbt's `Passed: Total 3, Failed 0, Errors 0, Passed 3`.
fn labels(line: &str) -> Option<Count> {
    if line.starts_with("Test summary:") {
        let failed = labelled(line, "failed: ");
        return ran(labelled(line, "succeeded: ") + failed, failed);
    }
    if line.starts_with("Test Count: ") {
        let failed = labelled(line, "Failed: ");
        return ran(labelled(line, "Passed: ") + failed, failed);
    }
    if let Some(number) = whole(line, "succeeded:") {
        return ran(number, 0);
    }
    let total = ["Passed: Total ", "Failed: Total ", "Error: Total "];
    if let Some(run) = total.iter().find_map(|t| after(line, t)) {
        return ran(run, labelled(line, "Failed ") + labelled(line, "Errors "));
    }
    after(line, "Total number of tests run: ").and_then(|run| ran(run, 0))
}

/// `Ok:                 3`, one label a line.
fn meson(line: &str) -> Option<Count> {
    if let Some(number) = whole(line, "Ok:").or(whole(line, "Expected Fail:")) {
        return ran(number, 0);
    }
    let bad = ["Fail:", "Unexpected Pass:", "Timeout:"];
    let number = bad.iter().find_map(|label| whole(line, label))?;
    ran(number, number)
}

/// The number that is all that stands after a label.
fn whole(line: &str, label: &str) -> Option<u64> {
    line.strip_prefix(label)?.trim().parse().ok()
}

/// Zig's `3/3 tests passed`, cabal's `1 of 1 test suites (3 of 3 test cases) passed.`
fn ratio(line: &str) -> Option<Count> {
    if let Some((head, _)) = line.split_once(" tests passed") {
        let (passed, all) = head.rsplit([' ', ';']).next()?.split_once('/')?;
        let (passed, all): (u64, u64) = (passed.parse().ok()?, all.parse().ok()?);
        return ran(all, all.saturating_sub(passed));
    }
    let (_, cases) = line.split_once("test suites (")?;
    let (passed, rest) = cases.split_once(" of ")?;
    let (passed, all): (u64, u64) = (passed.parse().ok()?, after(rest, "")?);
    rest.contains("test cases")
        .then(|| ran(all, all.saturating_sub(passed)))
        .flatten()
}

/// behave, cucumber: scenarios; ginkgo: specs.
fn scenarios(line: &str) -> Option<Count> {
    let digit = line.starts_with(|c: char| c.is_ascii_digit());
    if let Some(run) = after(line, "Ran ").filter(|_| line.contains(" Specs in ")) {
        return ran(run, 0);
    }
    if line.starts_with("FAIL! -- ") {
        return ran(0, before(line, "Failed")?);
    }
    let subject = sum(line, &["scenarios", "scenario"]).filter(|_| digit)?;
    let failed = before(line, "failed").unwrap_or(0);
    if line.contains("scenarios passed") || line.contains("scenario passed") {
        return ran(subject + failed, failed);
    }
    match before(line, "passed") {
        Some(passed) => ran(passed + failed, failed),
        None if failed > 0 => ran(failed, failed),
        // `3 scenarios (3 skipped)` and `0 scenarios`
        None => NOTHING,
    }
}

/// robot, busted, gotestsum, turbo.
fn totals(line: &str) -> Option<Count> {
    let digit = line.starts_with(|c: char| c.is_ascii_digit());
    if digit && line.contains("passed, ") && sum(line, &["tests", "test"]).is_some() {
        let failed = before(line, "failed").unwrap_or(0);
        return ran(before(line, "passed")? + failed, failed);
    }
    if digit && line.contains(" / ") && line.contains("success") {
        let failed = sum(line, &["failures", "failure", "errors", "error"]).unwrap_or(0);
        return ran(sum(line, &["successes", "success"])? + failed, failed);
    }
    if line.starts_with("DONE ") {
        return ran(
            sum(line, &["tests", "test"])?,
            sum(line, &["failures", "failure"]).unwrap_or(0),
        );
    }
    let none = line.starts_with("Tasks:") && line.ends_with(", 0 total");
    none.then_some(NOTHING).flatten()
}

/// `Test Summary: | Pass  Fail  Total`: a column stands there only when it has something to say.
fn julia(line: &str) -> Option<Count> {
    let columns = line.strip_prefix("Test Summary:")?;
    let has = |name: &str| columns.split_whitespace().any(|c| c == name);
    if !has("Total") {
        return None;
    }
    let failed = has("Fail") || has("Error");
    let run = has("Pass") || failed || has("Broken");
    ran(u64::from(run), u64::from(failed))
}

/// `│ Passing:      3   │`
fn cypress(line: &str) -> Option<Count> {
    let cell = line.strip_prefix('│')?.strip_suffix('│')?.trim();
    if let Some(number) = whole(cell, "Passing:") {
        return ran(number, 0);
    }
    let number = whole(cell, "Failing:")?;
    ran(number, number)
}

/// Playwright's `3 skipped`, alone in its line.
fn skipped(line: &str) -> Option<Count> {
    let number: u64 = line.strip_suffix(" skipped")?.parse().ok()?;
    (number > 0).then_some(NOTHING).flatten()
}

#[cfg(test)]
mod tests {
    use crate::verify::vacuous::{Ran, ran};

    #[test]
    fn runs_of_nothing_are_told_whatever_the_runner() {
        for output in [
            "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s",
            "> Task :test SKIPPED\nBUILD SUCCESSFUL",
            "> No tests found for given includes: [com.x.*](--tests filter)",
            "[INFO] --- maven-surefire-plugin:2.22.2:test (default-test) @ app ---\n[INFO] No tests to run.\n[INFO] BUILD SUCCESS",
            "[INFO] Tests are skipped.\n[INFO] BUILD SUCCESS",
            "[INFO] Results:\n[INFO] \n[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
            "[INFO] No tests were executed!",
            "No test is available in /x/bin/Debug/net8.0/x.dll. Make sure that test discoverer & executors are registered",
            "No test matches the given testcase filter `Foo` in /x.dll",
            "Test run summary: Zero tests ran\n  total: 0\n  failed: 0\n  succeeded: 0\n  skipped: 0",
            "Test summary: total: 0, failed: 0, succeeded: 0, skipped: 0, duration: 1.0s",
            "No examples found.\n\nFinished in 0.0003 seconds (files took 0.04 seconds to load)\n0 examples, 0 failures",
            "3 examples, 0 failures, 3 pending",
            "Run options: include {:focus=>true}\n\nAll examples were filtered out\n\n0 examples, 0 failures",
            "PHPUnit 10.5\n\nNo tests executed!",
            "OK, but some tests were skipped!\nTests: 3, Assertions: 0, Skipped: 3.",
            "  INFO  No tests found.",
            "Finished in 0.01 seconds (0.00s async, 0.01s sync)\n0 tests, 0 failures",
            "Excluding tags: [:test]\nFinished in 0.02 seconds\n3 tests, 0 failures, 3 excluded",
            "There are no tests to run",
            "All tests have been excluded.\n\nFinished in 0.02 seconds\n5 tests, 0 failures, 5 excluded",
            "All 0 tests passed.",
            "0/0 tests passed",
            "Build Summary: 3/3 steps succeeded; 0/0 tests passed",
            "bun test v1.1.0\n\n 0 pass\n 0 fail\nRan 0 tests across 0 files. [5.00ms]",
            "No tests found!\nTests need \".test\", \"_test_\", \".spec\" or \"_spec_\" in the filename",
            "ok | 0 passed | 0 failed (2ms)",
            "error: No test modules found",
            "ok | 0 passed | 0 failed | 5 filtered out (1ms)",
            "    Starting 0 tests across 1 binary (3 tests skipped)\n------------\n     Summary [   0.000s] 0 tests run: 0 passed, 3 skipped",
            "error: no tests to run\n(hint: use `--no-tests` to customize)",
            "warning: no tests to run",
            "INFO: Build completed successfully, 1 total action\nINFO: Found 0 test targets...",
            "ERROR: No test targets were found, yet testing was requested",
            "No tests defined.",
            "Ok:                 0   \nExpected Fail:      0   \nFail:               0   \nUnexpected Pass:    0   \nSkipped:            0   \nTimeout:            0",
            "Ok:                 0   \nFail:               0   \nSkipped:            5   \nTimeout:            0",
            "No test cases matched '[foo]'\n===============================================================================\nNo tests ran",
            "test cases: 0 | 0 passed | 0 failed",
            "===\nAll available tests: 0",
            "Note: Google Test filter = Foo*\n[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test suites ran. (0 ms total)\n[  PASSED  ] 0 tests.",
            "[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test suites ran. (0 ms total)\n[  PASSED  ] 0 tests.\n\n  YOU HAVE 3 DISABLED TESTS",
            "[doctest] test cases: 0 | 0 passed | 0 failed | 3 skipped\n[doctest] assertions: 0 | 0 passed | 0 failed |\n[doctest] Status: SUCCESS!",
            "collected 0 items\n\n============================ no tests ran in 0.01s =============================",
            "\nno tests ran in 0.00s",
            "collected 5 items / 5 deselected / 0 selected\n\n5 deselected in 0.01s",
            "sss                                                                      [100%]\n3 skipped in 0.01s",
            "2 workers [0 items]\n\n============================ no tests ran in 0.43s =============================",
            "======================== 2 skipped, 1 warning in 0.03s =========================",
            "Test project /x/build\nNo tests were found!!!",
            "100% tests passed, 0 tests failed out of 0",
            "The following tests did not run:\n\t  1 - a (Disabled)\n\n100% tests passed, 0 tests failed out of 0",
            "?   \tx\t[no test files]",
            "testing: warning: no tests to run\nPASS\nok  \tx\t0.002s [no tests to run]",
            "ok  \tx\t0.002s [no tests to run]\nok  \ty\t(cached) [no tests to run]",
            "  0 passing (2ms)",
            "  0 passing (2ms)\n  3 pending",
            "No tests found, exiting with code 0",
            "Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 3 total",
            "No test files found, exiting with code 0",
            " Test Files  1 skipped (1)\n      Tests  3 skipped (3)",
            " Test Files  no tests\n      Tests  no tests",
            "  ✖ Couldn't find any files to test",
            "1..0 # SKIP no tests",
            "# tests 0\n# pass  0\n\n# ok",
            "ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0",
            "│ Tests:        0   │\n│ Passing:      0   │",
            "Error: No tests found",
            "  3 skipped",
            "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
            "3 runs, 0 assertions, 0 failures, 0 errors, 3 skips",
            "Test Suite 'All tests' passed at 2024.\n\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds",
            "✔ Test run with 0 tests passed after 0.001 seconds.",
            "[info] No tests were executed.",
            "[info] Passed: Total 0, Failed 0, Errors 0, Passed 0",
            "[info] Total number of tests run: 0\n[info] Tests: succeeded 0, failed 0, canceled 0, ignored 0, pending 0\n[info] No tests were executed.",
            "Ran 0 tests containing 0 assertions.\n0 failures, 0 errors.",
            "0 of 0 test suites (0 of 0 test cases) passed.",
            "0 examples, 0 failures",
            "Test Summary: | Total  Time\nx             |     0  0.0s",
            "[ FAIL 0 | WARN 0 | SKIP 2 | PASS 0 ]",
            "Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS",
            "1..0",
            "No tests ran.",
            "00:00 +0: No tests ran.",
            "00:01 +0 ~3: All tests skipped.",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "0 features passed, 0 failed, 0 skipped\n0 scenarios passed, 0 failed, 0 skipped",
            "0 scenarios\n0 steps",
            "0 tests, 0 passed, 0 failed",
            "Ran 0 of 5 Specs in 0.000 seconds\nSUCCESS! -- 0 Passed | 0 Failed | 0 Pending | 5 Skipped",
            "Test Count: 0, Passed: 0, Failed: 0, Warnings: 0, Inconclusive: 0, Skipped: 0",
            "0 successes / 0 failures / 0 errors / 0 pending : 0.0 seconds",
            "Executed 0 of 0 SUCCESS (0.002 secs / 0 secs)",
            "Ran 0 tests in 0.000 seconds, 0 successes, 0 failures",
            "make: 'test' is up to date.",
            "make: Nothing to be done for 'check'.",
            "ninja: no work to do.",
            "> x@1.0.0 test\n> echo \"Error: no test specified\"\n\nError: no test specified",
            " Tasks:    0 successful, 0 total\n",
            "----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nOK",
            "Ran 0 tests in 0.000s\n\nNO TESTS RAN",
            "Found 0 test(s).\nSystem check identified no issues (0 silenced).\n\nRan 0 tests in 0.000s\n\nOK",
        ] {
            assert_eq!(ran(output), Ran::None, "{output}");
        }
    }

    #[test]
    fn runs_of_something_are_never_called_vacuous() {
        for output in [
            "> Task :test\n\nBUILD SUCCESSFUL in 3s",
            "> Task :test\n\n5 tests completed, 0 failed\nBUILD SUCCESSFUL",
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s - in a.B\n[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1",
            "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 9 ms - x.dll (net8.0)",
            "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0, duration: 1.0s",
            "Test run summary: Passed!\n  total: 3\n  failed: 0\n  succeeded: 3",
            "collected 3 items\n\ntests/a.py ... [100%]\n\n====== 3 passed in 0.01s ======",
            "...                                                                      [100%]\n3 passed in 0.01s",
            "...                                                                      [100%]",
            "gw0 [3] / gw1 [3]\n...\n====== 3 passed in 1.01s ======",
            "Ok:                 3   \nExpected Fail:      0   \nFail:               0   \nTimeout:            0",
            "All 3 tests passed.",
            "Build Summary: 3/3 steps succeeded; 3/3 tests passed",
            "1 of 1 test suites (1 of 1 test cases) passed.",
            "Test Summary: | Pass  Total  Time\nx             |    3      3  0.0s",
            "Ran 5 of 5 Specs in 0.000 seconds\nSUCCESS! -- 5 Passed | 0 Failed | 0 Pending | 0 Skipped",
            "1 feature passed, 0 failed, 0 skipped\n3 scenarios passed, 0 failed, 0 skipped",
            "3 scenarios (3 passed)\n9 steps (9 passed)",
            "3 successes / 0 failures / 0 errors / 0 pending : 0.0 seconds",
            "[info] Passed: Total 3, Failed 0, Errors 0, Passed 3",
            "3 tests, 3 passed, 0 failed",
            "Executed 0 out of 2 tests: 2 tests pass.",
            "Test Count: 3, Passed: 3, Failed: 0, Warnings: 0, Inconclusive: 0, Skipped: 0",
            "DONE 3 tests in 0.1s",
            "✔ Test run with 3 tests in 1 suite passed after 0.001 seconds.",
            "  3 passed (1.2s)",
            "Ran 3 tests in 0.000 seconds, 3 successes, 0 failures",
            "> Task :a:test NO-SOURCE\n> Task :b:test\nBUILD SUCCESSFUL",
            "> Task :test UP-TO-DATE\nBUILD SUCCESSFUL",
        ] {
            let found = ran(output);
            assert!(
                matches!(found, Ran::Some { failed: 0, .. }),
                "{found:?}: {output}"
            );
        }
    }

    #[test]
    fn failures_are_counted_whatever_the_runner() {
        for output in [
            "> Task :test FAILED",
            "..F.s                                  [100%]",
            "Ok:                 3   \nFail:               1   ",
            "Build Summary: 3/4 steps succeeded; 2/3 tests passed",
            "0 of 1 test suites (2 of 3 test cases) passed.",
            "Ran 5 of 5 Specs in 0.1 seconds\nFAIL! -- 4 Passed | 1 Failed | 0 Pending | 0 Skipped",
            "2 scenarios passed, 1 failed, 0 skipped",
            "3 scenarios (1 failed, 2 passed)",
            "3 tests, 2 passed, 1 failed",
            "2 successes / 1 failure / 0 errors / 0 pending : 0.0 seconds",
            "[error] Failed: Total 3, Failed 1, Errors 0, Passed 2",
            "Test Summary: | Pass  Fail  Total  Time",
            "Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.0s",
            "DONE 3 tests, 1 failure in 0.1s",
        ] {
            let found = ran(output);
            assert!(
                matches!(found, Ran::Some { failed: 1.., .. }),
                "{found:?}: {output}"
            );
        }
    }
}
