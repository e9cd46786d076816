//! The longest part of a text that fits, at line borders. Pure.

use baton_tokens::Meter;

/// Which end of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// Both ends.
    Ends,
}

/// What is left of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trimmed {
    /// The text.
    pub(crate) text: String,
    /// How many whole lines of the original are kept, of how many.
    pub(crate) lines: (usize, usize),
    /// Whether a line had to be cut, because not even one fits whole.
    pub(crate) within_line: bool,
}

/// The longest part whose upper bound is at most `budget` tokens.
pub(crate) fn trim(text: &str, budget: u64, keep: Keep, meter: &Meter) -> Trimmed {
    let fits = |part: &str| meter.count(part).upper_bound <= budget;
    let lines: Vec<usize> = line_ends(text);
    let all = lines.len() - 1;
    let head = |n: usize| text[..lines[n]].to_owned();
    let tail = |n: usize| text[lines[all - n]..].to_owned();
    let ends = |n: usize| {
        let (first, last) = (n.div_ceil(2), n / 2);
        let marker = format!("[... {} lines left out ...]\n", all - n);
        let newline = if text[..lines[first]].ends_with('\n') || first == 0 {
            ""
        } else {
            "\n"
        };
        [
            &text[..lines[first]],
            newline,
            &marker,
            &text[lines[all - last]..],
        ]
        .concat()
    };
    let part = |n: usize| match keep {
        _ if n == all => text.to_owned(),
        Keep::Head => head(n),
        Keep::Tail => tail(n),
        Keep::Ends => ends(n),
    };
    let kept = longest(all, |n| fits(&part(n)));
    if kept == Some(0) && all > 0 && keep != Keep::Ends {
        let text = cut_line(text, keep, fits);
        return Trimmed {
            within_line: !text.is_empty(),
            text,
            lines: (0, all),
        };
    }
    Trimmed {
        text: kept.map(part).unwrap_or_default(),
        lines: (kept.unwrap_or(0), all),
        within_line: false,
    }
}

/// The offsets of line starts, and the end.
fn line_ends(text: &str) -> Vec<usize> {
    let mut at = 0;
    let ends = text.split_inclusive('\n').map(|line| {
        at += line.len();
        at
    });
    std::iter::once(0).chain(ends).collect()
}

/// The largest number up to `most` that fits, taking it that what is smaller fits too. Grows before
/// it searches, so that a long text costs no more than the part that is kept.
fn longest(most: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if !fits(0) {
        return None;
    }
    let (mut good, mut step) = (0, 1);
    while good < most && fits((good + step).min(most)) {
        good = (good + step).min(most);
        step *= 2;
    }
    let mut bad = (good + step).min(most + 1);
    while good + 1 < bad {
        let middle = good.midpoint(bad);
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good)
}

/// The longest part of the first (or last) line that fits.
fn cut_line(text: &str, keep: Keep, fits: impl Fn(&str) -> bool) -> String {
    let borders: Vec<usize> = match keep {
        Keep::Tail => text.char_indices().rev().map(|(at, _)| at).collect(),
        _ => text
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .collect(),
    };
    let part = |n: usize| match (n, keep) {
        (0, _) => "",
        (_, Keep::Tail) => &text[borders[n - 1]..],
        _ => &text[..borders[n - 1]],
    };
    longest(borders.len(), |n| fits(part(n)))
        .map(part)
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use baton_tokens::{Family, Meter};
    use proptest::prelude::*;

    use super::{Keep, trim};

    fn meter() -> Meter {
        Meter::of_family(Family::Qwen)
    }

    fn numbered(lines: usize) -> String {
        use std::fmt::Write as _;
        (0..lines).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "line number {n} of the log");
            text
        })
    }

    #[test]
    fn the_kept_end_is_the_longest_that_fits() {
        let text = numbered(100);
        for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
            let trimmed = trim(&text, 200, keep, &meter());
            assert!(meter().count(&trimmed.text).upper_bound <= 200);
            assert_eq!(trimmed.lines.1, 100);
            assert!(trimmed.lines.0 > 10, "{keep:?}: {:?}", trimmed.lines);
            let head = trimmed.text.starts_with("line number 0 ");
            let tail = trimmed.text.ends_with("line number 99 of the log\n");
            assert_eq!(
                (head, tail),
                match keep {
                    Keep::Head => (true, false),
                    Keep::Tail => (false, true),
                    Keep::Ends => (true, true),
                }
            );
        }
    }

    #[test]
    fn what_fits_is_left_alone() {
        let text = numbered(3);
        for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
            let trimmed = trim(&text, 1_000, keep, &meter());
            assert_eq!(
                (trimmed.text.as_str(), trimmed.lines),
                (text.as_str(), (3, 3))
            );
        }
    }

    #[test]
    fn c19_one_endless_line_is_cut_inside() {
        let text = "x1y2".repeat(20_000);
        let trimmed = trim(&text, 100, Keep::Head, &meter());
        assert!(trimmed.within_line && !trimmed.text.is_empty());
        assert!(meter().count(&trimmed.text).upper_bound <= 100);
    }

    #[test]
    fn nothing_fits_into_nothing() {
        assert_eq!(trim("a b c\n", 0, Keep::Head, &meter()).text, "");
        assert_eq!(trim("", 10, Keep::Head, &meter()).text, "");
    }

    proptest! {
        #[test]
        fn never_over_budget(text in "(\\PC{0,20}\n?){0,12}", budget in 0u64..80) {
            for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
                let trimmed = trim(&text, budget, keep, &meter());
                prop_assert!(meter().count(&trimmed.text).upper_bound <= budget);
            }
        }
    }
}
