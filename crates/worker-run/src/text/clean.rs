//! What a terminal would show of a command's output.

/// Decodes output for reading: bad bytes replaced, escape sequences gone, overwritten lines gone.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = without_escapes(&text);
    let lines: Vec<String> = text.split('\n').map(last_state).collect();
    collapse(&lines)
}

/// Removes ANSI sequences and other control characters, except newline, return and tab.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // CSI: parameters, then one final byte.
                Some('[') => {
                    for c in chars.by_ref() {
                        if ('\u{40}'..='\u{7e}').contains(&c) {
                            break;
                        }
                    }
                }
                // OSC: until BEL or ST.
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                // Two-character sequences, some with one more.
                Some('(' | ')' | '#') => {
                    chars.next();
                }
                _ => {}
            },
            '\u{8}' => {
                out.pop();
            }
            '\n' | '\r' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// What is left of a line that was rewritten by carriage returns.
fn last_state(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line).to_string()
}

/// Three or more equal lines in a row become one and a count.
fn collapse(lines: &[String]) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let same = lines[at..].iter().take_while(|l| **l == lines[at]).count();
        if same >= 3 && !lines[at].trim().is_empty() {
            out.push(lines[at].clone());
            out.push(format!("[the line above {} more times]", same - 1));
        } else if same >= 3 {
            out.push(String::new());
        } else {
            out.extend(lines[at..at + same].iter().cloned());
        }
        at += same;
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::clean;
    use proptest::prelude::{any, prop_assert, proptest};

    #[test]
    fn colours_titles_and_progress_bars_are_gone() {
        assert_eq!(clean(b"\x1b[31mred\x1b[0m \x1b]0;title\x07x"), "red x");
        assert_eq!(clean(b" 10%\r 50%\r100%\ndone\r\n"), "100%\ndone\n");
    }

    #[test]
    fn b11_bytes_that_are_no_text_are_replaced() {
        assert_eq!(clean(b"\xf0ok"), "\u{fffd}ok");
        assert_eq!(clean(b"a\0b"), "ab");
    }

    #[test]
    fn equal_lines_in_a_row_are_counted() {
        assert_eq!(
            clean(b"a\nw\nw\nw\nw\nb"),
            "a\nw\n[the line above 3 more times]\nb"
        );
        assert_eq!(clean(b"a\na\nb"), "a\na\nb");
    }

    proptest! {
        #[test]
        fn no_escape_survives(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let shown = clean(&bytes);
            prop_assert!(!shown.contains(char::from(27)));
        }
    }
}
