//! Headings know no status: what an outcome says of it by how it begins.

use baton_protocol::HandoffStatus;

/// The status a report states in a line of its own before its outcome, and the outcome.
pub(super) fn stated(outcome: &str) -> (Option<HandoffStatus>, String) {
    let (first, rest) = outcome.split_once('\n').unwrap_or((outcome, ""));
    let status = match first.trim().strip_prefix("Status: ") {
        Some("completed") => HandoffStatus::Completed,
        Some("blocked") => HandoffStatus::Blocked,
        Some("failed") => HandoffStatus::Failed,
        Some("in-progress") => HandoffStatus::Interrupted,
        _ => return (None, outcome.to_owned()),
    };
    (Some(status), rest.trim().to_owned())
}

/// Whether an outcome begins with a word that would be read as a status.
pub(super) fn says_status(outcome: &str) -> bool {
    let first = outcome.trim_start();
    begins(first) != HandoffStatus::Completed || first.starts_with("Status: ")
}

/// Words that alone, or before a reason, tell of no success: `Failed.`, `Blocked by the proxy`; but
/// `Failed uploads are retried` does not.
const WORDS: [(&str, HandoffStatus); 12] = [
    ("blocked", HandoffStatus::Blocked),
    ("failed", HandoffStatus::Failed),
    ("failure", HandoffStatus::Failed),
    ("fail", HandoffStatus::Failed),
    ("incomplete", HandoffStatus::Failed),
    ("unfinished", HandoffStatus::Failed),
    ("unsuccessful", HandoffStatus::Failed),
    ("partial", HandoffStatus::Failed),
    ("partially", HandoffStatus::Failed),
    ("in progress", HandoffStatus::Interrupted),
    ("in-progress", HandoffStatus::Interrupted),
    ("wip", HandoffStatus::Interrupted),
];
const REASONS: [&str; 16] = [
    "to",
    "because",
    "by",
    "on",
    "as",
    "since",
    "due",
    "at",
    "after",
    "with",
    "so",
    "while",
    "done",
    "complete",
    "completed",
    "success",
];

/// Beginnings that tell of no success.
const PHRASES: [&str; 35] = [
    "not completed",
    "not complete",
    "not done",
    "not finished",
    "not solved",
    "not fixed",
    "not possible",
    "unable to",
    "could not",
    "couldn't",
    "couldn’t",
    "did not finish",
    "did not complete",
    "did not succeed",
    "didn't finish",
    "gave up",
    "no success",
    "i failed",
    "i could not",
    "i couldn't",
    "i couldn’t",
    "i was unable",
    "i was not able",
    "i wasn't able",
    "i am unable",
    "i did not finish",
    "i gave up",
    "we could not",
    "we were unable",
    "the task could not",
    "the task was not",
    "the task is not",
    "the task failed",
    "task failed",
    "task not",
];
const SIGNS: [char; 5] = ['❌', '✗', '✘', '🔴', '⛔'];

/// The status an outcome begins with.
pub(super) fn begins(outcome: &str) -> HandoffStatus {
    let lower = outcome.to_lowercase();
    let plain = |text: &str| {
        text.trim_start_matches(['*', '_', '#', ' ', '`'])
            .to_owned()
    };
    let mut begins = plain(&lower);
    // `**Status:** blocked`
    if let Some(rest) = begins.strip_prefix("status")
        && rest.trim_start_matches(['*', '_']).starts_with(':')
    {
        begins = plain(rest.trim_start_matches(['*', '_', ':', ' ']));
    }
    if begins.starts_with(SIGNS) || PHRASES.iter().any(|p| begins.starts_with(p)) {
        return HandoffStatus::Failed;
    }
    let says = |word: &str| {
        let Some(rest) = begins.strip_prefix(word) else {
            return false;
        };
        let next = rest.split(|c: char| !c.is_alphanumeric()).nth(1);
        match rest.chars().next() {
            None => true,
            Some(' ') => next.is_none_or(|word| word.is_empty() || REASONS.contains(&word)),
            Some(c) => !c.is_alphanumeric() && !matches!(c, '-' | '_' | '/' | '\''),
        }
    };
    let found = WORDS.iter().find(|(word, _)| says(word));
    found.map_or(HandoffStatus::Completed, |(_, status)| *status)
}
