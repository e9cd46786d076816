//! `DeepSeek` V3's three patterns, one after the other: `\p{N}{1,3}`, then runs of Chinese
//! characters and kana, then, in what is left between those,
//! `[punctuation][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|` and the
//! alternatives for white space. What none of them matches is a piece, too.

use super::{Char, at, digits, is_line_end, is_space, line_ends, run, spaces};
use crate::unicode::Class;

/// Calls `piece` with each piece of the text, in order.
pub(in crate::engine) fn pieces<'t>(text: &'t str, mut piece: impl FnMut(&'t str)) {
    let mut rest = 0;
    let mut place = 0;
    while let Some(next) = at(text, place) {
        let end = if next.class == Class::Number {
            digits(text, place, 3)
        } else if is_cjk(next.c) {
            cjk_run(text, place)
        } else {
            place = next.end;
            continue;
        };
        // The third pattern sees only what lies between: its ends are ends of text.
        between(&text[rest..place], &mut piece);
        piece(&text[place..end]);
        place = end;
        rest = end;
    }
    between(&text[rest..], &mut piece);
}

fn cjk_run(text: &str, mut place: usize) -> usize {
    while let Some(next) = at(text, place).filter(|next| is_cjk(next.c)) {
        place = next.end;
    }
    place
}

/// `[一-龥぀-ゟ゠-ヿ]`
fn is_cjk(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FA5}' | '\u{3040}'..='\u{30FF}')
}

fn between<'t>(text: &'t str, piece: &mut impl FnMut(&'t str)) {
    let mut unmatched = 0;
    let mut place = 0;
    while let Some(first) = at(text, place) {
        let Some(end) = piece_end(text, place, first) else {
            place = first.end;
            continue;
        };
        if unmatched < place {
            piece(&text[unmatched..place]);
        }
        piece(&text[place..end]);
        place = end;
        unmatched = end;
    }
    if unmatched < text.len() {
        piece(&text[unmatched..]);
    }
}

fn piece_end(text: &str, start: usize, first: Char) -> Option<usize> {
    let ascii_letters = |from: usize| {
        let bytes = &text.as_bytes()[from..];
        bytes.iter().take_while(|b| b.is_ascii_alphabetic()).count()
    };
    if first.c.is_ascii_punctuation() {
        let letters = ascii_letters(first.end);
        if letters > 0 {
            return Some(first.end + letters);
        }
    }
    let second = at(text, first.end).map(|next| next.class);
    let can_be_prefix =
        !is_line_end(first.class) && !first.class.is_letter() && !is_symbol(first.class);
    if can_be_prefix && second.is_some_and(is_word) {
        return Some(run(text, first.end, is_word));
    }
    if is_word(first.class) {
        return Some(run(text, start, is_word));
    }
    if is_symbol(first.class) || first.c == ' ' && second.is_some_and(is_symbol) {
        return Some(line_ends(text, run(text, first.end, is_symbol), None));
    }
    is_space(first.class).then(|| spaces(text, start))
}

/// `[\p{L}\p{M}]`
fn is_word(class: Class) -> bool {
    class.is_letter() || class == Class::Mark
}

/// `[\p{P}\p{S}]`
fn is_symbol(class: Class) -> bool {
    matches!(class, Class::Punctuation | Class::Symbol)
}

#[cfg(test)]
mod tests {
    use super::pieces;

    fn cut(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        pieces(text, |piece| found.push(piece));
        found
    }

    #[test]
    fn digits_and_chinese_are_cut_out_first() {
        assert_eq!(cut("a1234b"), ["a", "123", "4", "b"]);
        assert_eq!(cut("版本 2 是ok"), ["版本", " ", "2", " ", "是", "ok"]);
        assert_eq!(cut("f(.x) ==\n y"), ["f", "(.", "x", ")", " ==\n", " y"]);
        assert_eq!(cut("a\u{0}\u{1}b"), ["a", "\u{0}", "\u{1}b"]);
    }
}
