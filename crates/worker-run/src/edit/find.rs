//! Finding the place an edit means: exact first, then ever more tolerant, never a guess.

use super::indent::{Shift, shift};

/// In which way a place was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Character by character.
    Exact,
    /// Line by line, blanks at the end of lines ignored.
    TrailingSpace,
    /// Line by line, moved by one constant indentation.
    Indentation,
    /// After taking off the line numbers that `read` shows.
    LineNumbers,
    /// After turning written-out `\n` and `\"` into what they mean.
    Unescaped,
    /// Line by line, with equal characters in another Unicode form.
    Unicode,
}

impl How {
    /// A word for the result and the counters.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::TrailingSpace => "trailing space ignored",
            Self::Indentation => "indentation adjusted",
            Self::LineNumbers => "line numbers removed",
            Self::Unescaped => "escapes resolved",
            Self::Unicode => "Unicode form ignored",
        }
    }
}

/// A place in a text, and what to put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where it starts, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// The new text, fitted to the place.
    pub(crate) new: String,
}

type Pass = fn(&str, &str, &str) -> Vec<Place>;

/// All places where `old` stands in `text`, by the strictest way that finds any.
///
/// Both texts have `\n` line ends. The caller judges whether several places are acceptable.
pub(crate) fn find(text: &str, old: &str, new: &str) -> Option<(How, Vec<Place>)> {
    if old.is_empty() {
        return None;
    }
    let passes: [(How, Pass); 6] = [
        (How::Exact, exact),
        (How::TrailingSpace, trailing_space),
        (How::Indentation, indentation),
        (How::LineNumbers, line_numbers),
        (How::Unescaped, unescaped),
        (How::Unicode, unicode),
    ];
    passes.into_iter().find_map(|(how, pass)| {
        let places = pass(text, old, new);
        (!places.is_empty()).then_some((how, places))
    })
}

/// Overlapping places count as well: in `aaa`, `aa` is ambiguous.
fn exact(text: &str, old: &str, new: &str) -> Vec<Place> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        let start = from + at;
        places.push(Place {
            start,
            end: start + old.len(),
            new: new.to_string(),
        });
        from = start + old.chars().next().map_or(1, char::len_utf8);
    }
    places
}

fn trailing_space(text: &str, old: &str, new: &str) -> Vec<Place> {
    by_lines(text, old, new, |written, file| {
        let same = written
            .iter()
            .zip(file)
            .all(|(w, f)| w.trim_end() == f.trim_end());
        same.then_some(None)
    })
}

fn indentation(text: &str, old: &str, new: &str) -> Vec<Place> {
    by_lines(text, old, new, |written, file| {
        shift(written, file).map(Some)
    })
}

fn unicode(text: &str, old: &str, new: &str) -> Vec<Place> {
    by_lines(text, old, new, |written, file| {
        let same = written
            .iter()
            .zip(file)
            .all(|(w, f)| folded(w) == folded(f));
        same.then_some(None)
    })
}

/// Compares `old` with every run of as many lines.
fn by_lines(
    text: &str,
    old: &str,
    new: &str,
    judge: impl Fn(&[&str], &[&str]) -> Option<Option<Shift>>,
) -> Vec<Place> {
    let old_ends_line = old.ends_with('\n');
    let written: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    if written.iter().all(|line| line.trim().is_empty()) {
        return Vec::new();
    }
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    let lines: Vec<&str> = text.split('\n').collect();
    let mut places = Vec::new();
    for (first, file) in lines.windows(written.len()).enumerate() {
        let Some(shift) = judge(&written, file) else {
            continue;
        };
        let last = first + written.len() - 1;
        let mut end = starts[last] + lines[last].len();
        let has_newline = end < text.len();
        if old_ends_line && has_newline {
            end += 1;
        }
        let mut new = shift.map_or_else(|| new.to_string(), |shift| shift.block(new));
        if old_ends_line && !has_newline {
            new = new
                .strip_suffix('\n')
                .map(ToString::to_string)
                .unwrap_or(new);
        }
        places.push(Place {
            start: starts[first],
            end,
            new,
        });
    }
    places
}

/// `   12\tcode`, `12: code` and `12| code`, as tools show files.
fn line_numbers(text: &str, old: &str, new: &str) -> Vec<Place> {
    let Some(old) = without_numbers(old) else {
        return Vec::new();
    };
    let new = without_numbers(new).unwrap_or_else(|| new.to_string());
    for pass in [exact, trailing_space, indentation] {
        let places = pass(text, &old, &new);
        if !places.is_empty() {
            return places;
        }
    }
    Vec::new()
}

/// The text without line numbers, if every line has one.
fn without_numbers(text: &str) -> Option<String> {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let mut bare = Vec::new();
    for line in lines {
        let rest = line.trim_start();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return None;
        }
        let rest = &rest[digits..];
        let body = rest
            .strip_prefix('\t')
            .or_else(|| rest.strip_prefix("| "))
            .or_else(|| rest.strip_prefix(": "))
            .or_else(|| rest.strip_prefix(['|', ':']))
            .or_else(|| rest.is_empty().then_some(""))?;
        bare.push(body);
    }
    let mut joined = bare.join("\n");
    if text.ends_with('\n') {
        joined.push('\n');
    }
    Some(joined)
}

fn unescaped(text: &str, old: &str, new: &str) -> Vec<Place> {
    let plain = |text: &str| {
        text.replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace("\\\"", "\"")
            .replace("\\'", "'")
            .replace("\\\\", "\\")
    };
    let meant = plain(old);
    if meant == old {
        return Vec::new();
    }
    exact(text, &meant, &plain(new))
}

/// Composed and decomposed accents, typographic quotes, dashes and spaces compare equal.
fn folded(line: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    line.trim_end()
        .nfc()
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{a0}' | '\u{2007}' | '\u{202f}' => ' ',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{How, find};
    use proptest::prelude::{prop_assert, proptest};

    #[track_caller]
    fn how(text: &str, old: &str) -> (How, usize) {
        let (how, places) = find(text, old, "N").unwrap();
        (how, places.len())
    }

    #[test]
    fn the_strictest_way_that_finds_anything_is_taken() {
        assert_eq!(how("a  \nb\n", "a  \nb"), (How::Exact, 1));
        assert_eq!(how("a  \nb\n", "a\nb"), (How::TrailingSpace, 1));
        assert_eq!(how("    a\n    b\n", "a\nb"), (How::Indentation, 1));
        assert_eq!(how("x\ny\n", "  1\tx\n  2\ty"), (How::LineNumbers, 1));
        assert_eq!(how("say(\"hi\")\n", "say(\\\"hi\\\")"), (How::Unescaped, 1));
    }

    #[test]
    fn overlapping_places_are_counted() {
        assert_eq!(how("aaa", "aa"), (How::Exact, 2));
    }

    #[test]
    fn e06_every_way_counts_its_places() {
        let text = "f(x) \ng\nf(x)  \ng\n";
        assert_eq!(how(text, "f(x)\ng"), (How::TrailingSpace, 2));
    }

    #[test]
    fn e13_another_unicode_form_is_found_on_the_original_bytes() {
        let text = "name = \"Cafe\u{301}\"\nx\n";
        let (how, places) = find(text, "name = \"Caf\u{e9}\"", "name = 1").unwrap();
        assert_eq!(how, How::Unicode);
        assert_eq!(
            &text[places[0].start..places[0].end],
            "name = \"Cafe\u{301}\""
        );
    }

    #[test]
    fn nothing_is_found_by_blank_lines_alone() {
        assert_eq!(find("a\n\n\nb", "  \n ", "x"), None);
        assert_eq!(find("a", "", "x"), None);
    }

    proptest! {
        #[test]
        fn places_are_ranges_of_the_text(text in "[ab \n\té]{0,30}", old in "[ab \n\té]{1,6}", new in "[ab\n]{0,4}") {
            if let Some((_, places)) = find(&text, &old, &new) {
                for place in places {
                    prop_assert!(text.get(place.start..place.end).is_some());
                }
            }
        }
    }
}
