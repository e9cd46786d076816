//! A loop that outlives its terminal: an ordinary process in a session of its own, with a log.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use baton_cli::{Failure, Output};
use baton_protocol::Exit;
use baton_repo::Repo;
use serde_json::json;

use super::layout::{Layout, make_folder};
use super::loops;

/// How long the loop may take until it holds its seat.
const START: Duration = Duration::from_secs(30);

/// Starts ourselves again in the background and comes back when the loop has its seat.
pub(crate) fn start(
    repo: &Repo,
    name: &str,
    args: &[&str],
    output: &Output,
) -> Result<Exit, Failure> {
    if let Some(who) = loops::holder(repo.common_dir(), name) {
        return Err(Failure::try_again(format!(
            "{who} works here already; look at it: orchestrate status"
        )));
    }
    let layout = Layout::new(repo.root());
    layout.prepare()?;
    make_folder(&layout.runs())?;
    let log = layout.runs().join(format!("{name}.log"));
    let fail = |what: &str, e: std::io::Error| Failure::internal(format!("cannot {what}: {e}"));
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&log)
        .map_err(|e| fail(&format!("write {}", log.display()), e))?;
    let also = file
        .try_clone()
        .map_err(|e| fail("share the log's descriptor", e))?;
    let program = std::env::current_exe().map_err(|e| fail("find this program again", e))?;
    let mut child = Command::new(program)
        .args(args)
        .current_dir(repo.root())
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(also)
        .spawn()
        .map_err(|e| fail("start the loop", e))?;
    let pid = child.id();
    let end = Instant::now() + START;
    loop {
        if loops::holder(repo.common_dir(), name).is_some() {
            break;
        }
        if let Ok(Some(status)) = child.try_wait() {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            let said = super::stage::last_line(&said);
            // A loop may also have found in that moment that nothing is left to do.
            return if status.success() {
                output.note("it ended at once: there was nothing left to do");
                Ok(Exit::Yes)
            } else {
                let code = u8::try_from(status.code().unwrap_or(1)).unwrap_or(1);
                Err(Failure::internal(format!(
                    "the loop ended at once: {}",
                    said.trim_start_matches("orchestrate: ")
                ))
                .with_exit(exit_of(code)))
            };
        }
        if Instant::now() >= end {
            return Err(Failure::internal(format!(
                "process {pid} has not begun within {} s; look at {}",
                START.as_secs(),
                log.display()
            )));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let document = json!({"schema": "detached/1", "pid": pid, "log": log});
    output.document(&document, || {
        format!(
            "process {pid} works in the background; its log is {}\nlook at it: orchestrate status; \
             stop it: orchestrate halt {name}",
            log.display()
        )
    })?;
    Ok(Exit::Yes)
}

fn exit_of(code: u8) -> Exit {
    match code {
        2 => Exit::Usage,
        3 => Exit::Unknown,
        69 => Exit::Unavailable,
        75 => Exit::TryAgain,
        78 => Exit::Config,
        _ => Exit::No,
    }
}

/// Leaves the terminal's session: closing it, or a Ctrl-C in it, does not reach us any more.
pub(crate) fn leave_the_terminal() {
    // We may be the leader of a session already; then there is nothing to leave.
    let _ = rustix::process::setsid();
}
