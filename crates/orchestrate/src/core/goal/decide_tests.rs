use baton_protocol::RunStatus;
use serde_json::json;

use super::{Answer, Bounds, Next, RunEnd, after, answer, left, next};
use crate::core::goal::{Current, Goal, Spending, Status, Step};
use crate::core::record::BudgetLimits;
use crate::core::testing::at;

fn goal() -> Goal {
    Goal::new("g".into(), "ship it now", Some("abc".into()), at(0))
}

fn bounds() -> Bounds {
    Bounds {
        max_continuations: 50,
        budget: BudgetLimits::default(),
    }
}

fn under_way(step: Step) -> Goal {
    let mut goal = goal();
    goal.current = Some(Current {
        run: "r1".into(),
        step,
        before: "old".into(),
    });
    goal
}

fn end(status: RunStatus, now: &str) -> RunEnd {
    RunEnd {
        status,
        gaps: Vec::new(),
        now: now.into(),
        answer: None,
        no_place: false,
    }
}

#[test]
fn only_an_active_goal_is_worked_on() {
    for status in [Status::Paused, Status::Blocked, Status::Spent, Status::Done] {
        let mut goal = under_way(Step::Work);
        goal.stop(status, "x");
        assert_eq!(next(&goal, &bounds()), Next::Rest);
    }
    assert_eq!(next(&goal(), &bounds()), Next::Work);
}

#[test]
fn a_run_on_record_comes_before_a_new_one_whatever_the_counts_say() {
    let mut goal = under_way(Step::Work);
    goal.continuations = 50;
    assert!(matches!(next(&goal, &bounds()), Next::GoOn(c) if c.run == "r1"));
}

#[test]
fn o13_o14_three_rounds_without_progress_need_a_person_and_a_changed_tree_is_progress() {
    let mut goal = under_way(Step::Work);
    for round in 1..=3 {
        after(
            &mut goal,
            Step::Work,
            &end(RunStatus::Incomplete, "old"),
            "a",
        );
        assert_eq!(goal.without_progress, round);
        goal.current = under_way(Step::Work).current;
    }
    goal.current = None;
    assert!(matches!(
        next(&goal, &bounds()),
        Next::Stop(Status::Blocked, _)
    ));
    // Progress in between starts the count anew.
    goal.current = under_way(Step::Work).current;
    after(
        &mut goal,
        Step::Work,
        &end(RunStatus::Incomplete, "new"),
        "a",
    );
    assert_eq!(goal.without_progress, 0);
    assert_eq!(next(&goal, &bounds()), Next::Work);
}

#[test]
fn continuations_and_budgets_end_it_also_when_exactly_used_up() {
    let mut goal = goal();
    goal.continuations = 50;
    assert!(matches!(
        next(&goal, &bounds()),
        Next::Stop(Status::Spent, _)
    ));
    goal.continuations = 1;
    goal.spent.tokens = 1_000;
    let mut bounds = bounds();
    bounds.budget.max_tokens = Some(1_000);
    assert_eq!(next(&goal, &bounds), Next::Work, "advisory");
    bounds.budget.stop = true;
    assert!(
        matches!(next(&goal, &bounds), Next::Stop(Status::Spent, why) if why.contains("max_tokens"))
    );
    bounds.budget.max_tokens = Some(1_001);
    assert_eq!(next(&goal, &bounds), Next::Work);
    goal.spent.tokens_unknown = true;
    assert!(
        matches!(next(&goal, &bounds), Next::Stop(Status::Spent, _)),
        "unknown is not zero"
    );
}

#[test]
fn a_run_gets_what_is_left_and_never_more_than_its_own() {
    let mut goal = goal();
    goal.spent = Spending {
        tokens: 600,
        requests: 5,
        cost_usd: 1.5,
        ..Spending::default()
    };
    let limits = BudgetLimits {
        stop: true,
        max_tokens: Some(1_000),
        max_requests: Some(100),
        max_cost_usd: Some(2.0),
        ..BudgetLimits::default()
    };
    let run = BudgetLimits {
        stop: true,
        max_requests: Some(20),
        ..BudgetLimits::default()
    };
    let got = left(&run, &goal, &limits);
    assert_eq!(got.max_tokens, Some(400));
    assert_eq!(got.max_requests, Some(20));
    assert_eq!(got.max_cost_usd, Some(0.5));
    let advisory = BudgetLimits {
        stop: false,
        ..limits
    };
    assert_eq!(left(&run, &goal, &advisory), run);
}

#[test]
fn what_was_completed_is_looked_at_and_only_a_look_ends_the_goal() {
    let mut goal = under_way(Step::Work);
    after(
        &mut goal,
        Step::Work,
        &end(RunStatus::Completed, "new"),
        "r2",
    );
    let current = goal.current.clone().unwrap();
    assert_eq!((current.run.as_str(), current.step), ("r2", Step::Assess));
    assert_eq!(goal.status, Status::Active);
    let mut looked = end(RunStatus::Completed, "new");
    looked.answer = Some(Answer {
        done: true,
        reason: "all tests pass".into(),
        missing: None,
        question: None,
    });
    after(&mut goal, Step::Assess, &looked, "r3");
    assert_eq!(goal.status, Status::Done);
    assert_eq!(goal.reason.as_deref(), Some("all tests pass"));
    assert_eq!(goal.current, None);
}

#[test]
fn a_look_that_says_nothing_is_no_yes() {
    let mut goal = under_way(Step::Assess);
    after(
        &mut goal,
        Step::Assess,
        &end(RunStatus::Failed, "new"),
        "r3",
    );
    assert_eq!(goal.status, Status::Active);
    assert_eq!(next(&goal, &bounds()), Next::Work);
    assert_eq!(answer(&json!({"done": "yes"})), None);
    assert_eq!(answer(&json!(null)), None);
    let torn = answer(&json!({"done": true, "missing": "the docs"})).unwrap();
    assert!(!torn.done, "two halves that contradict each other");
}

#[test]
fn a_question_for_a_person_blocks() {
    let mut goal = under_way(Step::Assess);
    let mut looked = end(RunStatus::Completed, "new");
    looked.answer = answer(&json!({"done": false, "question": "Which database?"}));
    after(&mut goal, Step::Assess, &looked, "r3");
    assert_eq!(goal.status, Status::Blocked);
    assert!(goal.reason.unwrap().contains("Which database?"));
}

#[test]
fn an_interrupt_changes_nothing_and_a_halted_run_pauses() {
    let mut goal = under_way(Step::Work);
    let before = goal.clone();
    after(
        &mut goal,
        Step::Work,
        &end(RunStatus::Interrupted, "old"),
        "a",
    );
    assert_eq!(goal, before);
    after(&mut goal, Step::Work, &end(RunStatus::Halted, "old"), "a");
    assert_eq!(goal.status, Status::Paused);
    assert_eq!(goal.current, before.current, "it is resumed later");
}

#[test]
fn a_round_that_found_no_server_does_not_count_against_the_goal() {
    let mut goal = under_way(Step::Work);
    let before = goal.clone();
    let mut away = end(RunStatus::Failed, "old");
    away.no_place = true;
    after(&mut goal, Step::Work, &away, "a");
    assert_eq!(goal, before);
}
