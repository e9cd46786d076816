//! Cutting a text into the pieces that are merged one by one.
//!
//! The patterns are regular expressions in the tokenizers' files; scanners written by hand do the
//! same at a hundred times the speed. Each function names the pattern it follows.

mod deepseek;
mod gpt4;
mod o200k;

pub(super) use deepseek::pieces as deepseek;
pub(super) use gpt4::pieces as gpt4;
pub(crate) use o200k::pieces as o200k;

use crate::unicode::Class;

/// A character in its place.
#[derive(Clone, Copy)]
struct Char {
    c: char,
    class: Class,
    /// Where the next one begins.
    end: usize,
}

/// The character at a place, none at the end.
#[inline]
fn at(text: &str, place: usize) -> Option<Char> {
    let byte = *text.as_bytes().get(place)?;
    let c = if byte < 0x80 {
        char::from(byte)
    } else {
        text.get(place..)?.chars().next()?
    };
    Some(Char {
        c,
        class: Class::of(c),
        end: place + c.len_utf8(),
    })
}

/// Where the run of matching characters from `place` ends.
#[inline]
fn run(text: &str, mut place: usize, matches: impl Fn(Class) -> bool) -> usize {
    while let Some(next) = at(text, place) {
        if !matches(next.class) {
            break;
        }
        place = next.end;
    }
    place
}

/// Where the run of ASCII letters from `place` ends; of small ones only, if `small`. Eight bytes at a
/// time: most of most texts are such runs.
#[inline]
fn ascii_letters(text: &str, mut place: usize, small: bool) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    // This bit makes small letters of capitals, and of nothing else letters.
    let case = if small { 0 } else { 0x20 * EACH };
    let bytes = text.as_bytes();
    while let Some(eight) = bytes.get(place..).and_then(<[u8]>::first_chunk::<8>) {
        let read = u64::from_le_bytes(*eight);
        let low = (read | case) & !HIGH;
        // The highest bit of each byte: from `a` on, and beyond `z`. No sum carries over.
        let from_a = low + u64::from(0x80 - b'a') * EACH;
        let beyond_z = low + u64::from(0x7F - b'z') * EACH;
        let others = (!from_a | beyond_z | read) & HIGH;
        if others != 0 {
            return place + others.trailing_zeros() as usize / 8;
        }
        place += 8;
    }
    let is_letter = |byte: &&u8| byte.is_ascii_lowercase() || !small && byte.is_ascii_uppercase();
    place + bytes[place..].iter().take_while(is_letter).count()
}

/// Whether a run of ASCII letters that ends here is a whole word: what follows is ASCII, too, and no
/// apostrophe, so that neither a mark nor a contraction can go on.
#[inline]
fn ends_word(text: &str, end: usize) -> bool {
    let next = text.as_bytes().get(end);
    next.is_none_or(|next| next.is_ascii() && *next != b'\'')
}

/// `\p{N}{1,most}`, given that the first digit matched.
fn digits(text: &str, mut place: usize, most: usize) -> usize {
    for _ in 0..most {
        match at(text, place) {
            Some(next) if next.class == Class::Number => place = next.end,
            _ => break,
        }
    }
    place
}

/// `[\r\n]*`, with `also` as one more byte that continues it.
fn line_ends(text: &str, mut place: usize, also: Option<u8>) -> usize {
    let bytes = text.as_bytes();
    while bytes
        .get(place)
        .is_some_and(|b| matches!(b, b'\r' | b'\n') || Some(*b) == also)
    {
        place += 1;
    }
    place
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`: up to the last line end; else all but the last character, which
/// belongs to the word after it; else all.
fn spaces(text: &str, start: usize) -> usize {
    let mut place = start;
    let mut after_line_end = None;
    let mut last = start;
    while let Some(next) = at(text, place) {
        if !is_space(next.class) {
            break;
        }
        if is_line_end(next.class) {
            after_line_end = Some(next.end);
        }
        last = place;
        place = next.end;
    }
    match after_line_end {
        Some(end) => end,
        None if place == text.len() || last == start => place,
        None => last,
    }
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at a place: how long it is, 0 for none.
fn contraction(text: &str, place: usize) -> usize {
    let Some(rest) = text.as_bytes()[place..].strip_prefix(b"'") else {
        return 0;
    };
    let low = |index: usize| rest.get(index).map_or(0, u8::to_ascii_lowercase);
    match (low(0), low(1)) {
        (b'r' | b'v', b'e') | (b'l', b'l') => 3,
        (b's' | b't' | b'm' | b'd', _) => 2,
        // The long s is a small s to a pattern that ignores case.
        _ if rest.starts_with("ſ".as_bytes()) => 1 + "ſ".len(),
        _ => 0,
    }
}

/// `\s`
#[inline]
fn is_space(class: Class) -> bool {
    class >= Class::Space
}

/// `[\r\n]`
#[inline]
fn is_line_end(class: Class) -> bool {
    class >= Class::Return
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ascii_letters;

    proptest! {
        #[test]
        fn a_run_of_letters_is_found_by_eights_as_one_by_one(text in "[a-zA-Z]{0,20}\\PC?[a-z@`{\\[]{0,9}") {
            for (small, is_letter) in [
                (true, u8::is_ascii_lowercase as fn(&u8) -> bool),
                (false, u8::is_ascii_alphabetic),
            ] {
                for start in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let run = text.as_bytes()[start..].iter().take_while(|byte| is_letter(byte));
                    prop_assert_eq!(ascii_letters(&text, start, small), start + run.count());
                }
            }
        }
    }
}
