//! A goal for people.

use std::fmt::Write as _;

use super::{Goal, Status, Step};

/// How a goal stands, and what can be done about it.
pub(crate) fn text(goal: &Goal, works: Option<&str>) -> String {
    let mut text = format!("{}\n", goal.objective);
    let status = match (goal.status, works) {
        (Status::Active, Some(who)) => format!("is being worked on by {who}"),
        (Status::Active, None) => "active; nobody works on it now".into(),
        (Status::Paused, _) => "paused".into(),
        (Status::Blocked, _) => "blocked: it needs you".into(),
        (Status::Spent, _) => "stopped: its means are used up".into(),
        (Status::Done, _) => "reached".into(),
    };
    let _ = writeln!(text, "  {status}");
    if let Some(reason) = &goal.reason {
        let _ = writeln!(text, "  because: {reason}");
    }
    if let Some(missing) = &goal.missing {
        let _ = writeln!(
            text,
            "  missing: {}",
            missing.replace('\n', "\n           ")
        );
    }
    let _ = writeln!(
        text,
        "  {} begun, {} without progress in a row, {} tokens, {} min",
        plural(goal.continuations, "continuation"),
        goal.without_progress,
        goal.spent.tokens,
        goal.spent.wall_ms / 60_000
    );
    if let Some(current) = &goal.current {
        let what = match (current.step, works) {
            (Step::Work, Some(_)) => "works on it",
            (Step::Assess, Some(_)) => "looks whether it is reached",
            (_, None) => "is taken up when it goes on",
        };
        let _ = writeln!(text, "  run {} {what}", current.run);
    }
    let _ = writeln!(text, "  next: {}", next(goal, works));
    text
}

fn next(goal: &Goal, works: Option<&str>) -> &'static str {
    match (goal.status, works) {
        (Status::Active, Some(_)) => "orchestrate status --watch, or stop it: orchestrate halt",
        (Status::Active, None) => "orchestrate goal run",
        (Status::Paused | Status::Blocked | Status::Spent, _) => {
            "orchestrate goal resume && orchestrate goal run"
        }
        (Status::Done, _) => "orchestrate goal clear",
    }
}

fn plural(count: u32, word: &str) -> String {
    if count == 1 {
        format!("1 {word}")
    } else {
        format!("{count} {word}s")
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::core::goal::{Goal, Status};
    use crate::core::testing::at;

    #[test]
    fn it_says_how_it_stands_why_and_what_to_do() {
        let mut goal = Goal::new("g".into(), "ship it now", None, at(0));
        goal.continuations = 1;
        let active = text(&goal, None);
        assert!(active.contains("nobody works on it now"), "{active}");
        assert!(active.contains("1 continuation begun"), "{active}");
        assert!(active.contains("next: orchestrate goal run"), "{active}");
        goal.stop(Status::Blocked, "a question for you: which port?");
        let blocked = text(&goal, None);
        assert!(
            blocked.contains("because: a question for you: which port?"),
            "{blocked}"
        );
        assert!(
            blocked.contains("goal resume && orchestrate goal run"),
            "{blocked}"
        );
    }
}
