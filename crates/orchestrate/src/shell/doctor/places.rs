//! Room on the disks, and locks that lock.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use baton_cli::{Environment, config, lock_dir, state_dir};
use baton_repo::Repo;
use fs2::FileExt as _;

use crate::core::doctor::Check;
use crate::shell::layout::Layout;
use crate::shell::{lock, preflight};

/// Below this a run that builds in several work trees is likely to fail.
const LITTLE: u64 = 2 * 1024 * 1024 * 1024;

/// Room where work trees, journals and slots are.
pub(crate) fn disk(repo: Option<&Repo>, env: &Environment) -> Check {
    let name = "disk";
    let mut places: Vec<PathBuf> = repo.iter().map(|r| r.root().to_owned()).collect();
    places.push(state_dir(env));
    let mut least: Option<(u64, PathBuf)> = None;
    for place in places {
        let Some(free) = free_bytes(&place) else {
            continue;
        };
        if least.as_ref().is_none_or(|(bytes, _)| free < *bytes) {
            least = Some((free, place));
        }
    }
    match least {
        None => Check::warn(name, "the room on the disk cannot be told", "df -h"),
        Some((free, place)) if free < LITTLE => Check::warn(
            name,
            format!("{} free at {}", in_words(free), place.display()),
            "orchestrate clean --yes",
        ),
        Some((free, place)) => Check::pass(
            name,
            format!("{} free at {}", in_words(free), place.display()),
        ),
    }
}

/// What an ordinary user may still write at a place, or at the nearest folder above that exists.
fn free_bytes(place: &Path) -> Option<u64> {
    let there = place.ancestors().find(|p| p.exists())?;
    let stat = rustix::fs::statvfs(there).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn in_words(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes >= 10 * 1024 * MIB {
        format!("{} GiB", bytes / (1024 * MIB))
    } else {
        format!("{} MiB", bytes / MIB)
    }
}

/// Whether the folder of the slots is there, writable, and on a file system whose locks lock.
pub(crate) fn slots(env: &Environment) -> Check {
    let name = "slot locks";
    let folder = lock_dir(env);
    let cannot = |e: std::io::Error| {
        Check::warn(
            name,
            format!("{} cannot be used: {e}", folder.display()),
            "export BATON_LOCK_DIR=a folder on a local disk that you may write to",
        )
    };
    if let Err(e) = std::fs::create_dir_all(&folder) {
        return cannot(e);
    }
    let probe = match tempfile::NamedTempFile::new_in(&folder) {
        Ok(probe) => probe,
        Err(e) => return cannot(e),
    };
    let open = || OpenOptions::new().read(true).write(true).open(probe.path());
    let (first, second) = match (open(), open()) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(e), _) | (_, Err(e)) => return cannot(e),
    };
    if let Err(e) = first.try_lock_exclusive() {
        return cannot(e);
    }
    if second.try_lock_exclusive().is_ok() {
        return Check::warn(
            name,
            format!("the file system of {} does not lock", folder.display()),
            "export BATON_LOCK_DIR=a folder on a local disk",
        );
    }
    Check::pass(name, format!("they lock, in {}", folder.display()))
}

/// Whether the state of goals, plans and runs can be written, and work trees made.
pub(crate) fn state(repo: &Repo, config: &config::Config) -> Vec<Check> {
    let trees = repo.root().join(&config.worktree.root);
    vec![
        writable("state folder", &Layout::new(repo.root()).folder()),
        writable("work trees", &trees),
    ]
}

fn writable(name: &str, folder: &Path) -> Check {
    let there = folder.ancestors().find(|p| p.exists()).unwrap_or(folder);
    match tempfile::NamedTempFile::new_in(there) {
        Ok(_) => Check::pass(name, format!("{} can be written", folder.display())),
        Err(e) => Check::fail(
            name,
            format!("{} cannot be written: {e}", folder.display()),
            format!("chmod u+rwx '{0}' && ls -ld '{0}'", there.display()),
        ),
    }
}

/// The folders outside the repository that workers may use; none where none are configured.
pub(crate) fn external(repo: &Repo, env: &Environment, config: &config::Config) -> Option<Check> {
    let name = "external folders";
    let asked = &config.external;
    if asked.read.is_empty() && asked.write.is_empty() {
        return None;
    }
    let fix = "edit [external] read and write: name folders with data, as narrow as they can be";
    let lent = match preflight::lent(repo, env, config) {
        Ok(lent) => lent,
        Err(failure) => return Some(Check::fail(name, failure.message, fix)),
    };
    let all = || lent.read.iter().chain(&lent.caches);
    if let Some(missing) = all().find(|place| !Path::new(place).exists()) {
        return Some(Check::warn(
            name,
            format!("{missing} is not there"),
            format!("mkdir -p '{missing}'"),
        ));
    }
    let list = |places: &[String]| match places {
        [] => "nothing".to_owned(),
        places => places.join(", "),
    };
    Some(Check::pass(
        name,
        format!(
            "workers may read {} and write {}",
            list(&lent.read),
            list(&lent.caches)
        ),
    ))
}

/// Who works on this repository now.
pub(crate) fn run_lock(repo: &Repo) -> Check {
    match lock::holder(repo.common_dir()) {
        Some(who) => Check::pass("run lock", format!("run {} works here", who.trim())),
        None => Check::pass("run lock", "free: no run works here"),
    }
}
