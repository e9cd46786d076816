//! Whole runs of the state machine against a scripted world, without any process.

use std::collections::{BTreeMap, BTreeSet};

use baton_protocol::{
    FindingSeverity, HandoffStatus, MergeState, Plan, ReviewVerdict, RunStatus, TaskId,
};
use proptest::prelude::*;

use super::{Act, Step, decide};
use crate::core::fallback;
use crate::core::record::{
    BudgetLimits, Entry, JobKind, PlanSource, Record, ReviewFinding, ReviewMode, Settings,
};
use crate::core::state::State;
use crate::core::testing::{at, ended, id, plan, run_started, settings, started, task};

/// What happens when the machine acts. Each list is used up from the front; then the default holds.
#[derive(Default)]
struct World {
    /// What planners answer: a plan, or the faults it is refused for.
    plans: Vec<Result<Plan, Vec<String>>>,
    /// How workers of a job end, default: completed.
    ends: BTreeMap<String, Vec<(i32, Option<HandoffStatus>)>>,
    /// How hand-offs are judged, default: pass.
    verdicts: BTreeMap<String, Vec<Option<bool>>>,
    /// How integrations go, default: well.
    merges: BTreeMap<String, Vec<MergeState>>,
    /// What reviews say, default: approve.
    reviews: Vec<ReviewVerdict>,
    /// The target cannot be moved.
    stuck: bool,
    /// The journal, and what was done in which order.
    journal: Vec<Entry>,
    done: Vec<Act>,
    most_running: usize,
}

fn pop<T>(map: &mut BTreeMap<String, Vec<T>>, job: &TaskId, default: T) -> T {
    match map.get_mut(job.as_str()) {
        Some(list) if !list.is_empty() => list.remove(0),
        _ => default,
    }
}

impl World {
    fn write(&mut self, state: &mut State, task: Option<TaskId>, record: Record) {
        let entry = Entry {
            at: at(self.journal.len() as u64),
            task,
            record,
        };
        state.apply(&entry);
        self.journal.push(entry);
    }

    fn start(&mut self, settings: Settings) -> State {
        let mut state = State::empty();
        self.write(&mut state, None, run_started(settings));
        state
    }

    /// Runs to the end, doing one act at a time, the oldest that was asked for first.
    fn run(&mut self, state: &mut State) -> RunStatus {
        let mut going: Vec<Act> = Vec::new();
        for _ in 0..2_000 {
            let busy: BTreeSet<Act> = going.iter().cloned().collect();
            let steps = decide(state, &busy, 0);
            let mut noted = false;
            for step in steps {
                match step {
                    Step::Note(task, record) => {
                        noted = true;
                        self.write(state, task, *record);
                    }
                    Step::Do(act) => {
                        if let Act::Run(job) = &act {
                            self.begin(state, job);
                        }
                        going.push(act);
                    }
                }
            }
            if noted {
                continue;
            }
            let running = going.iter().filter(|a| matches!(a, Act::Run(_))).count();
            self.most_running = self.most_running.max(running);
            if going.is_empty() {
                return state
                    .status
                    .expect("the machine has nothing to do and no end");
            }
            let act = going.remove(0);
            self.done.push(act.clone());
            self.perform(state, act);
        }
        panic!("the machine does not end: {:?}", self.done);
    }

    fn begin(&mut self, state: &mut State, job: &TaskId) {
        let attempt = state.job(job).unwrap().attempt();
        if attempt.start.is_none() {
            let record = started(attempt.number, attempt.placement);
            self.write(state, Some(job.clone()), record);
        }
    }

    fn perform(&mut self, state: &mut State, act: Act) {
        let round = state.round;
        let add = |kind, name: &str| {
            let mut document = task(name, &[]);
            document.base = Some(state.head.clone());
            Record::JobAdded {
                kind,
                round,
                document: Box::new(document),
            }
        };
        match act {
            Act::AddPlanner => {
                let number = state.of_kind(JobKind::Plan).count() + 1;
                let record = add(JobKind::Plan, &format!("plan-r{round}-{number}"));
                self.write(state, None, record);
            }
            Act::AddExplorers => {
                let record = add(JobKind::Explore, "explore-1");
                self.write(state, None, record);
            }
            Act::AddAnswer => {
                let record = add(JobKind::Answer, "answer");
                self.write(state, None, record);
            }
            Act::AddReviewers => {
                let record = add(JobKind::Review, &format!("review-{}", state.jobs.len()));
                self.write(state, None, record);
            }
            Act::AddSummary => {
                let record = add(JobKind::Summary, "summary");
                self.write(state, None, record);
            }
            Act::PlanFromGoal => {
                let plan = Box::new(fallback::plan_from_goal(&state.goal, "worker", vec![]));
                let record = Record::PlanAccepted {
                    source: PlanSource::Goal,
                    plan,
                    notes: vec![],
                };
                self.write(state, None, record);
            }
            Act::PlanFromGaps => {
                let record = match fallback::plan_from_gaps(state) {
                    Some(plan) => Record::PlanAccepted {
                        source: PlanSource::Gaps,
                        plan: Box::new(plan),
                        notes: vec![],
                    },
                    None => Record::RoundRefused {
                        reason: "nothing to plan from".into(),
                    },
                };
                self.write(state, None, record);
            }
            Act::Run(job) => {
                let (exit, status) = pop(&mut self.ends, &job, (0, Some(HandoffStatus::Completed)));
                let attempt = state.job(&job).unwrap().attempt().number;
                self.write(state, Some(job), ended(attempt, exit, status));
            }
            Act::ReadPlan(job) => {
                let record = match self.plans.remove(0) {
                    Ok(plan) => Record::PlanAccepted {
                        source: PlanSource::Planner,
                        plan: Box::new(plan),
                        notes: vec![],
                    },
                    Err(faults) => Record::PlanRejected { faults },
                };
                self.write(state, Some(job), record);
            }
            Act::ReadReview => {
                let verdict = if self.reviews.is_empty() {
                    ReviewVerdict::Approve
                } else {
                    self.reviews.remove(0)
                };
                let record = Record::Reviewed {
                    round,
                    verdict,
                    reason: "because".into(),
                    findings: vec![ReviewFinding {
                        severity: FindingSeverity::Major,
                        path: Some("a".into()),
                        statement: "wrong".into(),
                    }],
                    head: state.head.clone(),
                    base: state.target.commit.clone(),
                };
                self.write(state, None, record);
            }
            Act::ReadSummary(job) => {
                let record = Record::Summed { text: None };
                self.write(state, Some(job), record);
            }
            Act::Judge(job) => {
                let pass = pop(&mut self.verdicts, &job, Some(true));
                let record = Record::Judged {
                    attempt: state.job(&job).unwrap().attempt().number,
                    pass,
                    reasons: vec!["r".into()],
                };
                self.write(state, Some(job), record);
            }
            Act::Commit(job) => {
                let record = Record::Committed {
                    attempt: state.job(&job).unwrap().attempt().number,
                    commit: Some(format!("w-{job}")),
                };
                self.write(state, Some(job), record);
            }
            Act::Integrate(job) => {
                let record = match pop(&mut self.merges, &job, MergeState::Integrated) {
                    MergeState::Integrated => Record::Integrated {
                        commit: format!("c-{job}"),
                        head: format!("c-{job}"),
                    },
                    bad => Record::NotIntegrated {
                        state: bad,
                        detail: "d".into(),
                        branch: Some(format!("baton/r-{job}")),
                    },
                };
                self.write(state, Some(job), record);
            }
            Act::Land => {
                let record = if self.stuck {
                    Record::NotLanded {
                        reason: "local changes would be overwritten".into(),
                    }
                } else {
                    Record::Landed {
                        branch: "main".into(),
                        from: "c0".into(),
                        to: state.head.clone(),
                    }
                };
                self.write(state, None, record);
            }
            Act::Finish(status) => {
                let record = Record::RunEnded {
                    status: status.into(),
                };
                self.write(state, None, record);
            }
        }
    }

    fn count(&self, wanted: impl Fn(&Act) -> bool) -> usize {
        self.done.iter().filter(|a| wanted(a)).count()
    }

    fn runs(&self, job: &str) -> usize {
        self.count(|a| matches!(a, Act::Run(id) if id.as_str() == job))
    }
}

fn two() -> Plan {
    plan(vec![task("a", &["a"]), task("b", &["b"])], &[])
}

fn world(plan: Plan) -> World {
    World {
        plans: vec![Ok(plan)],
        ..World::default()
    }
}

#[test]
fn two_tasks_run_side_by_side_and_land_once() {
    let mut world = world(two());
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(world.most_running, 2);
    assert_eq!(world.count(|a| *a == Act::Land), 1);
    assert_eq!(state.integrated, [id("a"), id("b")]);
    assert_eq!(State::replay(&world.journal), state);
}

#[test]
fn a_question_is_answered_by_one_reader_and_nothing_fans_out() {
    let mut direct = plan(vec![], &[]);
    direct.direct = true;
    let mut world = world(direct);
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(
        world.count(|a| matches!(a, Act::Run(_))),
        2,
        "planner and answer"
    );
    assert_eq!(world.count(|a| *a == Act::Land), 0);
}

#[test]
fn a_planner_that_fails_twice_becomes_one_worker_with_the_goal_verbatim() {
    let mut world = World {
        plans: vec![Err(vec!["overlap".into()]), Err(vec!["overlap".into()])],
        ..World::default()
    };
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(state.accepted[0].source, PlanSource::Goal);
    assert_eq!(state.job(&id("goal")).unwrap().task.prompt, "the goal");
    assert_eq!(world.count(|a| *a == Act::AddPlanner), 2);
}

#[test]
fn a_planner_without_a_server_is_not_replaced_by_a_worker_without_one() {
    let mut world = World::default();
    world
        .ends
        .insert("plan-r1-1".into(), vec![(69, None), (69, None), (69, None)]);
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Failed);
    assert_eq!(
        world.count(|a| matches!(a, Act::Run(_))),
        3,
        "three places, then the end"
    );
}

#[test]
fn a_failing_worker_gets_one_narrower_retry() {
    let mut world = world(two());
    world
        .ends
        .insert("a".into(), vec![(1, Some(HandoffStatus::Failed))]);
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(world.runs("a"), 2);
    assert_eq!(state.job(&id("a")).unwrap().attempts.len(), 2);
}

#[test]
fn o16_an_always_failing_task_ends_and_nothing_lands() {
    let mut world = world(two());
    let fails = vec![(1, Some(HandoffStatus::NoAnswer)); 99];
    world.ends.insert("a".into(), fails);
    world
        .plans
        .extend([Err(vec!["no".into()]), Err(vec!["no".into()])]);
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Incomplete);
    assert_eq!(world.runs("a"), 2);
    assert_eq!(world.count(|a| *a == Act::Land), 0);
}

#[test]
fn merge_partial_lands_what_is_there() {
    let mut world = world(two());
    world
        .ends
        .insert("a".into(), vec![(1, Some(HandoffStatus::Blocked))]);
    let mut state = world.start(Settings {
        merge_partial: true,
        ..settings()
    });
    assert_eq!(world.run(&mut state), RunStatus::Incomplete);
    assert_eq!(world.runs("a"), 1, "blocked is not asked again");
    assert!(state.landed.is_some());
}

#[test]
fn o04_a_conflict_is_a_gap_that_round_two_does_again() {
    let mut world = world(two());
    world.merges.insert("b".into(), vec![MergeState::Conflict]);
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(state.round, 2);
    assert_eq!(world.runs("b-r2"), 1);
    assert_eq!(world.runs("a"), 1, "what is finished is not done again");
}

#[test]
fn a_gap_that_stays_is_reported() {
    let mut world = world(two());
    world.merges.insert("b".into(), vec![MergeState::Conflict]);
    world
        .merges
        .insert("b-r2".into(), vec![MergeState::CheckFailed]);
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Incomplete);
    assert_eq!(state.landed, None);
    assert_eq!(crate::core::closing::missing(&state).len(), 1);
}

#[test]
fn o04_a_target_that_cannot_move_needs_a_person() {
    let mut world = world(two());
    world.stuck = true;
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::NeedsPerson);
}

#[test]
fn a_task_waits_for_what_it_depends_on_and_is_dropped_with_it() {
    let chain = plan(
        vec![task("a", &["x"]), task("b", &["x"]), task("c", &["c"])],
        &[("a", "b")],
    );
    let mut good = world(chain.clone());
    let mut state = good.start(settings());
    assert_eq!(good.run(&mut state), RunStatus::Completed);
    let at = |wanted: Act| good.done.iter().position(|a| *a == wanted).unwrap();
    assert!(at(Act::Integrate(id("a"))) < at(Act::Run(id("b"))));

    let mut bad = world(chain);
    bad.ends
        .insert("a".into(), vec![(1, Some(HandoffStatus::Blocked))]);
    let mut state = bad.start(settings());
    assert_eq!(bad.run(&mut state), RunStatus::Incomplete);
    assert_eq!(bad.runs("b"), 0);
}

#[test]
fn shared_state_is_worked_on_one_after_the_other() {
    let mut serial = two();
    serial.gate = baton_protocol::Gate {
        independent_subtasks: Some(2),
        dependent_stages: Some(1),
        files_modules: Some(2),
        independent_review: Some(false),
        external_side_effects: Some(false),
        shared_mutable_state: Some(true),
        security_compliance_risk: Some(false),
        expected_parallelism_value: Some(baton_protocol::ParallelismValue::High),
    };
    let mut world = world(serial);
    let mut state = world.start(settings());
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(world.most_running, 1);
}

fn reviewed() -> Settings {
    Settings {
        review: ReviewMode::Bounded,
        ..settings()
    }
}

#[test]
fn a_review_that_asks_for_changes_starts_a_round_and_is_asked_again() {
    let mut world = world(two());
    world.reviews = vec![ReviewVerdict::Changes];
    let mut state = world.start(reviewed());
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(world.runs("review-findings-r2"), 1);
    assert_eq!(world.count(|a| *a == Act::ReadReview), 2);
}

#[test]
fn o27_a_review_that_never_approves_trips_and_needs_a_person() {
    let mut world = world(two());
    world.reviews = vec![ReviewVerdict::Changes; 9];
    let mut state = world.start(reviewed());
    assert_eq!(world.run(&mut state), RunStatus::NeedsPerson);
    assert_eq!(world.count(|a| *a == Act::ReadReview), 2);
    assert_eq!(state.landed, None);
}

#[test]
fn o25_o26_an_inconclusive_review_is_asked_once_more_and_never_approves() {
    let mut once = world(two());
    once.reviews = vec![ReviewVerdict::Inconclusive];
    let mut state = once.start(reviewed());
    assert_eq!(once.run(&mut state), RunStatus::Completed);

    let mut twice = world(two());
    twice.reviews = vec![ReviewVerdict::Inconclusive; 9];
    let mut state = twice.start(reviewed());
    assert_eq!(twice.run(&mut state), RunStatus::NeedsPerson);
    assert_eq!(twice.count(|a| *a == Act::ReadReview), 2);
}

#[test]
fn a_halt_leads_what_runs_to_its_end_and_starts_nothing() {
    let tasks = ["a", "b", "c", "d"].map(|n| task(n, &[n])).to_vec();
    let mut world = world(plan(tasks, &[]));
    let mut state = world.start(Settings {
        ask_planner: false,
        ..settings()
    });
    let accepted = Record::PlanAccepted {
        source: PlanSource::File,
        plan: Box::new(world.plans.remove(0).unwrap()),
        notes: vec![],
    };
    world.write(&mut state, None, accepted);
    world.begin(&mut state, &id("a"));
    let completed = ended(1, 0, Some(HandoffStatus::Completed));
    world.write(&mut state, Some(id("a")), completed);
    world.write(&mut state, None, Record::HaltAsked { now: false });
    assert_eq!(world.run(&mut state), RunStatus::Halted);
    assert_eq!(state.integrated, [id("a")]);
    assert_eq!(world.runs("b"), 0);

    // Resuming does the rest, and only the rest.
    world.write(&mut state, None, Record::Resumed { pid: 1 });
    assert_eq!(world.run(&mut state), RunStatus::Completed);
    assert_eq!(world.runs("a"), 0, "what is done is not done again");
    assert_eq!(state.integrated.len(), 4);
}

#[test]
fn an_interrupt_waits_for_nothing_but_the_workers_end() {
    let mut world = world(two());
    let mut state = world.start(settings());
    world.write(&mut state, None, Record::InterruptAsked { signal: 2 });
    assert_eq!(world.run(&mut state), RunStatus::Interrupted);
    assert_eq!(world.done.len(), 1, "only the report");
}

#[test]
fn a_spent_budget_stops_between_steps() {
    let mut world = world(two());
    let mut state = world.start(Settings {
        budget: BudgetLimits {
            stop: true,
            max_retries: Some(0),
            ..BudgetLimits::default()
        },
        ..settings()
    });
    world
        .ends
        .insert("a".into(), vec![(1, Some(HandoffStatus::Failed))]);
    assert_eq!(world.run(&mut state), RunStatus::BudgetSpent);
    assert_eq!(world.runs("a"), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whatever workers, checks, merges and reviews do, a run ends, starts no task more often than
    /// attempts and places allow, and lands at most once and only when nothing is missing.
    #[test]
    fn every_run_ends_within_its_bounds(
        ends in proptest::collection::vec((0usize..6, 0usize..7), 0..24),
        verdicts in proptest::collection::vec(proptest::option::of(any::<bool>()), 0..8),
        merges in proptest::collection::vec(0usize..3, 0..8),
        reviews in proptest::collection::vec(0usize..3, 0..6),
        plans in proptest::collection::vec(any::<bool>(), 4),
        cut in 0usize..60,
    ) {
        let exits = [0, 1, 3, 69, 124, 137];
        let statuses = [
            Some(HandoffStatus::Completed), Some(HandoffStatus::Failed), Some(HandoffStatus::Blocked),
            Some(HandoffStatus::Overflow), Some(HandoffStatus::Interrupted), None,
            Some(HandoffStatus::Completed),
        ];
        let names = ["a", "b", "c", "a-r2", "goal", "plan-r1-1"];
        let mut world = World::default();
        for (index, (exit, status)) in ends.into_iter().enumerate() {
            let name = names[index % names.len()].to_string();
            world.ends.entry(name).or_default().push((exits[exit], statuses[status]));
        }
        for (index, verdict) in verdicts.into_iter().enumerate() {
            world.verdicts.entry(names[index % 3].into()).or_default().push(verdict);
        }
        let kinds = [MergeState::Integrated, MergeState::Conflict, MergeState::CheckFailed];
        for (index, merge) in merges.into_iter().enumerate() {
            world.merges.entry(names[index % 3].into()).or_default().push(kinds[merge]);
        }
        let says = [ReviewVerdict::Approve, ReviewVerdict::Changes, ReviewVerdict::Inconclusive];
        world.reviews = reviews.into_iter().map(|r| says[r]).collect();
        let first = plan(vec![task("a", &["a"]), task("b", &["b"]), task("c", &["a"])], &[("a", "c")]);
        for (index, good) in plans.into_iter().enumerate() {
            let mut next = first.clone();
            for task in &mut next.tasks {
                task.id = id(&format!("{}{}", task.id, if index > 1 { "x" } else { "" }));
            }
            if index > 1 { next.depends.clear(); }
            world.plans.push(if good { Ok(next) } else { Err(vec!["no".into()]) });
        }
        let mut state = world.start(reviewed());
        let status = world.run(&mut state);
        for job in &state.jobs {
            prop_assert!(world.runs(job.id().as_str()) <= 6, "{}", job.id());
        }
        prop_assert!(world.most_running <= 4, "two seats, and two made ready");
        prop_assert!(world.count(|a| *a == Act::Land) <= 1);
        if status == RunStatus::Completed && !state.integrated.is_empty() {
            prop_assert!(crate::core::closing::missing(&state).is_empty());
        }
        prop_assert_eq!(state.landed.is_some(), status == RunStatus::Completed && !state.integrated.is_empty());
        // The journal alone gives the same state, wherever it is cut.
        prop_assert_eq!(&State::replay(&world.journal), &state);
        let _ = State::replay(&world.journal[..cut.min(world.journal.len())]);
    }
}

#[test]
fn a_paused_plan_starts_nothing_after_a_failure_and_leads_what_runs_to_its_end() {
    let mut state = crate::core::state::State::empty();
    let mut settings = settings();
    settings.pause_at_failure = true;
    settings.merge_partial = true;
    settings.max_rounds = 1;
    let tasks = ["a", "b", "c"].map(|t| task(t, &[&format!("{t}.txt")]));
    crate::core::testing::feed(
        &mut state,
        vec![
            ("", run_started(settings)),
            (
                "",
                Record::PlanAccepted {
                    source: PlanSource::File,
                    plan: Box::new(plan(tasks.to_vec(), &[])),
                    notes: Vec::new(),
                },
            ),
            ("a", started(1, 1)),
            ("b", started(1, 1)),
            (
                "a",
                Record::GaveUp {
                    why: crate::core::job::Why::Work,
                    reason: "lost".into(),
                },
            ),
        ],
    );
    let steps = decide(&state, &BTreeSet::new(), 0);
    assert!(
        matches!(&steps[..], [Step::Note(Some(c), record)]
            if c.as_str() == "c" && matches!(**record, Record::GaveUp { why: crate::core::job::Why::Dependency, .. })),
        "{steps:?}"
    );
    crate::core::testing::feed(
        &mut state,
        vec![(
            "c",
            Record::GaveUp {
                why: crate::core::job::Why::Dependency,
                reason: "not started".into(),
            },
        )],
    );
    let steps = decide(&state, &BTreeSet::new(), 0);
    assert!(
        matches!(&steps[..], [Step::Do(Act::Run(b))] if b.as_str() == "b"),
        "{steps:?}"
    );
}
