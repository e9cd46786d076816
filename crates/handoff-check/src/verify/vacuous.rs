//! Did a test run run any test, and did one fail? Read from the output of the common runners.

use crate::report::plain::without_colours;

use super::runners::{Count, count, skipped_by_unittest};

/// What an output says about the tests it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// So many tests were run (skipped ones do not count), and so many of them failed. One, where
    /// only "some" can be told.
    Some {
        /// How many ran.
        run: u64,
        /// How many of them failed.
        failed: u64,
    },
    /// None: the run proves nothing.
    None,
    /// No count that we know; only the exit code judges.
    Unknown,
}

/// Reads the counts of every runner we know. One that ran something outweighs one that did not:
/// `cargo test` always has empty parts, such as documentation tests.
pub(crate) fn ran(output: &str) -> Ran {
    let plain = without_colours(output);
    let (mut run, mut failed, mut seen) = (0_u64, 0, false);
    for line in plain.lines() {
        if let Some(Count { run: r, failed: f }) = count(line) {
            seen = true;
            run += r;
            failed += f;
        }
        let (skipped, errors) = skipped_by_unittest(line);
        run = run.saturating_sub(skipped);
        failed += errors;
    }
    match (seen, run) {
        (false, _) => Ran::Unknown,
        (true, 0) => Ran::None,
        (true, run) => Ran::Some { run, failed },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Ran, ran};

    #[test]
    fn runs_without_a_test_are_told() {
        let mut missed = Vec::new();
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
            "Tests run: 3, Failures: 0, Errors: 0, Skipped: 3",
            "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
            "Passed!  - Failed:     0, Passed:     0, Skipped:     4, Total:     4, Duration: 1 ms",
            "No test matches the given testcase filter `X` in a.dll",
            "> Task :test NO-SOURCE",
            "ok | 0 passed | 0 failed (1ms)",
            " 0 pass\n 0 fail\nRan 0 tests across 0 files.",
            "Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds",
            "Executed 0 out of 0 tests: 0 tests pass.",
            "[==========] 0 tests from 0 test suites ran. (0 ms total)",
            "No tests ran.",
            "Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS",
            "# TOTAL: 0\n# PASS:  0\n# FAIL:  0",
            "[         0 tests found           ]",
            "Ran 0 tests containing 0 assertions.\n0 failures, 0 errors.",
            "Error: No tests found",
            "All 0 tests passed.",
            "[ FAIL 0 | WARN 0 | SKIP 3 | PASS 0 ]",
            "3 tests, 0 failures, 3 skipped",
            "There are no tests to run",
            "ninja: no work to do.",
            "  py311: OK (0.10=setup[0.10] seconds)\n  congratulations :) (0.15 seconds)",
            "py39: SKIP (0.01 seconds)\n  congratulations :) (0.02 seconds)",
            "nox > Session tests-3.9 skipped: Python interpreter 3.9 not found.",
            "No tasks were executed as part of this run.\n\n Tasks:    0 successful, 0 total\nCached:    0 cached, 0 total",
            "None of the selected packages has a \"test\" script",
            "No projects matched the filters in \"/x\"",
            "lerna success No packages found with the lifecycle script 'test'",
            "go: warning: \"./...\" matched no packages\nno packages to test",
            "[info] No tests were executed.",
            "No test cases matched 'x'\nNo tests ran",
            "test cases: 0 | 0 passed | 0 failed",
            "Running 0 test cases...\n\n*** No errors detected",
            "0 features passed, 0 failed, 0 skipped\n0 scenarios passed, 0 failed, 0 skipped",
            "0 tests, 0 passed, 0 failed",
            "No specs found, finished in 0.002 seconds",
            "Executed 0 of 0 SUCCESS (0.001 secs / 0 secs)",
            "   INFO  No tests found.",
            "0 tests, 0 assertions, 0 failures, 0 errors, 0 pendings",
            "Ran 0 tests in 0.000s\n\nPASSED",
            "Test run with 0 tests passed after 0.001 seconds.",
            "  0 passing (1ms)\n  3 pending",
            "No test files found matching pattern",
            "no test files found",
            "No tests to run.",
            "Ran 0 tests",
            "0 tests run, 0 failures",
        ] {
            if ran(output) != Ran::None {
                missed.push(output);
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
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
            ("3 examples, 0 failures, 1 pending", 2),
            ("5 runs, 9 assertions, 0 failures, 0 errors, 1 skips", 4),
            ("OK (3 tests, 5 assertions)", 3),
            ("Tests: 5, Assertions: 9, Failures: 1, Skipped: 1.", 4),
            (
                "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 9 ms",
                3,
            ),
            ("Total tests: 3\n     Passed: 3", 3),
            ("5 tests completed, 1 failed", 5),
            ("ok | 3 passed | 0 failed (12ms)", 3),
            (" 3 pass\n 1 fail\nRan 4 tests across 1 file. [9.00ms]", 4),
            (
                "Executed 3 tests, with 0 failures (0 unexpected) in 0.010 (0.011) seconds",
                3,
            ),
            ("Executed 2 out of 3 tests: 3 tests pass.", 3),
            (
                "Executed 1 out of 2 tests: 1 test passes and 1 fails locally.",
                2,
            ),
            (
                "[==========] 4 tests from 2 test suites ran. (0 ms total)\n[  PASSED  ] 4 tests.",
                4,
            ),
            ("All tests passed (7 assertions in 3 test cases)", 3),
            ("test cases: 3 | 2 passed | 1 failed", 3),
            (
                "[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped",
                3,
            ),
            ("Files=2, Tests=10,  0 wallclock secs\nResult: PASS", 10),
            ("# TOTAL: 5\n# PASS:  3\n# SKIP:  1\n# FAIL:  1", 4),
            ("1..3\nok 1 - a\nok 2 - b # SKIP\nok 3 - c", 2),
            ("ok 1 - a\nnot ok 2 - b\n1..2", 2),
            (
                "[         3 tests successful      ]\n[         3 tests found           ]",
                3,
            ),
            (
                "Tests: succeeded 3, failed 0, canceled 0, ignored 0, pending 0",
                3,
            ),
            ("All 3 tests passed (0.01s)", 3),
            ("00:02 +3: All tests passed!", 3),
            ("00:02 +2 -1: Some tests failed.", 3),
            (
                "Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.",
                3,
            ),
            ("  3 passed (1.2s)", 3),
            ("Executed 3 of 4 (skipped 1) SUCCESS (0.1 secs)", 3),
            ("3 doctests, 5 tests, 0 failures", 8),
            ("3 specs, 0 failures", 3),
            ("[ FAIL 0 | WARN 0 | SKIP 0 | PASS 3 ]", 3),
            ("✔ Test run with 3 tests passed after 0.01 seconds.", 3),
            ("PASS: a\nPASS: b\nSKIPPED: c", 2),
            ("Test Successful in 0.001s. 3 tests run.", 3),
        ];
        for (output, expected) in cases {
            let Ran::Some { run, .. } = ran(output) else {
                panic!("{output}");
            };
            assert_eq!(run, expected, "{output}");
        }
    }

    #[test]
    fn failures_are_counted_too() {
        for (output, expected) in [
            (
                "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s",
                1,
            ),
            (
                "     Summary [   0.2s] 3 tests run: 1 passed, 2 failed, 0 skipped",
                2,
            ),
            ("==== 2 failed, 3 passed, 1 error in 1.25s ====", 3),
            ("3 passed, 1 xfailed in 0.1s", 0),
            ("Ran 7 tests in 0.002s\n\nFAILED (failures=1, errors=2)", 3),
            ("FAIL\texample.com/p\t0.004s", 1),
            ("# tests 4\n# pass 3\n# fail 1", 1),
            ("Tests:       1 failed, 3 passed, 4 total", 1),
            ("  6 passing (20ms)\n  2 failing", 2),
            ("78% tests passed, 2 tests failed out of 9", 2),
            ("Tests run: 5, Failures: 1, Errors: 1, Skipped: 0", 2),
            ("3 examples, 1 failure", 1),
            ("5 runs, 9 assertions, 1 failures, 1 errors, 0 skips", 2),
            ("Tests: 5, Assertions: 9, Errors: 1, Failures: 1.", 2),
            (
                "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3",
                1,
            ),
            ("5 tests completed, 1 failed", 1),
            ("FAILED | 3 passed | 1 failed (12ms)", 1),
            (" 3 pass\n 1 fail", 1),
            (
                "Executed 3 tests, with 2 failures (0 unexpected) in 0.010 seconds",
                2,
            ),
            (
                "[==========] 4 tests from 2 test suites ran.\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.b",
                2,
            ),
            ("test cases: 3 | 2 passed | 1 failed", 1),
            ("# TOTAL: 5\n# PASS:  3\n# FAIL:  2", 2),
            ("1..2\nok 1 - a\nnot ok 2 - b", 1),
            ("1..1\nnot ok 1 - b # TODO later", 0),
            ("00:02 +2 -1: Some tests failed.", 1),
            ("[ FAIL 2 | WARN 0 | SKIP 0 | PASS 3 ]", 2),
            (
                "Executed 1 out of 2 tests: 1 test passes and 1 fails locally.",
                1,
            ),
        ] {
            let Ran::Some { failed, .. } = ran(output) else {
                panic!("{output}");
            };
            assert_eq!(failed, expected, "{output}");
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
