//! Texts that look like an answer and are none.

/// How long a text may be that only points elsewhere or only announces.
const SHORT: usize = 240;

const POINTERS: [&str; 22] = [
    "see ",
    "(see ",
    "refer to ",
    "as above",
    "as described above",
    "as reported above",
    "as mentioned above",
    "as stated above",
    "report above",
    "report below",
    "reported above",
    "described above",
    "details above",
    "the report is ",
    "my report is ",
    "report is in ",
    "full report ",
    "final report ",
    "report saved ",
    "report written ",
    "i have already reported",
    "already reported",
];

const ANNOUNCEMENTS: [&str; 14] = [
    "i'll ",
    "i’ll ",
    "i will ",
    "let me ",
    "let's ",
    "i'm going to ",
    "i am going to ",
    "first, i",
    "first i",
    "now i'll ",
    "now let me ",
    "next, i",
    "sure",
    "okay, ",
];

const EMPTIES: [&str; 16] = [
    "",
    "-",
    "—",
    "n/a",
    "na",
    "none",
    "null",
    "tbd",
    "todo",
    "...",
    "…",
    "done",
    "ok",
    "(empty)",
    "(no outcome given)",
    "undefined",
];

/// The text itself when all it does is to point elsewhere.
pub(crate) fn pointer(text: &str) -> Option<String> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let short = text.chars().count() <= SHORT;
    (short && POINTERS.iter().any(|p| lower.starts_with(p))).then(|| text.to_owned())
}

/// What a text that only points elsewhere speaks of, and how.
const THINGS: [&str; 9] = [
    "report", "hand-off", "handoff", "summary", "findings", "details", "results", "output",
    "answer",
];
const PLACES: [&str; 14] = [
    "written to",
    "saved to",
    "saved in",
    "saved as",
    "saved the",
    "stored in",
    " is in ",
    " is at ",
    "see ",
    "in the file",
    "attached",
    "posted",
    "located at",
    "available at",
];

/// A short text without any report in it that says where one is. (Not for an outcome, which may
/// well speak of results that are in a file.)
pub(crate) fn points_elsewhere(text: &str) -> Option<String> {
    let lower = text.trim().to_lowercase();
    let says = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    let short = text.chars().count() <= SHORT;
    let points = says(&PLACES) && (says(&THINGS) || lower.split_whitespace().count() <= 4);
    pointer(text).or_else(|| (short && points).then(|| text.trim().to_owned()))
}

/// What is wrong with an outcome: empty, a pointer, or only the opening sentence.
pub(crate) fn fault(outcome: &str) -> Option<String> {
    let text = outcome.trim();
    let lower = text.to_lowercase();
    let bare = lower.trim_end_matches(['.', '!']);
    if EMPTIES.contains(&bare) {
        return Some("empty_report: the outcome says nothing".into());
    }
    if pointer(text).is_some() {
        return Some(format!(
            "empty_report: the outcome only points elsewhere ({text:?})"
        ));
    }
    let short = text.chars().count() <= SHORT && text.lines().count() <= 2;
    if short && ANNOUNCEMENTS.iter().any(|a| lower.starts_with(a)) {
        return Some(format!(
            "empty_report: the outcome announces work instead of reporting it ({text:?})"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{fault, pointer, points_elsewhere};

    #[test]
    fn h16_a_pointer_is_no_report() {
        for text in [
            "see final message",
            "See above.",
            "Refer to my last reply",
            "Full report in report.md",
        ] {
            assert!(pointer(text).is_some(), "{text}");
            assert!(fault(text).is_some(), "{text}");
        }
    }

    #[test]
    fn h16_where_a_report_is_said_to_be_is_no_report() {
        for text in [
            "The report was written to /tmp/report.md",
            "Report: see docs/report.md",
            "written to handoff.json",
            "I've saved the full hand-off in handoff.json.",
            "My findings are attached.",
        ] {
            assert!(points_elsewhere(text).is_some(), "{text}");
        }
        assert!(points_elsewhere("I'll start by looking at the parser.").is_none());
        assert!(fault("The results are in build/out.json now, as the task asks.").is_none());
    }

    #[test]
    fn h17_an_empty_or_opening_text_is_no_report() {
        for text in [
            "",
            "  ",
            "n/a",
            "Done.",
            "I'll start by reading the code.",
            "Let me look:",
        ] {
            assert!(
                fault(text).is_some_and(|f| f.starts_with("empty_report")),
                "{text}"
            );
        }
    }

    #[test]
    fn a_short_honest_outcome_is_fine() {
        for text in [
            "Fixed the loop bound; see the new test.",
            "slugify() drops accents now.",
            "Seen from the caller, nothing changes.",
            "Nothing had to change: page() already returns the last row.",
            "Blocked: npm is not installed.",
        ] {
            assert_eq!(fault(text), None, "{text}");
        }
    }
}
