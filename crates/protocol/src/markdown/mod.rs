//! A hand-off as text with headings, for people and for programs that read such reports.
//!
//! What is written here reads back as the same hand-off: free text that looks like a heading, a name
//! that would be read as another one, or a status that the words would contradict is marked. The
//! rules by which that is told are public, for a reader must follow the same.

mod grammar;
mod names;
mod spans;
mod status;

use std::fmt::Write as _;

use crate::{CommandStatus, FileNote, Handoff, HandoffStatus, RiskSeverity};

pub use grammar::{Part, heading, unguarded, unmarked};
pub use names::{bare, needs_quotes};
pub use spans::first as first_span;
pub use status::{begins as status_of_outcome, stated as stated_status};

/// Status reason of a report that says the work still goes on; handoff/1 knows only ends.
pub const IN_PROGRESS: &str = "the envelope says in-progress";
/// Status reason of a report that gives none.
pub const NO_REASON: &str = "a report with headings has no status of its own";

/// Which headings a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headings {
    /// Summary / Files changed / Verification / Open issues.
    Four,
    /// Outcome / Files / Verification / Risks / Follow-up.
    Five,
}

/// The hand-off under four or five headings. With four the risks stand among the open issues.
pub fn write(handoff: &Handoff, headings: Headings) -> String {
    let [outcome, changed] = match headings {
        Headings::Four => ["Summary", "Files changed"],
        Headings::Five => ["Outcome", "Files"],
    };
    let mut text = format!("## {outcome}\n\n");
    if handoff.status != HandoffStatus::Completed || status::says_status(&handoff.outcome) {
        let _ = writeln!(text, "Status: {}\n", status::line(handoff));
    }
    let _ = write!(text, "{}\n\n## {changed}\n\n", prose(&handoff.outcome));
    list(&mut text, handoff.files_changed.iter().map(file));
    text.push_str("\n## Verification\n\n");
    let claims = handoff.verification.iter().map(|claim| {
        let command = spans::written(&one_line(&claim.command));
        let status = command_word(claim.status);
        match one_line(&claim.result).as_str() {
            "" => format!("{command}: {status}"),
            result => format!("{command}: {status} ({result})"),
        }
    });
    list(&mut text, claims);
    let risks = handoff
        .risks
        .iter()
        .map(|risk| (severity_word(risk.severity), one_line(&risk.statement)));
    let follow_up = prose(&handoff.follow_up);
    match headings {
        Headings::Five => {
            text.push_str("\n## Risks\n\n");
            let risks = risks.map(|(severity, what)| format!("{severity}: {what}"));
            list(&mut text, risks);
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

const fn command_word(status: CommandStatus) -> &'static str {
    match status {
        CommandStatus::Pass => "pass",
        CommandStatus::Fail => "fail",
        CommandStatus::Blocked => "blocked",
        CommandStatus::NotRun => "not-run",
    }
}

const fn severity_word(severity: RiskSeverity) -> &'static str {
    match severity {
        RiskSeverity::Low => "low",
        RiskSeverity::Medium => "medium",
        RiskSeverity::High => "high",
        RiskSeverity::Critical => "critical",
    }
}

/// Free text that the reader must not take for headings of the report.
fn prose(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let open = grammar::leaves_a_fence_open(&lines);
    let guarded: Vec<String> = lines
        .iter()
        .map(|line| {
            if grammar::is_heading(line) || (open && grammar::is_fence(line)) {
                format!("\\{line}")
            } else {
                (*line).to_owned()
            }
        })
        .collect();
    guarded.join("\n")
}

fn file(note: &FileNote) -> String {
    let name = spans::written(&names::quoted_name(&note.path));
    match one_line(&note.scope).as_str() {
        "" => name,
        scope => format!("{name}: {scope}"),
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

#[cfg(test)]
mod tests {
    use super::{Headings, NO_REASON, stated_status, write};
    use crate::{Handoff, HandoffStatus};

    fn example() -> Handoff {
        crate::read(include_str!("../../examples/handoff-1.json")).unwrap()
    }

    #[test]
    fn the_headings_stand_in_their_order_and_only_once() {
        let mut handoff = example();
        handoff.outcome = "Done.\n## Open issues\nnone at all".into();
        let text = write(&handoff, Headings::Four);
        let headings: Vec<&str> = text.lines().filter(|l| l.starts_with("## ")).collect();
        let four = [
            "## Summary",
            "## Files changed",
            "## Verification",
            "## Open issues",
        ];
        assert_eq!(headings, four);
        assert!(text.contains("\\## Open issues"), "{text}");
    }

    #[test]
    fn what_is_not_completed_says_so_and_why() {
        let mut handoff = example();
        handoff.status = HandoffStatus::TimedOut;
        handoff.status_reason = "no answer\nwithin (600 s)".into();
        handoff.files_changed.clear();
        let text = write(&handoff, Headings::Four);
        let start = "## Summary\n\nStatus: failed (no answer within (600 s))\n\n";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("## Files changed\n\nNone.\n"), "{text}");
        let said = stated_status("Status: failed (no answer within (600 s))\n\nNothing.");
        let (status, reason, outcome) = said.unwrap();
        assert_eq!(status, HandoffStatus::Failed);
        assert_eq!((reason, outcome), ("no answer within (600 s)", "Nothing."));
        handoff.status_reason = NO_REASON.into();
        assert!(write(&handoff, Headings::Four).starts_with("## Summary\n\nStatus: failed\n"));
    }
}
