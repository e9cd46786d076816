//! The verdict for people.

use std::fmt::Write as _;

use baton_protocol::{CheckVerdict, Verdict, VerdictKind};

/// A table of the checks that say something, then the changes that do not fit.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let word = match verdict.verdict {
        VerdictKind::Pass => "true",
        VerdictKind::Fail => "FALSE",
        VerdictKind::Unknown => "UNKNOWN",
    };
    let task = verdict
        .task_id
        .as_ref()
        .map_or(String::new(), |t| format!(" of {t}"));
    let mut text = format!("hand-off{task}: {word} ({})\n", admission(verdict));
    let width = verdict
        .checks
        .iter()
        .map(|c| c.id.len())
        .max()
        .unwrap_or_default();
    for check in &verdict.checks {
        let mark = match check.verdict {
            CheckVerdict::Pass => "ok     ",
            CheckVerdict::Fail => "FAIL   ",
            CheckVerdict::Unknown => "unknown",
            CheckVerdict::Warning => "warning",
            CheckVerdict::Skipped => "-      ",
        };
        let _ = writeln!(text, "  {mark} {:width$}  {}", check.id, check.detail);
    }
    text
}

fn admission(verdict: &Verdict) -> String {
    let value = serde_json::to_value(verdict.admission).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
