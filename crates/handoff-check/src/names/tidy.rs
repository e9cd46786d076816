//! Before the names are read: what pipes and shells do to a text, and forms that do not name files
//! whole.

/// The text without a byte order mark, colours, and line ends of another system.
pub(super) fn tidied(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    // Git writes an escape in a name as `\033`, so these are colours, or content.
    while let Some(start) = rest.windows(2).position(|w| w == b"\x1b[") {
        plain.extend_from_slice(&rest[..start]);
        let tail = &rest[start + 2..];
        let end = tail.iter().position(u8::is_ascii_alphabetic);
        rest = end.map_or(&[][..], |end| &tail[end + 1..]);
    }
    plain.extend_from_slice(rest);
    let lines = || plain.split(|b| *b == b'\n').filter(|l| !l.is_empty());
    if plain.contains(&b'\r') && lines().all(|l| l.ends_with(b"\r")) {
        // A name that ends so would be quoted, so this was done to every line on the way.
        let lines = plain.split(|b| *b == b'\n');
        let lines: Vec<&[u8]> = lines.map(|l| l.strip_suffix(b"\r").unwrap_or(l)).collect();
        return lines.join(&b'\n');
    }
    plain
}

/// What a list of lines is when it is none of names.
pub(super) fn no_list_of_names(text: &[u8]) -> Option<&'static str> {
    let lines: Vec<&[u8]> = text
        .split(|b| *b == b'\n')
        .filter(|l| !l.is_empty())
        .collect();
    let any = |is: fn(&[u8]) -> bool| lines.iter().any(|l| is(l));
    if any(is_count) || any(is_share) {
        return Some("a summary (--stat and its like), which may cut names");
    }
    if any(is_commit) {
        return Some("a log");
    }
    if !lines.is_empty() && lines.iter().all(|l| is_status(l)) {
        return Some("a status, which does not look into new folders");
    }
    let summary = |l: &[u8]| {
        [
            &b" create mode "[..],
            b" delete mode ",
            b" mode change ",
            b" rename ",
            b" copy ",
        ]
        .iter()
        .any(|b| l.starts_with(b))
    };
    any(summary).then_some("a summary of modes and renames, which leaves out other changes")
}

/// ` 2 files changed, 3 insertions(+)`
fn is_count(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let rest = text
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(b" ")
        && rest.len() < text.trim_start().len()
        && (rest.starts_with(" file changed") || rest.starts_with(" files changed"))
}

/// `  69.5% src/`
fn is_share(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let (number, folder) = text.trim_start().split_once("% ").unwrap_or_default();
    line.starts_with(b" ") && folder.ends_with('/') && number.parse::<f64>().is_ok()
}

/// `commit 0123…`
fn is_commit(line: &[u8]) -> bool {
    line.strip_prefix(b"commit ")
        .and_then(|rest| rest.get(..40))
        .is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit))
}

/// ` M name`, `?? name`
fn is_status(line: &[u8]) -> bool {
    let is_state = |b: u8| b" MTADRCU?!".contains(&b);
    matches!(line, [x, y, b' ', _, ..] if is_state(*x) && is_state(*y) && (*x, *y) != (b' ', b' '))
}

#[cfg(test)]
mod tests {
    use super::{no_list_of_names, tidied};

    #[test]
    fn what_pipes_do_to_a_text_is_undone() {
        assert_eq!(tidied(b"\xef\xbb\xbfa\r\nb\r\n"), b"a\nb\n");
        assert_eq!(tidied(b"\x1b[1mdiff\x1b[m\n"), b"diff\n");
        assert_eq!(tidied(b"a\r\nb\n"), b"a\r\nb\n");
    }

    #[test]
    fn forms_that_do_not_name_files_whole_are_told() {
        for text in [
            " src/a | 2 +-\n 1 file changed, 1 insertion(+)\n",
            " 8 files changed, 5 insertions(+), 3 deletions(-)\n",
            "  69.5% src/\n",
            " create mode 100644 x\n",
            " M README\n?? src/\n",
            "commit 237c1cc79cb385dfe70dbd13c715816625c9f181\nAuthor: x\n\n    c\n\nREADME\n",
        ] {
            assert!(no_list_of_names(text.as_bytes()).is_some(), "{text}");
        }
        for text in ["README\n", " x\n", "3 files changed\n", "M\tx\n", ""] {
            assert!(no_list_of_names(text.as_bytes()).is_none(), "{text}");
        }
    }
}
