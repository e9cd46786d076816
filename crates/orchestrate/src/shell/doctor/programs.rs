//! The programs a run needs or likes to have: git, gh, and our own five companions.

use std::path::Path;

use baton_cli::config::Config;
use baton_process::{Cancel, sibling};
use baton_repo::Repo;

use super::ask;
use crate::core::doctor::Check;

/// The oldest git whose `worktree` and `status` have what we use.
const GIT: (u32, u32) = (2, 31);

/// git, and the identity under which the host commits.
pub(crate) fn git(cwd: &Path, repo: Option<&Repo>, cancel: &Cancel) -> Vec<Check> {
    let Some(said) = ask("git", &["--version"], cwd, cancel).filter(|s| s.code == 0) else {
        return vec![Check::fail(
            "git",
            "git cannot be run, and all work is kept in git",
            "install it, as in: sudo apt install git",
        )];
    };
    let version = said.stdout.trim().trim_start_matches("git version ");
    let mut checks = vec![match number(version) {
        Some(found) if found < GIT => Check::warn(
            "git",
            format!(
                "{version} is older than {}.{}, the oldest tried",
                GIT.0, GIT.1
            ),
            "upgrade git",
        ),
        _ => Check::pass("git", version),
    }];
    let Some(repo) = repo else {
        checks.push(Check::warn(
            "repository",
            "this folder is in no git repository, so nothing can be worked on here",
            "git init && git add -A && git commit -m start",
        ));
        return checks;
    };
    checks.push(repository(repo));
    checks.push(match repo.identity() {
        Ok(Some(who)) => Check::pass("git identity", format!("{} <{}>", who.name, who.email)),
        // The host then commits under a name of its own.
        _ => Check::warn(
            "git identity",
            "git does not know who commits",
            "git config user.name NAME && git config user.email ADDRESS",
        ),
    });
    checks
}

fn repository(repo: &Repo) -> Check {
    let name = "repository";
    if let Some(verb) = repo.operation_in_progress() {
        return Check::warn(
            name,
            format!("a {verb} is half done, so no run starts"),
            format!("git {verb} --continue, or git {verb} --abort"),
        );
    }
    match repo.head() {
        Err(error) => Check::warn(name, error.to_string(), "git status"),
        Ok(head) if head.branch.is_none() => Check::warn(
            name,
            "HEAD is detached, so there is no branch the result could go to",
            "git switch BRANCH",
        ),
        Ok(head) if head.commit.is_none() => Check::warn(
            name,
            "the branch has no commit yet, and workers start from one",
            "git commit --allow-empty -m start",
        ),
        Ok(head) => Check::pass(
            name,
            format!(
                "{}, on {}",
                repo.root().display(),
                head.branch.unwrap_or_default()
            ),
        ),
    }
}

/// gh matters only where the configuration wants GitHub.
pub(crate) fn gh(cwd: &Path, config: &Config, cancel: &Cancel) -> Check {
    let name = "gh";
    if !config.github.enabled {
        return Check::pass(name, "not asked for ([github] enabled = false)");
    }
    let Some(said) = ask(name, &["--version"], cwd, cancel).filter(|s| s.code == 0) else {
        return Check::warn(
            name,
            "[github] is enabled, but gh cannot be run",
            "install it from https://cli.github.com",
        );
    };
    let version = said.stdout.lines().next().unwrap_or("gh").to_owned();
    match ask(name, &["auth", "status"], cwd, cancel) {
        Some(said) if said.code == 0 => Check::pass(name, format!("{version}, logged in")),
        _ => Check::warn(name, format!("{version}, not logged in"), "gh auth login"),
    }
}

/// The other tools of ours, which orchestrate runs as processes.
pub(crate) fn companions(cwd: &Path, cancel: &Cancel) -> Check {
    let name = "tools";
    let ours = concat!(env!("CARGO_PKG_VERSION"));
    let mut missing = Vec::new();
    let mut others = Vec::new();
    for tool in [
        "vllm-health",
        "ctx-estimate",
        "slot-lock",
        "worker-run",
        "handoff-check",
    ] {
        match ask(sibling(tool), &["--version"], cwd, cancel).filter(|s| s.code == 0) {
            None => missing.push(tool),
            Some(said) => {
                let version = said.stdout.split_whitespace().nth(1).unwrap_or("");
                if version != ours {
                    others.push(format!("{tool} {version}"));
                }
            }
        }
    }
    let install = "install the six tools side by side: cargo install --path .";
    if !missing.is_empty() {
        return Check::fail(
            name,
            format!("{} cannot be run", missing.join(", ")),
            install,
        );
    }
    if !others.is_empty() {
        return Check::warn(
            name,
            format!("of another version than {ours}: {}", others.join(", ")),
            install,
        );
    }
    Check::pass(name, format!("all six are {ours}"))
}

/// The first two numbers of a version.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', '-', ' ']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn versions_of_git_as_distributions_write_them() {
        for (text, expected) in [
            ("2.39.5", Some((2, 39))),
            ("2.47.1.windows.2", Some((2, 47))),
            ("2.50.0-rc1", Some((2, 50))),
            ("2.39.5 (Apple Git-154)", Some((2, 39))),
            ("unknown", None),
        ] {
            assert_eq!(number(text), expected);
        }
    }
}
