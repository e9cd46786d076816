//! What the journal holds: one record a line, in the envelope of `event/1`.

use std::collections::BTreeMap;

use baton_cli::config::LauncherIo;
use baton_protocol::{
    Event, FindingSeverity, HandoffStatus, MergeState, Plan, ReviewVerdict, RunStatus, SchemaTag,
    SlotClass, Task, TaskId, Timestamp, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::job::Why;

/// What kind of work a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobKind {
    /// Asks for a plan.
    Plan,
    /// Looks for facts before planning.
    Explore,
    /// Answers a question directly.
    Answer,
    /// A task of the plan.
    Work,
    /// Judges the combined diff.
    Review,
    /// Sums the run up for people.
    Summary,
}

/// Where a plan came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlanSource {
    /// A planner's answer.
    Planner,
    /// The goal verbatim, because the planner failed twice or nobody asked it.
    Goal,
    /// A file given by the user.
    File,
    /// Made by code from the gaps of the round before.
    Gaps,
}

/// How the review of the run's branch is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReviewMode {
    /// No review.
    Off,
    /// A review with a bounded number of rounds.
    Bounded,
}

/// What bounds a run's spending; null = no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BudgetLimits {
    /// Whether a reached limit ends the run between two steps (else it is only reported).
    pub stop: bool,
    /// Turns of models.
    pub max_steps: Option<u64>,
    /// Requests.
    pub max_requests: Option<u64>,
    /// Tokens, prompt and completion.
    pub max_tokens: Option<u64>,
    /// US dollars.
    pub max_cost_usd: Option<f64>,
    /// The whole run.
    pub max_wall_ms: Option<u64>,
    /// Retries.
    pub max_retries: Option<u64>,
}

/// The settings a run was started with; a resumed run keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// Workers at once.
    pub max_parallel: usize,
    /// Rounds of work.
    pub max_rounds: u32,
    /// Whether the run ends when its plan is accepted.
    #[serde(default)]
    pub plan_only: bool,
    /// Whether the planner is asked (false: a plan file, or one worker).
    pub ask_planner: bool,
    /// Whether integrated work reaches the target although the run has gaps.
    pub merge_partial: bool,
    /// The review.
    pub review: ReviewMode,
    /// Rounds of review before a person is needed.
    pub review_rounds: u32,
    /// Whether a model sums the run up at the end.
    pub summary: bool,
    /// Limits of spending.
    pub budget: BudgetLimits,
    /// How long an attempt may wait for a slot.
    pub queue_ms: u64,
    /// Whether nothing new is started once a task has failed; what is done then reaches the target.
    #[serde(default)]
    pub pause_at_failure: bool,
    /// How urgent the run is to others that want the same slots.
    #[serde(default)]
    pub class: SlotClass,
    /// The models that roles name, in their order.
    #[serde(default)]
    pub models: BTreeMap<String, Vec<String>>,
    /// The pull request that is wanted when the run is completed, as the person has confirmed.
    #[serde(default)]
    pub pull_request: Option<PullRequest>,
    /// The launcher the command line names; none: the configuration's.
    #[serde(default)]
    pub launcher: Option<Vec<String>>,
    /// How task and hand-off travel, by the command line; none: the configuration's way.
    #[serde(default)]
    pub launcher_io: Option<LauncherIo>,
}

/// A pull request that a run is to lead to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PullRequest {
    /// The issue it closes.
    pub issue: Option<u64>,
}

/// The branch the result goes to, as it was when the run started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    /// Its short name.
    pub branch: String,
    /// Its commit.
    pub commit: String,
}

/// A finding of a review, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReviewFinding {
    /// How bad.
    pub severity: FindingSeverity,
    /// The file, or null.
    pub path: Option<String>,
    /// What is wrong.
    pub statement: String,
}

/// One thing that happened, or is about to happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Record {
    /// The run exists.
    RunStarted {
        goal: String,
        settings: Settings,
        target: Target,
        branch: String,
        nonce: String,
        /// A plan the user gave. It stands in the first record: a run that is killed right after it
        /// must not go on without its plan.
        #[serde(default)]
        given: Option<Box<Plan>>,
    },
    /// A job exists; its task document is complete but for the attempt.
    JobAdded {
        kind: JobKind,
        round: u32,
        document: Box<Task>,
    },
    /// A worker is about to be started.
    Started {
        attempt: u32,
        placement: u32,
        base: String,
        worktree: Option<String>,
    },
    /// A launcher has been started for a worker, or that worker has reported from its host.
    Placed {
        attempt: u32,
        placement: u32,
        launcher: String,
        host: Option<String>,
    },
    /// A worker ended, with the exit code (null: not known, it was adopted) and its own status.
    Ended {
        attempt: u32,
        exit: Option<i32>,
        status: Option<HandoffStatus>,
        reason: String,
        provider: Option<String>,
        model: Option<String>,
        usage: Usage,
        cost_usd: Option<f64>,
        /// What the hand-off says is still open.
        #[serde(default)]
        open: Vec<String>,
        /// The place was lost with it: nothing it may still do counts.
        #[serde(default)]
        lost: bool,
    },
    /// handoff-check judged an attempt.
    Judged {
        attempt: u32,
        pass: Option<bool>,
        reasons: Vec<String>,
    },
    /// The host committed an attempt's work (null: there was nothing to commit).
    Committed {
        attempt: u32,
        commit: Option<String>,
    },
    /// A task is on the run's branch.
    Integrated { commit: String, head: String },
    /// A task could not be integrated.
    NotIntegrated {
        state: MergeState,
        detail: String,
        branch: Option<String>,
    },
    /// Work that was not integrated was committed to a branch of its own, so that nothing is lost.
    Kept { attempt: u32, branch: String },
    /// A read-only job, or a task that needed no change, is done.
    Done { detail: String },
    /// The task is tried once more, narrower.
    Retry { reason: String },
    /// The same attempt is placed again, because the place failed and not the work.
    Replaced {
        reason: String,
        avoid: Option<String>,
    },
    /// The task is given up.
    GaveUp { why: Why, reason: String },
    /// A plan was refused.
    PlanRejected { faults: Vec<String> },
    /// A plan was accepted.
    PlanAccepted {
        source: PlanSource,
        plan: Box<Plan>,
        notes: Vec<String>,
    },
    /// Facts must be found before planning.
    FactsWanted { questions: Vec<String> },
    /// A further round begins.
    RoundStarted { round: u32, gaps: Vec<String> },
    /// No further round is possible.
    RoundRefused { reason: String },
    /// A review gave its verdict.
    Reviewed {
        round: u32,
        verdict: ReviewVerdict,
        reason: String,
        findings: Vec<ReviewFinding>,
        head: String,
        base: String,
    },
    /// The target branch moved to the run's head.
    Landed {
        branch: String,
        from: String,
        to: String,
    },
    /// The target branch was left as it is.
    NotLanded { reason: String },
    /// The run's branch was moved onto a target that had moved.
    Rebased {
        onto: String,
        head: String,
        branch: String,
    },
    /// A person asked the run to stop.
    HaltAsked { now: bool },
    /// A signal asked the run to stop.
    InterruptAsked { signal: i32 },
    /// A budget is spent.
    BudgetSpent { limit: String },
    /// Somebody goes on with the run.
    Resumed { pid: u32 },
    /// A summary in a model's words (null: it failed, which does not matter).
    Summed { text: Option<String> },
    /// The report is written.
    RunEnded { status: RunStatus },
    /// A record of a later version; it is kept and ignored.
    #[serde(other)]
    Unknown,
}

/// A record with its time and the job it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub at: Timestamp,
    pub task: Option<TaskId>,
    pub record: Record,
}

impl Entry {
    /// The journal line's document.
    pub(crate) fn to_event(&self, run: &str) -> Result<Event, serde_json::Error> {
        let mut data = match serde_json::to_value(&self.record)? {
            Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        let kind = match data.remove("type") {
            Some(Value::String(kind)) => kind,
            _ => String::new(),
        };
        Ok(Event {
            schema: SchemaTag::new(),
            at: self.at,
            run: Some(run.to_owned()),
            task: self.task.clone(),
            kind,
            data,
        })
    }

    /// Reads a journal line back.
    pub(crate) fn from_line(line: &str) -> Result<Self, String> {
        let event: Event = baton_protocol::read(line).map_err(|e| e.to_string())?;
        let mut data = event.data;
        data.insert("type".into(), Value::String(event.kind));
        let record = serde_json::from_value(Value::Object(data)).map_err(|e| e.to_string())?;
        Ok(Self {
            at: event.at,
            task: event.task,
            record,
        })
    }
}

/// Reads a whole journal. A last line that was cut by a crash is dropped: what it announces had not
/// been done, because acts follow their synced line. A broken line before the last is an error.
pub(crate) fn read_journal(text: &str) -> Result<Vec<Entry>, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut entries = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let last = index + 1 == lines.len();
        if last && !line.ends_with('\n') {
            break;
        }
        let entry = Entry::from_line(line.trim_end()).map_err(|e| {
            format!(
                "line {} of the journal cannot be read: {e}; the run cannot be resumed from it",
                index + 1
            )
        })?;
        entries.push(entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::{Entry, Record, read_journal};
    use crate::core::testing::{at, id};

    fn entry(record: Record) -> Entry {
        Entry {
            at: at(0),
            task: Some(id("t1")),
            record,
        }
    }

    fn line(entry: &Entry) -> String {
        serde_json::to_string(&entry.to_event("r").unwrap()).unwrap() + "\n"
    }

    #[test]
    fn a_record_survives_the_journal() {
        for record in [
            Record::Retry { reason: "x".into() },
            Record::Judged {
                attempt: 1,
                pass: None,
                reasons: vec!["cannot tell".into()],
            },
            Record::Committed {
                attempt: 2,
                commit: None,
            },
        ] {
            let before = entry(record);
            assert_eq!(read_journal(&line(&before)).unwrap(), [before]);
        }
    }

    #[test]
    fn o22_a_line_cut_by_a_crash_is_dropped_and_the_rest_kept() {
        let first = entry(Record::Retry { reason: "a".into() });
        let text = line(&first) + r#"{"schema":"event/1","at":"2026"#;
        assert_eq!(read_journal(&text).unwrap(), [first]);
    }

    #[test]
    fn a_broken_line_in_the_middle_is_named() {
        let first = line(&entry(Record::Retry { reason: "a".into() }));
        let error = read_journal(&format!("{first}rubbish\n{first}")).unwrap_err();
        assert!(error.starts_with("line 2 of the journal"), "{error}");
    }

    #[test]
    fn a_record_of_a_later_version_does_not_break_reading() {
        let text = line(&entry(Record::Retry { reason: "a".into() })).replace("retry", "teleport");
        assert_eq!(read_journal(&text).unwrap()[0].record, Record::Unknown);
    }
}
