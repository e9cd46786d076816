//! The one kind of pattern a script has: text that must occur, with `*` for any text between.

use serde::Deserialize;

/// One pattern or several of which one must match; a leading `!` turns one into "must not occur".
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Pattern {
    One(String),
    Any(Vec<String>),
}

impl Pattern {
    /// Whether a text matches: no forbidden text occurs, and one wanted text does (if any is).
    pub(crate) fn matches(&self, text: &str) -> bool {
        let patterns = match self {
            Self::One(pattern) => std::slice::from_ref(pattern),
            Self::Any(patterns) => patterns.as_slice(),
        };
        let forbidden = |p: &&String| p.starts_with('!');
        let occurs = |p: &String| occurs(p.trim_start_matches('!'), text);
        if patterns.iter().filter(forbidden).any(occurs) {
            return false;
        }
        let mut wanted = patterns.iter().filter(|p| !forbidden(p)).peekable();
        wanted.peek().is_none() || wanted.any(occurs)
    }
}

/// Whether the parts between the stars occur in `text`, one after the other.
fn occurs(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    for part in pattern.split('*') {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_anywhere_and_a_star_bridges_lines() {
        let one = |p: &str| Pattern::One(p.into());
        assert!(one("b*d").matches("abc\nde"));
        assert!(!one("d*b").matches("abc\nde"));
        assert!(one("!x").matches("abc") && !one("!a").matches("abc"));
        let any = Pattern::Any(vec!["x".into(), "a".into(), "!zz".into()]);
        assert!(any.matches("abc") && !any.matches("abzz") && !any.matches("q"));
    }
}
