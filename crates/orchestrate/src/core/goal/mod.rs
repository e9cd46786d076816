//! A goal: a durable objective, and what is to be done about it next.
//!
//! Everything that decides is here, over values. The stored state says all that is known: a loop that
//! was killed and one that was just started read the same file and take the same next step.

pub(crate) mod decide;
pub(crate) mod prompts;
pub(crate) mod text;

use baton_protocol::Timestamp;
use serde::{Deserialize, Serialize};

use super::state::State;

/// Where a goal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// It is worked on whenever a loop runs.
    Active,
    /// A person paused or halted it.
    Paused,
    /// Only a person can say how it goes on.
    Blocked,
    /// Its budget or its continuations are used up.
    Spent,
    /// It is reached.
    Done,
}

/// What the run that is under way does for the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// It works on the objective.
    Work,
    /// It looks whether the objective is reached.
    Assess,
}

/// The run that is under way, written down before it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Current {
    pub run: String,
    pub step: Step,
    /// What git and the plans looked like before it.
    pub before: String,
}

/// What was used so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Spending {
    pub steps: u64,
    pub requests: u64,
    pub tokens: u64,
    /// A server reported no token counts, so `tokens` is too low.
    pub tokens_unknown: bool,
    pub cost_usd: f64,
    /// Some work had no known price, so `cost_usd` is too low.
    pub cost_unknown: bool,
    pub retries: u64,
    pub wall_ms: u64,
}

impl Spending {
    /// Adds what a run that has ended spent.
    pub(crate) fn add(&mut self, state: &State, wall_ms: u64) {
        let usage = &state.spent.usage;
        self.steps += u64::from(usage.steps);
        self.requests += u64::from(usage.requests);
        self.tokens += usage.prompt_tokens.unwrap_or(0) + usage.completion_tokens.unwrap_or(0);
        self.tokens_unknown |= state.spent.tokens_unknown;
        self.cost_usd += state.spent.cost_usd;
        self.cost_unknown |= state.spent.cost_unknown;
        self.retries += state.spent.retries;
        self.wall_ms += wall_ms;
    }
}

/// `goal/1`, as it stands in `.orchestrator/goal.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Goal {
    pub schema: String,
    /// Tells this goal from another one with the same words.
    pub id: String,
    pub objective: String,
    pub status: Status,
    /// Why it is paused, blocked, spent or done.
    pub reason: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Where the branch was when the goal was set.
    pub start: Option<String>,
    /// Times work was begun.
    pub continuations: u32,
    /// Times in a row that changed neither git nor a plan.
    pub without_progress: u32,
    /// What the last look found missing.
    pub missing: Option<String>,
    pub current: Option<Current>,
    pub spent: Spending,
    /// The runs so far, the last ones.
    pub runs: Vec<String>,
}

/// The schema's name.
pub(crate) const SCHEMA: &str = "goal/1";

/// How many runs a goal remembers by name.
const REMEMBERED: usize = 100;

impl Goal {
    /// A new goal.
    pub(crate) fn new(id: String, objective: &str, start: Option<String>, now: Timestamp) -> Self {
        Self {
            schema: SCHEMA.into(),
            id,
            objective: objective.trim().to_owned(),
            status: Status::Active,
            reason: None,
            created_at: now,
            updated_at: now,
            start,
            continuations: 0,
            without_progress: 0,
            missing: None,
            current: None,
            spent: Spending::default(),
            runs: Vec::new(),
        }
    }

    /// Reads a stored goal. A person may have edited it: the message names the place.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let goal: Self = serde_json::from_str(text).map_err(|e| {
            format!("it is no goal/1 document: {e}; mend it, or: orchestrate goal clear")
        })?;
        if goal.schema != SCHEMA {
            return Err(format!(
                "its schema is `{}`, and {SCHEMA} is read here",
                goal.schema
            ));
        }
        if goal.objective.trim().is_empty() {
            return Err("its objective is empty".into());
        }
        Ok(goal)
    }

    /// Whether it is the goal a loop began with, word for word.
    pub(crate) fn is_unchanged(&self, id: &str, objective: &str) -> bool {
        self.id == id && self.objective == objective
    }

    /// Takes a run into the books.
    pub(crate) fn remember(&mut self, run: &str) {
        if self.runs.last().map(String::as_str) != Some(run) {
            self.runs.push(run.to_owned());
        }
        let surplus = self.runs.len().saturating_sub(REMEMBERED);
        self.runs.drain(..surplus);
    }

    /// Lets it be worked on again. What was counted against it starts anew; what it cost does not.
    pub(crate) fn activate(&mut self) {
        self.status = Status::Active;
        self.reason = None;
        self.without_progress = 0;
    }

    pub(crate) fn stop(&mut self, status: Status, reason: impl Into<String>) {
        self.status = status;
        self.reason = Some(reason.into());
    }
}

/// A goal's objective as a person writes it, or why it cannot be one.
pub(crate) fn objective(words: &[String]) -> Result<String, String> {
    const MOST: usize = 20_000;
    let text = words.join(" ").trim().to_owned();
    if text.is_empty() {
        return Err("the goal is empty; say in plain words what is to be reached".into());
    }
    if !text.contains(char::is_whitespace) {
        return Err(format!(
            "`{text}` is one word; say in plain words what is to be reached, or write one of: \
             orchestrate goal pause, resume, clear, run"
        ));
    }
    if text.chars().count() > MOST {
        return Err(format!(
            "the goal is longer than {MOST} characters; put the details into a file of the \
             repository and name it"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Goal, Status, objective};
    use crate::core::testing::at;

    fn goal() -> Goal {
        Goal::new("g".into(), " ship it now ", Some("abc".into()), at(0))
    }

    #[test]
    fn a_goal_survives_its_file() {
        let mut goal = goal();
        goal.stop(Status::Paused, "you paused it");
        let text = serde_json::to_string_pretty(&goal).unwrap();
        assert_eq!(Goal::read(&text), Ok(goal));
    }

    #[test]
    fn a_file_somebody_broke_is_named_with_its_place() {
        let text = serde_json::to_string(&goal()).unwrap();
        for (broken, words) in [
            (text.replace("\"active\"", "\"activ\""), "activ"),
            (text.replace("goal/1", "goal/2"), "goal/2"),
            (text.replace("ship it now", " "), "objective is empty"),
            (text.replace("\"missing\"", "\"mising\""), "mising"),
            (String::new(), "no goal/1 document"),
        ] {
            let error = Goal::read(&broken).unwrap_err();
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    #[test]
    fn a_mistyped_action_is_no_goal() {
        let words = |text: &str| objective(&[text.to_owned()]);
        assert!(words("resme").unwrap_err().contains("is one word"));
        assert!(words("  ").unwrap_err().contains("empty"));
        assert_eq!(words(" ship it ").unwrap(), "ship it");
        let many = ["ship".to_owned(), "it".to_owned()];
        assert_eq!(objective(&many).unwrap(), "ship it");
    }

    #[test]
    fn runs_are_remembered_once_and_not_for_ever() {
        let mut goal = goal();
        goal.remember("a");
        goal.remember("a");
        assert_eq!(goal.runs, ["a"]);
        for n in 0..300 {
            goal.remember(&n.to_string());
        }
        assert_eq!(goal.runs.len(), 100);
        assert_eq!(goal.runs.last().unwrap(), "299");
    }
}
