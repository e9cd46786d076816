//! Finding the one shift of indentation between two blocks, and applying it to a third.

/// How the file's indentation differs from the one the model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shift {
    /// The file has this in front of what the model wrote.
    Add(String),
    /// The model wrote this in front of what the file has.
    Remove(String),
    /// The file uses tabs where the model wrote this many spaces, or the other way round.
    Units {
        /// One level in what the model wrote.
        from: String,
        /// One level in the file.
        to: String,
        /// What the file has in front besides.
        extra: String,
    },
}

/// The one shift that turns every non-blank line of `written` into its line of `file`.
pub(crate) fn shift(written: &[&str], file: &[&str]) -> Option<Shift> {
    let pairs: Vec<(&str, &str)> = written
        .iter()
        .zip(file)
        .filter(|(w, f)| !(w.trim().is_empty() && f.trim().is_empty()))
        .map(|(w, f)| (*w, *f))
        .collect();
    if written.len() != file.len() || pairs.is_empty() {
        return None;
    }
    if pairs.iter().any(|(w, f)| w.trim() != f.trim()) {
        return None;
    }
    let indents: Vec<(&str, &str)> = pairs.iter().map(|(w, f)| (indent(w), indent(f))).collect();
    let (w, f) = *indents.first()?;
    let candidate = if let Some(more) = f.strip_suffix(w) {
        Some(Shift::Add(more.to_string()))
    } else {
        w.strip_suffix(f)
            .map(|less| Shift::Remove(less.to_string()))
    };
    let fits = |shift: &Shift| indents.iter().all(|(w, f)| shift.line(w) == *f);
    candidate
        .filter(|shift| fits(shift))
        .or_else(|| unit_shifts(&indents).into_iter().find(|shift| fits(shift)))
}

/// Candidates for a different unit of indentation, such as two spaces against four.
fn unit_shifts(indents: &[(&str, &str)]) -> Vec<Shift> {
    let mut shifts = Vec::new();
    let units = ["\t", "  ", "    ", "   ", "        "];
    for from in units {
        for to in units {
            if from == to {
                continue;
            }
            // The first line tells how much the whole block is moved besides.
            let Some((w, f)) = indents.first() else {
                continue;
            };
            let moved = w.replace(from, to);
            if let Some(extra) = f.strip_suffix(moved.as_str()) {
                shifts.push(Shift::Units {
                    from: from.into(),
                    to: to.into(),
                    extra: extra.into(),
                });
            }
        }
    }
    shifts
}

impl Shift {
    /// A block with this shift on every non-blank line.
    pub(crate) fn block(&self, text: &str) -> String {
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| {
                if line.trim().is_empty() {
                    line.to_string()
                } else {
                    self.line(line)
                }
            })
            .collect();
        lines.join("\n")
    }

    fn line(&self, line: &str) -> String {
        match self {
            Self::Add(more) => format!("{more}{line}"),
            Self::Remove(less) => line
                .strip_prefix(less.as_str())
                .unwrap_or(line.trim_start())
                .to_string(),
            Self::Units { from, to, extra } => {
                let indent = indent(line);
                format!(
                    "{extra}{}{}",
                    indent.replace(from.as_str(), to),
                    &line[indent.len()..]
                )
            }
        }
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::{Shift, shift};

    #[test]
    fn a_block_written_too_far_left_or_right() {
        assert_eq!(
            shift(&["if x:", "  y"], &["    if x:", "      y"]),
            Some(Shift::Add("    ".into()))
        );
        assert_eq!(
            shift(&["  a", "", "  b"], &["a", "", "b"]),
            Some(Shift::Remove("  ".into()))
        );
    }

    #[test]
    fn two_spaces_for_four_and_spaces_for_tabs() {
        let two = shift(
            &["def f():", "  if x:", "    y"],
            &["def f():", "    if x:", "        y"],
        )
        .unwrap();
        assert_eq!(two.block("def f():\n  return 1"), "def f():\n    return 1");
        let tabs = shift(&["    a", "        b"], &["\ta", "\t\tb"]).unwrap();
        assert_eq!(tabs.block("        c"), "\t\tc");
    }

    #[test]
    fn different_words_or_an_uneven_shift_are_no_shift() {
        assert_eq!(shift(&["a"], &["b"]), None);
        assert_eq!(shift(&["a", "b"], &["  a", "   b"]), None);
        assert_eq!(shift(&["a"], &["a", "b"]), None);
    }
}
