//! Cutting a text to a budget of tokens: head and tail, never a silent hole.

/// Lines longer than this many characters are cut in the middle.
const LINE_CHARS: usize = 400;

/// A text cut to its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shaped {
    /// The text, with a notice where something is missing.
    pub(crate) text: String,
    /// How many lines are missing.
    pub(crate) omitted_lines: usize,
}

/// Which end of a text matters more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Favour {
    /// Command output: one third head, two thirds tail, where errors and sums stand.
    Tail,
    /// File content: from the beginning only.
    Head,
}

/// Cuts `text` to about `budget` tokens.
pub(crate) fn shape(
    text: &str,
    budget: u64,
    favour: Favour,
    count: &dyn Fn(&str) -> u64,
) -> Shaped {
    let text = text.trim_end();
    let lines: Vec<String> = text.lines().map(cut_line).collect();
    let costs: Vec<u64> = lines.iter().map(|line| count(line) + 1).collect();
    let total: u64 = costs.iter().sum();
    if total <= budget {
        return Shaped {
            text: lines.join("\n"),
            omitted_lines: 0,
        };
    }
    let head_share = match favour {
        Favour::Tail => budget / 3,
        Favour::Head => budget,
    };
    let head = fitting(costs.iter(), head_share);
    let used: u64 = costs[..head].iter().sum();
    let tail = match favour {
        Favour::Tail => fitting(costs[head..].iter().rev(), budget.saturating_sub(used)),
        Favour::Head => 0,
    };
    let omitted = lines.len() - head - tail;
    if head + tail == 0 {
        // Not even one line fits: a piece of the first one says more than nothing.
        let piece: String = lines
            .first()
            .map(|l| l.chars().take(80).collect())
            .unwrap_or_default();
        return Shaped {
            text: format!("{piece} […]"),
            omitted_lines: omitted,
        };
    }
    let mut shown: Vec<String> = lines[..head].to_vec();
    if omitted > 0 {
        let dropped: u64 = costs[head..lines.len() - tail].iter().sum();
        shown.push(format!(
            "[… {omitted} lines, about {dropped} tokens, left out …]"
        ));
    }
    shown.extend_from_slice(&lines[lines.len() - tail..]);
    Shaped {
        text: shown.join("\n"),
        omitted_lines: omitted,
    }
}

fn fitting<'a>(costs: impl Iterator<Item = &'a u64>, budget: u64) -> usize {
    let mut sum = 0;
    costs
        .take_while(|cost| {
            sum += **cost;
            sum <= budget
        })
        .count()
}

/// A line cut in the middle, with the number of characters that are missing.
pub(crate) fn cut_line(line: &str) -> String {
    let length = line.chars().count();
    if length <= LINE_CHARS {
        return line.to_string();
    }
    let side = LINE_CHARS / 2;
    let head: String = line.chars().take(side).collect();
    let tail: String = line.chars().skip(length - side).collect();
    format!("{head}[… {} characters …]{tail}", length - 2 * side)
}

#[cfg(test)]
mod tests {
    use super::{Favour, cut_line, shape};
    use proptest::prelude::{prop_assert, proptest};

    /// Qwen's worst case: every digit is a token.
    fn count(text: &str) -> u64 {
        u64::try_from(text.chars().filter(|c| !c.is_whitespace()).count()).unwrap_or(0)
    }

    #[test]
    fn b09_head_and_tail_stay_and_the_hole_is_named() {
        let text = (1..=200_000)
            .map(|n| format!("{n}\n"))
            .collect::<Vec<_>>()
            .concat();
        let shaped = shape(&text, 300, Favour::Tail, &count);
        assert!(shaped.text.starts_with("1\n2\n"));
        assert!(shaped.text.ends_with("200000"));
        assert!(shaped.text.contains("lines, about"), "{}", shaped.text);
        assert!(count(&shaped.text) < 360);
        assert!(shaped.omitted_lines > 199_000);
    }

    #[test]
    fn b09_one_endless_line_is_cut_in_the_middle() {
        let line = "x".repeat(5_000_000);
        assert_eq!(cut_line(&line).chars().filter(|c| *c == 'x').count(), 400);
        let shaped = shape(&line, 1000, Favour::Tail, &count);
        assert!(shaped.text.len() < 500);
    }

    #[test]
    fn what_fits_is_unchanged() {
        let shaped = shape("a\nb\n", 10, Favour::Tail, &count);
        assert_eq!((shaped.text.as_str(), shaped.omitted_lines), ("a\nb", 0));
    }

    #[test]
    fn files_are_cut_at_the_end_only() {
        let shaped = shape("aaaa\nbbbb\ncccc", 11, Favour::Head, &count);
        assert!(
            shaped.text.starts_with("aaaa\nbbbb\n[… 1 lines"),
            "{}",
            shaped.text
        );
    }

    proptest! {
        #[test]
        fn the_budget_holds_but_for_the_notice(text in "[a-z0-9\n é]{0,400}", budget in 0u64..200) {
            let shaped = shape(&text, budget, Favour::Tail, &count);
            prop_assert!(count(&shaped.text) <= budget + 120);
        }
    }
}
