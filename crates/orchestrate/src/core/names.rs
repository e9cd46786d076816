//! The names a run gives to things.

use std::fmt::Write as _;

use baton_protocol::TaskId;

/// Names for runs that start in the same millisecond: 26 letters to the third power, by 1000.
const PER_MILLI: u64 = 17;

/// A run's name: its UTC start as `20261130-114703` and three letters against collisions.
///
/// Names sort by time, also within a second, as the last run is the last name: the three letters count
/// milliseconds, with some chance in them for runs that start in the same one.
pub(crate) fn run_id(rfc3339: &str, random: u64) -> String {
    let digits: String = rfc3339.chars().filter(char::is_ascii_digit).collect();
    let (date, rest) = digits.split_at(digits.len().min(8));
    let (time, fraction) = rest.split_at(rest.len().min(6));
    let millis: u64 = fraction.get(..3).and_then(|f| f.parse().ok()).unwrap_or(0);
    let within = millis * PER_MILLI + random % PER_MILLI;
    let suffix: String = letters(within, 3).chars().rev().collect();
    format!("{date}-{time}-{suffix}")
}

/// Lower-case letters drawn from a number.
pub(crate) fn letters(mut random: u64, count: usize) -> String {
    let mut text = String::with_capacity(count);
    for _ in 0..count {
        let letter = u8::try_from(random % 26).unwrap_or(0);
        text.push(char::from(b'a' + letter));
        random /= 26;
    }
    text
}

/// All branches of runs lie below this name.
pub(crate) const BRANCHES: &str = "baton";

/// The run's branch.
pub(crate) fn run_branch(run: &str) -> String {
    format!("{BRANCHES}/{run}")
}

/// What tells one placement of one attempt from the others: nothing for the first of the first.
fn suffix(attempt: u32, placement: u32) -> String {
    let mut text = String::new();
    if attempt > 1 {
        let _ = write!(text, ".{attempt}");
    }
    if placement > 1 {
        let _ = write!(text, "-p{placement}");
    }
    text
}

/// The folder of an attempt's files inside the run's folder.
pub(crate) fn attempt_folder(task: &TaskId, attempt: u32, placement: u32) -> String {
    let placement = if placement > 1 {
        format!("-p{placement}")
    } else {
        String::new()
    };
    format!("tasks/{task}.{attempt}{placement}")
}

/// The name of an attempt's work tree; the first attempt has the task's own.
pub(crate) fn worktree(run: &str, task: &TaskId, attempt: u32, placement: u32) -> String {
    format!("{run}-{task}{}", suffix(attempt, placement))
}

/// The branch that keeps an attempt's work when it is not integrated.
pub(crate) fn kept_branch(run: &str, task: &TaskId, attempt: u32, placement: u32) -> String {
    format!("baton/{run}-{task}{}", suffix(attempt, placement))
}

/// The id of a task's successor in a further round.
pub(crate) fn in_round(task: &TaskId, round: u32) -> TaskId {
    let stem: String = task.as_str().chars().take(110).collect();
    TaskId::new(format!("{stem}-r{round}")).unwrap_or_else(|_| task.clone())
}

#[cfg(test)]
mod tests {
    use baton_protocol::TaskId;

    use super::{in_round, letters, run_id, worktree};

    #[test]
    fn a_run_is_named_after_its_start() {
        assert_eq!(run_id("2026-11-30T11:47:03.000Z", 0), "20261130-114703-aaa");
        let of = |millis: u32, random| run_id(&format!("2026-11-30T11:47:03.{millis:03}Z"), random);
        assert!((0..999).all(|ms| of(ms, u64::MAX) < of(ms + 1, 0)));
        assert_ne!(of(5, 1), of(5, 2));
        assert_eq!(letters(27, 3), "bba");
        assert!(TaskId::new(run_id("2026-11-30T11:47:03.123Z", 9_999)).is_ok());
    }

    #[test]
    fn every_attempt_has_its_own_tree() {
        let task = TaskId::new("fix").unwrap();
        let names = [
            worktree("r", &task, 1, 1),
            worktree("r", &task, 1, 2),
            worktree("r", &task, 2, 1),
        ];
        assert_eq!(names, ["r-fix", "r-fix-p2", "r-fix.2"]);
        assert_eq!(in_round(&task, 2).as_str(), "fix-r2");
    }
}
