use proptest::prelude::*;

use super::{masked, masked_in_a_plain_shell};

#[test]
fn h20_forms_that_cannot_fail_are_no_evidence() {
    for command in [
        "pytest || true",
        "cargo test ||:",
        "cargo test || :",
        "cargo test || echo failed",
        "npm test; echo done",
        "npm test ; exit 0",
        "npm test\ntrue",
        "make check &",
        "true",
        "echo ok",
        "! cargo test",
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
        "cargo test && true || true",
        "cargo test || exit 0",
        "{ cargo test; } || :",
        "(cargo test; true)",
        "(set -e; cargo test) || echo no",
        "set +e; cargo test; echo $?",
        "set -e; cargo test || true; echo ok",
        "timeout 600 cargo test || echo too slow",
        "timeout 600 bash -c 'cargo test; true'",
        "sh -c 'pytest | tail -3'",
        "bash -c 'pytest; echo done' # comment; true",
        "eval 'pytest || true'",
        "cargo test 2>&1 | tee log; exit ${PIPESTATUS[1]}",
        "cargo test > log 2>&1; grep -c passed log; true",
        "cargo test & wait",
        "(cargo test &)",
        "trap 'exit 0' EXIT; cargo test",
        "trap 'exit 0' EXIT\nset -e\ncargo test",
        "make -i test",
        "make -k -i test",
        "MAKEFLAGS=-i make test",
        "make --ignore-errors check",
        "mvn test -DskipTests",
        "mvn verify -Dmaven.test.failure.ignore=true",
        "cargo test; cargo build",
        "[ -d tests ] && pytest || echo no tests",
        "if cargo test; then :; else echo failed; fi",
        "while read t; do pytest $t; done < list",
        "export OUT=$(cargo test)",
        "t() { cargo test; echo done; }; t",
        "run() { pytest || return 0; }; run",
        "find . -name '*_test.py' -exec python {} \\;",
        "script -q -c 'cargo test' log",
        "cargo test || (echo failed; exit 0)",
        "cargo test || { cat log; true; }",
        "pytest || npm run lint || true",
        "flake8 --exit-zero",
        "grep -q x f || true",
        "./check.sh; rm -rf tmp",
        "cargo test --help",
        "pytest; rc=$?; echo $rc",
        "pytest; rc=$?; exit 0",
        "busybox timeout 5 make test || :",
        "npm test || npm run build",
        "case $CI in 1) pytest || true;; *) pytest;; esac",
        "npm test -- --if-present",
    ] {
        assert!(masked(command).is_some(), "{command}");
    }
}

#[test]
fn a_pipe_hides_a_failure_only_from_a_plain_shell() {
    for command in [
        "pytest -q | tail -3",
        "cargo test 2>&1 | tee log",
        "cargo test |& tail",
    ] {
        assert_eq!(masked(command), None, "{command}");
        assert!(masked_in_a_plain_shell(command).is_some(), "{command}");
    }
    for command in [
        "set -o pipefail; pytest | tail -3",
        "pytest | tail; exit ${PIPESTATUS[0]}",
    ] {
        assert_eq!(masked_in_a_plain_shell(command), None, "{command}");
    }
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
        "for i in 1 2 3; do cargo test && break; done",
        "for i in 1 2 3; do cargo test && exit 0; done; exit 1",
        "until cargo test; do sleep 1; done",
        "set -e; cargo test; cat test.log",
        "set -euo pipefail\ncargo test\necho ok",
        "bash -ec 'cargo test; echo done'",
        "bash -o pipefail -c 'cargo test | tail'",
        "pytest; rc=$?; cat test.log; exit $rc",
        "if ! cargo test; then cat log; exit 1; fi",
        "pytest || exit 1; ls out",
        "make build; make test",
        "cargo build; ./target/debug/x --self-test && cargo test",
        "test -f a || false",
        "git log -n 1 && make",
        "! grep -rn TODO src",
        "! git grep -n FIXME",
        "cargo test & wait $!",
        "pytest || [ $? -eq 5 ]",
        "pytest || python -m unittest",
        "fail=0; for t in a b; do ./t $t || fail=1; done; exit $fail",
        "n=0; for t in a b; do ./t $t || n=$((n+1)); done; [ $n -eq 0 ]",
        "failed=; for t in a b; do ./t $t || failed=1; done; [ -z \"$failed\" ]",
        "for t in a b; do ./t $t || ((n++)); done; (( n == 0 ))",
        "trap 'rm -rf tmp' EXIT; cargo test",
        "t() { cargo test; }; t",
        "docker run --rm x cargo test",
        "cargo test -- --test-threads=1",
        "make -k test",
        "make test CC=clang",
        "out=$(cargo test 2>&1) || { echo \"$out\"; exit 1; }",
        "diff <(./a) expected",
        "cat <<E | ./check\n|| true\nE",
        "[ -x ./t ] && ./t",
        "case $X in a) exit 1;; esac; cargo test",
        "cargo test; exit $?",
        "cargo test; exit",
        "npm ci && npm test",
        "pushd sub; npm test; rc=$?; popd; (exit $rc)",
        "cargo clippy -- -D warnings && cargo test",
        "xargs -n1 pytest < list",
        "find . -name 't_*.py' -exec pytest {} +",
        "command -v cargo && cargo test",
        "exec cargo test",
        "time cargo test",
        "node --test; exit $?",
        "false",
    ] {
        assert_eq!(masked(command), None, "{command}");
    }
}

#[test]
fn the_reason_says_what_hides_it() {
    for (command, words) in [
        ("pytest || true", "`|| true` turns every failure"),
        ("pytest; cat log", "that of `cat log`, not of `pytest`"),
        ("pytest &", "in the background"),
        ("if pytest; then :; fi", "`if` turns"),
        ("for t in a b; do pytest $t; done", "`for` loop"),
        ("trap 'exit 0' EXIT; pytest", "trap"),
        ("true", "whatever the work is like"),
        ("make -i test", "ignores every failure"),
    ] {
        let why = masked(command).unwrap_or_default();
        assert!(why.contains(words), "{command}: {why}");
    }
}

proptest! {
    #[test]
    fn no_command_makes_it_panic(command in "[a-z|&;\n'\"`(){}#!\\\\ é>$<=]{0,60}") {
        let _ = masked_in_a_plain_shell(&command);
    }

    #[test]
    fn no_program_of_shell_words_makes_it_panic(words in proptest::collection::vec(
        prop::sample::select(vec!["if", "then", "fi", "for", "x", "in", "do", "done", "while", "a",
            ";", "&&", "||", "|", "{", "}", "(", ")", "!", "case", "esac", "t()", "exit", "1", "$?",
            "break", "set", "-e", "trap", "'exit 0'", "EXIT", "\n", "&", "until", "x=$(a)", "sh",
            "-c", "'a; b'", "t", "return"]), 0..30)) {
        let _ = masked(&words.join(" "));
    }

    #[test]
    fn whatever_comes_before_or_true_is_masked(words in "[a-z]{1,8}( [a-z./-]{1,8}){0,4}") {
        prop_assume!(super::parse(&words).is_some());
        let first = words.split(' ').next().unwrap_or_default();
        prop_assume!(!matches!(first, "exit" | "exec" | "return" | "time" | "eval" | "set"));
        let swallowed = format!("{words} || true");
        prop_assert!(masked(&swallowed).is_some());
        let buried = format!("{words}; echo done");
        prop_assert!(masked(&buried).is_some());
    }
}
