//! Lock files of package managers: nobody's work, made from what people write. The host makes them
//! anew when it integrates, so that two tasks which both add a dependency do not meet in one.

use std::collections::BTreeSet;

/// One package manager's lock file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The file's name.
    pub name: &'static str,
    /// The files it is made from, beside it or in folders below.
    pub manifests: &'static [&'static str],
    /// The command that makes it, in its folder; none where making it would run the project's own
    /// code with the network, so that the branch's version stays and the checks decide.
    pub command: &'static [&'static str],
    /// What the command keeps in the user's home.
    pub caches: &'static [&'static str],
}

const fn kind(
    name: &'static str,
    manifests: &'static [&'static str],
    command: &'static [&'static str],
    caches: &'static [&'static str],
) -> Kind {
    Kind {
        name,
        manifests,
        command,
        caches,
    }
}

pub(crate) const KINDS: &[Kind] = &[
    kind(
        "Cargo.lock",
        &["Cargo.toml"],
        &["cargo", "metadata", "--format-version", "1", "--quiet"],
        &[".cargo/registry", ".cargo/git"],
    ),
    kind(
        "package-lock.json",
        &["package.json"],
        &[
            "npm",
            "install",
            "--package-lock-only",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ],
        &[".npm"],
    ),
    kind(
        "pnpm-lock.yaml",
        &["package.json", "pnpm-workspace.yaml"],
        &["pnpm", "install", "--lockfile-only", "--ignore-scripts"],
        &[".local/share/pnpm", ".cache/pnpm"],
    ),
    kind(
        "yarn.lock",
        &["package.json"],
        &["yarn", "install", "--mode", "update-lockfile"],
        &[".yarn", ".cache/yarn"],
    ),
    kind(
        "uv.lock",
        &["pyproject.toml"],
        &["uv", "lock"],
        &[".cache/uv"],
    ),
    kind(
        "poetry.lock",
        &["pyproject.toml"],
        &["poetry", "lock"],
        &[".cache/pypoetry"],
    ),
    kind(
        "go.sum",
        &["go.mod"],
        &["go", "mod", "tidy"],
        &["go/pkg", ".cache/go-build"],
    ),
    kind(
        "composer.lock",
        &["composer.json"],
        &[
            "composer",
            "update",
            "--lock",
            "--no-install",
            "--no-scripts",
            "--no-plugins",
        ],
        &[".cache/composer"],
    ),
    kind(
        "Gemfile.lock",
        &["Gemfile"],
        &["bundle", "lock"],
        &[".bundle"],
    ),
];

/// The kind of lock file a path is.
pub(crate) fn kind_of(path: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| name_of(path) == kind.name)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// The lock files to make anew after a task's commit was repeated on the branch's head: those that
/// both sides changed the grounds of, and those whose grounds the task changed without them.
///
/// `changed`: what the commit changes; `meanwhile`: what changed on the branch since the task began;
/// `there`: whether a file is there now.
pub(crate) fn stale(
    changed: &BTreeSet<String>,
    meanwhile: &BTreeSet<String>,
    there: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    for path in changed {
        for kind in KINDS {
            let lock = if name_of(path) == kind.name {
                there(path).then(|| path.clone())
            } else if kind.manifests.contains(&name_of(path)) {
                nearest(path, kind.name, there)
            } else {
                None
            };
            let Some(lock) = lock else { continue };
            let folder = folder_of(&lock);
            let touches = |paths: &BTreeSet<String>| {
                paths.iter().any(|p| {
                    *p == lock || within(p, folder) && kind.manifests.contains(&name_of(p))
                })
            };
            if touches(meanwhile) || !changed.contains(&lock) {
                found.insert(lock);
            }
        }
    }
    found.into_iter().collect()
}

/// The lock file of that name beside a file, or in the nearest folder above it.
fn nearest(path: &str, name: &str, there: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut folder = folder_of(path);
    loop {
        let lock = if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        };
        if there(&lock) {
            return Some(lock);
        }
        if folder.is_empty() {
            return None;
        }
        folder = folder_of(folder);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{kind_of, stale};

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(ToString::to_string).collect()
    }

    fn found(changed: &[&str], meanwhile: &[&str], there: &[&str]) -> Vec<String> {
        stale(&set(changed), &set(meanwhile), &|p| there.contains(&p))
    }

    #[test]
    fn a_lock_file_is_known_by_its_name() {
        assert!(kind_of("web/package-lock.json").is_some());
        assert!(kind_of("Cargo.lock.md").is_none());
    }

    #[test]
    fn both_sides_changed_what_the_lock_rests_on() {
        let there = ["Cargo.lock", "web/package-lock.json"];
        assert_eq!(
            found(&["a/Cargo.toml", "Cargo.lock"], &["b/Cargo.toml"], &there),
            ["Cargo.lock"]
        );
        assert_eq!(
            found(
                &["web/package-lock.json"],
                &["web/package-lock.json"],
                &there
            ),
            ["web/package-lock.json"]
        );
        // Another project's manifest has nothing to do with it.
        assert_eq!(
            found(
                &["web/package.json", "web/package-lock.json"],
                &["docs/package.json"],
                &there
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_manifest_that_changed_alone_leaves_its_lock_behind() {
        assert_eq!(
            found(&["crates/x/Cargo.toml"], &[], &["Cargo.lock"]),
            ["Cargo.lock"]
        );
        assert_eq!(
            found(&["Cargo.toml", "Cargo.lock"], &[], &["Cargo.lock"]),
            [""; 0]
        );
        assert_eq!(
            found(&["Cargo.toml"], &[], &[]),
            [""; 0],
            "a library without a lock file"
        );
        assert_eq!(
            found(&["src/lib.rs"], &["Cargo.toml"], &["Cargo.lock"]),
            [""; 0]
        );
    }
}
