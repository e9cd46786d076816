//! What a goal's loop does next, and what the end of a run means for the goal.

use baton_protocol::RunStatus;
use serde_json::Value;

use super::{Current, Goal, Status, Step};
use crate::core::budget::{Spent, passed};
use crate::core::record::BudgetLimits;

/// Rounds without progress before a person is asked.
pub(crate) const PATIENCE: u32 = 3;

/// What bounds a goal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    pub max_continuations: u32,
    /// Of the goal as a whole.
    pub budget: BudgetLimits,
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// Go on with the run that is under way, or start it: it is on record.
    GoOn(Current),
    /// Begin work.
    Work,
    /// Nothing, because the goal stands like this.
    Rest,
    /// Nothing, and the goal changes to this.
    Stop(Status, String),
}

/// The next thing, from what is stored alone.
pub(crate) fn next(goal: &Goal, bounds: &Bounds) -> Next {
    if goal.status != Status::Active {
        return Next::Rest;
    }
    if let Some(current) = &goal.current {
        return Next::GoOn(current.clone());
    }
    if goal.without_progress >= PATIENCE {
        return Next::Stop(
            Status::Blocked,
            format!("{PATIENCE} rounds changed neither git nor a plan"),
        );
    }
    if goal.continuations >= bounds.max_continuations {
        return Next::Stop(
            Status::Spent,
            format!(
                "all {} continuations are used ([goal] max_continuations)",
                bounds.max_continuations
            ),
        );
    }
    if bounds.budget.stop
        && let Some(limit) = used_up(&bounds.budget, goal)
    {
        return Next::Stop(
            Status::Spent,
            format!("the goal's budget is spent: {limit}"),
        );
    }
    Next::Work
}

/// The first limit of which nothing is left.
fn used_up(limits: &BudgetLimits, goal: &Goal) -> Option<String> {
    let spent = &goal.spent;
    for (name, limit, used) in [
        ("max_steps", limits.max_steps, spent.steps),
        ("max_requests", limits.max_requests, spent.requests),
        ("max_tokens", limits.max_tokens, spent.tokens),
        ("max_wall", limits.max_wall_ms, spent.wall_ms),
        ("max_retries", limits.max_retries, spent.retries),
    ] {
        if let Some(limit) = limit
            && used >= limit
            // Nobody runs out of retries that were not needed.
            && (name != "max_retries" || used > limit)
        {
            return Some(format!("{name}: {used} of {limit} used"));
        }
    }
    // Unknown tokens and unknown prices are judged as a run judges them.
    let mut books = Spent {
        tokens_unknown: spent.tokens_unknown,
        cost_unknown: spent.cost_unknown,
        cost_usd: spent.cost_usd,
        ..Spent::default()
    };
    books.usage.prompt_tokens = Some(0);
    let money = limits.max_cost_usd.filter(|limit| spent.cost_usd >= *limit);
    match money {
        Some(limit) => Some(format!(
            "max_cost_usd: {:.4} of {limit} spent",
            spent.cost_usd
        )),
        None => passed(
            &BudgetLimits {
                max_tokens: limits.max_tokens,
                max_cost_usd: limits.max_cost_usd,
                ..BudgetLimits::default()
            },
            &books,
            0,
        ),
    }
}

/// What is left of the goal's budget for one run, together with the run's own limits.
pub(crate) fn left(run: &BudgetLimits, goal: &Goal, limits: &BudgetLimits) -> BudgetLimits {
    if !limits.stop {
        return run.clone();
    }
    let spent = &goal.spent;
    let least = |own: Option<u64>, limit: Option<u64>, used: u64| {
        let left = limit.map(|l| l.saturating_sub(used));
        // A limit of an advisory run budget bounds nothing.
        let own = own.filter(|_| run.stop);
        [own, left].into_iter().flatten().min()
    };
    let money = limits.max_cost_usd.map(|l| (l - spent.cost_usd).max(0.0));
    let own_money = run.max_cost_usd.filter(|_| run.stop);
    BudgetLimits {
        stop: true,
        max_steps: least(run.max_steps, limits.max_steps, spent.steps),
        max_requests: least(run.max_requests, limits.max_requests, spent.requests),
        max_tokens: least(run.max_tokens, limits.max_tokens, spent.tokens),
        max_wall_ms: least(run.max_wall_ms, limits.max_wall_ms, spent.wall_ms),
        max_retries: least(run.max_retries, limits.max_retries, spent.retries),
        max_cost_usd: [own_money, money].into_iter().flatten().reduce(f64::min),
    }
}

/// How a run that was made for the goal ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunEnd {
    pub status: RunStatus,
    /// What it could not do, and what it asks.
    pub gaps: Vec<String>,
    /// What git and the plans look like now.
    pub now: String,
    /// What the look said, if it was one and said something.
    pub answer: Option<Answer>,
    /// No server or no slot could be had, so nothing was tried.
    pub no_place: bool,
}

/// A look's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub done: bool,
    pub reason: String,
    pub missing: Option<String>,
    pub question: Option<String>,
}

/// Reads an answer; what is no answer is none, and none is never "done".
pub(crate) fn answer(result: &Value) -> Option<Answer> {
    let words = |key: &str| {
        let text = result[key].as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let missing = words("missing");
    let done = result["done"].as_bool()?;
    Some(Answer {
        // Two halves that contradict each other are no yes.
        done: done && missing.is_none(),
        reason: words("reason").unwrap_or_default(),
        missing,
        question: words("question").filter(|_| !done),
    })
}

/// Takes the end of the current run into the goal. `assess` is the name of the run that looks next,
/// should one be needed.
pub(crate) fn after(goal: &mut Goal, step: Step, end: &RunEnd, assess: &str) {
    let before = goal.current.as_ref().map(|c| c.before.clone());
    match end.status {
        // The run stays: it is resumed as it was left.
        RunStatus::Interrupted => return,
        RunStatus::Halted => {
            // The goal is active, or this would not be read: the run was halted by itself.
            goal.stop(Status::Paused, "its run was halted");
            return;
        }
        _ => {}
    }
    // Nothing was tried: the same run is taken up again when there is a place.
    if end.no_place {
        return;
    }
    goal.current = None;
    match step {
        Step::Work => worked(goal, end, before.as_deref(), assess),
        Step::Assess => assessed(goal, end),
    }
}

fn worked(goal: &mut Goal, end: &RunEnd, before: Option<&str>, assess: &str) {
    if before == Some(end.now.as_str()) {
        goal.without_progress += 1;
    } else {
        goal.without_progress = 0;
    }
    match end.status {
        RunStatus::NeedsPerson => {
            let why = end.gaps.first().map_or("its review", String::as_str);
            goal.stop(Status::Blocked, format!("a person must decide: {why}"));
        }
        RunStatus::BudgetSpent => {
            goal.stop(Status::Spent, "the budget of its last run was spent");
        }
        RunStatus::Completed => {
            goal.current = Some(Current {
                run: assess.to_owned(),
                step: Step::Assess,
                before: end.now.clone(),
            });
        }
        _ => goal.missing = Some(end.gaps.join("\n")).filter(|g| !g.trim().is_empty()),
    }
}

fn assessed(goal: &mut Goal, end: &RunEnd) {
    let Some(answer) = &end.answer else {
        // Not judged is not done. Progress and the number of continuations bound the loop.
        goal.missing = None;
        return;
    };
    if answer.done {
        goal.missing = None;
        goal.stop(Status::Done, answer.reason.clone());
    } else if let Some(question) = &answer.question {
        goal.missing.clone_from(&answer.missing);
        goal.stop(Status::Blocked, format!("a question for you: {question}"));
    } else {
        goal.missing = answer
            .missing
            .clone()
            .or_else(|| Some(answer.reason.clone()).filter(|r| !r.is_empty()));
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
