//! The tools that change files, and the rules they share.

use std::collections::{BTreeMap, BTreeSet};

use baton_repo::GitPath;
use sha2::{Digest as _, Sha256};

use super::worktree::{Owner, WorkTree};
use crate::edit::apply::{Edit, apply};
use crate::edit::text::TextFile;
use crate::files::beneath::FileError;
use crate::text::wreck::wrecked;

/// What the model has seen of each file: the digest of its content then.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    files: BTreeMap<String, [u8; 32]>,
    /// Contents that were refused once as wrecks; the same again is meant.
    insisted: BTreeSet<[u8; 32]>,
}

impl Seen {
    /// The model is shown this content.
    pub(crate) fn note(&mut self, path: &str, bytes: &[u8]) {
        self.files.insert(path.to_string(), digest(bytes));
    }

    /// What the model knows of a file is no longer worth anything.
    pub(crate) fn forget(&mut self, path: &str) {
        self.files.remove(path);
    }

    fn state(&self, path: &str, bytes: &[u8]) -> Knowledge {
        match self.files.get(path) {
            None => Knowledge::Never,
            Some(known) if *known == digest(bytes) => Knowledge::Current,
            Some(_) => Knowledge::Stale,
        }
    }

    /// Whether the same wreck was refused before.
    fn insists(&mut self, bytes: &[u8]) -> bool {
        !self.insisted.insert(digest(bytes))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    Never,
    Current,
    Stale,
}

/// A change that was made; the text is for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// What happened.
    pub(crate) text: String,
    /// Whether any byte differs.
    pub(crate) changed: bool,
    /// How an edit was found if not exactly.
    pub(crate) tolerance: Option<&'static str>,
}

/// Applies the edits of one call. The error is for the model, and nothing is changed then.
pub(crate) fn edit(
    tree: &WorkTree,
    seen: &mut Seen,
    path: &str,
    edits: &[Edit],
) -> Result<Made, String> {
    may_change(tree, path)?;
    let bytes = match tree.beneath.read(path) {
        // Nothing is replaced by something: the file is to hold it.
        Ok(bytes) if bytes.is_empty() && edits.iter().all(|e| e.old.is_empty()) => {
            let text: String = edits.iter().map(|e| e.new.as_str()).collect();
            return write(tree, seen, path, &text);
        }
        Ok(bytes) => bytes,
        Err(FileError::Missing(_)) if edits.iter().all(|e| e.old.is_empty()) => {
            let text: String = edits.iter().map(|e| e.new.as_str()).collect();
            return write(tree, seen, path, &text);
        }
        Err(FileError::Missing(_)) => {
            return Err(format!(
                "{path} does not exist, so there is nothing to replace in it; use write to create it"
            ));
        }
        Err(error) => return Err(error.to_string()),
    };
    if seen.state(path, &bytes) == Knowledge::Stale {
        return Err(format!(
            "{path} was changed by someone else since you saw it; read it again first"
        ));
    }
    let file = TextFile::decode(&bytes).map_err(|error| format!("{path} is {error}"))?;
    let applied = apply(&file, edits).map_err(|refused| format!("{path}: {refused}"))?;
    not_wrecked(seen, path, &file.raw, &applied.file.raw)?;
    let new = applied.file.encode();
    tree.beneath.write(path, &new).map_err(|e| e.to_string())?;
    seen.note(path, &new);
    let exact = applied.how == crate::edit::find::How::Exact;
    let how = if exact {
        String::new()
    } else {
        format!(" (matched: {})", applied.how.word())
    };
    let places = match applied.replaced {
        1 => String::new(),
        n => format!(" in {n} places"),
    };
    Ok(Made {
        text: format!(
            "Changed {path}{places}{how}:\n{}",
            around(&applied.file.raw, applied.lines)
        ),
        changed: true,
        tolerance: (!exact).then_some("edit_found_tolerantly"),
    })
}

/// Writes a whole file.
pub(crate) fn write(
    tree: &WorkTree,
    seen: &mut Seen,
    path: &str,
    text: &str,
) -> Result<Made, String> {
    may_change(tree, path)?;
    let (new, old) = match tree.beneath.read(path) {
        Ok(bytes) => {
            match seen.state(path, &bytes) {
                Knowledge::Current => {}
                Knowledge::Stale => {
                    return Err(format!(
                        "{path} was changed by someone else since you saw it; read it again first"
                    ));
                }
                Knowledge::Never if bytes.is_empty() => {}
                Knowledge::Never => {
                    return Err(format!(
                        "{path} exists and you have not seen it; read it first, or use edit"
                    ));
                }
            }
            let file = TextFile::decode(&bytes).map_err(|error| format!("{path} is {error}"))?;
            let mut text = text.to_string();
            if file.raw.ends_with('\n') && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            (file.replaced_by(&text).encode(), Some(bytes))
        }
        Err(FileError::Missing(_)) => (text.as_bytes().to_vec(), None),
        Err(error) => return Err(error.to_string()),
    };
    if old.as_deref() == Some(new.as_slice()) {
        return Ok(Made {
            text: format!("{path} already has exactly this content; nothing is changed."),
            changed: false,
            tolerance: None,
        });
    }
    if let Some(old) = &old {
        let before = String::from_utf8_lossy(old);
        not_wrecked(seen, path, &before, &String::from_utf8_lossy(&new))?;
    }
    tree.beneath.write(path, &new).map_err(|e| e.to_string())?;
    seen.note(path, &new);
    let lines = String::from_utf8_lossy(&new).lines().count();
    let verb = if old.is_some() { "Rewrote" } else { "Created" };
    Ok(Made {
        text: format!("{verb} {path} ({lines} lines)."),
        changed: true,
        tolerance: None,
    })
}

fn may_change(tree: &WorkTree, path: &str) -> Result<(), String> {
    match tree.owner(&GitPath::from(path)) {
        Owner::Task => Ok(()),
        Owner::Nobody => Err(format!("{path} is outside what this task may change")),
        Owner::Checks => Err(format!(
            "{path} belongs to the checks and must stay as it is; change the code it tests instead"
        )),
    }
}

fn not_wrecked(seen: &mut Seen, path: &str, old: &str, new: &str) -> Result<(), String> {
    match wrecked(path, old, new) {
        Some(how) if !seen.insists(new.as_bytes()) => Err(format!(
            "not done, because {path} would be damaged: it {how}. Give the complete content, or use edit for a small change."
        )),
        _ => Ok(()),
    }
}

/// The changed lines with three lines around them, numbered; at most 24.
fn around(text: &str, lines: (usize, usize)) -> String {
    let from = lines.0.saturating_sub(3).max(1);
    let shown: Vec<String> = text
        .lines()
        .enumerate()
        .skip(from - 1)
        .take((lines.1 + 3 - from + 1).min(24))
        .map(|(at, line)| format!("{}\t{}", at + 1, crate::text::shape::cut_line(line)))
        .collect();
    shown.join("\n")
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
#[path = "edits_tests.rs"]
mod tests;
