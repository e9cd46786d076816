//! What a launched worker is told: the order, and beside it the variables with keys, which stand in
//! no file.

use std::collections::BTreeMap;
use std::path::Path;

use baton_cli::Failure;
use baton_cli::config::{Config, LauncherIo};
use baton_protocol::{Launch, LaunchTree, Reservation, SchemaTag};
use baton_repo::{GitPath, ObjectId, Repo};
use serde_json::Value;

use crate::core::urgency;
use crate::shell::context::Context;
use crate::shell::worktrees::{self, git_failure};

use super::Trip;

/// What stands for the folder of the files in the configuration's text.
const THERE: &str = "{launch_files}";

/// Variables of the store of several hosts.
const STORE: [&str; 6] = [
    "BATON_STORE",
    "ETCDCTL_USER",
    "ETCDCTL_PASSWORD",
    "ETCDCTL_CACERT",
    "ETCDCTL_CERT",
    "ETCDCTL_KEY",
];

/// The order and the variables.
pub(super) struct Order {
    pub launch: Launch,
    pub variables: BTreeMap<String, String>,
    /// The commits that must travel, where files do.
    pub commits: Vec<ObjectId>,
}

/// The store of several hosts, where one is configured.
pub(super) fn store(context: &Context) -> Option<String> {
    if let Some(named) = context.env.get("BATON_STORE") {
        return Some(named.to_owned());
    }
    // Whoever names a folder by the environment means slot files.
    match context.env.get("BATON_LOCK_DIR") {
        Some(_) => None,
        None => context.config.slots.store.clone(),
    }
}

/// Puts everything together.
pub(super) fn order(
    trip: &Trip<'_>,
    token: &str,
    reservation: Option<Reservation>,
) -> Result<Order, Failure> {
    let context = trip.context;
    let is_stream = trip.launcher.io == LauncherIo::Stream;
    let mut files = BTreeMap::new();
    let mut variables = BTreeMap::new();
    let config = configuration(context, &mut files, &mut variables)?;
    if store(context).is_some() {
        for name in STORE {
            if let Some(value) = context.env.get(name) {
                variables.insert(name.to_owned(), value.to_owned());
            }
        }
    }
    let writes = trip.start.worktree.is_some();
    let (tree, commits) = if is_stream {
        let (tree, commits) = travelling(trip, writes)?;
        (Some(tree), commits)
    } else {
        (None, Vec::new())
    };
    let setup = if is_stream && writes {
        context.config.worktree.setup.clone()
    } else {
        // The tree has been set up here, and is the same there.
        Vec::new()
    };
    Ok(Order {
        launch: Launch {
            schema: SchemaTag::new(),
            token: token.to_owned(),
            run: Some(context.run.clone()),
            task: trip.task.clone(),
            candidates: Some(candidates(trip.candidates)?),
            slot_held: trip.holds_slot(),
            reservation,
            queue_ms: Some(u64::try_from(trip.queue().as_millis()).unwrap_or(u64::MAX)),
            class: urgency::class(trip.state.settings.class, trip.job.kind),
            events: context.config.trace.mode != baton_cli::config::TraceMode::Off,
            config,
            files,
            setup,
            tree,
            folder: (!is_stream).then(|| trip.place.display().to_string()),
            ends_with_stdin: is_stream,
            silence_ms: u64::try_from(trip.silence().as_millis()).unwrap_or(u64::MAX),
        },
        variables,
        commits,
    })
}

fn candidates(file: &Path) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::internal(format!("cannot read {}: {e}", file.display())))?;
    serde_json::from_str(&text)
        .map_err(|e| Failure::internal(format!("cannot read {}: {e}", file.display())))
}

/// The configuration as a worker elsewhere needs it: keys in variables, files beside it, and nothing
/// that would launch again.
fn configuration(
    context: &Context,
    files: &mut BTreeMap<String, String>,
    variables: &mut BTreeMap<String, String>,
) -> Result<String, Failure> {
    let mut config: Config = context.config.clone();
    config.run.launcher = Vec::new();
    config.slots.directory = None;
    config.slots.store = store(context);
    for (index, provider) in config.providers.iter_mut().enumerate() {
        if let Ok(Some(key)) = provider.api_key(&context.env) {
            let name = provider
                .api_key_env
                .clone()
                .unwrap_or_else(|| format!("BATON_LAUNCH_KEY_{index}"));
            variables.insert(name.clone(), key.reveal().to_owned());
            provider.api_key_env = Some(name);
            provider.api_key_file = None;
        }
        if let Some(path) = &provider.ca_file {
            let name = format!("ca-{index}.pem");
            files.insert(name.clone(), read(context, path)?);
            provider.ca_file = Some(format!("{THERE}/{name}").into());
        }
    }
    for (index, role) in config.roles.values_mut().enumerate() {
        role.launcher = None;
        role.launcher_io = None;
        if let Some(path) = &role.prompt {
            let name = format!("prompt-{index}.md");
            files.insert(name.clone(), read(context, path)?);
            role.prompt = Some(format!("{THERE}/{name}").into());
        }
    }
    config.text()
}

fn read(context: &Context, path: &Path) -> Result<String, Failure> {
    let path = context.root().join(path);
    std::fs::read_to_string(&path)
        .map_err(|e| Failure::config(format!("cannot read {}: {e}", path.display())))
}

/// The files of the task as commits. What git ignores stays here, save what `[worktree] copy` names;
/// what else a worker here would see travels, uncommitted or not.
fn travelling(trip: &Trip<'_>, writes: bool) -> Result<(LaunchTree, Vec<ObjectId>), Failure> {
    let git = |e: baton_repo::RepoError| git_failure(&e);
    let repo = Repo::discover(trip.place).map_err(git)?;
    let head = repo.commit("HEAD").map_err(git)?;
    let mut tree = LaunchTree {
        commit: head.as_str().to_owned(),
        head: None,
        extra: None,
        repository: repo
            .lineage(head.as_str())
            .map_err(git)?
            .as_str()
            .to_owned(),
    };
    let mut commits = Vec::new();
    if !writes && !repo.dirty().map_err(git)?.is_empty() {
        let recorded = repo.record_base().map_err(git)?.name;
        recorded.as_str().clone_into(&mut tree.commit);
        tree.head = Some(head.as_str().to_owned());
        commits.push(recorded);
    } else {
        commits.push(head);
    }
    if writes {
        let copied: Vec<GitPath> = worktrees::copied(trip.context, trip.place)?;
        if let Some(extra) = repo.commit_of(&copied).map_err(git)? {
            tree.extra = Some(extra.as_str().to_owned());
            commits.push(extra);
        }
    }
    Ok((tree, commits))
}
