//! The one fast-forward of the target, and what happens when the target has moved meanwhile.

use baton_cli::Failure;
use baton_process::sandbox::Network;
use baton_process::{Capture, Command};
use baton_repo::{Integration, RepoError};

use crate::core::record::Record;
use crate::core::state::State;

use super::acts::CHECK_LIMIT;
use super::confined::confine;
use super::context::{Context, Line};
use super::integrating::{discard, move_branch, tree_at_head};
use super::stage::{exit_code, last_line};
use super::worktrees::{NotReady, git_failure};

/// Moves the target to the run's head, or the run's work onto a target that has moved.
pub(crate) fn land(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    // A crash may have come between the record of an integration and the branch's move.
    move_branch(context, &state.branch, &state.head)?;
    let target = &state.target;
    let now = context
        .repo
        .branch(&target.branch)
        .map_err(|e| git_failure(&e))?;
    let Some(now) = now else {
        return refuse(line, format!("the branch `{}` is gone", target.branch));
    };
    let moved = now.as_str() != target.commit && now.as_str() != state.head;
    // Put back behind where we started: what was taken off is not brought back by our move.
    if moved
        && (!contains(context, &state.head, now.as_str())?
            || contains(context, &target.commit, now.as_str())?)
    {
        return rebase(context, line, state, now.as_str());
    }
    let landed = {
        let _one = context.trees();
        context.repo.fast_forward(&target.branch, &state.head)
    };
    match landed {
        Ok(()) => {
            line.record(
                None,
                Record::Landed {
                    branch: target.branch.clone(),
                    from: now.as_str().to_owned(),
                    to: state.head.clone(),
                },
            )?;
            Ok(())
        }
        Err(error @ RepoError::Refused(_)) => refuse(line, error.to_string()),
        Err(error) => Err(git_failure(&error)),
    }
}

fn contains(context: &Context, commit: &str, ancestor: &str) -> Result<bool, Failure> {
    let answer = context.repo.is_ancestor(ancestor, commit);
    answer.map_err(|e| git_failure(&e))
}

fn refuse(line: &Line, reason: String) -> Result<(), Failure> {
    line.record(None, Record::NotLanded { reason })?;
    Ok(())
}

/// The user worked on the target while we did: our commits go on top of theirs, all checks run
/// again, and nothing of theirs is touched.
fn rebase(context: &Context, line: &Line, state: &State, onto: &str) -> Result<(), Failure> {
    let (repo, tree) = match tree_at_head(context, &state.head) {
        Ok(tree) => tree,
        Err(NotReady::Stopped) => return Ok(()),
        Err(NotReady::Failed(failure)) => return Err(failure),
        Err(NotReady::Environment(why)) => return refuse(line, why),
    };
    let moved = {
        let _one = context.trees();
        repo.rebase(&state.target.commit, onto)
            .map_err(|e| git_failure(&e))?
    };
    let head = match moved {
        Integration::Done(head) => head.as_str().to_owned(),
        Integration::Conflict(paths) => {
            let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
            return refuse(
                line,
                format!(
                    "it has moved since the run started, and both changed {}",
                    names.join(", ")
                ),
            );
        }
    };
    if let Some(failure) = failing_check(context, state, &tree)? {
        discard(context, &tree)?;
        return refuse(
            line,
            format!("it has moved since the run started, and on top of it {failure}"),
        );
    }
    if context.stop.is_cancelled() {
        return Ok(());
    }
    let short: String = head.chars().take(7).collect();
    let branch = format!("baton/{}-on-{short}", context.run);
    move_branch(context, &branch, &head)?;
    line.record(
        None,
        Record::Rebased {
            onto: onto.to_owned(),
            head,
            branch,
        },
    )?;
    Ok(())
}

/// The first check of the integrated tasks that fails in a tree, in words.
fn failing_check(
    context: &Context,
    state: &State,
    tree: &std::path::Path,
) -> Result<Option<String>, Failure> {
    let mut seen = std::collections::BTreeSet::new();
    let jobs = state.integrated.iter().filter_map(|id| state.job(id));
    for verify in jobs.flat_map(|job| &job.task.verify) {
        if !seen.insert(&verify.command) {
            continue;
        }
        let limit = verify
            .timeout_ms
            .map_or(CHECK_LIMIT, std::time::Duration::from_millis);
        let command = Command::shell(&verify.command)
            .cwd(tree)
            .merge_stderr()
            .capture(Capture::default())
            .timeout(limit)
            .hunt();
        // Models wrote what runs here, so it runs where their own commands do.
        let outcome = confine(context, command, tree, Network::Loopback, &[])
            .run(&context.stop)
            .map_err(|e| Failure::internal(format!("cannot run `{}`: {e}", verify.command)))?;
        if !outcome.success() {
            return Ok(Some(format!(
                "`{}` fails with {}: {}",
                verify.command,
                exit_code(outcome.exit),
                last_line(&outcome.stdout.text())
            )));
        }
    }
    Ok(None)
}
