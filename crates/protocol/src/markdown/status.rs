//! Headings know no status: what an outcome says of it by how it begins.

use super::{IN_PROGRESS, NO_REASON, one_line};
use crate::{Handoff, HandoffStatus};

/// The status a report states in a line of its own before its outcome: what it is, the reason
/// (which may be empty), and the outcome.
pub fn stated(outcome: &str) -> Option<(HandoffStatus, &str, &str)> {
    let (first, rest) = outcome.split_once('\n').unwrap_or((outcome, ""));
    let said = first.trim().strip_prefix("Status: ")?;
    let (word, reason) = said.split_once(" (").unwrap_or((said, ")"));
    let status = match word {
        "completed" => HandoffStatus::Completed,
        "blocked" => HandoffStatus::Blocked,
        "failed" => HandoffStatus::Failed,
        "in-progress" => HandoffStatus::Interrupted,
        _ => return None,
    };
    Some((status, reason.strip_suffix(')')?, rest.trim()))
}

/// The status as [`stated`] reads it. The words are those of the plugin's envelope.
pub(super) fn line(handoff: &Handoff) -> String {
    let reason = handoff.status_reason.as_str();
    let word = match handoff.status {
        HandoffStatus::Completed => "completed",
        HandoffStatus::Blocked => "blocked",
        HandoffStatus::Interrupted if reason == IN_PROGRESS => "in-progress",
        _ => "failed",
    };
    let is_said = handoff.status == HandoffStatus::Completed || word == "in-progress";
    match one_line(reason).as_str() {
        "" | NO_REASON => word.to_owned(),
        _ if is_said => word.to_owned(),
        reason => format!("{word} ({reason})"),
    }
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
pub fn begins(outcome: &str) -> HandoffStatus {
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
