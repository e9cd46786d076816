//! Commands of the host in a tree that a model has written: behind the same border as a worker's.

use std::path::{Path, PathBuf};

use baton_cli::Environment;
use baton_process::Command;
use baton_process::sandbox::{Network, Policy, Surroundings};

use super::context::Context;
use super::preflight;

/// What such a command sees of our environment: no key, no address.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOMODCACHE",
    "GOPROXY",
    "NODE_PATH",
    "JAVA_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Gives a command the border and a small environment. It may write in the tree, the `caches` and
/// the configuration's folders outside the repository.
pub(crate) fn confine(
    context: &Context,
    command: Command,
    tree: &Path,
    network: Network,
    caches: &[PathBuf],
) -> Command {
    let env: &Environment = &context.env;
    let value = |name: &str| env.get(name).map(std::ffi::OsStr::new);
    let surroundings = Surroundings::new(value("HOME"), value("PATH"));
    let mut policy = Policy::for_work_tree(tree, &surroundings);
    policy.network = network;
    policy.write.extend(caches.iter().cloned());
    // Where these cannot be opened the run has said so before it began.
    if let Ok(lent) = preflight::lent(&context.repo, env, &context.config) {
        policy.read.extend(lent.read.iter().map(PathBuf::from));
        policy.write.extend(lent.caches.iter().map(PathBuf::from));
    }
    let mut command = command.env_clear();
    for (name, value) in env.iter() {
        if USUAL.contains(&name) || name.starts_with("LC_") {
            command = command.env(name, value);
        }
    }
    // Nobody can answer a question, so no program should ask one.
    for (name, value) in [("CI", "1"), ("GIT_TERMINAL_PROMPT", "0"), ("PAGER", "cat")] {
        command = command.env(name, value);
    }
    command.sandbox(policy)
}

/// Places in the user's home.
pub(crate) fn at_home(context: &Context, names: &[&str]) -> Vec<PathBuf> {
    let home = context.env.get("HOME").map(PathBuf::from);
    home.map(|home| names.iter().map(|name| home.join(name)).collect())
        .unwrap_or_default()
}
