//! The state machine: what to do next, from the state alone.
//!
//! Steps are either notes (a decision, journaled at once) or acts (the shell does them and journals
//! what came of them). An act that is already being done is in `busy` and not asked for again; after
//! a crash nothing is busy, so the same rules ask for what was left undone.

use std::collections::BTreeSet;

use baton_protocol::{HandoffStatus, RunStatus, TaskId};

use super::failure::{After, after_end, after_verdict};
use super::gate::{Route, route};
use super::job::{Fate, Job, Phase, Why};
use super::record::{JobKind, Record};
use super::state::{State, Stop};
use super::{budget, closing, grouping};

/// Something the shell does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    /// Write the planner's task.
    AddPlanner,
    /// Write the explorers' tasks.
    AddExplorers,
    /// Write the task that answers a question.
    AddAnswer,
    /// Write the reviewers' tasks, one a part of the diff.
    AddReviewers,
    /// Write the task that sums up.
    AddSummary,
    /// Make a plan of one worker with the goal verbatim.
    PlanFromGoal,
    /// Make the next round's plan from what is missing.
    PlanFromGaps,
    /// Start the job's worker, or wait for the one that still runs.
    Run(TaskId),
    /// Read what the planner answered and check it.
    ReadPlan(TaskId),
    /// Read what the reviewers answered.
    ReadReview,
    /// Read what the summary says.
    ReadSummary(TaskId),
    /// Have the hand-off checked.
    Judge(TaskId),
    /// Commit the work in its work tree.
    Commit(TaskId),
    /// Bring the work onto the run's branch.
    Integrate(TaskId),
    /// Move the target branch to the run's head.
    Land,
    /// Write the report.
    Finish(Status),
}

/// `RunStatus` in an order, so that acts can stand in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Status(u8);

const STATUSES: [RunStatus; 7] = [
    RunStatus::Completed,
    RunStatus::Incomplete,
    RunStatus::Failed,
    RunStatus::Halted,
    RunStatus::Interrupted,
    RunStatus::BudgetSpent,
    RunStatus::NeedsPerson,
];

impl From<RunStatus> for Status {
    fn from(status: RunStatus) -> Self {
        let index = STATUSES.iter().position(|s| *s == status).unwrap_or(0);
        Self(u8::try_from(index).unwrap_or(0))
    }
}

impl From<Status> for RunStatus {
    fn from(status: Status) -> Self {
        STATUSES[usize::from(status.0)]
    }
}

/// A step: a decision to write down, or something to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Write this down (about the job, or the run) and decide again.
    Note(Option<TaskId>, Box<Record>),
    /// Do this.
    Do(Act),
}

/// The next steps. When there are notes, only they are returned: they change the state.
pub(crate) fn decide(state: &State, busy: &BTreeSet<Act>, wall_ms: u64) -> Vec<Step> {
    if state.status.is_some() {
        return Vec::new();
    }
    let steps = match &state.stop {
        Some(stop) => stopping(state, busy, stop),
        None => match spent(state, wall_ms) {
            Some(limit) => vec![note(Record::BudgetSpent { limit })],
            None => going(state, busy),
        },
    };
    sorted_out(steps, busy)
}

fn spent(state: &State, wall_ms: u64) -> Option<String> {
    let limits = &state.settings.budget;
    // A run that has nothing left to start is not stopped by its budget any more.
    let pending = state.jobs.iter().any(|j| j.fate.is_open());
    (limits.stop && (pending || state.plan().is_none()))
        .then(|| budget::passed(limits, &state.spent, wall_ms))
        .flatten()
}

/// Notes first and alone; acts that are being done already are left out, and acts that look at the
/// run as a whole wait until every other has also tidied up behind itself.
fn sorted_out(steps: Vec<Step>, busy: &BTreeSet<Act>) -> Vec<Step> {
    let notes: Vec<Step> = steps
        .iter()
        .filter(|s| matches!(s, Step::Note(..)))
        .cloned()
        .collect();
    if !notes.is_empty() {
        return notes;
    }
    steps
        .into_iter()
        .filter(|step| match step {
            Step::Do(Act::Land | Act::Finish(_) | Act::AddReviewers) => busy.is_empty(),
            Step::Do(act) => !busy.contains(act),
            Step::Note(..) => true,
        })
        .collect()
}

pub(super) fn note(record: Record) -> Step {
    about(None, record)
}

fn about(job: Option<TaskId>, record: Record) -> Step {
    Step::Note(job, Box::new(record))
}

/// Nothing new is started. What runs is led to its end, unless the stop is immediate; then the shell
/// ends the workers and we only wait for that.
fn stopping(state: &State, busy: &BTreeSet<Act>, stop: &Stop) -> Vec<Step> {
    let at_once = matches!(stop, Stop::Halt { now: true } | Stop::Interrupt(_));
    let steps: Vec<Step> = if at_once {
        Vec::new()
    } else {
        let moving = state.jobs.iter().filter(|j| j.phase() != Phase::Ready);
        moving
            .filter_map(|job| job_step(state, busy, job))
            // A worker that was made ready but has no seat yet is not started any more.
            .filter(|step| !matches!(step, Step::Do(act @ Act::Run(_)) if !busy.contains(act)))
            .collect()
    };
    let status = match stop {
        Stop::Halt { .. } => RunStatus::Halted,
        Stop::Interrupt(_) => RunStatus::Interrupted,
        Stop::Budget(_) => RunStatus::BudgetSpent,
    };
    if steps.is_empty() && busy.is_empty() {
        return vec![Step::Do(Act::Finish(status.into()))];
    }
    steps
}

fn going(state: &State, busy: &BTreeSet<Act>) -> Vec<Step> {
    let Some(accepted) = state.plan() else {
        if state.round_refused.is_some() {
            return closing::ending_with_gaps(state, busy);
        }
        return planning(state, busy);
    };
    if state.settings.plan_only {
        return vec![Step::Do(Act::Finish(RunStatus::Completed.into()))];
    }
    if accepted.plan.direct {
        return answering(state, busy);
    }
    let work: Vec<&Job> = state.of_kind(JobKind::Work).collect();
    if work.iter().all(|job| !job.fate.is_open()) {
        return closing::closing(state, busy);
    }
    schedule(state, busy, &work)
}

/// Before a plan is accepted: facts, planner, one re-plan, and what to do when that fails twice.
fn planning(state: &State, busy: &BTreeSet<Act>) -> Vec<Step> {
    if state.round == 1 && !state.settings.ask_planner {
        return vec![Step::Do(Act::PlanFromGoal)];
    }
    if let Some(job) = state
        .of_kind(JobKind::Plan)
        .find(|job| matches!(job.fate, Fate::GivenUp { why, .. } if why != Why::Work))
    {
        // Not the planner failed but its surroundings; a worker would fare the same.
        let nothing_done = state.integrated.is_empty();
        return match (&job.fate, nothing_done) {
            (Fate::GivenUp { reason, .. }, false) => vec![note(Record::RoundRefused {
                reason: format!("no plan for round {}: {reason}", state.round),
            })],
            _ => vec![Step::Do(Act::Finish(RunStatus::Failed.into()))],
        };
    }
    if state.questions.is_some() {
        let explorers: Vec<&Job> = state.of_kind(JobKind::Explore).collect();
        if explorers.is_empty() && state.round == 1 {
            return vec![Step::Do(Act::AddExplorers)];
        }
        if explorers.iter().any(|job| job.fate.is_open()) {
            return schedule(state, busy, &explorers);
        }
    }
    let open: Vec<&Job> = state
        .of_kind(JobKind::Plan)
        .filter(|job| job.fate.is_open())
        .collect();
    if !open.is_empty() {
        return schedule(state, busy, &open);
    }
    let refused = state.rejected.iter().filter(|r| r.round == state.round);
    match (refused.count(), state.round) {
        (0 | 1, 1) => vec![Step::Do(Act::AddPlanner)],
        (_, 1) => vec![Step::Do(Act::PlanFromGoal)],
        // A further round needs the planner only for tasks that failed as they were asked.
        (0 | 1, _) if closing::needs_planner(state) => vec![Step::Do(Act::AddPlanner)],
        _ => vec![Step::Do(Act::PlanFromGaps)],
    }
}

fn answering(state: &State, busy: &BTreeSet<Act>) -> Vec<Step> {
    let Some(job) = state.of_kind(JobKind::Answer).next() else {
        return vec![Step::Do(Act::AddAnswer)];
    };
    match &job.fate {
        Fate::Open => schedule(state, busy, &[job]),
        fate if fate.is_good() => vec![Step::Do(Act::Finish(RunStatus::Completed.into()))],
        _ => vec![Step::Do(Act::Finish(RunStatus::Failed.into()))],
    }
}

/// Leads the jobs on and starts those whose turn it is, as far as there are seats.
pub(super) fn schedule(state: &State, busy: &BTreeSet<Act>, jobs: &[&Job]) -> Vec<Step> {
    let mut steps: Vec<Step> = jobs
        .iter()
        .filter_map(|job| job_step(state, busy, job))
        .collect();
    let running = state
        .jobs
        .iter()
        .filter(|j| j.phase() == Phase::Running)
        .count();
    let mut free = (seats(state) + ahead(state)).saturating_sub(running);
    let paused = paused_by(state);
    let ready = jobs
        .iter()
        .copied()
        .filter(|j| j.phase() == Phase::Ready)
        .collect();
    for job in grouping::order(state, ready) {
        if let Some(failed) = paused
            && job.kind == JobKind::Work
            && job.attempt().number == 1
            && !busy.contains(&Act::Run(job.id().clone()))
        {
            steps.push(about(
                Some(job.id().clone()),
                Record::GaveUp {
                    why: Why::Dependency,
                    reason: format!("not started, because `{failed}` failed"),
                },
            ));
            continue;
        }
        match waits_for(state, job) {
            Waits::Lost(on) => steps.push(about(
                Some(job.id().clone()),
                Record::GaveUp {
                    why: Why::Dependency,
                    reason: format!("it needs `{on}`, which is not there"),
                },
            )),
            Waits::Yes => {}
            Waits::No => {
                let act = Act::Run(job.id().clone());
                // Being started, but not yet on record: it has a seat.
                if busy.contains(&act) || free > 0 {
                    steps.push(Step::Do(act));
                    free = free.saturating_sub(1);
                }
            }
        }
    }
    steps
}

/// The first task whose failure pauses the others, where the settings ask for that.
fn paused_by(state: &State) -> Option<&TaskId> {
    let failed = |job: &&Job| match &job.fate {
        Fate::NotIntegrated { .. } => true,
        Fate::GivenUp { why, .. } => *why != Why::Dependency,
        _ => false,
    };
    let mut work = state.jobs.iter().filter(|j| j.kind == JobKind::Work);
    let first = state.settings.pause_at_failure.then(|| work.find(failed));
    first.flatten().map(Job::id)
}

/// How many workers may run at once: one where the facts say that the parts share state.
pub(crate) fn seats(state: &State) -> usize {
    let serial = state
        .plan()
        .is_some_and(|a| route(&a.plan.gate) == Route::Serial);
    if serial {
        1
    } else {
        state.settings.max_parallel
    }
}

/// How many workers are made ready beyond those that run, so that a seat does not wait for a work
/// tree. Where tasks share state, each is made from what the one before left, so none is.
fn ahead(state: &State) -> usize {
    let seats = seats(state);
    if seats == 1 { 0 } else { seats }
}

enum Waits {
    No,
    Yes,
    Lost(TaskId),
}

fn waits_for(state: &State, job: &Job) -> Waits {
    for need in state.needs(job.id()) {
        match state.job(need).map(|j| &j.fate) {
            Some(fate) if fate.is_good() => {}
            Some(Fate::Open) => return Waits::Yes,
            _ => return Waits::Lost(need.clone()),
        }
    }
    Waits::No
}

/// The next step of a job that was started (none for one that waits for its turn).
fn job_step(state: &State, busy: &BTreeSet<Act>, job: &Job) -> Option<Step> {
    let id = job.id().clone();
    match job.phase() {
        Phase::Ready | Phase::Settled => None,
        Phase::Running => Some(Step::Do(Act::Run(id))),
        Phase::Ended(end) => Some(match after_end(job.attempt(), end) {
            After::Judge => completed(job),
            after => failed(job, after),
        }),
        Phase::Passed => Some(Step::Do(Act::Commit(id))),
        Phase::Refused(judged) => Some(failed(job, after_verdict(job.attempt(), judged))),
        Phase::Committed(None) => Some(about(
            Some(id),
            Record::Done {
                detail: "its checks pass and nothing had to change".into(),
            },
        )),
        Phase::Committed(Some(_)) => {
            // One by one, in the order of the plan among those that wait.
            let first = state
                .jobs
                .iter()
                .find(|j| matches!(j.phase(), Phase::Committed(Some(_))))?;
            let lane_busy = busy
                .iter()
                .any(|a| matches!(a, Act::Integrate(other) if *other != id));
            (first.id() == &id && !lane_busy || busy.contains(&Act::Integrate(id.clone())))
                .then_some(Step::Do(Act::Integrate(id)))
        }
    }
}

/// What a failure means for the kind of job: only tasks of the plan and the direct answer are tried
/// again narrower; a planner that fails counts as a refused plan, and a reviewer, explorer or summary
/// that fails is read as "nothing came of it".
fn failed(job: &Job, after: After) -> Step {
    let id = Some(job.id().clone());
    match (job.kind, after) {
        (_, After::Replace { reason, avoid }) => about(id, Record::Replaced { reason, avoid }),
        (JobKind::Work | JobKind::Answer, After::Retry { reason }) => {
            about(id, Record::Retry { reason })
        }
        (JobKind::Plan, After::Retry { reason }) => about(
            id,
            Record::PlanRejected {
                faults: vec![reason],
            },
        ),
        (_, After::Retry { reason }) => about(
            id,
            Record::GaveUp {
                why: Why::Work,
                reason,
            },
        ),
        // A planner that says it is blocked gave no plan; its surroundings are in order.
        (JobKind::Plan, After::GiveUp { reason, .. })
            if end_status(job) == Some(HandoffStatus::Blocked) =>
        {
            about(
                id,
                Record::PlanRejected {
                    faults: vec![reason],
                },
            )
        }
        (_, After::GiveUp { why, reason }) => about(id, Record::GaveUp { why, reason }),
        (_, After::Judge) => completed(job),
    }
}

/// A worker that says it is done: the work is judged, a plan is read and checked, and an answer is
/// what it is.
fn completed(job: &Job) -> Step {
    let id = job.id().clone();
    match job.kind {
        JobKind::Work => Step::Do(Act::Judge(id)),
        JobKind::Plan => Step::Do(Act::ReadPlan(id)),
        JobKind::Summary => Step::Do(Act::ReadSummary(id)),
        JobKind::Answer | JobKind::Explore | JobKind::Review => about(
            Some(id),
            Record::Done {
                detail: "answered".into(),
            },
        ),
    }
}

fn end_status(job: &Job) -> Option<HandoffStatus> {
    job.attempt().end.as_ref().and_then(|end| end.status)
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
