//! The final report, from the state and the files the stages left.

use baton_protocol::{
    Gap, Handoff, MergeOutcome, MergeState, Round, Run, RunStatus, RunTask, SchemaTag, TaskId,
    TaskState, Verdict,
};

use super::budget;
use super::closing;
use super::job::{Attempt, Fate, Job, Phase};
use super::record::JobKind;
use super::state::{State, Stop, Summary};

/// What an attempt left on disk.
pub(crate) type Leavings<'a> = dyn Fn(&TaskId, u32) -> (Option<Handoff>, Option<Verdict>) + 'a;

/// The report as it stands now, also of a run that goes on.
pub(crate) fn report(
    run_id: &str,
    state: &State,
    status: RunStatus,
    wall_ms: u64,
    leavings: &Leavings<'_>,
) -> Run {
    let mut usage = state.spent.usage.clone();
    usage.wall_ms = wall_ms;
    Run {
        schema: SchemaTag::new(),
        run_id: run_id.to_owned(),
        goal: state.goal.clone(),
        status,
        rounds: rounds(state, leavings),
        gaps: gaps(state),
        summary: match &state.summary {
            Summary::Text(text) => Some(text.clone()),
            _ => None,
        },
        usage,
        budget: budget::document(&state.settings.budget, &state.spent, wall_ms),
        branch: (!state.integrated.is_empty()).then(|| state.branch.clone()),
        head: (!state.integrated.is_empty()).then(|| state.head.clone()),
        next: next(run_id, state, status),
    }
}

fn rounds(state: &State, leavings: &Leavings<'_>) -> Vec<Round> {
    let last = state.jobs.iter().map(|j| j.round).max().unwrap_or(0);
    (1..=last)
        .map(|round| Round {
            tasks: state
                .jobs
                .iter()
                .filter(|j| j.round == round)
                .filter(|j| matches!(j.kind, JobKind::Work | JobKind::Answer))
                .flat_map(|job| {
                    job.attempts
                        .iter()
                        .map(move |attempt| run_task(job, attempt, leavings))
                })
                .collect(),
        })
        .filter(|round| !round.tasks.is_empty())
        .collect()
}

fn run_task(job: &Job, attempt: &Attempt, leavings: &Leavings<'_>) -> RunTask {
    let (handoff, verdict) = if attempt.end.is_some() {
        leavings(job.id(), attempt.number)
    } else {
        (None, None)
    };
    let last = attempt.number == job.attempt().number;
    RunTask {
        task: job.id().clone(),
        attempt: attempt.number,
        handoff,
        verdict,
        merge: if last {
            merge(job)
        } else {
            Some(not_tried("a second attempt was made"))
        },
    }
}

fn not_tried(detail: &str) -> MergeOutcome {
    MergeOutcome {
        state: MergeState::NotTried,
        commit: None,
        kept_branch: None,
        detail: detail.to_owned(),
    }
}

fn merge(job: &Job) -> Option<MergeOutcome> {
    match &job.fate {
        Fate::Open => None,
        Fate::Integrated { commit } => Some(MergeOutcome {
            state: MergeState::Integrated,
            commit: Some(commit.clone()),
            kept_branch: None,
            detail: String::new(),
        }),
        Fate::Done { detail } => Some(MergeOutcome {
            state: MergeState::Nothing,
            detail: detail.clone(),
            ..not_tried("")
        }),
        Fate::NotIntegrated {
            state,
            detail,
            branch,
        } => Some(MergeOutcome {
            state: *state,
            commit: None,
            kept_branch: branch.clone(),
            detail: detail.clone(),
        }),
        Fate::GivenUp { reason, .. } => Some(not_tried(reason)),
    }
}

fn gaps(state: &State) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = closing::missing(state)
        .into_iter()
        .map(|missing| Gap {
            task: Some(missing.job.id().clone()),
            statement: missing.statement,
            branch: missing.branch,
        })
        .collect();
    let general = |statement: String| Gap {
        task: None,
        statement,
        branch: None,
    };
    for job in &state.jobs {
        if matches!(job.kind, JobKind::Plan | JobKind::Answer)
            && let Fate::GivenUp { reason, .. } = &job.fate
            && !state
                .accepted
                .iter()
                .any(|a| a.round == job.round && !a.plan.direct)
        {
            gaps.push(general(format!("{}: {reason}", job.id())));
        }
    }
    if let Some(reason) = &state.round_refused {
        gaps.push(general(reason.clone()));
    }
    if let Some(reason) = &state.not_landed {
        gaps.push(Gap {
            branch: Some(state.branch.clone()),
            ..general(format!(
                "`{}` was left as it is: {reason}",
                state.target.branch
            ))
        });
    }
    if let Some(review) = state.reviews.last()
        && review.verdict != baton_protocol::ReviewVerdict::Approve
        && state.landed.is_none()
    {
        gaps.push(general(format!(
            "the review did not approve: {}",
            review.reason
        )));
        let findings = review.findings.iter();
        gaps.extend(findings.map(|f| {
            general(format!(
                "{}{}",
                f.path
                    .as_ref()
                    .map(|p| format!("{p}: "))
                    .unwrap_or_default(),
                f.statement
            ))
        }));
    }
    if let Some(Stop::Budget(limit)) = &state.stop {
        gaps.push(general(format!("the budget is spent: {limit}")));
    }
    gaps
}

fn next(run_id: &str, state: &State, status: RunStatus) -> Vec<String> {
    let mut next = Vec::new();
    match status {
        RunStatus::Completed => {
            if state.landed.is_some() {
                next.push(format!(
                    "git log --stat {}..{}",
                    short(&state.target.commit),
                    state.target.branch
                ));
            }
        }
        RunStatus::Halted | RunStatus::Interrupted | RunStatus::BudgetSpent => {
            next.push(format!("orchestrate resume {run_id}"));
        }
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::NeedsPerson => {
            if !state.integrated.is_empty() && state.landed.is_none() {
                next.push(format!(
                    "git diff {}...{}",
                    state.target.branch, state.branch
                ));
                next.push(format!("git merge {}", state.branch));
            }
            for missing in closing::missing(state) {
                if let Some(branch) = missing.branch {
                    next.push(format!("git diff {}...{branch}", state.target.branch));
                }
            }
            if state.not_landed.is_some() {
                next.push(format!("orchestrate resume {run_id}"));
            }
        }
    }
    next.push(format!("orchestrate show {run_id}"));
    next
}

/// A commit's name as people read it.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// How far a job is.
pub(crate) fn stage(job: &Job) -> TaskState {
    match job.phase() {
        Phase::Ready if job.attempt().number > 1 => TaskState::Retrying,
        Phase::Ready => TaskState::Waiting,
        Phase::Running => TaskState::Running,
        Phase::Ended(_) => TaskState::Ended,
        Phase::Passed => TaskState::Checked,
        Phase::Refused(_) => TaskState::Refused,
        Phase::Committed(_) => TaskState::Committed,
        Phase::Settled => match &job.fate {
            Fate::Integrated { .. } => TaskState::Integrated,
            Fate::Done { .. } => TaskState::Done,
            Fate::NotIntegrated {
                state: MergeState::Conflict,
                ..
            } => TaskState::Conflict,
            Fate::NotIntegrated { .. } => TaskState::BrokeChecks,
            _ => TaskState::Failed,
        },
    }
}
