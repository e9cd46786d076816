//! Which lines of a plan are its steps.
//!
//! In this order: headings that are called a task or a step; else the checkboxes that stand outermost;
//! else numbered headings; else the numbered list of the plan. So a box below a `### Task 1` belongs
//! to that task, and a box below another box is a part of it.

use std::collections::BTreeMap;

use baton_protocol::TaskId;

use super::lines::{Kind, Line, is_settled};
use super::{Mark, Step, fields};

/// The longest title that becomes an id.
const ID: usize = 60;

/// The steps, and the index of the first one's line.
pub(super) fn find(text: &str, lines: &[Line<'_>], from: usize) -> (Vec<Step>, usize) {
    let raw: Vec<&str> = text.split_inclusive('\n').collect();
    let starts = starts(lines, from);
    let mut seen = BTreeMap::new();
    let mut steps = Vec::new();
    for (place, &(at, number)) in starts.iter().enumerate() {
        let end = end(lines, at).min(starts.get(place + 1).map_or(lines.len(), |next| next.0));
        let number = number.unwrap_or(u64::try_from(place + 1).unwrap_or(0));
        steps.push(step(&raw, lines, at, end, number, &mut seen));
    }
    // Numbers that are used twice say nothing; then the place counts.
    let mut numbers: Vec<u64> = steps.iter().map(|s| s.number).collect();
    numbers.sort_unstable();
    if numbers.windows(2).any(|w| w[0] == w[1]) {
        for (step, place) in steps.iter_mut().zip(1..) {
            step.number = place;
        }
    }
    (steps, starts.first().map_or(lines.len(), |s| s.0))
}

type Start = (usize, Option<u64>);

/// A heading that is a step, with the number it names.
struct Called(Option<u64>);

fn starts(lines: &[Line<'_>], from: usize) -> Vec<Start> {
    let indexed = || lines.iter().enumerate().skip(from);
    let headings = |number: fn(&Line<'_>) -> Option<Called>| -> Vec<Start> {
        indexed()
            .filter(|(_, l)| matches!(l.kind, Kind::Heading { .. }))
            .filter_map(|(index, l)| Some((index, number(l)?.0)))
            .collect()
    };
    let called = headings(called);
    if !called.is_empty() {
        return called;
    }
    let boxes = outermost(lines, from);
    if !boxes.is_empty() {
        return boxes;
    }
    let numbered = headings(|l| Some(Called(Some(leading_number(l.text)?))));
    if !numbered.is_empty() {
        return numbered;
    }
    numbered_list(lines, from)
}

/// `Task 3: …`, `Step 2`, `[ ] Task A`; a heading with a box of its own counts too.
fn called(line: &Line<'_>) -> Option<Called> {
    let text = line.text.trim_start_matches(['*', '_']);
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | '-' | '—'));
    let first = words.next()?.to_lowercase();
    let second = words.find(|w| !w.is_empty());
    let named =
        matches!(first.as_str(), "task" | "step") && second.is_some_and(|w| w.chars().count() <= 4);
    if !named {
        return line.mark.map(|_| Called(leading_number(line.text)));
    }
    let number = second?.trim_start_matches('#').parse().ok();
    Some(Called(number))
}

/// `3. Words`, `3) Words`, `3: Words`.
fn leading_number(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = text.get(digits..)?;
    (digits > 0 && digits < 6 && rest.starts_with(['.', ')', ':']))
        .then(|| text[..digits].parse().ok())
        .flatten()
}

/// Boxes that are in no other box: the item they stand in has none above it with less indentation.
fn outermost(lines: &[Line<'_>], from: usize) -> Vec<Start> {
    let mut found = Vec::new();
    let mut outer: Option<usize> = None;
    for (index, line) in lines.iter().enumerate().skip(from) {
        match line.kind {
            Kind::Heading { .. } => outer = None,
            Kind::Item { ordered } if line.mark.is_some() => {
                if outer.is_none_or(|indent| line.indent <= indent + 1) {
                    outer = Some(line.indent);
                    found.push((index, ordered));
                }
            }
            // Words that stand as far out as the box end it.
            Kind::Item { .. } | Kind::Text => {
                if outer.is_some_and(|indent| line.indent <= indent) {
                    outer = None;
                }
            }
            Kind::Blank | Kind::Verbatim => {}
        }
    }
    found
}

/// The outermost numbered items, where there is no box at all.
fn numbered_list(lines: &[Line<'_>], from: usize) -> Vec<Start> {
    let items = lines.iter().enumerate().skip(from);
    let numbered: Vec<(usize, u64, usize)> = items
        .filter_map(|(index, l)| match l.kind {
            Kind::Item { ordered: Some(n) } => Some((index, n, l.indent)),
            _ => None,
        })
        .collect();
    let least = numbered.iter().map(|(_, _, indent)| *indent).min();
    numbered
        .into_iter()
        .filter(|(_, _, indent)| Some(*indent) == least)
        .map(|(index, n, _)| (index, Some(n)))
        .collect()
}

/// The line after the step's last: an item ends where something stands as far out as it, a heading
/// at the next one that is not below it.
fn end(lines: &[Line<'_>], at: usize) -> usize {
    let start = &lines[at];
    let below = lines.iter().enumerate().skip(at + 1);
    let found = below
        .into_iter()
        .find(|(index, line)| match (&start.kind, &line.kind) {
            (Kind::Heading { level }, Kind::Heading { level: other }) => other <= level,
            (Kind::Heading { .. }, _) => false,
            (_, Kind::Heading { .. }) => true,
            (_, Kind::Item { .. }) => line.indent <= start.indent,
            // A paragraph behind a blank line that is not indented stands by itself.
            (_, Kind::Text) => line.indent <= start.indent && lines[index - 1].kind == Kind::Blank,
            _ => false,
        });
    found.map_or(lines.len(), |(index, _)| index)
}

fn step(
    raw: &[&str],
    lines: &[Line<'_>],
    at: usize,
    end: usize,
    number: u64,
    seen: &mut BTreeMap<String, u32>,
) -> Step {
    let line = &lines[at];
    let title = fields::title(line.text);
    let own = line.mark.map(|(mark, byte)| (mark, (at, byte)));
    let inner = lines[at + 1..end]
        .iter()
        .zip(at + 1..)
        .filter_map(|(l, index)| l.mark.map(|(mark, byte)| (mark, (index, byte))));
    let boxes: Vec<(char, (usize, usize))> = own.into_iter().chain(inner).collect();
    let done = match own {
        Some((mark, _)) => is_settled(mark),
        None => !boxes.is_empty() && boxes.iter().all(|(mark, _)| is_settled(*mark)),
    };
    let mark = if boxes.is_empty() {
        Mark::Missing(at, line.words_at)
    } else {
        Mark::Boxes(boxes.into_iter().map(|(_, place)| place).collect())
    };
    Step {
        id: id(&title, seen),
        number,
        body: undented(&raw[at + 1..end]),
        done,
        line: at + 1,
        fields: fields::read(line.text, &lines[at + 1..end]),
        title,
        mark,
    }
}

/// Lines without the indentation they share, and without blank ones around them.
fn undented(raw: &[&str]) -> String {
    let lines: Vec<&str> = raw.iter().map(|l| l.trim_end()).collect();
    let least = lines
        .iter()
        .filter(|l| !l.is_empty())
        .map(|l| l.len() - l.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let cut: Vec<&str> = lines.iter().map(|l| l.get(least..).unwrap_or("")).collect();
    cut.join("\n").trim_matches('\n').to_owned()
}

fn id(title: &str, seen: &mut BTreeMap<String, u32>) -> TaskId {
    let mut slug = String::new();
    for c in title.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= ID {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() { "step" } else { slug };
    // `x-2` may be a title of its own, so a name that is taken is counted further.
    let mut name = slug.to_owned();
    let count = seen.entry(slug.to_owned()).or_insert(0);
    *count += 1;
    let mut next = *count;
    if next > 1 {
        name = format!("{slug}-{next}");
    }
    while next > 1 && seen.contains_key(&name) {
        next += 1;
        name = format!("{slug}-{next}");
    }
    seen.entry(name.clone()).or_insert(1);
    TaskId::new(name).unwrap_or_else(|_| unreachable!("letters, digits and `-` make a task id"))
}

/// The words between the head and the first step, cut where they would crowd out the work.
pub(super) fn preamble(text: &str, from: usize, to: usize) -> String {
    const MOST: usize = 4_000;
    let lines = text.split_inclusive('\n').take(to).skip(from);
    let words: String = lines.collect();
    let words = words.trim().trim_start_matches('\u{feff}');
    if words.chars().count() <= MOST {
        return words.to_owned();
    }
    let cut: String = words.chars().take(MOST).collect();
    format!("{cut}\n[…]")
}
