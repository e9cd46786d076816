//! Which lines of a text are headings of a report, and which only look like one.

/// A part of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What was done: Summary, Outcome.
    Outcome,
    /// The changed files.
    Files,
    /// The commands that were run.
    Verification,
    /// What may go wrong.
    Risks,
    /// What is left: Open issues, Follow-up.
    FollowUp,
}

/// The headings and what they hold; the same part never has two.
const HEADINGS: [(&str, Part); 17] = [
    ("summary", Part::Outcome),
    ("outcome", Part::Outcome),
    ("files changed", Part::Files),
    ("changed files", Part::Files),
    ("files modified", Part::Files),
    ("files", Part::Files),
    ("verification", Part::Verification),
    ("verification results", Part::Verification),
    ("risks", Part::Risks),
    ("open issues", Part::FollowUp),
    ("open questions", Part::FollowUp),
    ("remaining issues", Part::FollowUp),
    ("open issues / follow-up", Part::FollowUp),
    ("follow-up", Part::FollowUp),
    ("follow up", Part::FollowUp),
    ("followup", Part::FollowUp),
    ("follow-ups", Part::FollowUp),
];

/// Whether a line reads as one of the report's headings.
pub(super) fn is_heading(line: &str) -> bool {
    heading(line).is_some() || guards(line)
}

/// A backslash before a heading or a fence: free text that is neither.
pub fn unguarded(line: &str) -> &str {
    if guards(line) { &line[1..] } else { line }
}

fn guards(line: &str) -> bool {
    line.strip_prefix('\\')
        .is_some_and(|rest| heading(rest).is_some() || is_fence(rest) || guards(rest))
}

/// Whether a line opens or closes a fence.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether what follows these lines would stand inside a fence.
pub(super) fn leaves_a_fence_open(lines: &[&str]) -> bool {
    let mut fence: Option<&str> = None;
    for line in lines {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|m| trimmed.starts_with(m));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
    }
    fence.is_some()
}

/// A line without the marks and the number of a heading, and whether it had marks.
pub fn unmarked(line: &str) -> (&str, bool) {
    let line = line.trim();
    if let Some(inner) = html(line) {
        return (inner, true);
    }
    let text = line.trim_start_matches('#').trim_start();
    let text = if line.starts_with('#') {
        text.trim_end_matches('#').trim_end()
    } else {
        text
    };
    // An emoji before a heading is decoration.
    let decoration = |c: char| !c.is_ascii() && !c.is_alphanumeric();
    let text = text.trim_start_matches(decoration).trim_start();
    let text = unnumbered(text.trim_start_matches(['*', '_']));
    let text = text.trim_start_matches(['*', '_']);
    (text, line.starts_with(['#', '*', '_']))
}

/// `<h2>Summary</h2>`
fn html(line: &str) -> Option<&str> {
    let level = line
        .strip_prefix("<h")?
        .strip_prefix(|c: char| c.is_ascii_digit())?;
    let (_, inner) = level.split_once('>')?;
    let (inner, _) = inner.split_once("</h")?;
    Some(inner.trim())
}

/// `1. Summary`, `2) …`, `IV. …`, `B) …`, `(c) …`
fn unnumbered(text: &str) -> &str {
    let inner = text.strip_prefix('(').unwrap_or(text);
    let digits = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < inner.len() {
        return digits.trim_start_matches(['.', ')']).trim_start();
    }
    let Some(end) = inner.find(['.', ')']).filter(|end| *end > 0) else {
        return text;
    };
    let number = &inner[..end];
    let roman = number.bytes().all(|b| b"IVXivx".contains(&b));
    let letter = number.len() == 1 && number.bytes().all(|b| b.is_ascii_alphabetic());
    if roman || letter {
        inner[end + 1..].trim_start()
    } else {
        text
    }
}

/// `## Summary`, `**Summary**`, `**Summary:** text`, `Summary: text`, `1. Summary`, `Summary`.
pub fn heading(line: &str) -> Option<(Part, &str)> {
    let (text, marked) = unmarked(line);
    let lower = text.to_ascii_lowercase();
    // The longest name that fits: `files changed` before `files`.
    let (name, part) = HEADINGS
        .iter()
        .filter(|(name, _)| lower.starts_with(name))
        .max_by_key(|(name, _)| name.len())?;
    let after = &text[name.len()..];
    let rest = after.trim_start_matches(['*', '_', ':', ' ']);
    let colon = after.trim_start_matches(['*', '_']).starts_with(':');
    let hashed = line.trim_start().starts_with('#');
    let remark = rest.starts_with('(') && rest.trim_end().ends_with(')');
    let rest = if hashed && remark { "" } else { rest };
    let ends_here = !rest.contains(char::is_alphanumeric);
    let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
    // A sentence that begins with one of the words is not a heading.
    let is_heading = if ends_here {
        marked || colon || capital
    } else {
        colon && (marked || capital)
    };
    is_heading.then_some((*part, rest))
}
