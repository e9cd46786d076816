//! One way of counting texts, whichever is at hand.

use crate::class_model::Estimator;
use crate::count::Count;
use crate::family::Family;

/// Counts texts, one at a time or piece by piece.
#[derive(Debug, Clone)]
pub struct Meter {
    family: Family,
}

impl Meter {
    /// By the class model of a family; by bytes for an unknown one.
    pub const fn of_family(family: Family) -> Self {
        Self { family }
    }

    /// Counts one text.
    pub fn count(&self, text: &str) -> Count {
        let mut tally = self.tally();
        tally.push(text);
        tally.finish()
    }

    /// Begins a text that comes in pieces.
    pub const fn tally(&self) -> Tally {
        Tally(Estimator::new(self.family))
    }

    /// How it counts, in words.
    pub fn source(&self) -> String {
        match self.family {
            Family::Unknown => {
                "no known tokenizer: mean of five families, bounded by the bytes".into()
            }
            family => format!("class model of the {} family", family.name()),
        }
    }
}

/// The count of a text that comes in pieces, in constant memory.
#[derive(Debug, Clone)]
pub struct Tally(Estimator);

impl Tally {
    /// Adds a piece of text. Cut the text where [`safe_cut`] says, and the sum is the count of the
    /// whole.
    pub fn push(&mut self, piece: &str) {
        self.0.push(piece);
    }

    /// Adds bytes that are no UTF-8.
    pub fn push_broken(&mut self, bytes: usize) {
        self.0.push_broken(bytes);
    }

    /// The count of all that was added.
    pub fn finish(&self) -> Count {
        self.0.finish()
    }
}

/// Where to cut a text in two so that the parts' tokens add up to the whole's: before the last space
/// between two ASCII letters, where every known tokenizer begins a new piece. None if there is no
/// such place.
pub fn safe_cut(text: &[u8]) -> Option<usize> {
    let between = text.windows(3).rposition(
        |w| matches!(w, [a, b' ', b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic()),
    )?;
    Some(between + 1)
}

#[cfg(test)]
mod tests {
    use super::{Meter, safe_cut};
    use crate::Family;

    #[test]
    fn a_safe_cut_is_before_a_space_between_words() {
        assert_eq!(safe_cut(b"one two  three"), Some(3));
        assert_eq!(safe_cut(b"one\ntwo  3 four"), None);
    }

    #[test]
    fn a_tally_of_safe_pieces_is_the_count_of_the_whole() {
        let text = "It was the best of times, it was the worst of times;\n\n  and so on ".repeat(9);
        for family in [Family::Qwen, Family::Unknown] {
            let meter = Meter::of_family(family);
            let mut tally = meter.tally();
            let mut rest = text.as_str();
            while let Some(cut) = safe_cut(&rest.as_bytes()[..rest.len().min(40)]) {
                tally.push(&rest[..cut]);
                rest = &rest[cut..];
            }
            tally.push(rest);
            assert_eq!(tally.finish(), meter.count(&text));
        }
    }
}
