//! The state of a run: a fold over its journal.

use std::collections::{BTreeMap, BTreeSet};

use baton_protocol::{HandoffStatus, Plan, ReviewVerdict, RunStatus, SlotClass, TaskId, Timestamp};

use super::budget::Spent;
use super::job::{Attempt, Commit, End, Fate, Job, Judgement, Placed, Start, Why};
use super::record::{
    BudgetLimits, Entry, JobKind, PlanSource, Record, ReviewFinding, ReviewMode, Settings, Target,
};

/// A plan that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Accepted {
    pub round: u32,
    pub source: PlanSource,
    pub plan: Plan,
    pub notes: Vec<String>,
}

/// A plan that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub round: u32,
    pub faults: Vec<String>,
}

/// A verdict of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reviewed {
    pub round: u32,
    pub verdict: ReviewVerdict,
    pub reason: String,
    pub findings: Vec<ReviewFinding>,
    pub head: String,
}

/// Why the run stops before it is finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    Halt { now: bool },
    Interrupt(i32),
    Budget(String),
}

/// A model's summary of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Summary {
    /// It was not asked for yet.
    NotYet,
    /// It was asked for and failed, which does not matter.
    Failed,
    /// It says this.
    Text(String),
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub goal: String,
    pub settings: Settings,
    pub target: Target,
    pub branch: String,
    pub nonce: String,
    pub started_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    pub round: u32,
    pub jobs: Vec<Job>,
    pub accepted: Vec<Accepted>,
    pub rejected: Vec<Rejected>,
    pub questions: Option<Vec<String>>,
    pub round_gaps: Vec<String>,
    pub round_refused: Option<String>,
    pub head: String,
    pub integrated: Vec<TaskId>,
    pub reviews: Vec<Reviewed>,
    /// Reviews that were read before the run was last gone on with.
    pub reviews_before: usize,
    /// Jobs added before the last review was read; reviewers after that are the current review.
    pub review_from: usize,
    pub landed: Option<String>,
    pub not_landed: Option<String>,
    pub stop: Option<Stop>,
    pub summary: Summary,
    pub status: Option<RunStatus>,
    pub spent: Spent,
    /// Where the last worker ended: its provider and model.
    pub last_place: Option<(String, Option<String>)>,
}

impl State {
    /// The state before the first record.
    pub(crate) fn empty() -> Self {
        Self {
            goal: String::new(),
            settings: Settings {
                max_parallel: 1,
                max_rounds: 1,
                plan_only: false,
                ask_planner: false,
                merge_partial: false,
                review: ReviewMode::Off,
                review_rounds: 1,
                summary: false,
                budget: BudgetLimits::default(),
                queue_ms: 0,
                pause_at_failure: false,
                class: SlotClass::default(),
                models: BTreeMap::new(),
                pull_request: None,
                launcher: None,
                launcher_io: None,
            },
            target: Target {
                branch: String::new(),
                commit: String::new(),
            },
            branch: String::new(),
            nonce: String::new(),
            started_at: None,
            last_at: None,
            round: 1,
            jobs: Vec::new(),
            accepted: Vec::new(),
            rejected: Vec::new(),
            questions: None,
            round_gaps: Vec::new(),
            round_refused: None,
            head: String::new(),
            integrated: Vec::new(),
            reviews: Vec::new(),
            reviews_before: 0,
            review_from: 0,
            landed: None,
            not_landed: None,
            stop: None,
            summary: Summary::NotYet,
            status: None,
            spent: Spent::default(),
            last_place: None,
        }
    }

    /// The state a journal leads to.
    pub(crate) fn replay(entries: &[Entry]) -> Self {
        let mut state = Self::empty();
        for entry in entries {
            state.apply(entry);
        }
        state
    }

    pub(crate) fn job(&self, id: &TaskId) -> Option<&Job> {
        self.jobs.iter().find(|job| job.id() == id)
    }

    /// The plan of the current round.
    pub(crate) fn plan(&self) -> Option<&Accepted> {
        self.accepted.iter().find(|a| a.round == self.round)
    }

    /// The jobs of a kind in the current round, in the order they were added.
    pub(crate) fn of_kind(&self, kind: JobKind) -> impl Iterator<Item = &Job> {
        self.jobs
            .iter()
            .filter(move |job| job.kind == kind && job.round == self.round)
    }

    /// The reviewers of the review that is going on, each with a part of the diff.
    pub(crate) fn review_parts(&self) -> impl Iterator<Item = &Job> {
        let since = self.jobs.get(self.review_from..).unwrap_or_default();
        since.iter().filter(|job| {
            job.kind == JobKind::Review && job.task.base.as_deref() == Some(self.head.as_str())
        })
    }

    /// The jobs `id` waits for, over all accepted plans.
    pub(crate) fn needs(&self, id: &TaskId) -> BTreeSet<&TaskId> {
        let pairs = self.accepted.iter().flat_map(|a| &a.plan.depends);
        pairs.filter(|(_, b)| b == id).map(|(a, _)| a).collect()
    }

    /// Takes in one record. A record about a job that does not exist changes nothing.
    pub(crate) fn apply(&mut self, entry: &Entry) {
        self.last_at = Some(entry.at);
        if let Some(id) = &entry.task
            && let Some(index) = self.jobs.iter().position(|job| job.id() == id)
        {
            self.apply_to_job(index, entry);
        }
        self.apply_to_run(entry);
    }

    fn apply_to_run(&mut self, entry: &Entry) {
        match &entry.record {
            Record::RunStarted {
                goal,
                settings,
                target,
                branch,
                nonce,
                given,
            } => {
                self.goal.clone_from(goal);
                self.settings = settings.clone();
                self.target = target.clone();
                self.head.clone_from(&target.commit);
                self.branch.clone_from(branch);
                self.nonce.clone_from(nonce);
                self.started_at = Some(entry.at);
                if let Some(plan) = given {
                    self.accept(PlanSource::File, plan, &[]);
                }
            }
            Record::JobAdded {
                kind,
                round,
                document,
            } => {
                self.add_job(*kind, *round, document.as_ref().clone());
            }
            Record::PlanRejected { faults } => self.rejected.push(Rejected {
                round: self.round,
                faults: faults.clone(),
            }),
            Record::PlanAccepted {
                source,
                plan,
                notes,
            } => self.accept(*source, plan, notes),
            Record::FactsWanted { questions } => self.questions = Some(questions.clone()),
            Record::RoundStarted { round, gaps } => {
                self.round = *round;
                self.round_gaps.clone_from(gaps);
            }
            Record::RoundRefused { reason } => self.round_refused = Some(reason.clone()),
            Record::Reviewed {
                round,
                verdict,
                reason,
                findings,
                head,
                ..
            } => {
                self.reviews.push(Reviewed {
                    round: *round,
                    verdict: *verdict,
                    reason: reason.clone(),
                    findings: findings.clone(),
                    head: head.clone(),
                });
                self.review_from = self.jobs.len();
            }
            Record::Rebased { onto, head, branch } => {
                self.target.commit.clone_from(onto);
                self.head.clone_from(head);
                self.branch.clone_from(branch);
            }
            Record::Landed { to, .. } => self.landed = Some(to.clone()),
            Record::NotLanded { reason } => self.not_landed = Some(reason.clone()),
            Record::HaltAsked { now } => self.stop = Some(Stop::Halt { now: *now }),
            Record::InterruptAsked { signal } => self.stop = Some(Stop::Interrupt(*signal)),
            Record::BudgetSpent { limit } => self.stop = Some(Stop::Budget(limit.clone())),
            Record::Resumed { .. } => self.resume(),
            Record::Summed { text } => {
                self.summary = match text {
                    Some(text) => Summary::Text(text.clone()),
                    None => Summary::Failed,
                };
            }
            Record::RunEnded { status } => self.status = Some(*status),
            _ => {}
        }
    }

    /// A resumed run is as it was, but for the request to stop and for what only a person could mend
    /// (a place, the environment, the target branch): these are tried again.
    fn resume(&mut self) {
        for job in self.jobs.iter_mut().filter(|j| j.can_be_reopened()) {
            job.fate = Fate::Open;
            job.attempt_mut().lost = 0;
            job.attempt_mut().judged = None;
            job.forget_placement();
        }
        // Nor does a review that gave no answer count any more: it is asked again.
        self.reviews_before = self.reviews.len();
        self.stop = None;
        self.not_landed = None;
        self.status = None;
    }

    fn accept(&mut self, source: PlanSource, plan: &Plan, notes: &[String]) {
        for task in &plan.tasks {
            self.add_job(JobKind::Work, self.round, task.clone());
        }
        self.accepted.push(Accepted {
            round: self.round,
            source,
            plan: plan.clone(),
            notes: notes.to_vec(),
        });
    }

    fn add_job(&mut self, kind: JobKind, round: u32, task: baton_protocol::Task) {
        if self.job(&task.id).is_none() {
            self.jobs.push(Job::new(kind, round, task));
        }
    }

    fn apply_to_job(&mut self, index: usize, entry: &Entry) {
        let record = &entry.record;
        let at_once = matches!(
            self.stop,
            Some(Stop::Interrupt(_) | Stop::Halt { now: true })
        );
        let job = &mut self.jobs[index];
        match record {
            Record::Started { base, worktree, .. } => {
                job.attempt_mut().start = Some(Start {
                    at: entry.at,
                    base: base.clone(),
                    worktree: worktree.clone(),
                });
            }
            Record::Placed { launcher, host, .. } => {
                job.attempt_mut().placed = Some(Placed {
                    launcher: launcher.clone(),
                    host: host.clone(),
                });
            }
            Record::Ended {
                exit,
                status,
                reason,
                provider,
                model,
                usage,
                cost_usd,
                open,
                lost,
                ..
            } => {
                self.spent.add(usage, *cost_usd);
                if let Some(provider) = provider {
                    self.last_place = Some((provider.clone(), model.clone()));
                }
                job.attempt_mut().end = Some(End {
                    at: entry.at,
                    exit: *exit,
                    status: *status,
                    reason: reason.clone(),
                    provider: provider.clone(),
                    model: model.clone(),
                    usage: usage.clone(),
                    cost_usd: *cost_usd,
                    open: open.clone(),
                    lost: *lost,
                });
                // We ended it ourselves: that says nothing about the work or the place.
                if at_once && *status != Some(HandoffStatus::Completed) {
                    job.forget_placement();
                }
            }
            Record::Judged { pass, reasons, .. } => {
                job.attempt_mut().judged = Some(Judgement {
                    pass: *pass,
                    reasons: reasons.clone(),
                });
            }
            Record::Committed { commit, .. } => {
                job.attempt_mut().commit = Some(match commit {
                    Some(commit) => Commit::Made(commit.clone()),
                    None => Commit::Nothing,
                });
            }
            Record::Integrated { commit, head } => {
                job.fate = Fate::Integrated {
                    commit: commit.clone(),
                };
                self.head.clone_from(head);
                let id = job.id().clone();
                self.integrated.push(id);
            }
            Record::NotIntegrated {
                state,
                detail,
                branch,
            } => {
                job.fate = Fate::NotIntegrated {
                    state: *state,
                    detail: detail.clone(),
                    branch: branch.clone(),
                };
            }
            Record::Kept { attempt, branch } => {
                if let Some(attempt) = job.attempts.iter_mut().find(|a| a.number == *attempt) {
                    attempt.kept = Some(branch.clone());
                }
            }
            Record::Done { detail } => {
                job.fate = Fate::Done {
                    detail: detail.clone(),
                };
            }
            Record::Retry { reason } => {
                let next = job.attempt().number + 1;
                self.spent.retries += 1;
                job.attempts.push(Attempt {
                    number: next,
                    placement: 1,
                    because: Some(reason.clone()),
                    ..Attempt::default()
                });
            }
            Record::Replaced { avoid, .. } => {
                let attempt = job.attempt_mut();
                attempt.lost += 1;
                attempt.avoid.extend(avoid.clone());
                job.forget_placement();
            }
            Record::GaveUp { reason, why } => job.give_up(*why, reason),
            Record::PlanRejected { faults } => job.give_up(Why::Work, &faults.join("; ")),
            Record::PlanAccepted { .. } => job.done("its plan was accepted"),
            Record::FactsWanted { .. } => job.done("it asked for facts"),
            Record::Summed { .. } => job.done("its summary was read"),
            _ => {}
        }
    }
}

impl Job {
    /// Whether a person may have mended meanwhile what the job was given up for.
    pub(crate) fn can_be_reopened(&self) -> bool {
        matches!(
            self.fate,
            Fate::GivenUp {
                why: Why::Place | Why::Blocked | Why::Dependency,
                ..
            }
        )
    }

    fn done(&mut self, detail: &str) {
        self.fate = Fate::Done {
            detail: detail.to_owned(),
        };
    }

    fn give_up(&mut self, why: Why, reason: &str) {
        self.fate = Fate::GivenUp {
            why,
            reason: reason.to_owned(),
        };
    }
}
