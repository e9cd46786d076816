//! GPT-4o's pattern. A word is
//! `[^\r\n\p{L}\p{N}]?U*L+C?` or `[^\r\n\p{L}\p{N}]?U+L*C?` with U = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`,
//! L = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]` and C a contraction; then `\p{N}{1,3}`,
//! ` ?[^\s\p{L}\p{N}]+[\r\n/]*` and the alternatives for white space.

use super::{
    Char, ascii_letters, at, contraction, digits, ends_word, is_line_end, is_space, line_ends, run,
    spaces,
};
use crate::unicode::Class;

/// Calls `piece` with each piece of the text, in order.
pub(crate) fn pieces<'t>(text: &'t str, mut piece: impl FnMut(&'t str)) {
    let mut start = 0;
    while let Some(first) = at(text, start) {
        let end = piece_end(text, start, first);
        piece(&text[start..end]);
        start = end;
    }
}

fn piece_end(text: &str, start: usize, first: Char) -> usize {
    if let Some(end) = ascii_word(text, start, first) {
        return end;
    }
    if let Some(end) = word(text, start, first) {
        return end + contraction(text, end);
    }
    if first.class == Class::Number {
        return digits(text, start, 3);
    }
    let second = at(text, first.end).map(|next| next.class);
    if is_symbol(first.class) || first.c == ' ' && second.is_some_and(is_symbol) {
        return line_ends(text, run(text, first.end, is_symbol), Some(b'/'));
    }
    spaces(text, start)
}

/// The end of a word as most are: a capital or none, and small ASCII letters.
#[inline]
fn ascii_word(text: &str, start: usize, first: Char) -> Option<usize> {
    let is_prefix = can_be_prefix(first.class) && first.class != Class::Mark;
    let from = if is_prefix { first.end } else { start };
    let capital = text.as_bytes().get(from)?.is_ascii_uppercase();
    let small = from + usize::from(capital);
    let end = ascii_letters(text, small, true);
    (end > small && ends_word(text, end)).then_some(end)
}

/// `[^\r\n\p{L}\p{N}]`
fn can_be_prefix(class: Class) -> bool {
    !is_line_end(class) && !class.is_letter() && class != Class::Number
}

/// The end of a word at `start`, by the first of four readings that matches: ending small or ending
/// in capitals, each with the first character as its prefix or as its first letter.
fn word(text: &str, start: usize, first: Char) -> Option<usize> {
    let can_be_letter = first.class.is_letter() || first.class == Class::Mark;
    let prefixed = if can_be_prefix(first.class) {
        letters(text, first.end)
    } else {
        Letters::default()
    };
    let plain = if can_be_letter {
        letters(text, start)
    } else {
        Letters::default()
    };
    prefixed
        .ending_small
        .or(plain.ending_small)
        .or(prefixed.capitals)
        .or(plain.capitals)
}

/// Where a word that begins here ends, by either reading.
#[derive(Default)]
struct Letters {
    /// `U*L+`
    ending_small: Option<usize>,
    /// `U+L*`, where the other one does not match: L can then match nothing.
    capitals: Option<usize>,
}

fn letters(text: &str, start: usize) -> Letters {
    let mut place = start;
    // `U*` is greedy; when nothing small follows it gives back as much as `L+` needs: the last
    // character that is both.
    let mut last_both = None;
    while let Some(next) = at(text, place) {
        if !is_capital(next.class) {
            break;
        }
        if is_small(next.class) {
            last_both = Some(place);
        }
        place = next.end;
    }
    let small_follows = at(text, place).is_some_and(|next| next.class == Class::Lower);
    let small_from = if small_follows {
        Some(place)
    } else {
        last_both
    };
    Letters {
        ending_small: small_from.map(|from| run(text, from, is_small)),
        capitals: (place > start).then_some(place),
    }
}

/// U
fn is_capital(class: Class) -> bool {
    matches!(
        class,
        Class::Upper | Class::Title | Class::Modifier | Class::OtherLetter | Class::Mark
    )
}

/// L
fn is_small(class: Class) -> bool {
    matches!(
        class,
        Class::Lower | Class::Modifier | Class::OtherLetter | Class::Mark
    )
}

/// `[^\s\p{L}\p{N}]`
fn is_symbol(class: Class) -> bool {
    !is_space(class) && !class.is_letter() && class != Class::Number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ascii_word, at, contraction, pieces, word};

    fn cut(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        pieces(text, |piece| found.push(piece));
        found
    }

    #[test]
    fn camel_case_is_cut() {
        assert_eq!(cut("parseHTTPBody"), ["parse", "HTTPBody"]);
        assert_eq!(cut("It's MAX_SIZE"), ["It's", " MAX", "_SIZE"]);
        assert_eq!(cut("a/b//\n/c"), ["a", "/b", "//\n/", "c"]);
        assert_eq!(cut("x  1234"), ["x", " ", " ", "123", "4"]);
        assert_eq!(cut("日本語 ひらA"), ["日本語", " ひら", "A"]);
    }

    proptest! {
        #[test]
        fn a_word_found_fast_is_the_word(text in "([ '_.A-Zséſ\u{301}中1\n]|[a-z]{1,9}){0,12}") {
            for (start, _) in text.char_indices() {
                let first = at(&text, start).unwrap();
                if let Some(end) = ascii_word(&text, start, first) {
                    let whole = word(&text, start, first);
                    prop_assert_eq!(whole.map(|end| end + contraction(&text, end)), Some(end));
                }
            }
        }
    }
}
