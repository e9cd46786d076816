//! Noticing that a model goes round in circles.

use std::collections::VecDeque;

/// What one step of the model did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Action {
    /// Tool and normalised arguments, or a digest of the reply.
    pub(crate) identity: String,
    /// Whether it changed a file.
    pub(crate) changed: bool,
    /// The error it ended with, if it failed.
    pub(crate) error: Option<String>,
}

/// What the guard says about the newest action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Go on.
    Fine,
    /// Go on, but tell the model and change the situation.
    Warn(&'static str),
    /// End: it will not come out of this by itself.
    Stop(String),
}

/// Equal errors that end the task.
const EQUAL_ERRORS: usize = 5;
/// Steps without anything new that end the task.
const IDLE_STEPS: usize = 14;
/// Remembered actions.
const MEMORY: usize = 24;

/// Watches the actions of one task.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    recent: VecDeque<Action>,
    seen: std::collections::BTreeSet<String>,
    idle: usize,
    warned: bool,
}

impl Guard {
    /// Takes in an action and judges.
    pub(crate) fn judge(&mut self, action: Action) -> Judgement {
        let is_new = self.seen.insert(action.identity.clone());
        self.idle = if action.changed || is_new {
            0
        } else {
            self.idle + 1
        };
        if action.changed {
            // After a change the same command is a new question: tests are run again.
            self.recent.clear();
            self.warned = false;
        }
        self.recent.push_back(action);
        if self.recent.len() > MEMORY {
            self.recent.pop_front();
        }
        if let Some(judgement) = self.equal_errors() {
            return judgement;
        }
        if let Some(judgement) = self.circle() {
            return judgement;
        }
        if self.idle >= IDLE_STEPS {
            return Judgement::Stop(format!("nothing new in {} steps", self.idle));
        }
        Judgement::Fine
    }

    fn equal_errors(&self) -> Option<Judgement> {
        let last = self.recent.back()?.error.as_ref()?;
        let equal = self
            .recent
            .iter()
            .rev()
            .take_while(|a| a.error.as_ref() == Some(last))
            .count();
        match equal {
            0..=2 => None,
            3 => Some(Judgement::Warn(
                "the same error three times; do it in another way (read the file again, or write it whole)",
            )),
            n if n >= EQUAL_ERRORS => {
                Some(Judgement::Stop(format!("the same error {n} times: {last}")))
            }
            _ => None,
        }
    }

    /// Periods of 1, 2 and 3 actions. Results are not compared: a clock in the output of a command
    /// would hide the circle.
    fn circle(&mut self) -> Option<Judgement> {
        let ids: Vec<&str> = self.recent.iter().map(|a| a.identity.as_str()).collect();
        for period in 1..=3usize {
            let rounds = rounds(&ids, period);
            let (warn_at, stop_at) = if period == 1 { (2, 5) } else { (2, 4) };
            if rounds >= stop_at {
                return Some(Judgement::Stop(format!(
                    "the same {} {rounds} times without a change in between",
                    if period == 1 {
                        "step".into()
                    } else {
                        format!("{period} steps")
                    }
                )));
            }
            if rounds >= warn_at && !self.warned && (period == 1 || rounds > 2) {
                self.warned = true;
                return Some(Judgement::Warn(
                    "you did exactly this before and nothing changed since; do something else",
                ));
            }
        }
        None
    }
}

/// How often the last `period` actions stand at the end in a row.
fn rounds(ids: &[&str], period: usize) -> usize {
    if ids.len() < period {
        return 0;
    }
    let last = &ids[ids.len() - period..];
    ids.rchunks(period)
        .take_while(|chunk| *chunk == last)
        .count()
}

#[cfg(test)]
mod tests {
    use super::{Action, Guard, Judgement};
    use proptest::prelude::{prop_assert, proptest};

    fn look(identity: &str) -> Action {
        Action {
            identity: identity.into(),
            changed: false,
            error: None,
        }
    }

    /// How many of these actions run until the guard ends it, and whether it warned before.
    fn until_stop(mut actions: impl Iterator<Item = Action>) -> (usize, bool) {
        let mut guard = Guard::default();
        let mut warned = false;
        for count in 1..200 {
            match guard.judge(actions.next().unwrap()) {
                Judgement::Fine => {}
                Judgement::Warn(_) => warned = true,
                Judgement::Stop(_) => return (count, warned),
            }
        }
        panic!("never stopped");
    }

    #[test]
    fn t19_periods_of_one_two_and_three_are_warned_and_stopped() {
        assert_eq!(until_stop(std::iter::repeat_with(|| look("a"))), (5, true));
        for period in [2, 3] {
            let names = ["a", "b", "c"];
            let (count, warned) = until_stop((0..).map(|n| look(names[n % period])));
            assert!(count <= 5 * period && warned, "period {period}: {count}");
        }
    }

    #[test]
    fn t20_a_clock_in_the_output_does_not_hide_the_circle() {
        // The identity is the call; what it printed is no part of it.
        assert_eq!(
            until_stop(std::iter::repeat_with(|| look("bash date"))).0,
            5
        );
    }

    #[test]
    fn t21_the_same_test_after_each_edit_is_no_circle() {
        let mut guard = Guard::default();
        for _ in 0..12 {
            let edit = Action {
                changed: true,
                ..look("edit: one line more")
            };
            assert_eq!(guard.judge(edit), Judgement::Fine);
            assert_eq!(guard.judge(look("bash test")), Judgement::Fine);
        }
    }

    #[test]
    fn t22_equal_errors_end_it_also_when_the_calls_differ() {
        let failing = |n: usize| Action {
            error: Some("old_string is not in the file".into()),
            ..look(&format!("edit {n}"))
        };
        assert_eq!(until_stop((0..).map(failing)), (5, true));
    }

    proptest! {
        #[test]
        fn any_finite_vocabulary_of_looks_comes_to_an_end(pattern in proptest::collection::vec("[abcd]", 1..9)) {
            let (count, _) = until_stop((0..).map(|n| look(&pattern[n % pattern.len()])));
            prop_assert!(count < 40);
        }
    }
}
