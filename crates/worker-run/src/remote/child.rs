//! The command that does the task: worker-run, below slot-lock where no slot is held for it.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use baton_cli::Failure;
use baton_process::{Cancel, Child, Command, ExitStatus, Output, SpawnError, Waited, sibling};
use baton_protocol::{Exit, Launch, Reservation, SlotClass};
use serde_json::Value;

use super::given::{Given, Variables};

/// How long the worker has to write its hand-off after TERM.
const GRACE: Duration = Duration::from_secs(8);

/// How long a worker may take over its own limits before it is ended from outside.
const SLACK: Duration = Duration::from_secs(120);

/// What our own environment may say of servers and slots; with a configuration that came along it
/// is not meant.
const FOREIGN: [&str; 12] = [
    "OPENCODE_VLLM_BASE_URL",
    "OPENCODE_VLLM_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "BATON_SLOT",
    "BATON_SLOT_FILE",
    "BATON_SLOT_TOKEN",
    "BATON_SLOTS_HELD",
    "BATON_FENCE",
    "BATON_PROVIDER",
    "BATON_MODEL",
    "BATON_CONTEXT",
];

/// Where the parts of the work are.
pub(super) struct Ways<'a> {
    pub tree: &'a Path,
    /// A file, or `-` for stdout.
    pub events: Option<&'a Path>,
    pub report: &'a Path,
    /// Where the hand-off goes.
    pub stdout: Output,
}

/// The command.
pub(super) fn command(
    launch: &Launch,
    given: &Given,
    variables: &Variables,
    reservation: Option<&Reservation>,
    ways: Ways<'_>,
) -> Result<Command, Failure> {
    let worker = std::env::current_exe()
        .map_err(|e| Failure::internal(format!("cannot find my own program: {e}")))?;
    let mut argv: Vec<OsString> = Vec::new();
    if let (false, Some(candidates)) = (launch.slot_held, &given.candidates) {
        argv.push(sibling("slot-lock").into());
        argv.push("--candidates".into());
        argv.push(candidates.into());
        if let Some(queue) = launch.queue_ms {
            argv.push("--wait".into());
            argv.push(format!("{queue}ms").into());
        }
        argv.push("--class".into());
        argv.push(class(launch.class).into());
        argv.push("--report".into());
        argv.push(ways.report.into());
        argv.push("--".into());
    }
    argv.push(worker.into());
    argv.push("--task".into());
    argv.push((&given.task).into());
    argv.push("--repo".into());
    argv.push(ways.tree.into());
    if let Some(events) = ways.events {
        argv.push("--events".into());
        argv.push(events.into());
    }
    let program = argv.remove(0);
    let mut command = Command::new(program)
        .args(argv)
        .cwd(ways.tree)
        .stdout(ways.stdout)
        .stderr(Output::Inherit)
        // TERM for it when we are killed: slot-lock keeps the slot until the worker is gone.
        .die_with_us(true);
    if let Some(config) = &given.config {
        for name in FOREIGN {
            command = command.env_remove(name);
        }
        command = command.env("BATON_CONFIG", config);
    }
    if let Some(run) = &launch.run {
        command = command.env("BATON_RUN", run);
    }
    for (name, value) in variables {
        command = command.env(name, value);
    }
    if launch.slot_held {
        let reservation = reservation.filter(|r| r.acquired).ok_or_else(|| {
            Failure::input("a slot is said to be held, but no reservation/1 says which")
        })?;
        for (name, value) in held(reservation, launch.candidates.as_ref()) {
            command = command.env(name, value);
        }
    }
    Ok(command)
}

/// What slot-lock would have put into the environment where the slot is held.
fn held(reservation: &Reservation, candidates: Option<&Value>) -> Vec<(&'static str, String)> {
    let mut found = vec![("BATON_SLOT", reservation.slot.unwrap_or(0).to_string())];
    let named = [
        ("BATON_PROVIDER", &reservation.provider),
        ("BATON_MODEL", &reservation.model),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            found.push((name, value.clone()));
        }
    }
    let context = candidates.and_then(|c| {
        context(
            c,
            reservation.provider.as_deref(),
            reservation.model.as_deref(),
        )
    });
    if let Some(context) = context {
        found.push(("BATON_CONTEXT", context.to_string()));
    }
    found
}

/// The usable context of a model, as the candidates have it.
fn context(candidates: &Value, provider: Option<&str>, model: Option<&str>) -> Option<u64> {
    let providers = candidates["providers"].as_array()?;
    let entry = providers
        .iter()
        .find(|p| p["id"].as_str().is_some_and(|id| Some(id) == provider))?;
    if entry["fit"]["model"].as_str() == model
        && let Some(usable) = entry["fit"]["usable_context"].as_u64()
    {
        return Some(usable);
    }
    let models = entry["models"].as_array()?;
    let own = models.iter().find(|m| m["id"].as_str() == model)?;
    own["usable_context"].as_u64()
}

const fn class(class: SlotClass) -> &'static str {
    match class {
        SlotClass::Interactive => "interactive",
        SlotClass::Worker => "worker",
        SlotClass::Batch => "batch",
    }
}

/// Starts it; a program that is missing here is said plainly.
pub(super) fn start(command: &Command) -> Result<Child, Failure> {
    command.spawn().map_err(|error| {
        let exit = match &error {
            SpawnError::NotFound { .. } => Exit::NotFound,
            SpawnError::NotExecutable { .. } => Exit::CannotExecute,
            _ => Exit::Internal,
        };
        Failure::internal(format!(
            "{error}; install the six tools side by side where the launcher starts them"
        ))
        .with_exit(exit)
    })
}

/// Sees it to its end. The second value: it was ended from outside.
pub(super) fn see_off(
    child: &mut Child,
    launch: &Launch,
    stop: &Cancel,
) -> Result<(i32, bool), Failure> {
    let failed = |e: std::io::Error| Failure::internal(format!("cannot end the worker: {e}"));
    let limits = &launch.task.limits;
    let queue = Duration::from_millis(launch.queue_ms.or(limits.queue_ms).unwrap_or(0));
    let deadline = Instant::now() + queue + limits.wall() + SLACK;
    let code = |exit: ExitStatus| exit.shell_code();
    match child.wait(Some(deadline), stop).map_err(failed)? {
        Waited::Exited(exit) => Ok((code(exit), false)),
        Waited::Cancelled => Ok((code(child.terminate(GRACE).map_err(failed)?), true)),
        Waited::TimedOut => {
            child.terminate(GRACE).map_err(failed)?;
            Ok((124, true))
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Reservation;
    use serde_json::json;

    use super::held;

    #[test]
    fn a_held_slot_is_told_as_slot_lock_would() {
        let text = include_str!("../../../protocol/examples/reservation-1.json");
        let reservation: Reservation = baton_protocol::read(text).unwrap();
        let candidates = json!({"providers": [
            {"id": "other", "models": []},
            {"id": "default", "models": [{"id": "qwen38", "usable_context": 4096}]},
        ]});
        let found = held(&reservation, Some(&candidates));
        let expected = [
            ("BATON_SLOT", "1"),
            ("BATON_PROVIDER", "default"),
            ("BATON_MODEL", "qwen38"),
            ("BATON_CONTEXT", "4096"),
        ];
        assert_eq!(found, expected.map(|(n, v)| (n, v.to_owned())));
    }
}
