//! The lines of a Markdown file, as far as a plan needs them: headings, list items, checkboxes. What
//! stands in a code fence or an HTML comment is text, whatever it looks like.

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Blank,
    Heading {
        level: usize,
    },
    Item {
        ordered: Option<u64>,
    },
    Text,
    /// Inside a fence or a comment, or the fence itself.
    Verbatim,
}

/// A line with what is needed to change it in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub kind: Kind,
    /// Columns before the first character; a tab goes to the next multiple of four.
    pub indent: usize,
    /// The words, without marker, checkbox and line ending.
    pub text: &'a str,
    /// What stands between the brackets of a checkbox, and at which byte of the line.
    pub mark: Option<(char, usize)>,
    /// The byte of the line where the words begin: a checkbox would be put there.
    pub words_at: usize,
}

/// The lines of a text, one each of `text.split_inclusive('\n')`.
pub(crate) fn read(text: &str) -> Vec<Line<'_>> {
    let mut fence: Option<(char, usize)> = None;
    let mut comment = false;
    text.split_inclusive('\n')
        .map(|raw| {
            let line = raw.trim_end_matches(['\n', '\r']);
            let trimmed = line.trim_start_matches([' ', '\t', '\u{feff}']);
            if let Some((mark, length)) = fence {
                let (same, rest) = run_of(trimmed, mark);
                if same >= length && rest.trim().is_empty() {
                    fence = None;
                }
                return verbatim(line, trimmed);
            }
            if comment {
                comment = !trimmed.contains("-->");
                return verbatim(line, trimmed);
            }
            if let Some(opened) = opens_fence(trimmed).or_else(|| item_opens_fence(trimmed)) {
                fence = Some(opened);
                return verbatim(line, trimmed);
            }
            if trimmed.starts_with("<!--") {
                comment = !trimmed.contains("-->");
                return verbatim(line, trimmed);
            }
            plain(line, trimmed)
        })
        .collect()
}

fn run_of(text: &str, mark: char) -> (usize, &str) {
    let rest = text.trim_start_matches(mark);
    ((text.len() - rest.len()) / mark.len_utf8(), rest)
}

fn opens_fence(text: &str) -> Option<(char, usize)> {
    ['`', '~'].into_iter().find_map(|mark| {
        let (length, rest) = run_of(text, mark);
        // A line of inline code is no fence.
        (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
    })
}

/// `- ```sh`: a fence that begins on the line of its list item.
fn item_opens_fence(text: &str) -> Option<(char, usize)> {
    let (_, _, rest) = marker(text)?;
    opens_fence(rest.trim_start())
}

fn indent(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            ' ' => columns += 1,
            '\t' => columns = (columns / 4 + 1) * 4,
            '\u{feff}' => {}
            _ => break,
        }
    }
    columns
}

fn verbatim<'a>(line: &'a str, trimmed: &'a str) -> Line<'a> {
    Line {
        kind: Kind::Verbatim,
        indent: indent(line),
        text: trimmed,
        mark: None,
        words_at: line.len() - trimmed.len(),
    }
}

/// A list marker: its number, its length with the space behind it, and what follows.
fn marker(text: &str) -> Option<(Option<u64>, usize, &str)> {
    let first = text.chars().next()?;
    if matches!(first, '-' | '*' | '+') {
        let rest = &text[1..];
        return space_behind(rest).map(|length| (None, 1 + length, &rest[length..]));
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = text.get(digits..)?;
    if digits == 0 || digits > 9 || !rest.starts_with(['.', ')']) {
        return None;
    }
    let length = space_behind(&rest[1..])?;
    let number = text[..digits].parse().ok();
    Some((number, digits + 1 + length, &rest[1 + length..]))
}

fn space_behind(rest: &str) -> Option<usize> {
    let length = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    (length > 0).then_some(length)
}

fn plain<'a>(line: &'a str, trimmed: &'a str) -> Line<'a> {
    let at = line.len() - trimmed.len();
    let (kind, skip) = if trimmed.trim().is_empty() {
        (Kind::Blank, 0)
    } else if let Some((level, skip)) = heading(trimmed) {
        (Kind::Heading { level }, skip)
    } else if is_rule(trimmed) {
        (Kind::Text, 0)
    } else if let Some((ordered, skip, _)) = marker(trimmed) {
        (Kind::Item { ordered }, skip)
    } else {
        (Kind::Text, 0)
    };
    let words = &trimmed[skip..];
    let words_at = at + skip;
    let boxed = match kind {
        Kind::Heading { .. } | Kind::Item { .. } => checkbox(words),
        _ => None,
    };
    let (text, mark) = match boxed {
        Some((mark, rest)) => (rest, Some((mark, words_at + 1))),
        None => (words, None),
    };
    let text = match kind {
        Kind::Heading { .. } => text.trim().trim_end_matches('#').trim_end(),
        _ => text.trim(),
    };
    Line {
        kind,
        indent: indent(line),
        text,
        mark,
        words_at,
    }
}

fn heading(text: &str) -> Option<(usize, usize)> {
    let (level, rest) = run_of(text, '#');
    if !(1..=6).contains(&level) {
        return None;
    }
    let space = space_behind(rest)?;
    Some((level, level + space))
}

/// `---`, `***`: a line across, no item.
fn is_rule(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| !c.is_whitespace());
    let Some(first) = letters.next().filter(|c| matches!(c, '-' | '*' | '_')) else {
        return false;
    };
    let rest: Vec<char> = letters.collect();
    rest.len() >= 2 && rest.iter().all(|c| *c == first)
}

/// `[x] words`: the mark and the words.
fn checkbox(words: &str) -> Option<(char, &str)> {
    let inside = words.strip_prefix('[')?;
    let mark = inside.chars().next()?;
    let rest = inside[mark.len_utf8()..].strip_prefix(']')?;
    let known = matches!(mark, ' ' | 'x' | 'X' | '-' | '~' | '/' | '\u{a0}');
    let apart = rest.is_empty() || rest.starts_with([' ', '\t']);
    (known && apart).then(|| (mark, rest.trim_start()))
}

/// Whether a mark means that there is nothing left to do: ticked, or struck out as `[-]`.
pub(crate) const fn is_settled(mark: char) -> bool {
    matches!(mark, 'x' | 'X' | '-')
}

#[cfg(test)]
mod tests {
    use super::{Kind, read};

    fn one(text: &str) -> (Kind, Option<char>, String) {
        let line = read(text).remove(0);
        (line.kind, line.mark.map(|m| m.0), line.text.to_owned())
    }

    #[test]
    fn items_headings_and_boxes() {
        let item = |ordered| Kind::Item { ordered };
        for (text, kind, mark, words) in [
            ("- [ ] a", item(None), Some(' '), "a"),
            ("* [X] a\r\n", item(None), Some('X'), "a"),
            ("\t+ [x]\tb", item(None), Some('x'), "b"),
            ("12) [-] c", item(Some(12)), Some('-'), "c"),
            ("3. plain", item(Some(3)), None, "plain"),
            (
                "## [ ] Task 1 ##",
                Kind::Heading { level: 2 },
                Some(' '),
                "Task 1",
            ),
            ("- [link](x)", item(None), None, "[link](x)"),
            ("- [ ]x", item(None), None, "[ ]x"),
            ("-[ ] x", Kind::Text, None, "-[ ] x"),
            ("[ ] x", Kind::Text, None, "[ ] x"),
            ("#hash", Kind::Text, None, "#hash"),
            ("* * *", Kind::Text, None, "* * *"),
            ("\u{feff}# T", Kind::Heading { level: 1 }, None, "T"),
            ("- [ ] 🚀 emoji", item(None), Some(' '), "🚀 emoji"),
            ("   ", Kind::Blank, None, ""),
        ] {
            assert_eq!(one(text), (kind, mark, words.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn what_stands_in_a_fence_or_a_comment_is_no_box() {
        let text = "````md\n- [ ] no\n```\n- [ ] no\n````\n- [ ] yes\n~~~\n- [ ] no\n~~~\n\
                    <!--\n- [ ] no\n-->\n- ```sh\n  - [ ] no\n  ```\n- [ ] yes too\n";
        let boxes: Vec<&str> = read(text)
            .into_iter()
            .filter(|l| l.mark.is_some())
            .map(|l| l.text)
            .collect();
        assert_eq!(boxes, ["yes", "yes too"]);
    }

    #[test]
    fn tabs_count_as_an_editor_shows_them() {
        let indents: Vec<usize> = read("a\n  b\n\tc\n  \td\n")
            .iter()
            .map(|l| l.indent)
            .collect();
        assert_eq!(indents, [0, 2, 4, 4]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_as_many_lines_as_it_has_and_marks_are_where_they_are_said_to_be(
            text in "([-*+#` \t\\[\\]xX0-9.)a~\u{e9}\r\n<!>]|- \\[ \\] ){0,200}"
        ) {
            let lines = read(&text);
            let raw: Vec<&str> = text.split_inclusive('\n').collect();
            proptest::prop_assert_eq!(lines.len(), raw.len());
            for (line, raw) in lines.iter().zip(raw) {
                proptest::prop_assert!(raw.is_char_boundary(line.words_at));
                if let Some((mark, at)) = line.mark {
                    proptest::prop_assert!(raw[at..].starts_with(mark));
                }
            }
        }
    }
}
