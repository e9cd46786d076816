//! What a plan says of itself as a whole: frontmatter, the `## Status` section, the title.

use super::lines::{Kind, Line};

/// The frontmatter, between `---` lines at the very start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Front {
    /// How many lines it takes, its fences included; 0: there is none.
    pub lines: usize,
    /// Its keys in small letters, with the line of each.
    keys: Vec<(String, String, usize)>,
    lists: Vec<(String, String)>,
}

impl Front {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.keys.iter().find(|(k, _, _)| k == key);
        found
            .map(|(_, value, _)| value.as_str())
            .filter(|v| !v.is_empty())
    }

    pub(crate) fn line_of(&self, key: &str) -> Option<usize> {
        let found = self.keys.iter().find(|(k, _, _)| k == key);
        found.map(|(_, _, line)| *line)
    }

    /// The values of a key: one, or the items below it.
    pub(crate) fn all(&self, key: &str) -> Vec<String> {
        let one = self.get(key).map(str::to_owned);
        let items = self.lists.iter().filter(|(k, _)| k == key);
        one.into_iter()
            .chain(items.map(|(_, v)| v.clone()))
            .collect()
    }
}

/// A value without quotes and without a comment behind it.
pub(crate) fn unquoted(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some((inside, _)) = rest.split_once(quote)
        {
            return inside.to_owned();
        }
    }
    value
        .split(" #")
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Reads the frontmatter of a text. One that is not closed is none.
pub(crate) fn front(text: &str) -> Front {
    let mut lines = text
        .split_inclusive('\n')
        .map(|l| l.trim_end_matches(['\n', '\r']));
    if lines
        .next()
        .map(|l| l.trim_start_matches('\u{feff}').trim_end())
        != Some("---")
    {
        return Front::default();
    }
    let mut front = Front::default();
    for (index, line) in lines.enumerate() {
        if matches!(line.trim_end(), "---" | "...") {
            front.lines = index + 2;
            return front;
        }
        if let Some(item) = line.trim_start().strip_prefix("- ")
            && let Some((key, _, _)) = front.keys.last()
        {
            front.lists.push((key.clone(), unquoted(item)));
        } else if let Some((key, value)) = line.split_once(':')
            && !line.starts_with([' ', '\t', '#'])
        {
            let key = key.trim().to_lowercase();
            front.keys.push((key, unquoted(value), index + 1));
        }
    }
    Front::default()
}

/// The index of the line that holds the value of a `Status` heading, and the heading's own.
pub(crate) fn status_section(lines: &[Line<'_>]) -> Option<(usize, Option<usize>)> {
    let heading = lines.iter().position(|line| {
        matches!(line.kind, Kind::Heading { .. })
            && line
                .text
                .trim_end_matches(':')
                .trim()
                .eq_ignore_ascii_case("status")
    })?;
    let below = lines.iter().enumerate().skip(heading + 1);
    let value = below
        .take_while(|(_, l)| !matches!(l.kind, Kind::Heading { .. }))
        .find(|(_, l)| l.kind != Kind::Blank)
        .map(|(index, _)| index);
    Some((heading, value))
}

/// The first heading of the first level.
pub(crate) fn title(lines: &[Line<'_>]) -> Option<String> {
    let first = lines
        .iter()
        .find(|l| l.kind == Kind::Heading { level: 1 } && !l.text.is_empty())?;
    Some(super::fields::title(first.text))
}

/// A status in words, as people write it: `**Complete**`, `"done"`, `- completed`.
pub(crate) fn status_word(text: &str) -> String {
    let text = unquoted(text.trim().trim_start_matches(['-', ' ', '>']));
    text.trim_matches(['*', '_', '`', '.', '!', ' ', '"', '\''])
        .to_lowercase()
}

/// Whether a status means that nothing is left to do.
pub(crate) fn is_complete(status: &str) -> bool {
    matches!(status, "complete" | "completed" | "done")
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::{front, is_complete, status_section, status_word};

    #[test]
    fn frontmatter_in_its_forms() {
        for text in [
            "---\nstatus: done\ntitle: \"A: b\" # c\nverify:\n  - make test\n  - 'x'\n---\n# T\n",
            "\u{feff}---\r\nStatus: 'done'\r\ntitle: 'A: b'\r\nverify:\r\n- make test\r\n- x\r\n...\r\n",
        ] {
            let front = front(text);
            assert_eq!(front.get("status"), Some("done"), "{text:?}");
            assert_eq!(front.get("title"), Some("A: b"));
            assert_eq!(front.all("verify"), ["make test", "x"]);
            assert_eq!(front.line_of("status"), Some(1));
        }
        assert_eq!(front("---\nstatus: done\n# never closed\n").lines, 0);
        assert_eq!(front("# T\n---\nstatus: done\n---\n").lines, 0);
        assert_eq!(front("").lines, 0);
    }

    #[test]
    fn a_status_heading_and_its_value() {
        let text = "# T\n\n## Status:\n\n**Complete**\n\n## Next\n";
        let found = lines::read(text);
        assert_eq!(status_section(&found), Some((2, Some(4))));
        assert!(is_complete(&status_word(found[4].text)));
        assert_eq!(
            status_section(&lines::read("## Status\n## Next\nx\n")),
            Some((0, None))
        );
        assert!(status_section(&lines::read("```\n## Status\n```\n")).is_none());
        for word in ["\"complete\"", "- Completed.", "done", "'done'"] {
            assert!(is_complete(&status_word(word)), "{word}");
        }
        for word in ["not done", "in progress", ""] {
            assert!(!is_complete(&status_word(word)), "{word}");
        }
    }
}
