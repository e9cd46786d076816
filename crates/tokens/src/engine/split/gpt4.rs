//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,d}| ?[^\s\p{L}\p{N}]+[\r\n]*|` and
//! the alternatives for white space; d is 1 or 3.

use super::{
    Char, ascii_letters, at, contraction, digits, ends_word, is_line_end, is_space, line_ends, run,
    spaces,
};
use crate::unicode::Class;

/// Calls `piece` with each piece of the text, in order.
pub(in crate::engine) fn pieces<'t>(
    text: &'t str,
    most_digits: usize,
    mut piece: impl FnMut(&'t str),
) {
    let mut start = 0;
    while let Some(first) = at(text, start) {
        let end = piece_end(text, start, first, most_digits);
        piece(&text[start..end]);
        start = end;
    }
}

fn piece_end(text: &str, start: usize, first: Char, most_digits: usize) -> usize {
    if first.c == '\'' {
        let length = contraction(text, start);
        if length > 0 {
            return start + length;
        }
    }
    // A word as most are: ASCII, with what stands before it.
    let from = if first.class.is_letter() {
        start
    } else {
        first.end
    };
    if !is_line_end(first.class) && first.class != Class::Number {
        let end = ascii_letters(text, from, false);
        if end > from && ends_word(text, end) {
            return end;
        }
    }
    if first.class.is_letter() {
        return run(text, first.end, Class::is_letter);
    }
    if first.class == Class::Number {
        return digits(text, start, most_digits);
    }
    let second = at(text, first.end).map(|next| next.class);
    if !is_line_end(first.class) && second.is_some_and(Class::is_letter) {
        return run(text, first.end, Class::is_letter);
    }
    if is_symbol(first.class) {
        return line_ends(text, run(text, first.end, is_symbol), None);
    }
    if first.c == ' ' && second.is_some_and(is_symbol) {
        return line_ends(text, run(text, first.end, is_symbol), None);
    }
    spaces(text, start)
}

/// `[^\s\p{L}\p{N}]`
fn is_symbol(class: Class) -> bool {
    !is_space(class) && !class.is_letter() && class != Class::Number
}

#[cfg(test)]
mod tests {
    use super::pieces;

    fn cut(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        pieces(text, 3, |piece| found.push(piece));
        found
    }

    #[test]
    fn words_take_the_space_before_them_along() {
        assert_eq!(cut("It's  a test."), ["It", "'s", " ", " a", " test", "."]);
        assert_eq!(
            cut("x = 12345;\n\n  y"),
            ["x", " =", " ", "123", "45", ";\n\n", " ", " y"]
        );
        assert_eq!(cut("a \n b  "), ["a", " \n", " b", "  "]);
        assert_eq!(cut("don'T (I'll)"), ["don", "'T", " (", "I", "'ll", ")"]);
        assert_eq!(cut("\u{3000}word"), ["\u{3000}word"]);
        assert_eq!(cut("日本語!"), ["日本語", "!"]);
        assert!(cut("").is_empty());
    }
}
