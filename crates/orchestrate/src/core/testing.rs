//! Small makers for the tests of the core.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use baton_protocol::{
    HandoffStatus, Plan, SchemaTag, Scope, SlotClass, Task, TaskId, Timestamp, Usage, VerifyCommand,
};

use super::record::{BudgetLimits, Entry, Record, ReviewMode, Settings, Target};
use super::state::State;

pub(crate) fn at(seconds: u64) -> Timestamp {
    Timestamp::new(UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds))
}

pub(crate) fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

pub(crate) fn task(name: &str, write: &[&str]) -> Task {
    let mut task = Task::new(id(name), format!("Do {name} in {}.", write.join(", ")));
    task.scope = Some(Scope {
        write: Some(write.iter().map(ToString::to_string).collect()),
        read: None,
    });
    task.verify = vec![VerifyCommand {
        command: "test -d .".into(),
        timeout_ms: None,
    }];
    task.narrower = Some(format!("Only the first step of {name}."));
    task
}

pub(crate) fn plan(tasks: Vec<Task>, depends: &[(&str, &str)]) -> Plan {
    Plan {
        schema: SchemaTag::new(),
        goal: "the goal".into(),
        gate: baton_protocol::Gate::default(),
        direct: false,
        tasks,
        depends: depends.iter().map(|(a, b)| (id(a), id(b))).collect(),
        notes: String::new(),
    }
}

pub(crate) fn settings() -> Settings {
    Settings {
        max_parallel: 2,
        max_rounds: 2,
        plan_only: false,
        ask_planner: true,
        merge_partial: false,
        review: ReviewMode::Off,
        review_rounds: 2,
        summary: false,
        budget: BudgetLimits::default(),
        queue_ms: 600_000,
        pause_at_failure: false,
        class: SlotClass::default(),
        models: BTreeMap::new(),
        pull_request: None,
        launcher: None,
        launcher_io: None,
    }
}

pub(crate) fn run_started(settings: Settings) -> Record {
    Record::RunStarted {
        goal: "the goal".into(),
        settings,
        target: Target {
            branch: "main".into(),
            commit: "c0".into(),
        },
        branch: "baton/r".into(),
        nonce: "n0nce".into(),
        given: None,
    }
}

pub(crate) fn started(attempt: u32, placement: u32) -> Record {
    Record::Started {
        attempt,
        placement,
        base: "c0".into(),
        worktree: Some("r-x".into()),
    }
}

pub(crate) fn ended(attempt: u32, exit: i32, status: Option<HandoffStatus>) -> Record {
    Record::Ended {
        attempt,
        exit: Some(exit),
        status,
        reason: "because".into(),
        provider: Some("p1".into()),
        model: Some("m".into()),
        usage: Usage::default(),
        cost_usd: None,
        open: Vec::new(),
        lost: false,
    }
}

/// Applies records, each about the named job (`""` = the run itself).
pub(crate) fn feed(state: &mut State, records: Vec<(&str, Record)>) {
    for (task, record) in records {
        let task = (!task.is_empty()).then(|| id(task));
        state.apply(&Entry {
            at: at(1),
            task,
            record,
        });
    }
}
