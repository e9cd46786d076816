//! Commands of the host in a tree that a model has written: behind the same border as a worker's.

use std::path::{Path, PathBuf};

use baton_cli::Environment;
use baton_process::sandbox::{Network, Policy, Surroundings};
use baton_process::{Command, confined_variables};

use super::context::Context;
use super::preflight;

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
    for (name, value) in confined_variables(env.iter(), &[], network) {
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
