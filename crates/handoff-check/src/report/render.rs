//! A hand-off as text with the five headings.

use std::fmt::Write as _;

use baton_protocol::{FileNote, Handoff};

use super::envelope;

/// Outcome / Files / Verification / Risks / Follow-up.
pub(crate) fn markdown(handoff: &Handoff) -> String {
    // The envelope's words for the enums are the ones people know.
    let (envelope, _) = envelope::from_handoff(handoff);
    let word = |list: &str, i: usize, key: &str| {
        envelope[list][i][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let mut text = String::from("## Outcome\n\n");
    let status = envelope["status"].as_str().unwrap_or_default();
    if status != "completed" {
        let _ = writeln!(text, "Status: {status}\n");
    }
    let _ = write!(text, "{}\n\n## Files\n\n", handoff.outcome.trim());
    list(&mut text, handoff.files_changed.iter().map(file));
    text.push_str("\n## Verification\n\n");
    list(
        &mut text,
        handoff.verification.iter().enumerate().map(|(i, claim)| {
            let status = word("verification", i, "status");
            let result = if claim.result.is_empty() {
                String::new()
            } else {
                format!(" ({})", one_line(&claim.result))
            };
            format!("`{}`: {status}{result}", one_line(&claim.command))
        }),
    );
    text.push_str("\n## Risks\n\n");
    list(
        &mut text,
        handoff.risks.iter().enumerate().map(|(i, risk)| {
            format!(
                "{}: {}",
                word("risks", i, "severity"),
                one_line(&risk.statement)
            )
        }),
    );
    let follow_up = handoff.follow_up.trim();
    let follow_up = if follow_up.is_empty() {
        "None."
    } else {
        follow_up
    };
    let _ = write!(text, "\n## Follow-up\n\n{follow_up}\n");
    text
}

fn file(note: &FileNote) -> String {
    if note.scope.is_empty() {
        format!("`{}`", note.path)
    } else {
        format!("`{}`: {}", note.path, one_line(&note.scope))
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
