//! Reports written with headings: four (Summary / Files changed / Verification / Open issues) or
//! five (Outcome / Files / Verification / Risks / Follow-up).

use baton_protocol::markdown::{
    IN_PROGRESS, NO_REASON, Part, heading, stated_status, status_of_outcome, unguarded, unmarked,
};
use baton_protocol::{Handoff, HandoffStatus, Risk, RiskSeverity, TaskId};

use super::shape::Issue;
use super::{Form, NoReport, blank, files, plain, synonyms, verification};

/// The text under each heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sections {
    outcome: String,
    files: String,
    verification: String,
    risks: String,
    follow_up: String,
}

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
        let name = |h: &Heading<'_>| unmarked(lines[h.line]).0.to_lowercase();
        // Parts of one part, such as `Files modified` and `Files created`, follow one another.
        let parts_of_it = headings[i + 1..].iter();
        let parts_of_it =
            parts_of_it.take_while(|h| h.part == heading.part && name(h) != name(heading));
        let after = &headings[i + 1 + parts_of_it.count()..];
        if let Some(second) = after.iter().find(|h| h.part == heading.part) {
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
        let text = format!("{}\n{}\n{body}", sections.part(heading.part), heading.rest);
        text.trim().clone_into(sections.part(heading.part));
    }
    Ok(sections)
}

/// The line under a heading that makes it one.
fn is_underline(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && (line.bytes().all(|b| b == b'=') || line.bytes().all(|b| b == b'-'))
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

/// A marked heading in other words, or in another language.
fn other_heading(line: &str) -> Option<(Part, &str)> {
    // `- **Summary**: text`
    let bullets = ["- ", "* ", "+ ", "• "];
    let item = bullets
        .iter()
        .find_map(|b| line.trim_start().strip_prefix(b));
    let line = item.filter(|i| i.starts_with("**")).unwrap_or(line);
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
        let (status, reason, outcome) = match stated_status(&self.outcome) {
            Some((status, reason, outcome)) => (status, reason, outcome.to_owned()),
            None => (status_of_outcome(&self.outcome), "", self.outcome.clone()),
        };
        let reason = match (status, reason) {
            (HandoffStatus::Interrupted, _) => IN_PROGRESS,
            (_, "") => NO_REASON,
            (_, reason) => reason,
        };
        let (risks, follow_up) = match self.risks.as_str() {
            "" => risks_among(&self.follow_up),
            text => (risks(text), self.follow_up),
        };
        Handoff {
            status,
            status_reason: reason.to_owned(),
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
