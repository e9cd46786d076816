//! What must hold before a run starts: a repository, a branch, a clean tree, a server.

use std::time::Duration;

use baton_cli::{Environment, Failure, Outside, config};
use baton_process::{Cancel, Capture, Command, sibling};
use baton_protocol::{Health, Provider, Sandbox, ServerState};
use baton_repo::{Entry, Repo};

use crate::core::names;
use crate::core::placing::reasons;
use crate::core::record::{BudgetLimits, Target};

use super::worktrees::git_failure;

/// What the configuration asks of a run and a run cannot give is refused, not passed over.
pub(crate) fn configuration(config: &config::Config) -> Result<(), Failure> {
    if config.run.isolation == config::Isolation::None {
        return Err(Failure::config(
            "[run] isolation = \"none\": a run never works in your own tree, where half-done work \
             would stand among yours; set it to \"worktree\" or \"clone\" (or call worker-run there \
             by hand)",
        ));
    }
    if config.commands.strict_roles {
        let needed = ["planner", "explore", "implementer", "reviewer"];
        let missing: Vec<&str> = needed
            .into_iter()
            .filter(|role| !config.roles.contains_key(*role))
            .collect();
        if !missing.is_empty() {
            return Err(Failure::config(format!(
                "[commands] strict_roles = true, and these roles are not configured: {}; \
                 write [roles.{}] models = [\"PROVIDER/MODEL\"]",
                missing.join(", "),
                missing[0]
            )));
        }
    }
    Ok(())
}

/// The configuration's folders outside the repository, each where it really lies.
pub(crate) fn lent(
    repo: &Repo,
    env: &Environment,
    config: &config::Config,
) -> Result<Sandbox, Failure> {
    let trees = repo.root().join(&config.worktree.root);
    let places = [repo.root(), repo.git_dir(), repo.common_dir(), &trees];
    Outside::new(env, places).configured(&config.external)
}

/// The repository and the branch the result goes to.
pub(crate) fn target(repo: &Repo) -> Result<Target, Failure> {
    let head = repo.head().map_err(|e| git_failure(&e))?;
    let Some(branch) = head.branch else {
        return Err(Failure::usage(
            "HEAD is detached, so there is no branch the result could go to; \
             write: git switch BRANCH (or git switch -c NEW-BRANCH)",
        ));
    };
    let Some(commit) = head.commit else {
        return Err(Failure::usage(format!(
            "the branch `{branch}` has no commit yet; write: git commit --allow-empty -m start"
        )));
    };
    let in_the_way = repo.branch(names::BRANCHES).map_err(|e| git_failure(&e))?;
    if in_the_way.is_some() {
        return Err(Failure::usage(format!(
            "there is a branch `{0}`, so git can make none below it, as a run's own `{0}/RUN` is; \
             rename it: git branch -m {0} NEW-NAME",
            names::BRANCHES
        )));
    }
    Ok(Target {
        branch,
        commit: commit.as_str().to_owned(),
    })
}

/// What a verb makes of a tree with changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dirt {
    /// It starts from the last commit.
    Allowed,
    /// It does not start; `flag`: unless it is told to by `--allow-dirty`.
    Refused { flag: bool },
}

impl Dirt {
    /// Of a verb that has the flag.
    pub(crate) fn by_flag(allow: bool) -> Self {
        if allow {
            Self::Allowed
        } else {
            Self::Refused { flag: true }
        }
    }
}

/// Refuses a tree with changes that workers would not see, and lists them.
pub(crate) fn clean(repo: &Repo, dirt: Dirt) -> Result<Option<String>, Failure> {
    if let Some(verb) = repo.operation_in_progress() {
        return Err(Failure::usage(format!(
            "a {verb} is half done here; finish it (git {verb} --continue) or undo it \
             (git {verb} --abort)"
        )));
    }
    let dirty = repo.dirty().map_err(|e| git_failure(&e))?;
    if dirty.is_empty() {
        return Ok(None);
    }
    let list = listed(&dirty);
    if dirt == Dirt::Allowed {
        return Ok(Some(format!(
            "workers start from the last commit and do not see your changes in {list}"
        )));
    }
    let or = match dirt {
        Dirt::Refused { flag: true } => ", or start from the last commit with --allow-dirty",
        _ => " first",
    };
    Err(Failure::usage(format!(
        "there are uncommitted changes that workers would not see: {list}; commit them{or}"
    ))
    .with_detail(serde_json::json!({
        "dirty": dirty.iter().map(|e| e.path.to_string()).collect::<Vec<_>>()
    })))
}

fn listed(dirty: &[Entry]) -> String {
    const MOST: usize = 10;
    let mut names: Vec<String> = dirty
        .iter()
        .take(MOST)
        .map(|entry| {
            let kind = if entry.untracked { "new" } else { "changed" };
            format!("{} ({kind})", entry.path)
        })
        .collect();
    if dirty.len() > MOST {
        names.push(format!("and {} more", dirty.len() - MOST));
    }
    names.join(", ")
}

/// Asks the servers. At least one must be ready; the notes say what people should know.
pub(crate) fn health(
    root: &std::path::Path,
    cancel: &Cancel,
) -> Result<(Health, Vec<String>), Failure> {
    let outcome = Command::new(sibling("vllm-health"))
        .arg("--json")
        .cwd(root)
        .capture(Capture::all(16 * 1024 * 1024))
        .timeout(Duration::from_secs(60))
        .run(cancel)
        .map_err(|e| Failure::internal(format!("cannot run vllm-health: {e}")))?;
    if outcome.cancelled {
        return Err(Failure::interrupted(cancel.signal().unwrap_or(2)));
    }
    let said = super::stage::last_line(&outcome.stderr.text());
    let health: Health = match baton_protocol::read(&outcome.stdout.text()) {
        Ok(health) => health,
        Err(baton_protocol::ReadError::Relayed(document)) => {
            let failure = match document.kind {
                baton_protocol::ErrorKind::Config => Failure::config(document.message.clone()),
                _ => Failure::unavailable(document.message.clone()),
            };
            return Err(failure);
        }
        Err(error) => {
            return Err(Failure::unavailable(format!(
                "vllm-health gave no answer ({error}): {said}"
            )));
        }
    };
    let ready: Vec<&Provider> = health
        .providers
        .iter()
        .filter(|p| p.state.is_ready())
        .collect();
    if ready.is_empty() {
        let message = reasons(&health.providers);
        let gone = health
            .providers
            .iter()
            .all(|p| matches!(p.state, ServerState::Unreachable | ServerState::Loading));
        return Err(if gone {
            Failure::unavailable(format!("{message}; start it, then try again"))
        } else {
            Failure::unavailable(message)
        });
    }
    let mut notes = Vec::new();
    for provider in &ready {
        let unknown = provider.models.iter().all(|m| m.usable_context.is_none());
        if unknown {
            notes.push(format!(
                "{}: the usable context is not known; set `context` for it in the configuration",
                provider.id
            ));
        }
    }
    Ok((health, notes))
}

/// A money limit that cannot be kept is refused before anything is spent.
pub(crate) fn budget(
    limits: &BudgetLimits,
    providers: &[baton_cli::config::ProviderConfig],
) -> Result<(), Failure> {
    if limits.max_cost_usd.is_none() || !limits.stop {
        return Ok(());
    }
    let unpriced: Vec<&str> = providers
        .iter()
        .filter(|p| p.price.is_none())
        .map(|p| p.id.as_str())
        .collect();
    if unpriced.is_empty() {
        return Ok(());
    }
    Err(Failure::config(format!(
        "max_cost_usd cannot be kept: the price of {} is not known; set `price` for it, or limit \
         max_tokens, max_steps or max_wall instead",
        unpriced.join(", ")
    )))
}
