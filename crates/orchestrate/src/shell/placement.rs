//! Where a task may be done: who is ready, and who can hold it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_protocol::{HandoffStatus, Health, Task};

use crate::core::grouping;
use crate::core::job::Attempt;
use crate::core::placing;
use crate::core::state::State;

use super::context::Context;
use super::stage;
use super::worker::{Ended, never};

/// Where a task may be done, or how its attempt ends without a place.
pub(super) enum Candidates {
    File(PathBuf),
    None(Ended),
}

/// How long a server that is away is waited for before the place counts as lost.
const SERVER_WAIT: Duration = Duration::from_secs(5 * 60);

/// Who is ready now, or why nobody is.
enum Ready {
    Some(Health),
    None { exit: i32, reason: String },
    Stopped,
}

/// Asks the servers, and again with growing pauses while all of them are away: a restart takes
/// minutes, and asking a dead server at once again helps nobody.
fn ready(context: &Context, folder: &Path, longest: Duration) -> Result<Ready, Failure> {
    let end = Instant::now() + longest.min(SERVER_WAIT);
    let mut pause = Duration::from_secs(1);
    loop {
        let limit = Duration::from_secs(60);
        let asked = stage::run(
            context,
            "vllm-health",
            &["--json"],
            None,
            folder,
            "health",
            limit,
        )?;
        if asked.cancelled {
            return Ok(Ready::Stopped);
        }
        let (exit, reason) = match baton_protocol::read::<Health>(&asked.stdout) {
            Ok(health) if health.providers.iter().any(|p| p.state.is_ready()) => {
                return Ok(Ready::Some(health));
            }
            Ok(health) => (69, placing::reasons(&health.providers)),
            Err(_) if asked.code == 78 => {
                return Ok(Ready::None {
                    exit: 78,
                    reason: asked.said,
                });
            }
            Err(error) => (69, format!("vllm-health: {error}")),
        };
        if Instant::now() >= end {
            return Ok(Ready::None { exit, reason });
        }
        if context.pause.wait(pause) {
            return Ok(Ready::Stopped);
        }
        pause = (pause * 2).min(Duration::from_secs(15));
    }
}

/// Asks who is ready and who can hold the task: the role's models, without the places that failed.
pub(super) fn candidates(
    context: &Context,
    state: &State,
    task: &Task,
    attempt: &Attempt,
    folder: &Path,
    place: &Path,
) -> Result<Candidates, Failure> {
    let queue = task.limits.queue_ms.unwrap_or(state.settings.queue_ms);
    let mut health_document = match ready(context, folder, Duration::from_millis(queue))? {
        Ready::Some(health) => health,
        Ready::Stopped => return Ok(Candidates::None(Ended::Stopped)),
        Ready::None { exit, reason } => {
            return Ok(Candidates::None(Ended::Never {
                exit: Some(exit),
                status: None,
                reason,
            }));
        }
    };
    let wanted = context
        .config
        .roles
        .get(&task.role)
        .map(|r| r.models.clone())
        .unwrap_or_default();
    health_document.providers =
        placing::candidates(health_document.providers, &wanted, &attempt.avoid, &|id| {
            grouping::model_in_use(state, id).map(str::to_owned)
        });
    let text = serde_json::to_string(&health_document)
        .map_err(|e| Failure::internal(format!("cannot write the candidates: {e}")))?;
    let task_file = folder.join("task.json");
    let place = place.to_string_lossy();
    let task_path = task_file.to_string_lossy();
    let estimate = stage::run(
        context,
        "ctx-estimate",
        &[
            "--json",
            "--task",
            &task_path,
            "--repo",
            &place,
            "--candidates",
            "-",
        ],
        Some(&text),
        folder,
        "estimate",
        Duration::from_secs(120),
    )?;
    if estimate.cancelled {
        return Ok(Candidates::None(Ended::Stopped));
    }
    match estimate.code {
        1 => Ok(Candidates::None(never(
            HandoffStatus::Overflow,
            format!("it fits the context of no provider: {}", estimate.said),
        ))),
        // Where it cannot be told whether it fits, slot-lock leaves the place out by its own rule.
        0 | 3 => Ok(Candidates::File(folder.join("estimate.json"))),
        code => Ok(Candidates::None(Ended::Never {
            exit: Some(code),
            status: None,
            reason: format!("ctx-estimate: {}", estimate.said),
        })),
    }
}
