//! The review of the run's branch: the whole diff, in parts when it is long, by readers who did not
//! write it, bound to one head and one base.

use baton_cli::Failure;
use baton_protocol::TaskId;

use crate::core::questions::{self, ReviewMatter};
use crate::core::record::{JobKind, Record};
use crate::core::review;
use crate::core::state::State;

use super::context::{Context, Line};
use super::worktrees::{NotReady, git_failure};
use super::{acts, integrating, worker};

/// A part of the diff no longer than this goes to one reviewer: some 8,000 tokens.
const PART: usize = 24_000;

pub(crate) fn add(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    // Reviewers look at the integrated files, so these must be there.
    match integrating::tree_at_head(context, &state.head) {
        Ok(_) | Err(NotReady::Environment(_)) => {}
        Err(NotReady::Stopped) => return Ok(()),
        Err(NotReady::Failed(failure)) => return Err(failure),
    }
    let diff = context
        .repo
        .diff_text(&state.target.commit, &state.head, &[])
        .map_err(|e| git_failure(&e))?;
    let diff = String::from_utf8_lossy(&diff).into_owned();
    let parts = questions::diff_parts(&diff, PART);
    let work: Vec<_> = state
        .integrated
        .iter()
        .filter_map(|id| state.job(id))
        .collect();
    let mut verified: Vec<String> = work
        .iter()
        .flat_map(|j| j.task.verify.iter().map(|v| v.command.clone()))
        .collect();
    verified.sort();
    verified.dedup();
    let scopes: Vec<String> = work.iter().flat_map(|j| j.write_scope().to_vec()).collect();
    let role = context.role("reviewer", "planner");
    let number = state.reviews.len() + 1;
    for (index, part) in parts.iter().enumerate() {
        let name = format!("review-{number}-{}", index + 1);
        let matter = ReviewMatter {
            goal: &state.goal,
            nonce: &state.nonce,
            head: &state.head,
            base: &state.target.commit,
            diff: part,
            part: (index + 1, parts.len()),
            verified: &verified,
            scopes: &scopes,
        };
        let id = TaskId::new(name).map_err(Failure::internal)?;
        line.record(
            None,
            Record::JobAdded {
                kind: JobKind::Review,
                round: state.round,
                document: Box::new(questions::reviewer(id, role, &matter)),
            },
        )?;
    }
    Ok(())
}

pub(crate) fn read(context: &Context, line: &Line, state: &State) -> Result<(), Failure> {
    let answers: Vec<review::Answer> = state
        .review_parts()
        .map(|job| {
            if !job.fate.is_good() {
                return review::Answer::Nothing("the reviewer gave no answer".into());
            }
            match worker::handoff(&acts::folder(context, job)) {
                Ok(handoff) => {
                    review::read(&handoff, &state.nonce, &state.head, &state.target.commit)
                }
                Err(error) => review::Answer::Nothing(error.to_string()),
            }
        })
        .collect();
    let sum = review::combine(&answers);
    line.record(
        None,
        Record::Reviewed {
            round: state.round,
            verdict: sum.verdict,
            reason: sum.reason,
            findings: sum.findings,
            head: state.head.clone(),
            base: state.target.commit.clone(),
        },
    )?;
    Ok(())
}
