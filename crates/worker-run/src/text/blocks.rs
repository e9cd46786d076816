//! Files and edits that a model replies with, for models that cannot call tools.

use crate::edit::apply::Edit;

/// One thing a reply asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The whole new content of a file.
    Whole {
        /// The path as written.
        path: String,
        /// The content.
        text: String,
    },
    /// Replacements in a file.
    Edits {
        /// The path as written.
        path: String,
        /// In order.
        edits: Vec<Edit>,
    },
}

/// What a reply holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The changes, in order.
    pub(crate) changes: Vec<Change>,
    /// Whether it says that nothing is left to do.
    pub(crate) done: bool,
    /// What is wrong with it, for the model.
    pub(crate) problems: Vec<String>,
    /// The words outside of blocks.
    pub(crate) words: String,
}

const SEARCH: &str = "<<<<<<<";
const MIDDLE: &str = "=======";
const REPLACE: &str = ">>>>>>>";

/// Reads a reply. `only` is the one file that is meant where a block names none.
pub(crate) fn parse_reply(reply: &str, only: Option<&str>) -> Reply {
    let mut out = Reply::default();
    let mut words: Vec<&str> = Vec::new();
    let mut lines = reply.lines().peekable();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        let Some((fence, info)) = opening_fence(line) else {
            words.push(line);
            continue;
        };
        let mut body: Vec<&str> = Vec::new();
        let mut closed = false;
        while let Some(inner) = lines.next() {
            if is_closing(inner, fence) && !inside_nested(&body, fence, &mut lines.clone()) {
                closed = true;
                break;
            }
            body.push(inner);
        }
        blocks += 1;
        let named = path_in_info(info)
            .or_else(|| {
                words
                    .iter()
                    .rev()
                    .find(|l| !l.trim().is_empty())
                    .and_then(|l| path_in_line(l))
            })
            .or_else(|| body.first().and_then(|l| path_comment(l)));
        if !closed {
            out.problems.push(format!(
                "the code block for {} does not end; it was not applied",
                named.as_deref().unwrap_or("the last file")
            ));
            continue;
        }
        if matches!(info, "bash" | "sh" | "shell" | "console" | "text" | "diff") && named.is_none()
        {
            continue;
        }
        let Some(path) = named.or_else(|| only.map(ToString::to_string)) else {
            if body.iter().any(|l| l.starts_with(SEARCH)) || body.len() > 3 {
                out.problems.push(
                    "a code block has no path on the line before it; it was not applied".into(),
                );
            }
            continue;
        };
        match block_change(path, &body) {
            Ok(change) => push(&mut out.changes, change),
            Err(problem) => out.problems.push(problem),
        }
    }
    out.words = words.join("\n").trim().to_string();
    out.done = says_done(&out.words) && blocks == 0;
    out
}

/// Whether a reply that is still being written has begun a block for a file that is not its own,
/// after at least one complete change: what follows is not worth waiting for.
pub(crate) fn begins_foreign_block(reply: &str, is_own: &dyn Fn(&str) -> bool) -> bool {
    let mut open: Option<&str> = None;
    let mut last_word = "";
    let mut before = 0;
    let mut at = 0;
    for line in reply.split_inclusive('\n') {
        let text = line.trim_end();
        match open {
            Some(fence) if is_closing(text, fence) => open = None,
            Some(_) => {}
            None => {
                if let Some((fence, info)) = opening_fence(text) {
                    let path = path_in_info(info).or_else(|| path_in_line(last_word));
                    if path.is_some_and(|path| !is_own(&path)) {
                        before = at;
                        open = Some(fence);
                        break;
                    }
                    open = Some(fence);
                } else if !text.trim().is_empty() {
                    last_word = text;
                }
            }
        }
        at += line.len();
    }
    open.is_some() && before > 0 && !parse_reply(&reply[..before], None).changes.is_empty()
}

/// A later whole content of the same file replaces an earlier one: models repeat themselves.
fn push(changes: &mut Vec<Change>, change: Change) {
    if let Change::Whole { path, .. } = &change {
        changes.retain(|c| !matches!(c, Change::Whole { path: old, .. } if old == path));
    }
    changes.push(change);
}

fn says_done(words: &str) -> bool {
    words
        .lines()
        .any(|line| line.trim().trim_matches(['*', '.', '`', '#', ' ', '!']) == "DONE")
}

/// The fence and the info string of a line that opens a block.
fn opening_fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let marker = if line.starts_with("```") { '`' } else { '~' };
    let length = line.len() - line.trim_start_matches(marker).len();
    let info = line[length..].trim();
    (length >= 3 && !info.contains('`')).then_some((&line[..length], info))
}

fn is_closing(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.len() >= fence.len()
        && fence
            .chars()
            .next()
            .is_some_and(|c| line.chars().all(|l| l == c))
}

/// Whether a bare fence inside a Markdown file closes an inner block rather than the outer one.
fn inside_nested<'a>(body: &[&str], fence: &str, rest: &mut impl Iterator<Item = &'a str>) -> bool {
    let opens = body
        .iter()
        .filter(|l| opening_fence(l).is_some_and(|(f, i)| f.len() >= fence.len() && !i.is_empty()))
        .count();
    let closes = body.iter().filter(|l| is_closing(l, fence)).count();
    opens > closes && rest.any(|line| is_closing(line, fence))
}

/// `python path/to/file.py`, `python:src/a.py`, `path=src/a.py`, `title="src/a.py"`.
fn path_in_info(info: &str) -> Option<String> {
    info.split([' ', ':', '=', ','])
        .map(|word| word.trim_matches(['"', '\'', '{', '}']))
        .find(|word| looks_like_path(word) && (word.contains('/') || word.contains('.')))
        .map(ToString::to_string)
}

/// A line that is a path and little else: `### src/a.py`, `**src/a.py**:`, `File: src/a.py`.
fn path_in_line(line: &str) -> Option<String> {
    let line = line.trim();
    if line.len() > 200 {
        return None;
    }
    if let Some(quoted) = line.split('`').nth(1)
        && looks_like_path(quoted)
        && (quoted.contains('/') || quoted.contains('.'))
    {
        return Some(quoted.to_string());
    }
    let decoration = [
        '#', '*', '`', ' ', ':', '"', '\'', '-', '(', ')', '[', ']', '>',
    ];
    let mut bare = line.trim_matches(decoration);
    for label in [
        "File",
        "file",
        "Path",
        "path",
        "Filename",
        "filename",
        "File name",
    ] {
        if let Some(rest) = bare
            .strip_prefix(label)
            .and_then(|r| r.trim_start_matches('*').strip_prefix(':'))
        {
            bare = rest.trim_matches(decoration);
        }
    }
    (looks_like_path(bare) && !bare.contains(' ') && (bare.contains('/') || bare.contains('.')))
        .then(|| bare.to_string())
}

/// A first line such as `# src/a.py` or `// src/a.py` inside the block.
fn path_comment(line: &str) -> Option<String> {
    let line = line.trim();
    let bare = line.trim_start_matches(['#', '/', '-', '<', '!', '*', ' ', ';']);
    let bare = bare.trim_end_matches(['-', '>', '*', '/', ' ']);
    let is_comment = bare.len() < line.len();
    (is_comment
        && looks_like_path(bare)
        && !bare.contains(' ')
        && bare.rsplit('/').next()?.contains('.'))
    .then(|| bare.to_string())
}

fn looks_like_path(text: &str) -> bool {
    let end = text.rsplit('/').next().unwrap_or(text);
    !text.is_empty()
        && !end.is_empty()
        && !text.ends_with('.')
        && !text.contains("://")
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "/._-+@ ".contains(c))
        && text.chars().any(char::is_alphabetic)
}

fn block_change(path: String, body: &[&str]) -> Result<Change, String> {
    let has_markers = body.iter().any(|line| is_marker(line, SEARCH));
    if !has_markers {
        let body = match body.first().and_then(|l| path_comment(l)) {
            Some(named) if named == path => &body[1..],
            _ => body,
        };
        let mut text = body.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        return Ok(Change::Whole { path, text });
    }
    let mut edits = Vec::new();
    let mut lines = body.iter();
    while let Some(line) = lines.next() {
        if !is_marker(line, SEARCH) {
            continue;
        }
        let old = until(&mut lines, MIDDLE);
        let new = until(&mut lines, REPLACE);
        let (Some(old), Some(new)) = (old, new) else {
            return Err(format!(
                "a search/replace block for {path} is not complete; nothing of it was applied"
            ));
        };
        edits.push(Edit {
            old,
            new,
            ..Edit::default()
        });
    }
    Ok(Change::Edits { path, edits })
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.trim_start().starts_with(marker)
}

fn until<'a>(lines: &mut impl Iterator<Item = &'a &'a str>, marker: &str) -> Option<String> {
    let mut text = String::new();
    for line in lines {
        if is_marker(line, marker) {
            return Some(text);
        }
        text.push_str(line);
        text.push('\n');
    }
    None
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
