//! A hand-off as text with headings, which [`super::from_markdown`] reads back.

use std::fmt::Write as _;

use baton_protocol::{FileNote, Handoff};

use super::{envelope, files, markdown, spans, status};

/// Which headings a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Headings {
    /// Summary / Files changed / Verification / Open issues.
    Four,
    /// Outcome / Files / Verification / Risks / Follow-up.
    Five,
}

/// The hand-off under four or five headings. With four the risks stand among the open issues.
pub(crate) fn markdown(handoff: &Handoff, headings: Headings) -> String {
    // The envelope's words for the enums are the ones people know.
    let (envelope, _) = envelope::from_handoff(handoff);
    let word = |list: &str, i: usize, key: &str| {
        envelope[list][i][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let [outcome, changed] = match headings {
        Headings::Four => ["Summary", "Files changed"],
        Headings::Five => ["Outcome", "Files"],
    };
    let mut text = format!("## {outcome}\n\n");
    let status = envelope["status"].as_str().unwrap_or_default();
    if status != "completed" || status::says_status(&handoff.outcome) {
        let _ = writeln!(text, "Status: {status}\n");
    }
    let _ = write!(text, "{}\n\n## {changed}\n\n", prose(&handoff.outcome));
    list(&mut text, handoff.files_changed.iter().map(file));
    text.push_str("\n## Verification\n\n");
    list(
        &mut text,
        handoff.verification.iter().enumerate().map(|(i, claim)| {
            let status = word("verification", i, "status");
            let result = if claim.result.trim().is_empty() {
                String::new()
            } else {
                format!(" ({})", one_line(&claim.result))
            };
            format!(
                "{}: {status}{result}",
                spans::written(&one_line(&claim.command))
            )
        }),
    );
    let risks = handoff.risks.iter().enumerate().map(|(i, risk)| {
        let severity = word("risks", i, "severity");
        (severity, one_line(&risk.statement))
    });
    let follow_up = prose(&handoff.follow_up);
    match headings {
        Headings::Five => {
            text.push_str("\n## Risks\n\n");
            list(
                &mut text,
                risks.map(|(severity, what)| format!("{severity}: {what}")),
            );
            let follow_up = if follow_up.is_empty() {
                "None."
            } else {
                &follow_up
            };
            let _ = write!(text, "\n## Follow-up\n\n{follow_up}\n");
        }
        Headings::Four => {
            text.push_str("\n## Open issues\n\n");
            let risks: Vec<String> = risks
                .map(|(severity, what)| format!("- Risk ({severity}): {what}\n"))
                .collect();
            match (follow_up.is_empty(), risks.is_empty()) {
                (true, true) => text.push_str("None.\n"),
                (true, false) => {}
                (false, true) => text.push_str(&(follow_up + "\n")),
                (false, false) => text.push_str(&(follow_up + "\n\n")),
            }
            text.push_str(&risks.concat());
        }
    }
    text
}

/// Free text that the reader must not take for headings of the report.
fn prose(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let open = markdown::leaves_a_fence_open(&lines);
    let guarded: Vec<String> = lines
        .iter()
        .map(|line| {
            if markdown::is_heading(line) || (open && markdown::is_fence(line)) {
                format!("\\{line}")
            } else {
                (*line).to_owned()
            }
        })
        .collect();
    guarded.join("\n")
}

fn file(note: &FileNote) -> String {
    let name = spans::written(&files::quoted_name(&note.path));
    if note.scope.trim().is_empty() {
        name
    } else {
        format!("{name}: {}", one_line(&note.scope))
    }
}

fn list(text: &mut String, items: impl Iterator<Item = String>) {
    let before = text.len();
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
    if text.len() == before {
        text.push_str("None.\n");
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
