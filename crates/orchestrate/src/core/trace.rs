//! A run in numbers, from its journal and its workers' events: counts and durations, nothing else.

use std::collections::BTreeMap;

use baton_protocol::{Event, SchemaTag, Trace, TraceTask};
use serde_json::Value;

use super::job::{Attempt, Job};
use super::state::State;

/// More attempts than this are left out, and counted: a trace stays small.
const MOST: usize = 1000;

/// The trace. `events` gives the events of an attempt's worker, as it wrote them.
pub(crate) fn trace(
    run: &str,
    state: &State,
    wall_ms: u64,
    events: &dyn Fn(&Job, &Attempt) -> String,
) -> Trace {
    let attempts: Vec<(&Job, &Attempt)> = state
        .jobs
        .iter()
        .flat_map(|job| job.attempts.iter().map(move |attempt| (job, attempt)))
        .filter(|(_, attempt)| attempt.start.is_some())
        .collect();
    let mut totals = state.spent.usage.clone();
    totals.wall_ms = wall_ms;
    Trace {
        schema: SchemaTag::new(),
        run: run.to_owned(),
        rounds: state.round,
        tasks: attempts
            .iter()
            .take(MOST)
            .map(|(job, attempt)| one(job, attempt, &events(job, attempt)))
            .collect(),
        left_out: u64::try_from(attempts.len().saturating_sub(MOST)).unwrap_or(0),
        totals,
    }
}

fn one(job: &Job, attempt: &Attempt, events: &str) -> TraceTask {
    let mut task = TraceTask {
        task: job.id().clone(),
        role: job.task.role.clone(),
        attempt: attempt.number,
        provider: None,
        model: None,
        placement: attempt.placement,
        launcher: attempt.placed.as_ref().map(|p| p.launcher.clone()),
        host: attempt.placed.as_ref().and_then(|p| p.host.clone()),
        passed: attempt.judged.as_ref().and_then(|j| j.pass),
        elapsed_ms: elapsed_ms(attempt).unwrap_or(0),
        events: BTreeMap::new(),
        tools: BTreeMap::new(),
        errors: BTreeMap::new(),
        usage: baton_protocol::Usage::default(),
    };
    if let Some(end) = &attempt.end {
        task.provider.clone_from(&end.provider);
        task.model.clone_from(&end.model);
        task.usage = end.usage.clone();
    }
    for event in events
        .lines()
        .filter_map(|l| baton_protocol::read::<Event>(l).ok())
    {
        // Names of tools and classes are words of ours, never of a model: anything else is left out.
        let word = |key: &str| {
            let text = event.data.get(key).and_then(Value::as_str)?;
            let plain =
                text.len() <= 32 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            plain.then(|| text.to_owned())
        };
        if event.kind == "tool"
            && let Some(tool) = word("tool")
        {
            *task.tools.entry(tool).or_default() += 1;
        }
        if let Some(class) = word("class") {
            *task.errors.entry(class).or_default() += 1;
        }
        *task.events.entry(event.kind).or_default() += 1;
    }
    task
}

/// How long an attempt took; none while it runs.
pub(crate) fn elapsed_ms(attempt: &Attempt) -> Option<u64> {
    let from = attempt.start.as_ref()?.at.system_time();
    let to = attempt.end.as_ref()?.at.system_time();
    let took = to.duration_since(from).unwrap_or_default();
    Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::trace;
    use crate::core::record::{JobKind, Record};
    use crate::core::state::State;
    use crate::core::testing::{ended, feed, run_started, settings, started, task};

    #[test]
    fn a_trace_counts_and_tells_no_content() {
        let mut state = State::empty();
        feed(
            &mut state,
            vec![
                ("", run_started(settings())),
                (
                    "",
                    Record::JobAdded {
                        kind: JobKind::Work,
                        round: 1,
                        document: Box::new(task("a", &["secret.txt"])),
                    },
                ),
                ("a", started(1, 1)),
                ("a", ended(1, 0, None)),
            ],
        );
        let line = |kind: &str, rest: &str| {
            format!(
                r#"{{"schema":"event/1","at":"2026-11-30T12:00:00Z","run":null,"task":"a","type":"{kind}"{rest}}}"#
            )
        };
        let events = [
            line(
                "tool",
                r#","tool":"edit","arguments":{"path":"secret.txt"}"#,
            ),
            line(
                "tool",
                r#","tool":"rm -rf secret.txt; echo","arguments":{}"#,
            ),
            line(
                "error",
                r#","class":"Overflow","error":"secret.txt is too long""#,
            ),
            "half a li".into(),
        ]
        .join("\n");
        let trace = trace("r", &state, 5_000, &|_, _| events.clone());
        let one = &trace.tasks[0];
        assert_eq!(one.tools.get("edit"), Some(&1));
        assert_eq!(one.tools.len(), 1);
        assert_eq!(one.errors.get("Overflow"), Some(&1));
        assert_eq!(one.events.get("tool"), Some(&2));
        assert_eq!(trace.totals.wall_ms, 5_000);
        assert!(!serde_json::to_string(&trace).unwrap().contains("secret"));
    }
}
