//! When a task is done: decided by facts, never by the model's word alone.

/// How a check stood before the first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// It failed.
    Red,
    /// It passed.
    Green,
}

/// The facts after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts<'a> {
    /// Each check at the start.
    pub(crate) start: &'a [Colour],
    /// Each check now; empty = not run since the last change.
    pub(crate) now: &'a [Colour],
    /// Files changed against the base.
    pub(crate) changed: &'a [String],
    /// Of those, the ones outside the scope.
    pub(crate) stray: &'a [String],
    /// Of those, the ones a check rests on and the task's scope does not name.
    pub(crate) protected: &'a [String],
    /// Whether the model says it is done.
    pub(crate) said_done: bool,
}

/// What the harness does after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Completed; the reason.
    Completed(&'static str),
    /// Not yet; what to tell the model if it believes otherwise.
    NotYet(String),
}

/// Judges a writing task.
///
/// By itself the harness ends a task only if a check was red at the start and all are green now.
/// Where they were green from the start, or there are none, the model must say `done` as well.
pub(crate) fn judge(facts: &Facts<'_>) -> Verdict {
    let not_yet = |why: String| Verdict::NotYet(why);
    if facts.changed.is_empty() {
        return not_yet("nothing is changed yet".into());
    }
    if !facts.stray.is_empty() {
        return not_yet(format!(
            "{} is outside the scope; undo that",
            facts.stray.join(", ")
        ));
    }
    if !facts.protected.is_empty() {
        return not_yet(format!(
            "{} belongs to the checks; restore it and change the code instead",
            facts.protected.join(", ")
        ));
    }
    if facts.now.len() != facts.start.len() {
        return not_yet("the checks have not run since the last change".into());
    }
    let red = facts.now.iter().filter(|c| **c == Colour::Red).count();
    if red > 0 {
        return not_yet(format!("{red} of {} checks still fail", facts.now.len()));
    }
    if facts.start.contains(&Colour::Red) {
        return Verdict::Completed("a check that failed at the start passes now");
    }
    if facts.said_done {
        return Verdict::Completed(if facts.start.is_empty() {
            "the model says it is done, and something is changed; there is no check"
        } else {
            "the model says it is done, something is changed, and the checks pass"
        });
    }
    not_yet("the checks pass; call done if nothing is left to do".into())
}

#[cfg(test)]
mod tests {
    use super::Colour::{Green, Red};
    use super::{Facts, Verdict, judge};
    use proptest::prelude::{any, prop_assert, proptest};

    fn facts<'a>(
        start: &'a [super::Colour],
        now: &'a [super::Colour],
        changed: &'a [String],
        said_done: bool,
    ) -> Facts<'a> {
        Facts {
            start,
            now,
            changed,
            stray: &[],
            protected: &[],
            said_done,
        }
    }

    fn done(facts: &Facts<'_>) -> bool {
        matches!(judge(facts), Verdict::Completed(_))
    }

    #[test]
    fn red_then_green_ends_it_whatever_the_model_says() {
        let file = ["a".to_string()];
        assert!(done(&facts(&[Red], &[Green], &file, false)));
        assert!(done(&facts(&[Red, Green], &[Green, Green], &file, false)));
        assert!(!done(&facts(&[Red], &[Red], &file, true)));
        assert!(!done(&facts(&[Red], &[Green], &[], true)));
        assert!(!done(&facts(&[Red], &[], &file, true)));
    }

    #[test]
    fn green_from_the_start_needs_the_word_and_a_change() {
        let file = ["a".to_string()];
        assert!(!done(&facts(&[Green], &[Green], &file, false)));
        assert!(done(&facts(&[Green], &[Green], &file, true)));
        assert!(!done(&facts(&[Green], &[Red], &file, true)));
        assert!(!done(&facts(&[], &[], &file, false)));
        assert!(done(&facts(&[], &[], &file, true)));
        assert!(!done(&facts(&[], &[], &[], true)));
    }

    #[test]
    fn a_stray_change_or_a_changed_test_ends_nothing() {
        let file = ["test.py".to_string()];
        let mut bad = facts(&[Red], &[Green], &file, true);
        bad.protected = &file;
        assert!(
            matches!(judge(&bad), Verdict::NotYet(why) if why.contains("belongs to the checks"))
        );
        let mut bad = facts(&[Red], &[Green], &file, true);
        bad.stray = &file;
        assert!(!done(&bad));
    }

    proptest! {
        #[test]
        fn an_empty_change_never_completes(start in any::<Vec<bool>>(), now in any::<Vec<bool>>(), said in any::<bool>()) {
            let colours = |v: &[bool]| v.iter().map(|g| if *g { Green } else { Red }).collect::<Vec<_>>();
            let (start, now) = (colours(&start), colours(&now));
            prop_assert!(!done(&facts(&start, &now, &[], said)));
            let file = ["a".to_string()];
            if now.contains(&Red) {
                prop_assert!(!done(&facts(&start, &now, &file, said)));
            }
        }
    }
}
