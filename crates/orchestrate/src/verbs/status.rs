//! `orchestrate status`: every row is a process and a log.

use std::fmt::Write as _;
use std::time::Duration;

use baton_cli::{Failure, Output};
use baton_process::Cancel;
use baton_protocol::{Exit, Timestamp};
use serde_json::{Value, json};

use crate::cli::Status;
use crate::core::job::{Job, Phase};
use crate::core::markdown::in_words;
use crate::core::report::stage;
use crate::core::state::State;
use crate::shell::goal_store::GoalStore;
use crate::shell::journal::peek;
use crate::shell::layout::{Layout, RunFolder};
use crate::shell::{lock, loops, worker};

use super::place;

/// How often a watched status is looked at.
const TICK: Duration = Duration::from_secs(1);

/// Prints the runs and their tasks.
pub(crate) fn status(cli: &Status, output: &Output) -> Result<Exit, Failure> {
    let repo = place::repository()?;
    let layout = Layout::new(repo.root());
    let signals = Cancel::install()
        .map_err(|e| Failure::internal(format!("cannot watch for signals: {e}")))?;
    let mut last = String::new();
    loop {
        let holder = lock::holder(repo.common_dir());
        let runs = look(&layout, holder.as_deref(), cli.all);
        let goal = goal(&layout, repo.common_dir());
        let text = goal_line(&goal) + &text(&runs);
        if !cli.watch || text != last {
            output.document(
                &json!({"schema": "status/1", "goal": goal, "runs": runs}),
                || text.clone(),
            )?;
            last = text;
        }
        if !cli.watch || output.is_closed() {
            return Ok(Exit::Yes);
        }
        if signals.wait(TICK) {
            let number = signals.signal().and_then(|s| u8::try_from(s).ok());
            return Ok(Exit::Signal(number.unwrap_or(2)));
        }
    }
}

fn look(layout: &Layout, holder: Option<&str>, all: bool) -> Vec<Value> {
    let names = layout.run_names();
    let mut runs = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let folder = layout.run(name);
        let state = match peek(&folder.journal()) {
            Ok(entries) => State::replay(&entries),
            Err(failure) => {
                runs.push(json!({"run": name, "state": "unreadable", "detail": failure.message}));
                continue;
            }
        };
        let last = index + 1 == names.len();
        if !all && !last && state.status.is_some() {
            continue;
        }
        let works = holder.is_some_and(|who| who.starts_with(name.as_str()));
        runs.push(run(name, &folder, &state, works));
    }
    runs
}

/// The long-lived goal and who works on it; null when there is none.
fn goal(layout: &Layout, git_dir: &std::path::Path) -> Value {
    match GoalStore::new(layout, git_dir).read() {
        Ok(Some(goal)) => json!({
            "objective": goal.objective,
            "state": goal.status,
            "reason": goal.reason,
            "continuations": goal.continuations,
            "loop": loops::holder(git_dir, super::goal::LOOP),
        }),
        Ok(None) => Value::Null,
        Err(failure) => json!({"state": "unreadable", "reason": failure.message}),
    }
}

fn goal_line(goal: &Value) -> String {
    let word = |key: &str| goal[key].as_str().unwrap_or_default();
    if goal.is_null() {
        return String::new();
    }
    let works = match word("loop") {
        "" => String::new(),
        who => format!(", {who} works on it"),
    };
    let objective: String = word("objective").chars().take(90).collect();
    let reason = match word("reason") {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    format!("goal  {}{works}{reason}\n  {objective}\n", word("state"))
}

fn run(name: &str, folder: &RunFolder, state: &State, works: bool) -> Value {
    let how = match state.status {
        Some(status) => in_words(status).to_lowercase(),
        None if works => "working".into(),
        None => "killed; go on with: orchestrate resume".into(),
    };
    let tasks: Vec<Value> = state.jobs.iter().map(|job| row(folder, job)).collect();
    json!({
        "run": name,
        "state": how,
        "goal": state.goal,
        "round": state.round,
        "tasks": tasks,
        "folder": folder.path(),
        "report": folder.report_text(),
    })
}

fn row(folder: &RunFolder, job: &Job) -> Value {
    let attempt = job.attempt();
    let files = folder.attempt(job.id(), attempt.number, attempt.placement);
    let running = matches!(job.phase(), Phase::Running);
    let activity = worker::activity(&files);
    let process = worker::identity(&files).filter(|i| running && i.is_alive());
    let silence = std::fs::metadata(files.join("events.jsonl"))
        .and_then(|m| m.modified())
        .ok()
        .filter(|_| running)
        .and_then(|at| Timestamp::now().system_time().duration_since(at).ok())
        .map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
    json!({
        "task": job.id(),
        "role": job.task.role,
        "state": if running && process.is_none() { "preparing" } else { stage(job) },
        "attempt": attempt.number,
        "pid": process.map(|p| p.pid),
        "provider": activity.provider,
        "model": activity.model,
        "slot": activity.slot.map(|(slot, _)| slot),
        "slots": activity.slot.map(|(_, slots)| slots),
        "step": activity.step,
        "tokens_per_s": activity.tokens_per_s,
        "context_percent": activity.context_percent,
        "doing": activity.last.filter(|_| running),
        "silent_ms": silence,
        "folder": files,
    })
}

fn text(runs: &[Value]) -> String {
    let mut text = String::new();
    if runs.is_empty() {
        text.push_str("no runs here yet; start one: orchestrate run GOAL\n");
    }
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for run in runs {
        let _ = writeln!(text, "{}  {}", word(&run["run"]), word(&run["state"]));
        let goal: String = word(&run["goal"]).lines().take(1).collect();
        let _ = writeln!(text, "  {}", goal.chars().take(90).collect::<String>());
        for task in run["tasks"].as_array().into_iter().flatten() {
            let _ = writeln!(text, "  {}", line(task));
        }
    }
    text
}

/// A task on one line: what and how far, and for one that runs its process, place and pace.
fn line(task: &Value) -> String {
    let word = |key: &str| task[key].as_str().unwrap_or_default().to_owned();
    let mut parts = vec![format!(
        "{:<20} {:<12} {:<10}",
        word("task"),
        word("role"),
        word("state")
    )];
    if let Some(pid) = task["pid"].as_u64() {
        parts.push(format!("pid {pid}"));
    }
    if let (Some(slot), Some(slots)) = (task["slot"].as_u64(), task["slots"].as_u64()) {
        parts.push(format!("{} slot {}/{slots}", word("provider"), slot + 1));
    }
    if let Some(step) = task["step"].as_u64().filter(|n| *n > 0) {
        parts.push(format!("step {step}"));
    }
    if let Some(rate) = task["tokens_per_s"].as_f64() {
        parts.push(format!("{rate:.0} tok/s"));
    }
    if let Some(percent) = task["context_percent"].as_u64() {
        parts.push(format!("context {percent} %"));
    }
    if let Some(ms) = task["silent_ms"].as_u64() {
        parts.push(format!("silent {} s", ms / 1000));
    }
    parts.push(word("folder"));
    parts.join("  ")
}
