//! Files that ignore rules of the worker's own hide from git.
//!
//! A rule counts as the worker's where its file changed with the work: a `.gitignore` among the
//! changes, one that hides itself with its folder, and the files of rules that do not travel with a
//! repository (`info/exclude`, and what its config names), where they are younger than the base.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use baton_cli::Failure;
use baton_repo::{ChangeSet, GitPath, Globs, Repo};

use crate::run::repo_failure;

/// The hidden names outside the scope, each with the file whose rule hides it. `since`: when the
/// work began, in seconds since 1970; whatever is older was there before.
pub(crate) fn hidden(
    repo: &Repo,
    facts: &ChangeSet,
    owned: &Globs,
    since: Option<i64>,
) -> Result<Vec<String>, Failure> {
    if facts.ignored.is_empty() {
        return Ok(Vec::new());
    }
    let root = repo.root();
    let is_younger = |file: &Path| {
        let data = fs::symlink_metadata(file);
        data.is_ok_and(|data| since.is_none_or(|since| data.ctime() >= since))
    };
    let touched = facts.touched();
    let changed = touched.into_iter().filter(|p| is_rules(p));
    let mut rules: Vec<PathBuf> = changed.map(|p| root.join(p.as_path())).collect();
    let of_themselves = facts.ignored.iter().filter(|p| is_rules(p));
    let of_themselves = of_themselves.filter(|p| !p.is_within(".orchestrator"));
    rules.extend(
        of_themselves
            .map(|p| root.join(p.as_path()))
            .filter(|file| is_younger(file) && !is_of_a_cache(file)),
    );
    rules.extend(
        repo.untravelled_rules()
            .into_iter()
            .filter(|f| is_younger(f)),
    );
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let real = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let rules: Vec<PathBuf> = rules.iter().map(|file| real(file)).collect();
    let hidden = repo.ignored_by(&facts.ignored).map_err(repo_failure)?;
    let mut known: BTreeMap<&GitPath, bool> = BTreeMap::new();
    let mut names = Vec::new();
    for (source, name) in hidden.iter().filter(|(_, name)| !owned.matches(name)) {
        let is_ours = known
            .entry(source)
            .or_insert_with(|| rules.contains(&real(&root.join(source.as_path()))));
        if *is_ours {
            names.push(format!("{name} (by {source})"));
        }
    }
    Ok(names)
}

fn is_rules(path: &GitPath) -> bool {
    path.as_bytes().rsplit(|b| *b == b'/').next() == Some(b".gitignore")
}

/// Whether a folder says of itself that it is a cache, as those of test runners do, or is an
/// environment of Python: programs hide these as they make them.
fn is_of_a_cache(rules: &Path) -> bool {
    let marks = ["CACHEDIR.TAG", "pyvenv.cfg"];
    let folder = rules.parent().unwrap_or(rules);
    marks.iter().any(|mark| folder.join(mark).is_file())
}
