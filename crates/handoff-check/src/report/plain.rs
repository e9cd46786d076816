//! A text without what only decorates it: colours of a terminal, old line ends, thinking aloud.

use std::borrow::Cow;

/// Removes terminal sequences, which stand between a number and its word, or before a heading.
pub(crate) fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        plain.push_str(&rest[..start]);
        let tail = &rest[start + 2..];
        let end = tail
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(tail.len(), |i| i + 1);
        rest = &tail[end..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The text with line feeds where it has nothing but carriage returns.
pub(crate) fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') && !text.contains('\n') {
        Cow::Owned(text.replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The tags around what a model thinks before it answers.
const THOUGHTS: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
];

/// The text without the thoughts; none where there are none. Servers often swallow the first tag.
pub(crate) fn without_thoughts(text: &str) -> Option<String> {
    let mut rest = text.to_owned();
    let mut any = false;
    for (open, close) in THOUGHTS {
        while let Some(end) = rest.find(close) {
            let start = rest[..end].find(open).unwrap_or(0);
            rest.replace_range(start..end + close.len(), "");
            any = true;
        }
    }
    any.then_some(rest)
}

/// The text of a quotation, where most lines are quoted; none otherwise.
pub(crate) fn unquoted(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let written = lines.iter().filter(|l| !l.trim().is_empty()).count();
    let quoted = |l: &&str| l.trim_start().starts_with('>');
    if 2 * lines.iter().filter(|l| quoted(l)).count() <= written {
        return None;
    }
    let plain = lines.iter().map(|line| {
        let inner = line.trim_start().strip_prefix('>');
        inner.map_or(*line, |i| i.strip_prefix(' ').unwrap_or(i))
    });
    Some(plain.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{unquoted, with_line_feeds, without_colours, without_thoughts};

    #[test]
    fn decoration_goes_and_nothing_else() {
        assert_eq!(without_colours("\x1b[1;32m3\x1b[0m passed"), "3 passed");
        assert_eq!(with_line_feeds("a\rb"), "a\nb");
        assert_eq!(with_line_feeds("a\r\nb"), "a\r\nb");
        assert_eq!(without_thoughts("<think>a</think>b").unwrap(), "b");
        assert_eq!(without_thoughts("a</think>b<think>c</think>").unwrap(), "b");
        assert_eq!(without_thoughts("a <think> b"), None);
        assert_eq!(unquoted("> a\n>\n> b").unwrap(), "a\n\nb");
        assert_eq!(unquoted("a\nb\n> c"), None);
    }
}
