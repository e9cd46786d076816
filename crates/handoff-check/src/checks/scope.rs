//! Ownership: which of the changes the task allows.

use baton_protocol::Check;
use baton_repo::{GitPath, Globs};

use super::{count, fail, list, pass, warning};

/// Folders no task may touch: git's own, and the state of the tools.
pub(crate) const ALWAYS_PROTECTED: [&str; 3] = [".git", "**/.git", ".orchestrator"];

/// Files that decide what continuous integration runs.
pub(crate) const CI_FILES: [&str; 18] = [
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".gitlab/ci",
    ".circleci",
    ".buildkite",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".woodpecker",
    ".forgejo/workflows",
    ".gitea/workflows",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "Jenkinsfile",
    ".ci",
];

/// The names that no glob owns.
pub(crate) fn outside<'a>(
    names: impl IntoIterator<Item = &'a GitPath>,
    owned: &Globs,
) -> Vec<&'a GitPath> {
    names.into_iter().filter(|n| !owned.matches(n)).collect()
}

/// `scope`: every change is one the task owns.
pub(crate) fn scope(outside: &[&GitPath], all: usize, owned: &Globs) -> Check {
    let globs = match owned.patterns() {
        [] => "nothing".to_owned(),
        patterns => patterns.join(" "),
    };
    if outside.is_empty() {
        pass(
            "scope",
            format!(
                "{}, all inside the scope ({globs})",
                count(all, "changed file")
            ),
        )
    } else {
        fail(
            "scope",
            format!("outside the scope ({globs}): {}", list(outside)),
        )
    }
}

/// `hidden`: the worker's own ignore rules do not hide what it may not write.
pub(crate) fn hidden(names: &[String]) -> Check {
    if names.is_empty() {
        pass("hidden", "no file is hidden by a new ignore rule")
    } else {
        warning(
            "hidden",
            format!(
                "outside the scope, and hidden from git by rules that came with the work: {}",
                list(names)
            ),
        )
    }
}

/// `protected`: nothing that is protected whatever the scope says.
pub(crate) fn protected(names: &[&GitPath], guarded: &Globs) -> Check {
    let touched: Vec<_> = names.iter().filter(|n| guarded.matches(n)).collect();
    if touched.is_empty() {
        pass("protected", "no protected file changed")
    } else {
        fail(
            "protected",
            format!("protected, whatever the scope says: {}", list(touched)),
        )
    }
}
