//! The checks: each takes values and answers with one [`Check`]. What each proves is in `explain`.

pub(crate) mod basis;
pub(crate) mod changes;
pub(crate) mod claims;
pub(crate) mod report;
pub(crate) mod scope;
pub(crate) mod verification;

use baton_protocol::{Check, CheckVerdict};

/// A check's answer.
pub(crate) fn check(id: &str, verdict: CheckVerdict, detail: impl Into<String>) -> Check {
    Check {
        id: id.into(),
        verdict,
        detail: detail.into(),
    }
}

pub(crate) fn pass(id: &str, detail: impl Into<String>) -> Check {
    check(id, CheckVerdict::Pass, detail)
}

pub(crate) fn fail(id: &str, detail: impl Into<String>) -> Check {
    check(id, CheckVerdict::Fail, detail)
}

pub(crate) fn unknown(id: &str, detail: impl Into<String>) -> Check {
    check(id, CheckVerdict::Unknown, detail)
}

pub(crate) fn warning(id: &str, detail: impl Into<String>) -> Check {
    check(id, CheckVerdict::Warning, detail)
}

pub(crate) fn skipped(id: &str, detail: impl Into<String>) -> Check {
    check(id, CheckVerdict::Skipped, detail)
}

/// `1 file`, `3 files`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Up to ten names, then how many more.
pub(crate) fn list<T: std::fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(10).map(|n| n.to_string()).collect();
    match names.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
