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

#[test]
fn h20_more_forms_that_hide_a_failure() {
    for command in [
        "cargo test; true",
        "cargo test && echo ok || echo fail",
        "if cargo test; then echo ok; fi",
        "if cargo test; then echo ok; else echo no; fi",
        "set +e; cargo test; exit 0",
        "{ cargo test || true; }",
        "timeout 60 cargo test || true",
        "cargo test | xargs echo || true",
        "cargo test 2>&1 | tee log; true",
        "cargo test; exit 0",
        "cargo test & ",
        "cargo test &\nwait",
        "bash -c 'cargo test || true'",
        "sh -c \"cargo test; true\"",
        "env X=1 cargo test || true",
        "nice cargo test; echo done",
        "x=$(cargo test); echo $x",
        "echo $(cargo test)",
        "cargo test ||true",
        "cargo test;:",
        "cargo test\ntrue",
        "cargo test || (echo x; exit 0)",
        "while ! cargo test; do break; done",
        "until cargo test; do break; done",
        "for i in 1; do cargo test; done; echo",
        "time cargo test || true",
        "cargo test 2>/dev/null || /bin/true",
        "cargo test || printf x",
        "cargo test || return 0",
        "eval 'cargo test || true'",
        "set -e; cargo test || true",
        "cargo test | cat || true",
        "case x in x) cargo test;; esac; true",
        "cargo test || test 1 = 1",
        "cargo test || [ -d . ]",
        "python -m pytest || python -c 'pass'",
        "pytest; test $? -ne 2",
        "pytest || [ $? -eq 1 ]",
        "cargo test <(true) || true",
        "cargo test || sleep 0",
        "cargo test || git status",
        "go test ./... || true",
        "cargo test --no-fail-fast || true",
        "xargs -a list cargo test || true",
        "find . -name x -exec cargo test \\;",
        "make -k test || true",
        "ctest || true",
        "timeout --preserve-status 1 cargo test; true",
        "pytest --exitfirst; echo $?",
        "pytest -q; echo exit=$?",
        "{ pytest; } 2>&1; :",
        "pytest ; (exit 0)",
        "yes | cargo test; true",
        "cargo test || exit $((0))",
        "a=1 || cargo test",
        "true || cargo test",
        "false && cargo test; true",
        "[ -f nope ] && cargo test || true",
        "command -v cargo && cargo test || true",
        "which pytest && pytest || echo skipped",
    ] {
        assert!(masked(command).is_some(), "{command}");
    }
}

#[test]
fn h21_more_honest_commands_are_not_accused() {
    for command in [
        "cargo test && echo ok",
        "cargo test | tee log",
        "cargo test 2>&1 | tail -5",
        "set -e; cargo test; echo done",
        "cargo test || { echo failed; exit 1; }",
        "if ! cargo test; then exit 1; fi",
        "if cargo test; then echo ok; else exit 1; fi",
        "cd x && cargo test",
        "(cd x && cargo test)",
        "timeout 60 cargo test",
        "env A=1 cargo test",
        "bash -c 'cargo test'",
        "npm test",
        "make test",
        "pytest -q && ruff check .",
        "pytest; rc=$?; echo done; exit $rc",
        "pytest || exit $?",
        "trap 'rm -f x' EXIT; cargo test",
        "for p in a b; do cargo test -p $p || exit 1; done",
        "out=$(cargo test) && echo \"$out\"",
        "test -f a && cargo test",
        "mkdir -p x; cargo test",
        "rm -f x || true; cargo test",
        "command -v cargo >/dev/null || exit 1; cargo test",
        "! git grep -q foo",
        "grep -q x a || grep -q y a",
        "diff <(cat a) b",
        "cargo test -- --nocapture",
        "python -c 'assert 1'",
        "xargs cargo test < list",
        "find . -name '*.sh' -exec bash -n {} +",
        "nice -n 5 cargo test",
        "PYTHONPATH=. pytest tests -q",
        "source venv/bin/activate && pytest",
        "set -o pipefail; cargo test 2>&1 | tee out.txt",
        "cargo build && ./target/debug/x --help | grep -q usage",
        "test \"$(cat a)\" = 1",
        "[ \"$(wc -l < a)\" -eq 1 ]",
        "node -e \"require('./a')\"",
        "pytest -k 'not slow'",
        "while read t; do cargo test $t || exit 1; done < list",
        "cargo test || (echo bad >&2; exit 3)",
        "cargo test || false",
        "test $(cargo run) = 3",
        "wait; cargo test",
        "true && cargo test",
        "false || cargo test",
    ] {
        assert_eq!(masked(command), None, "{command}");
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
