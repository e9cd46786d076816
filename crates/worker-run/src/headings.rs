//! A hand-off for people, under the four headings agents know: Summary, Files changed, Verification,
//! Open issues. handoff-check reads it back.

use std::fmt::Write as _;

use baton_protocol::{CommandStatus, Handoff, HandoffStatus};

/// The report.
pub(crate) fn report(handoff: &Handoff) -> String {
    let mut text = String::from("## Summary\n\n");
    if handoff.status != HandoffStatus::Completed {
        let status = match handoff.status {
            HandoffStatus::Blocked => "blocked",
            _ => "failed",
        };
        let _ = writeln!(text, "Status: {status}\n");
    }
    let _ = write!(text, "{}\n\n## Files changed\n\n", prose(&handoff.outcome));
    let files = handoff.files_changed.iter().map(|file| {
        let name = format!("`{}`", file.path);
        match file.scope.trim() {
            "" => name,
            scope => format!("{name}: {}", one_line(scope)),
        }
    });
    list(&mut text, files);
    text.push_str("\n## Verification\n\n");
    let checks = handoff.verification.iter().map(|claim| {
        let status = match claim.status {
            CommandStatus::Pass => "pass",
            CommandStatus::Fail => "fail",
            CommandStatus::Blocked => "blocked",
            CommandStatus::NotRun => "not-run",
        };
        let result = one_line(&claim.result);
        let result = if result.is_empty() {
            result
        } else {
            format!(" ({result})")
        };
        format!("{}: {status}{result}", code(&one_line(&claim.command)))
    });
    list(&mut text, checks);
    text.push_str("\n## Open issues\n\n");
    let mut open = Vec::new();
    if handoff.status != HandoffStatus::Completed && !handoff.status_reason.is_empty() {
        open.push(one_line(&handoff.status_reason));
    }
    if !handoff.follow_up.trim().is_empty() {
        open.push(one_line(&handoff.follow_up));
    }
    open.extend(handoff.risks.iter().map(|risk| {
        let severity = serde_json::to_value(risk.severity).unwrap_or_default();
        format!(
            "Risk ({}): {}",
            severity.as_str().unwrap_or("unknown"),
            one_line(&risk.statement)
        )
    }));
    list(&mut text, open.into_iter());
    text
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

/// A command as code; one that holds a backtick gets a longer fence around it.
fn code(command: &str) -> String {
    if command.contains('`') {
        format!("`` {command} ``")
    } else {
        format!("`{command}`")
    }
}

/// A model's words, in which no line may look like a heading of the report.
fn prose(text: &str) -> String {
    let lines = text.trim().lines().map(|line| {
        if line.trim_start().starts_with('#') {
            format!("\\{line}")
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use baton_protocol::{Handoff, HandoffStatus};

    use super::report;

    fn example() -> Handoff {
        baton_protocol::read(include_str!("../../protocol/examples/handoff-1.json")).unwrap()
    }

    #[test]
    fn the_four_headings_stand_in_their_order_and_only_once() {
        let mut handoff = example();
        handoff.outcome = "Done.\n## Open issues\nnone at all".into();
        let text = report(&handoff);
        let headings: Vec<&str> = text.lines().filter(|l| l.starts_with("## ")).collect();
        assert_eq!(
            headings,
            [
                "## Summary",
                "## Files changed",
                "## Verification",
                "## Open issues"
            ]
        );
        assert!(text.contains("\\## Open issues"), "{text}");
    }

    #[test]
    fn what_is_not_completed_says_so_and_why() {
        let mut handoff = example();
        handoff.status = HandoffStatus::TimedOut;
        handoff.status_reason = "no answer within 600 s".into();
        handoff.files_changed.clear();
        let text = report(&handoff);
        assert!(text.starts_with("## Summary\n\nStatus: failed\n"), "{text}");
        assert!(text.contains("## Files changed\n\nNone.\n"), "{text}");
        assert!(text.contains("- no answer within 600 s\n"), "{text}");
    }
}
