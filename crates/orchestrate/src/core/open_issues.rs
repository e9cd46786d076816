//! What a worker that is done says is still open, and which of it the goal itself asks for.
//!
//! A worker's word is no evidence that something holds, but it is a reason to look again: an open
//! point that the goal names is a gap. What goes beyond the goal (a wish, an idea for later) is not.

use std::collections::BTreeSet;

use baton_protocol::Handoff;

/// More than this is an essay, not a list of open points.
const MOST: usize = 12;

/// The open points of a hand-off, one a line: its follow-up, and what stands under such a heading
/// in its outcome (reports with four headings carry them there).
pub(crate) fn of(handoff: &Handoff) -> Vec<String> {
    let text = format!("{}\n{}", handoff.follow_up, under_heading(&handoff.outcome));
    let mut points: Vec<String> = Vec::new();
    for line in text.lines() {
        let point = line
            .trim()
            .trim_start_matches(['-', '*', '+', '•', '#'])
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches(['.', ')'])
            .trim_start_matches("[ ]")
            .trim();
        if !says_nothing(point) && !points.iter().any(|p| p == point) {
            points.push(point.chars().take(300).collect());
        }
        if points.len() == MOST {
            break;
        }
    }
    points
}

/// The lines under an `Open issues` heading, up to the next heading.
fn under_heading(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        let bare = line
            .trim()
            .trim_start_matches('#')
            .trim_matches(['*', ' ', '_'])
            .to_lowercase();
        let (head, rest) = bare.split_once(':').unwrap_or((bare.as_str(), ""));
        let heading = line.trim_start().starts_with(['#', '*']) || line.trim_end().ends_with(':');
        if matches!(
            head.trim(),
            "open issues" | "open issue" | "follow-up" | "follow up" | "todo"
        ) {
            inside = true;
            // The original's words, not the lowered ones.
            if !rest.trim().is_empty()
                && let Some((_, rest)) = line.split_once(':')
            {
                kept.push_str(rest.trim());
                kept.push('\n');
            }
        } else if inside && heading && !line.trim_start().starts_with("* ") {
            inside = false;
        } else if inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn says_nothing(point: &str) -> bool {
    let bare: String = point
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ')
        .collect();
    let bare = bare.trim();
    bare.chars().count() < 4
        || [
            "none",
            "nothing",
            "not applicable",
            "no open",
            "no follow",
            "no further",
            "no known",
            "no issues",
            "no remaining",
            "all done",
            "everything is done",
            "done",
            "keine",
        ]
        .iter()
        .any(|empty| bare == *empty || bare.starts_with(&format!("{empty} ")))
}

/// Whether the goal asks for what is open.
pub(crate) fn named_by(goal: &str, point: &str) -> bool {
    let lower = point.to_lowercase();
    if listed(WISHES).any(|wish| has_words(&lower, wish)) {
        return false;
    }
    let goal = words(goal);
    let shared: Vec<String> = words(point).intersection(&goal).cloned().collect();
    let undone = listed(UNDONE).any(|word| has_words(&lower, word));
    let exact = shared.iter().any(|word| is_name(word));
    shared.len() >= 2 || exact || undone && !shared.is_empty()
}

/// Words of somebody who thinks of more than was asked for.
const WISHES: &str = "\
    consider, could, might, maybe, perhaps, optional, optionally, nice to have, in the future, \
    in future, future work, later on, if desired, if needed, if you want, you may, you can, \
    recommend, would be good, out of scope, not part of";

/// Words of something that was asked for and is not there.
const UNDONE: &str = "\
    not, n't, missing, todo, still, remain, remains, remaining, left, skipped, unfinished, \
    incomplete, untouched, pending, failed, fails, without, unable, no, cannot, need, needs, \
    must, should, yet";

fn listed(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(',').map(str::trim)
}

/// Whether words occur as words.
fn has_words(text: &str, wanted: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(wanted).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        (wanted.starts_with("n'") || ends(before)) && ends(after)
    })
}

/// A path or an identifier rather than a word of the language.
fn is_name(word: &str) -> bool {
    word.contains(['/', '_', '.'])
}

/// The words that carry meaning: names as they are, other words without their ending.
fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '.' | '-');
    for raw in text.split(|c: char| !part(c)) {
        let word = raw.trim_matches(['.', '-', '/']).to_lowercase();
        if is_name(&word) {
            found.insert(word);
            continue;
        }
        for word in word.split('-') {
            if is_wide(word) {
                // No spaces between words: two signs are a word.
                let signs: Vec<char> = word.chars().collect();
                found.extend(signs.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else if word.chars().count() >= 3 && !listed(COMMON).any(|common| common == word) {
                found.insert(stem(word));
            }
        }
    }
    found
}

fn is_wide(word: &str) -> bool {
    word.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

fn stem(word: &str) -> String {
    if word.starts_with("document") && word.chars().count() > 7 || matches!(word, "doc" | "docs") {
        return "doc".into();
    }
    let cut = ["ing", "ed", "es", "s"]
        .iter()
        .find_map(|end| {
            word.strip_suffix(end)
                .filter(|rest| rest.chars().count() >= 4)
        })
        .or_else(|| {
            word.strip_suffix('s')
                .filter(|rest| rest.chars().count() >= 3)
        });
    cut.unwrap_or(word).to_owned()
}

/// Words that most goals and most reports hold.
const COMMON: &str = "\
    the, and, for, with, from, into, that, this, then, than, when, where, which, while, have, \
    has, had, are, was, were, will, been, its, all, any, not, but, out, one, two, also, only, \
    make, made, makes, add, added, adds, get, set, use, used, new, old, now, let, can, does, \
    did, file, files, code, work, working, change, changes, changed, update, updated, updates, \
    fix, fixed, implement, implemented, keep, sure, should, must, need, needs, still, task, \
    goal, first, existing, there, here, what, such, some, more, every, without, missing, todo, \
    run, running";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{named_by, of};

    const GOAL: &str =
        "Add cursor pagination to GET /api/items, keep offset working, update the docs";

    #[test]
    fn an_open_point_that_the_goal_asks_for_is_named() {
        for point in [
            "The docs are not updated yet.",
            "Documentation still missing",
            "offset no longer works together with a cursor",
            "TODO: docs",
            "`/api/items` returns 500 for an empty cursor",
            "Cursor pagination of the last page",
            "Could not find the docs folder, so I skipped it: docs left out",
        ] {
            let said = point.replace("Could not", "I was unable to");
            assert!(named_by(GOAL, &said), "{point}");
        }
    }

    #[test]
    fn wishes_and_other_matters_are_not() {
        for point in [
            "Consider rate limiting GET /api/items.",
            "It might be nice to have a cursor for /api/users as well",
            "The CI uses an old Node version.",
            "Tests run slowly.",
            "Optional: document the cursor format",
        ] {
            assert!(!named_by(GOAL, point), "{point}");
        }
    }

    #[test]
    fn goals_in_other_languages_name_things_too() {
        assert!(named_by("分页接口要更新文档", "文档还没有更新"));
        assert!(named_by(
            "Die Doku von slugify() ergänzen",
            "Doku fehlt noch: still missing"
        ));
    }

    fn handoff(follow_up: &str, outcome: &str) -> baton_protocol::Handoff {
        let mut handoff: baton_protocol::Handoff =
            baton_protocol::read(include_str!("../../../protocol/examples/handoff-1.json"))
                .unwrap();
        handoff.follow_up = follow_up.into();
        handoff.outcome = outcome.into();
        handoff
    }

    #[test]
    fn points_come_from_the_follow_up_and_from_the_heading_of_a_report() {
        let said = of(&handoff(
            "- update the docs\n2) add a test\n\n- update the docs",
            "## Summary\nDone.\n## Open issues\n- offset breaks\n## Verification\nall pass",
        ));
        assert_eq!(said, ["update the docs", "add a test", "offset breaks"]);
        let inline = of(&handoff("", "Did it.\nOpen issues: the README is old"));
        assert_eq!(inline, ["the README is old"]);
    }

    #[test]
    fn nothing_is_said_in_many_words() {
        for none in [
            "None.",
            "n/a",
            "-",
            "No open issues",
            "Nothing left",
            "none at this time",
            "",
        ] {
            assert_eq!(of(&handoff(none, "done")), [""; 0], "{none}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(a in ".{0,60}", b in "(?s).{0,120}") {
            let _ = named_by(&a, &b);
            let _ = of(&handoff(&b, &a));
        }
    }
}
