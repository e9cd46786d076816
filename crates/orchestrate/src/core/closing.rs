//! The end of a round: review, landing, a further round, or the report.

use std::collections::BTreeSet;

use baton_protocol::{MergeState, ReviewVerdict, RunStatus};

use super::decide::{Act, Step, note, schedule};
use super::gate::{Route, route};
use super::job::{Fate, Job, Why};
use super::open_issues;
use super::record::{JobKind, PlanSource, Record, ReviewMode};
use super::state::{Reviewed, State, Summary};

/// Something that is missing at the end of a round, and who can do something about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Missing<'a> {
    pub job: &'a Job,
    pub statement: String,
    pub branch: Option<String>,
    pub remedy: Remedy,
}

/// Who can do something about a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The same task again, on what is there now.
    Redo,
    /// Another way to cut it, which only a planner knows.
    Planner,
    /// A further task for what a worker that is done left open.
    FollowUp,
    /// A person.
    Person,
}

/// What is missing now, over all rounds: a gap that a later round took up is that round's affair.
pub(crate) fn missing(state: &State) -> Vec<Missing<'_>> {
    let last_planned = state.accepted.iter().map(|a| a.round).max().unwrap_or(0);
    let work = state.jobs.iter().filter(|j| j.kind == JobKind::Work);
    work.filter_map(|job| missing_of(state, job))
        .filter(|m| m.remedy == Remedy::Person || m.job.round == last_planned)
        .collect()
}

pub(crate) fn missing_of<'a>(state: &State, job: &'a Job) -> Option<Missing<'a>> {
    let title = if job.task.title.is_empty() {
        job.id().to_string()
    } else {
        format!("{} ({})", job.id(), job.task.title)
    };
    let (statement, branch, remedy) = match &job.fate {
        Fate::Integrated { .. } | Fate::Done { .. } => {
            let open = left_open(state, job);
            if open.is_empty() {
                return None;
            }
            (
                format!("{title}: left open: {}", open.join("; ")),
                None,
                Remedy::FollowUp,
            )
        }
        Fate::Open => (format!("{title}: not finished"), None, Remedy::Person),
        Fate::NotIntegrated {
            state: MergeState::Conflict,
            detail,
            branch,
        } => (
            format!("{title}: conflicts with what was integrated before it: {detail}"),
            branch.clone(),
            Remedy::Redo,
        ),
        Fate::NotIntegrated { detail, branch, .. } => (
            format!("{title}: its checks failed on the run's branch: {detail}"),
            branch.clone(),
            Remedy::Redo,
        ),
        Fate::GivenUp { why, reason } => {
            let remedy = match why {
                Why::Work => Remedy::Planner,
                Why::Dependency => dependency_remedy(state, job),
                Why::Blocked | Why::Place => Remedy::Person,
            };
            (
                format!("{title}: {reason}"),
                job.attempt().kept.clone(),
                remedy,
            )
        }
    };
    Some(Missing {
        job,
        statement,
        branch,
        remedy,
    })
}

/// What a worker that is done says is still open, as far as the goal asks for it.
fn left_open(state: &State, job: &Job) -> Vec<String> {
    let open = job.attempt().end.iter().flat_map(|end| &end.open);
    open.filter(|point| open_issues::named_by(&state.goal, point))
        .cloned()
        .collect()
}

/// A task that only waited is as redoable as what it waited for.
fn dependency_remedy(state: &State, job: &Job) -> Remedy {
    let needed = state.needs(job.id());
    let lost = needed
        .into_iter()
        .filter_map(|id| state.job(id))
        .filter(|needed| !needed.fate.is_good())
        .filter_map(|needed| missing_of(state, needed));
    lost.map(|m| m.remedy)
        .max_by_key(|r| *r as u8)
        .unwrap_or(Remedy::Person)
}

/// Whether the gaps of the round before need a planner.
pub(crate) fn needs_planner(state: &State) -> bool {
    state.settings.ask_planner
        && state
            .jobs
            .iter()
            .filter(|j| j.kind == JobKind::Work && j.round + 1 == state.round)
            .filter_map(|j| missing_of(state, j))
            .any(|m| matches!(m.remedy, Remedy::Planner | Remedy::FollowUp))
}

/// The end of a round whose tasks are all settled.
pub(super) fn closing(state: &State, busy: &BTreeSet<Act>) -> Vec<Step> {
    let missing = missing(state);
    if !missing.is_empty() {
        return with_gaps(state, busy, &missing);
    }
    match reviewing(state, busy) {
        Next::Steps(steps) => steps,
        Next::GoOn => landing(state, RunStatus::Completed, busy),
    }
}

fn with_gaps(state: &State, busy: &BTreeSet<Act>, missing: &[Missing<'_>]) -> Vec<Step> {
    let planner = state.settings.ask_planner;
    let can_help = missing.iter().any(|m| match m.remedy {
        Remedy::Redo | Remedy::FollowUp => true,
        Remedy::Planner => planner,
        Remedy::Person => false,
    });
    if can_help && state.round < state.settings.max_rounds && state.round_refused.is_none() {
        return vec![note(Record::RoundStarted {
            round: state.round + 1,
            gaps: missing.iter().map(|m| m.statement.clone()).collect(),
        })];
    }
    ending_with_gaps(state, busy)
}

/// A run that keeps a gap ends here; what it did stays on its branch, unless asked otherwise.
pub(super) fn ending_with_gaps(state: &State, busy: &BTreeSet<Act>) -> Vec<Step> {
    let status = if state.integrated.is_empty() && !any_done(state) {
        RunStatus::Failed
    } else {
        RunStatus::Incomplete
    };
    if state.settings.merge_partial && !state.integrated.is_empty() {
        // Where a pause is part of the plan, what reaches the target is reviewed as at the end.
        if state.settings.pause_at_failure
            && let Next::Steps(steps) = reviewing(state, busy)
        {
            return steps;
        }
        return landing(state, status, busy);
    }
    finish(status)
}

fn any_done(state: &State) -> bool {
    state
        .jobs
        .iter()
        .any(|j| j.kind == JobKind::Work && j.fate.is_good())
}

fn landing(state: &State, status: RunStatus, busy: &BTreeSet<Act>) -> Vec<Step> {
    let moved = state.head != state.target.commit;
    if moved && state.landed.is_none() && state.not_landed.is_none() {
        return vec![Step::Do(Act::Land)];
    }
    let status = if state.not_landed.is_some() {
        RunStatus::NeedsPerson
    } else {
        status
    };
    if status == RunStatus::Completed && state.settings.summary && state.summary == Summary::NotYet
    {
        return match state.of_kind(JobKind::Summary).next() {
            None => vec![Step::Do(Act::AddSummary)],
            Some(job) => match &job.fate {
                Fate::Open => schedule(state, busy, &[job]),
                _ => vec![note(Record::Summed { text: None })],
            },
        };
    }
    finish(status)
}

fn finish(status: RunStatus) -> Vec<Step> {
    vec![Step::Do(Act::Finish(status.into()))]
}

enum Next {
    Steps(Vec<Step>),
    GoOn,
}

/// The review of the run's head: wanted when configured or when the facts ask for it.
fn reviewing(state: &State, busy: &BTreeSet<Act>) -> Next {
    let asked_by_facts = state
        .accepted
        .iter()
        .any(|a| a.source == PlanSource::Planner && route(&a.plan.gate) == Route::WithReview);
    let wanted = state.settings.review == ReviewMode::Bounded
        || (asked_by_facts && state.settings.review != ReviewMode::Off);
    if !wanted || state.head == state.target.commit {
        return Next::GoOn;
    }
    let of_head: Vec<&Reviewed> = state
        .reviews
        .iter()
        .enumerate()
        .filter(|(index, r)| {
            let counts = r.verdict != ReviewVerdict::Inconclusive || *index >= state.reviews_before;
            r.head == state.head && counts
        })
        .map(|(_, r)| r)
        .collect();
    match of_head.last() {
        None => Next::Steps(review_once(state, busy)),
        Some(last) => match last.verdict {
            ReviewVerdict::Approve => Next::GoOn,
            ReviewVerdict::Inconclusive if of_head.len() < 2 => {
                Next::Steps(review_once(state, busy))
            }
            ReviewVerdict::Inconclusive => Next::Steps(finish(RunStatus::NeedsPerson)),
            ReviewVerdict::Changes => Next::Steps(changes_requested(state, last)),
        },
    }
}

/// One reading of the run's head by reviewers, in as many parts as the diff needs.
fn review_once(state: &State, busy: &BTreeSet<Act>) -> Vec<Step> {
    let parts: Vec<&Job> = state.review_parts().collect();
    if parts.is_empty() {
        return vec![Step::Do(Act::AddReviewers)];
    }
    if parts.iter().any(|j| j.fate.is_open()) {
        return schedule(state, busy, &parts);
    }
    vec![Step::Do(Act::ReadReview)]
}

/// A further round works on the findings; when there is none left, a person decides (the breaker).
fn changes_requested(state: &State, last: &Reviewed) -> Vec<Step> {
    let asked = state
        .reviews
        .iter()
        .filter(|r| r.verdict == ReviewVerdict::Changes)
        .count();
    let rounds_left = state.round < state.settings.max_rounds;
    let reviews_left = u32::try_from(asked).unwrap_or(u32::MAX) < state.settings.review_rounds;
    if rounds_left && reviews_left && state.round_refused.is_none() {
        return vec![note(Record::RoundStarted {
            round: state.round + 1,
            gaps: last.findings.iter().map(|f| f.statement.clone()).collect(),
        })];
    }
    finish(RunStatus::NeedsPerson)
}
