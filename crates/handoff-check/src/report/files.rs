//! The list of changed files of a Markdown report.

use std::collections::HashSet;

use baton_protocol::FileNote;
use baton_protocol::markdown::{bare, first_span, needs_quotes};

use super::{listing, synonyms};
use crate::checks::claims;

/// The entries of a list: bullets, table rows or plain lines, without their marks.
pub(crate) fn items(text: &str) -> impl Iterator<Item = &str> {
    indented(text).map(|(_, item)| item)
}

/// The same, with how far each is moved in.
fn indented(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<(usize, &str)> = text.lines().map(|l| (indent(l), l.trim())).collect();
    let is_head = |i: usize| {
        let next = lines.get(i + 1).map_or("", |(_, next)| next);
        lines[i].1.starts_with('|') && next.starts_with('|') && is_rule(next)
    };
    let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
    let items: Vec<(usize, &str)> = (0..lines.len())
        .filter(|i| !is_head(*i) && !is_fence(lines[*i].1) && !is_rule(lines[*i].1))
        .map(|i| (lines[i].0, unmarked(lines[i].1)))
        .filter(|(_, item)| !item.is_empty())
        .collect();
    items.into_iter()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line is a point of a list, with a bullet or a number.
fn is_point(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['-', '*', '+', '•'])
        || (number.len() < line.len() && number.starts_with([')', '.']))
}

/// A horizontal rule, or the line under a table's head.
fn is_rule(line: &str) -> bool {
    line.chars()
        .all(|c| matches!(c, '-' | '|' | ':' | ' ' | '=' | '*'))
}

/// A line without bullet, check box, number or table border.
fn unmarked(line: &str) -> &str {
    let bullet = ["- ", "* ", "+ ", "• ", "|"];
    let item = bullet
        .iter()
        .find_map(|b| line.strip_prefix(b))
        .unwrap_or(line)
        .trim();
    let item = item
        .strip_prefix("[x] ")
        .or(item.strip_prefix("[ ] "))
        .unwrap_or(item);
    let number = item.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = number.strip_prefix(". ").or(number.strip_prefix(") "));
    after
        .filter(|_| number.len() < item.len())
        .unwrap_or(item)
        .trim()
}

/// Whether an entry says that there is nothing.
pub(crate) fn is_none(item: &str) -> bool {
    // A file may be called `none`.
    if item.starts_with('`') {
        return false;
    }
    let lower = item.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    if synonyms::NOTHING.contains(&bare) {
        return true;
    }
    matches!(
        bare,
        "" | "none" | "n/a" | "nothing" | "no files" | "no" | "nil" | "none changed"
    ) || bare.starts_with("none ")
        || bare.starts_with("n/a ")
        || bare.starts_with("0 files ")
        || bare.starts_with("no files ")
        || bare.starts_with("no changes")
        || bare.starts_with("no file was")
        || bare.starts_with("nothing ")
}

/// The files an author lists. Both names of `old -> new` count.
pub(crate) fn parse(text: &str) -> Vec<FileNote> {
    let text = &listing::plain(text);
    let bullets = text.lines().filter(|l| is_point(l.trim_start()));
    let outer = bullets.map(indent).min().unwrap_or(0);
    let mut known = HashSet::new();
    let mut notes: Vec<FileNote> = Vec::new();
    for (indent, item) in indented(text).filter(|(_, i)| !is_none(i)) {
        // Deeper points say what was done to a file, unless they are nothing but a name.
        let bare_name = !item.trim_matches('`').contains(char::is_whitespace);
        if indent > outer + 1 && !bare_name {
            continue;
        }
        for (path, scope) in entry(item) {
            if known.insert(path.clone()) {
                notes.push(FileNote { path, scope });
            }
        }
    }
    notes
}

fn entry(item: &str) -> Vec<(String, String)> {
    // A group's title, such as `### New files` or `Modified:`.
    if item.starts_with('#') || item.trim_end_matches('*').ends_with(':') {
        return Vec::new();
    }
    if let Some((name, rest)) = linked(item).filter(|_| item.starts_with("[`")) {
        return quoted(&format!("`{name}` {rest}"));
    }
    if item.contains('`') {
        return quoted(item);
    }
    let item = item
        .trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric())
        .trim_start();
    let item = match linked(item) {
        Some((name, rest)) => &format!("{name} ({rest}"),
        None => item,
    };
    let item = without_verb(item);
    let ends = [" — ", " – ", " - ", ": ", " (", "\t", " | ", ","];
    let end = ends
        .iter()
        .filter_map(|e| item.find(e))
        .min()
        .unwrap_or(item.len());
    // A name that holds ` -> ` stands in backticks; bare, the arrow is a rename.
    let (name, rest) = item.split_at(end);
    let scope = rest
        .trim_matches(|c: char| " —–-:(),|\t".contains(c))
        .to_owned();
    let names = name.split(" -> ").flat_map(|n| n.split(" → "));
    // A bare sentence is no name.
    let is_name = |n: &&str| {
        let words = n.split_whitespace().count();
        words == 1 || (words <= 3 && n.contains(['.', '/']))
    };
    names
        .filter(is_name)
        .filter_map(|n| Some((path(n)?, scope.clone())))
        .collect()
}

/// The file that `[label](target)` names, and what stands behind: the target where the label is only
/// the end of its name.
fn linked(item: &str) -> Option<(&str, &str)> {
    let (label, rest) = item.strip_prefix('[')?.split_once("](")?;
    let (target, rest) = rest.split_once(')')?;
    let label = label.trim_matches('`');
    let target = target.split('#').next().unwrap_or(target);
    let target = target.strip_prefix("./").unwrap_or(target);
    let ends_so = target.strip_suffix(label).is_some_and(|t| t.ends_with('/'));
    Some((if ends_so { target } else { label }, rest.trim_start()))
}

/// The names in backticks before the remark begins.
fn quoted(item: &str) -> Vec<(String, String)> {
    let Some((before, mut name, mut after)) = first_span(item) else {
        return Vec::new();
    };
    // A sentence about some code is not a list of files.
    if before.split_whitespace().count() > 3 {
        return Vec::new();
    }
    let mut found = Vec::new();
    loop {
        found.extend(plain_name(name));
        match first_span(after) {
            Some((link, next, rest))
                if matches!(link.trim(), "->" | "→" | "to" | "," | "and" | "=>") =>
            {
                (name, after) = (next, rest);
            }
            _ => break,
        }
    }
    let scope = remark(after);
    found.into_iter().map(|p| (p, scope.clone())).collect()
}

/// What is said of a file after its name.
fn remark(text: &str) -> String {
    if let Some(said) = text.strip_prefix(": ") {
        return said.trim().to_owned();
    }
    let text = text
        .trim_start_matches(|c: char| " —–-:,|*\t".contains(c))
        .trim_end_matches(|c: char| " —–-:,|\t".contains(c));
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    inner
        .filter(|t| !t.contains(['(', ')']))
        .unwrap_or(text)
        .to_owned()
}

/// The name in a code span, which may be one that git or we had to quote.
fn plain_name(name: &str) -> Option<String> {
    let decoded = claims::unquoted(name.as_bytes()).and_then(|b| String::from_utf8(b).ok());
    decoded.filter(|d| needs_quotes(d)).or_else(|| bare(name))
}

fn without_verb(item: &str) -> &str {
    const VERBS: [&str; 25] = [
        "created", "added", "add", "new", "modified", "updated", "changed", "edited", "deleted",
        "removed", "renamed", "new file", "a", "m", "d", "r", "c", "t", "u", "mm", "am", "rm",
        "ad", "??", "uu",
    ];
    let cut = item.find([' ', ':', '\t']).unwrap_or(item.len());
    let (first, rest) = item.split_at(cut);
    let verb = VERBS.contains(&first.to_lowercase().as_str());
    let rest = rest.trim_start_matches([':', ' ', '\t']);
    if verb && !rest.is_empty() { rest } else { item }
}

/// A name out of a sentence: without emphasis and full stop.
fn path(name: &str) -> Option<String> {
    bare(name.trim().trim_matches('*').trim_end_matches(['.', ';']))
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn names(text: &str) -> Vec<String> {
        parse(text).into_iter().map(|n| n.path).collect()
    }

    #[test]
    fn lists_as_models_write_them() {
        let cases: [(&str, &[&str]); 29] = [
            (
                "| Status | File |\n|---|---|\n| M | src/a.rs |",
                &["src/a.rs"],
            ),
            (
                "```\n M src/a.rs\n?? src/b.rs\nR  c.rs -> d.rs\n```",
                &["src/a.rs", "src/b.rs", "c.rs", "d.rs"],
            ),
            (
                " src/a.rs | 2 +-\n 1 file changed, 1 insertion(+)",
                &["src/a.rs"],
            ),
            (
                "```\nsrc/\n├── a.rs\n└── b.rs\n```",
                &["src/a.rs", "src/b.rs"],
            ),
            ("N/A — read-only task", &[]),
            ("Keine", &[]),
            ("0 files changed", &[]),
            (
                "- `src/a.rs`: fixed the bound\n- `tests/b.rs` (new)",
                &["src/a.rs", "tests/b.rs"],
            ),
            ("* src/a.rs — the loop", &["src/a.rs"]),
            (
                "1. src/a.rs:14-20 - fixed\n2. ./src/b.rs",
                &["src/a.rs", "src/b.rs"],
            ),
            ("src/a.rs\nsrc/b.rs", &["src/a.rs", "src/b.rs"]),
            ("None", &[]),
            ("- No files changed.", &[]),
            ("- Modified `src/a.rs` to use `slugify`", &["src/a.rs"]),
            ("- Created: src/new.rs", &["src/new.rs"]),
            ("M src/a.rs\nA src/b.rs", &["src/a.rs", "src/b.rs"]),
            (
                "- `old name.rs` -> `new.rs` (renamed)",
                &["old name.rs", "new.rs"],
            ),
            ("- a.rs -> b.rs", &["a.rs", "b.rs"]),
            ("- `normal -> file.txt`: text", &["normal -> file.txt"]),
            (
                "| File | Change |\n|---|---|\n| `src/a.rs` | bound |",
                &["src/a.rs"],
            ),
            ("```\nsrc/a.rs\n```", &["src/a.rs"]),
            (
                "### Modified\n- src/a.rs\n### New files\n- src/b.rs",
                &["src/a.rs", "src/b.rs"],
            ),
            ("Modified:\n- src/a.rs", &["src/a.rs"]),
            (
                "- `src/a.rs`\n  - added function foo\n  - uses `bar()`: see there",
                &["src/a.rs"],
            ),
            ("- Changed:\n    - src/a.rs", &["src/a.rs"]),
            (
                "- ✅ src/a.rs\n- [src/b.rs](src/b.rs) new",
                &["src/a.rs", "src/b.rs"],
            ),
            (
                "1. `src/a.rs`\n   - Line 1: changed `<` to `<=`\n2. `src/b.rs` (new)\n   - `foo()`, a helper",
                &["src/a.rs", "src/b.rs"],
            ),
            (
                "- [a.rs](src/a.rs#L1) bound\n- [`src/b.rs`](./src/b.rs)\n- [`c.rs`](src/c.rs): new",
                &["src/a.rs", "src/b.rs", "src/c.rs"],
            ),
            (
                "I changed the following files in this task.\n- src/a.rs",
                &["src/a.rs"],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(names(text), expected, "{text}");
        }
    }
}
