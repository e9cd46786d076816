//! The runs of a written plan: which run belongs to it, and ticks that follow what is in git.

use baton_cli::Failure;
use baton_protocol::{RunStatus, TaskId};
use serde_json::{Value, json};

use super::desk::{Desk, Watch, can_go_on};
use super::layout::make_folder;
use super::plan_store::Stored;
use super::worktrees::git_failure;
use super::{files, stage};
use crate::core::job::Fate;
use crate::core::record::{JobKind, Record};
use crate::core::state::State;

/// The file in a run's folder that says whose plan it works on.
const LABEL: &str = "plan.json";

/// The books of one plan.
pub(crate) struct Books<'a> {
    desk: &'a Desk<'a>,
    stored: &'a Stored,
}

impl<'a> Books<'a> {
    pub(crate) fn new(desk: &'a Desk<'a>, stored: &'a Stored) -> Self {
        Self { desk, stored }
    }

    /// Writes down that a run, which does not exist yet, is this plan's.
    pub(crate) fn open(&self, run: &str) -> Result<(), Failure> {
        let folder = self.desk.layout.run(run);
        make_folder(folder.path())?;
        let label = json!({"plan": self.stored.name}).to_string();
        files::replace(&folder.path().join(LABEL), label.as_bytes())
    }

    /// The plan's last run that is on record.
    pub(crate) fn last_run(&self) -> Result<Option<(String, State)>, Failure> {
        last_run(self.desk, self.stored)
    }

    /// Ticks steps as they are integrated.
    pub(crate) fn watch(&self) -> Watch<'a> {
        let (stored, output) = (self.stored, self.desk.output);
        Box::new(move |state, entry| {
            let Some(id) = &entry.task else { return };
            let good = matches!(
                entry.record,
                Record::Integrated { .. } | Record::Done { .. }
            );
            let step = state.job(id).is_some_and(|j| j.kind == JobKind::Work);
            if good && step {
                note(output, stored, id, stored.tick(id, true));
            }
        })
    }

    /// Makes the ticks of a run's steps true: what reached the branch, or waits in a run that can go
    /// on, is ticked; what a run that is over kept to itself is not.
    pub(crate) fn settle(&self, state: &State) -> Result<(), Failure> {
        let landed = self.is_landed(state)?;
        let goes_on = self.goes_on(state)?;
        for job in state.jobs.iter().filter(|j| j.kind == JobKind::Work) {
            let done = match &job.fate {
                Fate::Integrated { .. } => landed || goes_on,
                Fate::Done { .. } => true,
                // Open or failed here; what the file says about it comes from elsewhere.
                _ => continue,
            };
            self.stored.tick(job.id(), done)?;
        }
        Ok(())
    }

    /// Whether a run can be gone on with: not where a person has brought its work in meanwhile.
    pub(crate) fn goes_on(&self, state: &State) -> Result<bool, Failure> {
        let brought_in = state.status == Some(RunStatus::NeedsPerson) && self.is_landed(state)?;
        Ok(can_go_on(state) && !brought_in)
    }

    /// Whether the run's work is in the target branch: git says so, whoever brought it there.
    fn is_landed(&self, state: &State) -> Result<bool, Failure> {
        if state.landed.as_deref() == Some(state.head.as_str()) {
            return Ok(true);
        }
        if state.integrated.is_empty() || state.status == Some(RunStatus::Completed) {
            return Ok(true);
        }
        let repo = self.desk.repo()?;
        let Some(branch) = repo
            .branch(&state.target.branch)
            .map_err(|e| git_failure(&e))?
        else {
            return Ok(false);
        };
        // A head that git has thrown away is nowhere.
        Ok(repo
            .is_ancestor(&state.head, branch.as_str())
            .unwrap_or(false))
    }
}

/// Whether a plan has a run that was begun and can go on.
pub(crate) fn is_under_way(desk: &Desk<'_>, stored: &Stored) -> bool {
    matches!(last_run(desk, stored), Ok(Some((_, state))) if can_go_on(&state))
}

fn last_run(desk: &Desk<'_>, stored: &Stored) -> Result<Option<(String, State)>, Failure> {
    for name in desk.layout.run_names().into_iter().rev() {
        let label = desk.layout.run(&name).path().join(LABEL);
        let label: Value = match std::fs::read_to_string(label) {
            Ok(text) => serde_json::from_str(&text).unwrap_or_default(),
            Err(_) => continue,
        };
        if label["plan"] != stored.name.as_str() {
            continue;
        }
        if let Some(state) = desk.state(&name)?
            && state.started_at.is_some()
        {
            return Ok(Some((name, state)));
        }
    }
    Ok(None)
}

fn note(output: &baton_cli::Output, stored: &Stored, id: &TaskId, ticked: Result<bool, Failure>) {
    match ticked {
        Ok(true) => {}
        Ok(false) => output.note(&format!(
            "step `{id}` is done, but the plan `{}` does not have it any more",
            stored.name
        )),
        Err(failure) => output.note(&format!(
            "step `{id}` is done, but could not be ticked: {}",
            stage::last_line(&failure.message)
        )),
    }
}
