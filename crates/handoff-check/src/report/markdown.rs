//! Reports written with headings: four (Summary / Files changed / Verification / Open issues) or
//! five (Outcome / Files / Verification / Risks / Follow-up).

use baton_protocol::{Handoff, HandoffStatus, Risk, RiskSeverity, TaskId};

use super::shape::Issue;
use super::status::{begins, stated};
use super::{Form, NoReport, blank, envelope, files, plain, synonyms, verification};

/// The text under each heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sections {
    outcome: String,
    files: String,
    verification: String,
    risks: String,
    follow_up: String,
}

/// A part of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Outcome,
    Files,
    Verification,
    Risks,
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

struct Heading<'a> {
    line: usize,
    part: Part,
    rest: &'a str,
}

/// Reads a report; a missing heading is named. Where the usual headings do not make one, others
/// that mean the same are looked for, and it may be a quotation.
pub(crate) fn parse(text: &str) -> Result<Sections, NoReport> {
    let first = parse_as(text, &heading);
    if !matches!(first, Err(NoReport::NotFound | NoReport::Invalid { .. })) {
        return first;
    }
    let other = parse_as(text, &other_heading);
    let quoted = || parse_as(&plain::unquoted(text)?, &heading).ok();
    other.ok().or_else(quoted).map_or(first, Ok)
}

/// How a line is read: the part it begins, and what stands after the heading.
type Grammar<'g> = &'g dyn Fn(&str) -> Option<(Part, &str)>;

fn parse_as(text: &str, heading: Grammar<'_>) -> Result<Sections, NoReport> {
    let lines: Vec<&str> = text.lines().collect();
    let headings = headings(&lines, heading);
    let has = |part| headings.iter().any(|h| h.part == part);
    let parts = [
        Part::Outcome,
        Part::Files,
        Part::Verification,
        Part::Risks,
        Part::FollowUp,
    ];
    if parts.iter().filter(|p| has(**p)).count() < 2 {
        return Err(NoReport::NotFound);
    }
    for (i, heading) in headings.iter().enumerate() {
        if let Some(second) = headings[i + 1..].iter().find(|h| h.part == heading.part) {
            return Err(NoReport::Ambiguous(vec![
                format!(
                    "heading `{}` at line {}",
                    lines[heading.line].trim(),
                    heading.line + 1
                ),
                format!(
                    "`{}` at line {}",
                    lines[second.line].trim(),
                    second.line + 1
                ),
            ]));
        }
    }
    let needed = [
        (Part::Outcome, "Summary (or Outcome)"),
        (Part::Files, "Files changed (or Files)"),
        (Part::Verification, "Verification"),
        (Part::FollowUp, "Open issues (or Follow-up)"),
    ];
    let missing: Vec<Issue> = needed
        .iter()
        .filter(|(part, _)| !has(*part))
        .map(|(_, name)| Issue {
            path: format!("heading {name}"),
            message: "is missing".into(),
        })
        .collect();
    if !missing.is_empty() {
        return Err(NoReport::Invalid {
            form: Form::Markdown,
            line: headings.first().map_or(1, |h| h.line + 1),
            issues: missing,
        });
    }
    let mut sections = Sections::default();
    for (i, heading) in headings.iter().enumerate() {
        let end = headings.get(i + 1).map_or(lines.len(), |next| next.line);
        let body: Vec<&str> = lines[heading.line + 1..end]
            .iter()
            .enumerate()
            .filter(|(i, l)| *i > 0 || !is_underline(l))
            .map(|(_, l)| unguarded(l))
            .collect();
        let body = body.join("\n");
        let text = format!("{}\n{body}", heading.rest).trim().to_owned();
        *sections.part(heading.part) = text;
    }
    Ok(sections)
}

/// The line under a heading that makes it one.
fn is_underline(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && (line.bytes().all(|b| b == b'=') || line.bytes().all(|b| b == b'-'))
}

/// Whether a line reads as one of the report's headings.
pub(crate) fn is_heading(line: &str) -> bool {
    heading(line).is_some() || guards(line)
}

/// A backslash before a heading or a fence: free text that is neither.
fn unguarded(line: &str) -> &str {
    if guards(line) { &line[1..] } else { line }
}

fn guards(line: &str) -> bool {
    line.strip_prefix('\\')
        .is_some_and(|rest| heading(rest).is_some() || is_fence(rest) || guards(rest))
}

/// Whether a line opens or closes a fence.
pub(crate) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether what follows these lines would stand inside a fence.
pub(crate) fn leaves_a_fence_open(lines: &[&str]) -> bool {
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

/// Every heading outside of fences.
fn headings<'a>(lines: &[&'a str], heading: Grammar<'_>) -> Vec<Heading<'a>> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, text) in lines.iter().enumerate() {
        let trimmed = text.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|m| trimmed.starts_with(m));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                if let Some((part, rest)) = heading(text) {
                    found.push(Heading { line, part, rest });
                }
            }
            _ => {}
        }
    }
    // A report inside one fence as a whole: the fence is only wrapping.
    if found.is_empty()
        && fence.is_none()
        && lines.iter().any(|l| l.trim_start().starts_with("```"))
    {
        for (line, text) in lines.iter().enumerate() {
            if let Some((part, rest)) = heading(text) {
                found.push(Heading { line, part, rest });
            }
        }
    }
    found
}

/// A line without the marks and the number of a heading, and whether it had marks.
fn unmarked(line: &str) -> (&str, bool) {
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
fn heading(line: &str) -> Option<(Part, &str)> {
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

/// A marked heading in other words, or in another language.
fn other_heading(line: &str) -> Option<(Part, &str)> {
    if let Some(found) = heading(line) {
        return Some(found);
    }
    let (text, marked) = unmarked(line);
    let (name, rest) = text.split_once([':', '：']).unwrap_or((text, ""));
    let name = name.trim_matches(['*', '_', ' ']);
    let part = synonyms::part(name).filter(|_| marked)?;
    Some((part, rest.trim_start_matches(['*', '_', ' '])))
}

impl Sections {
    fn part(&mut self, part: Part) -> &mut String {
        match part {
            Part::Outcome => &mut self.outcome,
            Part::Files => &mut self.files,
            Part::Verification => &mut self.verification,
            Part::Risks => &mut self.risks,
            Part::FollowUp => &mut self.follow_up,
        }
    }

    /// The report as handoff/1. Headings know no status: a complete report counts as completed
    /// unless it begins by saying otherwise.
    pub(crate) fn into_handoff(self, task: &TaskId) -> Handoff {
        let (stated, outcome) = stated(&self.outcome);
        let status = stated.unwrap_or_else(|| begins(&outcome));
        let (risks, follow_up) = match self.risks.as_str() {
            "" => risks_among(&self.follow_up),
            text => (risks(text), self.follow_up),
        };
        Handoff {
            status,
            status_reason: if status == HandoffStatus::Interrupted {
                envelope::IN_PROGRESS.into()
            } else {
                "a report with headings has no status of its own".into()
            },
            files_changed: files::parse(&self.files),
            verification: verification::parse(&self.verification),
            risks,
            outcome,
            follow_up,
            ..blank(task.clone())
        }
    }
}

const SEVERITIES: [(&str, RiskSeverity); 4] = [
    ("low", RiskSeverity::Low),
    ("medium", RiskSeverity::Medium),
    ("high", RiskSeverity::High),
    ("critical", RiskSeverity::Critical),
];

/// The lines `- Risk (high): …` among the open issues, and what else stands there.
fn risks_among(text: &str) -> (Vec<Risk>, String) {
    let mut risks = Vec::new();
    let mut rest = Vec::new();
    for line in text.lines() {
        let risk = line
            .strip_prefix("- Risk (")
            .and_then(|r| r.split_once("): "));
        let severity = risk.and_then(|(word, _)| SEVERITIES.iter().find(|(w, _)| *w == word));
        match (risk, severity) {
            (Some((_, statement)), Some((_, severity))) => risks.push(Risk {
                severity: *severity,
                statement: statement.trim().to_owned(),
            }),
            _ => rest.push(line),
        }
    }
    (risks, rest.join("\n").trim().to_owned())
}

fn risks(text: &str) -> Vec<Risk> {
    files::items(text)
        .filter(|item| !files::is_none(item))
        .map(|item| {
            let stated = item.split_once(": ").and_then(|(word, statement)| {
                let severity = SEVERITIES.iter().find(|(w, _)| *w == word)?.1;
                Some((severity, statement))
            });
            let (severity, statement) = stated.unwrap_or_else(|| (guessed(item), item));
            Risk {
                severity,
                statement: statement.to_owned(),
            }
        })
        .collect()
}

/// How bad a risk is, by its words.
fn guessed(item: &str) -> RiskSeverity {
    let lower = item.to_lowercase();
    let named = |words: &[&str]| {
        words
            .iter()
            .any(|w| lower.starts_with(w) || lower.contains(&format!("({w})")))
    };
    if named(&["critical"]) {
        RiskSeverity::Critical
    } else if named(&["high"]) {
        RiskSeverity::High
    } else if named(&["low", "minor"]) {
        RiskSeverity::Low
    } else {
        RiskSeverity::Medium
    }
}
