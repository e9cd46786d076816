//! Applying the edits of one call to one file, all or none.

use super::find::{How, Place, find};
use super::text::{Normalised, TextFile, unix};

/// One replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    /// What to replace.
    pub(crate) old: String,
    /// What to put there.
    pub(crate) new: String,
    /// Whether every place is meant.
    pub(crate) all: bool,
    /// The line (from 1) where the place starts, if there are several.
    pub(crate) line: Option<u64>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied {
    /// The file afterwards.
    pub(crate) file: TextFile,
    /// The least strict way that was needed.
    pub(crate) how: How,
    /// How many places were replaced.
    pub(crate) replaced: usize,
    /// The lines (from 1) of the first changed place afterwards.
    pub(crate) lines: (usize, usize),
}

/// Why an edit was refused; the text is what the model gets to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// There is no text to look for.
    #[error("old_string is empty; give the lines to replace, or use write for the whole file")]
    EmptyOld,
    /// Nothing would change.
    #[error("old_string and new_string are equal; nothing would change")]
    NoChange,
    /// The new text is there and the old one is not.
    #[error("nothing to do: the new text is already at line {line}")]
    AlreadyApplied {
        /// Where.
        line: usize,
    },
    /// It is nowhere.
    #[error("old_string is not in the file{when}. The most similar lines are:\n{nearest}")]
    NotFound {
        /// `""` or that earlier edits of the call came first.
        when: &'static str,
        /// Numbered lines.
        nearest: String,
    },
    /// It is in several places.
    #[error(
        "old_string is in {count} places{when} (lines {lines}); add surrounding lines, or give line, or replace_all"
    )]
    Ambiguous {
        /// `""` or that earlier edits of the call came first.
        when: &'static str,
        /// How many.
        count: usize,
        /// Where.
        lines: String,
    },
    /// None of the places starts at the given line.
    #[error("old_string does not start at line {line}; it starts at {lines}")]
    WrongLine {
        /// The line given.
        line: u64,
        /// Where it does.
        lines: String,
    },
}

/// Applies `edits` in order. If one of them is refused, nothing is changed.
pub(crate) fn apply(file: &TextFile, edits: &[Edit]) -> Result<Applied, Refused> {
    let mut current = file.clone();
    let mut how = How::Exact;
    let mut replaced = 0;
    let mut lines = (1, 1);
    for (number, edit) in edits.iter().enumerate() {
        let when = if number == 0 {
            ""
        } else {
            " after the earlier edits"
        };
        let step = apply_one(&current, edit, when)?;
        if number == 0 {
            lines = step.lines;
        }
        if step.how != How::Exact {
            how = step.how;
        }
        replaced += step.replaced;
        current = step.file;
    }
    if current == *file {
        return Err(Refused::NoChange);
    }
    Ok(Applied {
        file: current,
        how,
        replaced,
        lines,
    })
}

fn apply_one(file: &TextFile, edit: &Edit, when: &'static str) -> Result<Applied, Refused> {
    let (old, new) = (unix(&edit.old), unix(&edit.new));
    if old.is_empty() {
        return Err(Refused::EmptyOld);
    }
    if old == new {
        return Err(Refused::NoChange);
    }
    let text = Normalised::new(&file.raw);
    let Some((how, places)) = find(&text.text, &old, &new) else {
        return Err(not_found(&text.text, &old, &new, when));
    };
    let chosen = choose(&text.text, places, edit, when)?;
    let mut raw = file.raw.clone();
    // From the end, so that earlier places keep their offsets.
    for place in chosen.iter().rev() {
        let new = if text.is_crlf(place.start, place.end) {
            place.new.replace('\n', "\r\n")
        } else {
            place.new.clone()
        };
        raw.replace_range(text.original(place.start)..text.original(place.end), &new);
    }
    let first = chosen
        .first()
        .map_or(1, |place| line_of(&text.text, place.start));
    let height = chosen.first().map_or(0, |place| {
        place.new.trim_end_matches('\n').matches('\n').count()
    });
    Ok(Applied {
        file: TextFile { bom: file.bom, raw },
        how,
        replaced: chosen.len(),
        lines: (first, first + height),
    })
}

/// The one place that is meant, or all of them where all are meant.
fn choose(
    text: &str,
    mut places: Vec<Place>,
    edit: &Edit,
    when: &'static str,
) -> Result<Vec<Place>, Refused> {
    let lines = |places: &[Place]| {
        let numbers: Vec<String> = places
            .iter()
            .take(10)
            .map(|place| line_of(text, place.start).to_string())
            .collect();
        numbers.join(", ")
    };
    if edit.all {
        // Overlapping places cannot all be replaced; the first of them wins.
        let mut end = 0;
        places.retain(|place| {
            let free = place.start >= end;
            if free {
                end = place.end;
            }
            free
        });
        return Ok(places);
    }
    if let (Some(line), true) = (edit.line, places.len() > 1) {
        let at = places
            .iter()
            .position(|place| u64::try_from(line_of(text, place.start)) == Ok(line));
        return match at {
            Some(at) => Ok(vec![places.swap_remove(at)]),
            None => Err(Refused::WrongLine {
                line,
                lines: lines(&places),
            }),
        };
    }
    if places.len() == 1 {
        return Ok(places);
    }
    Err(Refused::Ambiguous {
        when,
        count: places.len(),
        lines: lines(&places),
    })
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn not_found(text: &str, old: &str, new: &str, when: &'static str) -> Refused {
    if new.trim().len() > 3
        && let Some((How::Exact | How::TrailingSpace | How::Indentation, places)) =
            find(text, new, "")
        && let Some(place) = places.first()
    {
        return Refused::AlreadyApplied {
            line: line_of(text, place.start),
        };
    }
    Refused::NotFound {
        when,
        nearest: nearest(text, old),
    }
}

/// The lines most like what was looked for, numbered; at most 12 of them.
fn nearest(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let wanted: Vec<&str> = old
        .split('\n')
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let height = wanted.len().clamp(1, lines.len());
    let score = |window: &[&str]| -> usize {
        wanted
            .iter()
            .map(|w| {
                window
                    .iter()
                    .map(|line| likeness(w, line.trim()))
                    .max()
                    .unwrap_or(0)
            })
            .sum()
    };
    let best = lines
        .windows(height)
        .enumerate()
        .map(|(at, window)| (score(window), std::cmp::Reverse(at)))
        .max();
    let Some((_, std::cmp::Reverse(at))) = best else {
        return "(the file is empty)".into();
    };
    let from = at.saturating_sub(1);
    let shown: Vec<String> = lines
        .iter()
        .enumerate()
        .skip(from)
        .take((height + 2).min(12))
        .map(|(number, line)| format!("{}\t{line}", number + 1))
        .collect();
    shown.join("\n")
}

/// How many words two lines share, weighted so that an equal line counts most.
fn likeness(a: &str, b: &str) -> usize {
    if a == b {
        return 100;
    }
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .map(ToString::to_string)
            .collect()
    };
    let (a, b) = (words(a), words(b));
    let shared = a.iter().filter(|w| b.contains(w)).count();
    80 * shared / a.len().max(b.len()).max(1)
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
