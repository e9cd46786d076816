//! Text for people, with nothing in it that a terminal would obey.
//!
//! Names of models, error messages and reports come from elsewhere. One that carries an escape sequence
//! could clear the screen, write into the title, or hide what stands beside it.

use std::borrow::Cow;

/// The text with control characters (but for line breaks and tabs) and marks that turn the direction of
/// writing spelt out, as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        if is_obeyed(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The same on one line, for a cell of a table.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    if text.contains(['\n', '\t']) {
        return Cow::Owned(text.replace('\n', "\\n").replace('\t', "\\t"));
    }
    text
}

fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::{any, proptest};

    use super::{visible, visible_line};

    #[test]
    fn nothing_that_a_terminal_obeys_is_left_and_everything_else_is() {
        assert_eq!(visible("a\x1b[2Jb\x07c"), "a\\u{1b}[2Jb\\u{7}c");
        assert_eq!(visible("a\u{9b}1mb"), "a\\u{9b}1mb");
        assert_eq!(visible("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(visible("one\r\ntwo\tthree\n"), "one\ntwo\tthree\n");
        assert_eq!(visible("a\rb"), "a\\u{d}b");
        assert_eq!(visible_line("a\nb\tc"), "a\\nb\\tc");
        for plain in ["", "naïve 日本 🦀 e\u{301}", "a\n\tb"] {
            assert!(matches!(visible(plain), Cow::Borrowed(_)), "{plain}");
        }
    }

    proptest! {
        #[test]
        fn no_text_keeps_a_control_character(text in any::<String>()) {
            let shown = visible(&text);
            assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            assert!(!visible_line(&text).contains('\n'));
        }
    }
}
