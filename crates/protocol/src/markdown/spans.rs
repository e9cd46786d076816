//! Code spans of Markdown: `` `name` ``, with more backticks around a text that holds some.

/// A text as a code span that [`first`] reads back exactly.
pub(super) fn written(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let touches = text.starts_with('`') || text.ends_with('`');
    let spaced = text.starts_with(' ') && text.ends_with(' ') && !text.trim().is_empty();
    let pad = if touches || spaced { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// What stands before the first code span, its content, and what comes after it.
pub fn first(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find('`')?;
    let run = |text: &str| text.bytes().take_while(|b| *b == b'`').count();
    let ticks = run(&text[start..]);
    let inside = &text[start + ticks..];
    let mut at = 0;
    loop {
        let next = at + inside[at..].find('`')?;
        let length = run(&inside[next..]);
        if length == ticks {
            let content = &inside[..next];
            let after = &inside[next + ticks..];
            return Some((&text[..start], unpadded(content), after));
        }
        at = next + length;
    }
}

fn unpadded(content: &str) -> &str {
    let inner = content.strip_prefix(' ').and_then(|c| c.strip_suffix(' '));
    inner
        .filter(|_| !content.trim().is_empty())
        .unwrap_or(content)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{first, written};

    #[test]
    fn spans_as_people_write_them() {
        assert_eq!(first("a `b c`: d `e`"), Some(("a ", "b c", ": d `e`")));
        assert_eq!(first("`` a`b ``x"), Some(("", "a`b", "x")));
        assert_eq!(first("no `end"), None);
        assert_eq!(first("none"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(text in "[a ` é]{1,12}", after in "[:x ]{0,3}") {
            let span = written(&text) + &after;
            prop_assert_eq!(first(&span), Some(("", text.as_str(), after.as_str())));
        }
    }
}
