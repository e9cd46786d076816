//! What programs are for: which of a line's commands is the one that judges.

use super::program::{base, is_python, plain};

/// What a command is in a check, from what says nothing to what says most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Succeeds whatever the work is like: `echo`, `true`, an assignment.
    Trivial,
    /// Prepares or shows something: `cd`, `cat`, `mkdir`.
    Helper,
    /// Builds.
    Build,
    /// Anything else: it may well be what judges.
    #[default]
    Other,
    /// Looks at the code without running it: linters, type checkers.
    Check,
    /// Runs tests.
    Test,
}

const TRIVIAL: [&str; 25] = [
    "true", ":", "echo", "printf", "pwd", "date", "sleep", "exit", "return", "set", "shopt",
    "trap", "export", "unset", "local", "declare", "readonly", "typeset", "break", "continue",
    "wait", "ulimit", "umask", "alias", "shift",
];
const HELPERS: [&str; 42] = [
    "cd", "pushd", "popd", "mkdir", "rmdir", "rm", "cp", "mv", "ls", "cat", "head", "tail", "tee",
    "wc", "sort", "uniq", "touch", "source", ".", "chmod", "chown", "ln", "sed", "awk", "gawk",
    "cut", "tr", "less", "more", "tput", "clear", "kill", "killall", "pkill", "hash", "which",
    "command", "type", "mktemp", "git", "column", "nl",
];
const TESTS: [&str; 52] = [
    "pytest",
    "py.test",
    "tox",
    "nox",
    "nosetests",
    "nose2",
    "nose",
    "trial",
    "stestr",
    "behave",
    "robot",
    "unittest",
    "doctest",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "tape",
    "karma",
    "cypress",
    "playwright",
    "jasmine",
    "wtr",
    "rspec",
    "cucumber",
    "minitest",
    "phpunit",
    "pest",
    "behat",
    "codecept",
    "ctest",
    "bats",
    "prove",
    "busted",
    "ginkgo",
    "gotestsum",
    "kyua",
    "shellspec",
    "zunit",
    "lit",
    "cargo-nextest",
    "ward",
    "green",
    "testthat",
    "luaunit",
    "utest",
    "xcodebuild",
    "vstest.console",
    "runghc-tests",
    "newman",
    "k6",
];
const CHECKS: [&str; 33] = [
    "eslint",
    "tsc",
    "flake8",
    "ruff",
    "mypy",
    "pylint",
    "black",
    "isort",
    "pyright",
    "shellcheck",
    "golangci-lint",
    "staticcheck",
    "gofmt",
    "stylelint",
    "prettier",
    "biome",
    "rubocop",
    "phpstan",
    "psalm",
    "hadolint",
    "yamllint",
    "markdownlint",
    "vale",
    "bandit",
    "semgrep",
    "clang-tidy",
    "clang-format",
    "rustfmt",
    "ktlint",
    "detekt",
    "swiftlint",
    "mandoc",
    "pre-commit",
];
/// Runners of named targets or scripts.
const BY_TARGET: [&str; 17] = [
    "make", "gmake", "ninja", "just", "task", "rake", "mage", "npm", "yarn", "pnpm", "bun",
    "composer", "gradle", "gradlew", "mvn", "mvnw", "nx",
];
/// Programs whose first word says what they do.
const BY_VERB: [&str; 29] = [
    "cargo", "go", "dotnet", "swift", "zig", "deno", "bazel", "bazelisk", "buck", "buck2", "pants",
    "sbt", "lein", "mix", "stack", "cabal", "dune", "rebar3", "crystal", "nimble", "dub", "dart",
    "flutter", "turbo", "lerna", "meson", "ng", "artisan", "forge",
];

/// What a command is, by its words.
pub fn class(words: &[&str]) -> Class {
    of(&plain(words))
}

pub(super) fn of(words: &[String]) -> Class {
    let Some(first) = words.first() else {
        return Class::Trivial;
    };
    let name = base(first);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if TRIVIAL.contains(&name) {
        return Class::Trivial;
    }
    if TESTS.contains(&name) {
        return Class::Test;
    }
    if CHECKS.contains(&name) {
        return Class::Check;
    }
    if name == "git"
        && words
            .iter()
            .any(|w| matches!(w.as_str(), "--exit-code" | "--check" | "--quiet"))
    {
        return Class::Other;
    }
    if HELPERS.contains(&name) {
        return Class::Helper;
    }
    if BY_TARGET.contains(&name) {
        return by_target(name, words);
    }
    if BY_VERB.contains(&name) {
        return by_verb(words);
    }
    if name == "node" && words.iter().any(|w| w == "--test") {
        return Class::Test;
    }
    let interpreted = matches!(
        name,
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "node" | "ruby" | "perl" | "php" | "source"
    ) || is_python(name);
    if interpreted {
        let script = words[1..].iter().find(|w| !w.starts_with('-'));
        let manage =
            script.is_some_and(|s| matches!(base(s), "manage.py" | "artisan" | "setup.py"));
        if manage && words.iter().any(|w| w == "test") {
            return Class::Test;
        }
        return script.map_or(Class::Other, |s| by_name(base(s)));
    }
    if matches!(name, "test" | "[" | "[[" | "((") {
        return Class::Other;
    }
    by_name(name)
}

/// The words a name is made of, `run-unit_tests.sh` for example.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
}

fn is_test_word(word: &str) -> bool {
    matches!(
        word,
        "test"
            | "tests"
            | "t"
            | "e2e"
            | "spec"
            | "specs"
            | "verify"
            | "unittest"
            | "selftest"
            | "tst"
            | "pytest"
            | "jest"
            | "vitest"
            | "check"
            | "checks"
            | "integration"
            | "ci"
            | "validate"
            | "smoke"
            | "runtests"
            | "regress"
            | "coverage"
    )
}

fn by_name(name: &str) -> Class {
    let lower = name.to_ascii_lowercase();
    if parts(&lower).any(|p| p.len() > 2 && is_test_word(p)) {
        Class::Test
    } else if parts(&lower).any(|p| matches!(p, "lint" | "typecheck")) {
        Class::Check
    } else {
        Class::Other
    }
}

fn by_target(name: &str, words: &[String]) -> Class {
    let targets: Vec<&String> = words[1..]
        .iter()
        .filter(|w| !w.starts_with('-') && !w.contains('='))
        .filter(|w| {
            !matches!(
                w.as_str(),
                "run" | "run-script" | "workspace" | "workspaces"
            )
        })
        .collect();
    let installs = targets
        .first()
        .is_some_and(|t| matches!(t.as_str(), "install" | "ci" | "i" | "add" | "update"));
    if installs && matches!(name, "npm" | "yarn" | "pnpm" | "bun" | "composer") {
        return Class::Helper;
    }
    let whole_build = matches!(name, "mvn" | "mvnw" | "gradle" | "gradlew");
    let says = |wanted: &dyn Fn(&str) -> bool| {
        targets.iter().any(|t| {
            let lower = t.to_ascii_lowercase();
            parts(&lower).any(wanted)
        })
    };
    if says(&is_test_word)
        || targets.iter().any(|t| {
            let last = t.rsplit(':').next().unwrap_or(t);
            last.ends_with("Test") || last.ends_with("Tests") || last.starts_with("test")
        })
        || (whole_build && says(&|p| matches!(p, "install" | "package" | "build" | "deploy")))
    {
        Class::Test
    } else if says(&|p| {
        matches!(
            p,
            "lint" | "typecheck" | "tsc" | "types" | "fmt" | "format" | "clippy"
        )
    }) {
        Class::Check
    } else {
        Class::Build
    }
}

fn by_verb(words: &[String]) -> Class {
    let verbs = words[1..]
        .iter()
        .filter(|w| !w.starts_with(['-', '+', ':', '/']))
        .take(2);
    let mut found = None;
    for verb in verbs {
        let class = match verb.as_str() {
            "test" | "t" | "tests" | "nextest" | "runtest" | "coverage" | "llvm-cov"
            | "tarpaulin" | "vstest" | "mutants" | "miri" | "bench" | "testOnly" | "espec"
            | "eunit" => Class::Test,
            "check" | "clippy" | "fmt" | "vet" | "lint" | "deny" | "audit" | "analyze" | "doc" => {
                Class::Check
            }
            "build" | "b" | "compile" | "generate" | "fetch" | "restore" => Class::Build,
            "run" | "r" => Class::Other,
            _ => continue,
        };
        found = found.max(Some(class));
        if class != Class::Build {
            break;
        }
        // `zig build test`: the next word decides.
    }
    found.unwrap_or(Class::Other)
}

#[cfg(test)]
mod tests {
    use super::{Class, class};

    #[test]
    fn what_commands_are_for() {
        for (line, expected) in [
            ("cargo +nightly test -q", Class::Test),
            ("cargo clippy", Class::Check),
            ("cargo build --release", Class::Build),
            ("cargo run -- test", Class::Other),
            ("npm run test:unit", Class::Test),
            ("npm t", Class::Test),
            ("npm ci", Class::Helper),
            ("npm run build", Class::Build),
            ("yarn lint", Class::Check),
            ("make -j4 check", Class::Test),
            ("make", Class::Build),
            ("./gradlew :app:testDebug", Class::Test),
            ("mvn -q verify", Class::Test),
            ("python3 -m unittest discover", Class::Test),
            ("python manage.py test", Class::Test),
            ("./run-tests.sh", Class::Test),
            ("sh ci/check.sh", Class::Test),
            ("./setup.sh", Class::Other),
            ("grep -q x y", Class::Other),
            ("zig build test", Class::Test),
            ("vendor/bin/phpunit", Class::Test),
            ("npx tsc --noEmit", Class::Check),
            ("git status", Class::Helper),
            ("git diff --exit-code", Class::Other),
            ("A=1", Class::Trivial),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(class(&words), expected, "{line}");
        }
    }
}
