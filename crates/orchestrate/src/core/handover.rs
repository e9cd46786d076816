//! A brief for whoever takes over: facts only, the most important first, within a size that can be read.

use std::fmt::Write as _;

/// The most bytes of a brief.
pub(crate) const MOST: usize = 24_000;

/// One part of it.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub title: &'static str,
    pub text: String,
    /// The most bytes it may take, so that no part crowds out those behind it.
    pub most: usize,
}

impl Part {
    pub(crate) fn new(title: &'static str, text: impl Into<String>, most: usize) -> Self {
        Self {
            title,
            text: text.into(),
            most,
        }
    }

    pub(crate) fn list(title: &'static str, lines: &[String], most: usize) -> Self {
        let lines: Vec<String> = lines.iter().map(|l| format!("- {l}")).collect();
        Self::new(title, lines.join("\n"), most)
    }
}

/// The brief. Parts that say nothing are left out; what does not fit is cut and said.
pub(crate) fn render(at: &str, focus: &str, parts: &[Part]) -> String {
    let mut text = format!("# Handover, {at}\n");
    if !focus.is_empty() {
        let _ = write!(text, "\nFocus: {}\n", cut(focus, 500));
    }
    for part in parts.iter().filter(|p| !p.text.trim().is_empty()) {
        let room = MOST.saturating_sub(text.len() + part.title.len() + 64);
        if room < 200 {
            let _ = write!(text, "\n[{} left out: no room]\n", part.title);
            break;
        }
        let _ = write!(
            text,
            "\n## {}\n\n{}\n",
            part.title,
            cut(part.text.trim(), part.most.min(room))
        );
    }
    cut(&text, MOST)
}

/// The beginning of a text, cut at a line where that is near, never inside a character.
fn cut(text: &str, most: usize) -> String {
    const SIGN: &str = "\n[cut]";
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most.saturating_sub(SIGN.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let line = text[..end].rfind('\n').filter(|at| *at > end / 2);
    format!("{}{SIGN}", &text[..line.unwrap_or(end)])
}

#[cfg(test)]
mod tests {
    use super::{MOST, Part, render};

    #[test]
    fn the_order_is_kept_and_what_is_empty_is_left_out() {
        let parts = [
            Part::new("Goal", "ship it", 100),
            Part::new("Plans", "  ", 100),
            Part::list("Commits", &["a one".into(), "b two".into()], 100),
        ];
        let text = render("now", "payments", &parts);
        assert_eq!(
            text,
            "# Handover, now\n\nFocus: payments\n\n## Goal\n\nship it\n\n## Commits\n\n- a one\n- b two\n"
        );
    }

    proptest::proptest! {
        #[test]
        fn it_is_never_longer_than_it_may_be(
            texts in proptest::collection::vec("(\\PC|\n){0,400}", 0..8), times in 1usize..200
        ) {
            let parts: Vec<Part> = texts.iter().map(|t| Part::new("P", t.repeat(times), 30_000)).collect();
            let text = render("now", "", &parts);
            proptest::prop_assert!(text.len() <= MOST);
        }
    }
}
