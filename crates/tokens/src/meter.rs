//! One way of counting texts, whichever is at hand.

use baton_protocol::Method;

use crate::class_model::Estimator;
use crate::count::Count;
use crate::engine::{Counter, Tokenizer};
use crate::family::Family;

/// Counts texts, one at a time or piece by piece.
#[derive(Debug, Clone)]
pub struct Meter(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Class(Family),
    Exact(Tokenizer),
}

impl Meter {
    /// By the class model of a family; by bytes for an unknown one.
    pub const fn of_family(family: Family) -> Self {
        Self(Kind::Class(family))
    }

    /// By a tokenizer, exactly.
    pub const fn of_tokenizer(tokenizer: Tokenizer) -> Self {
        Self(Kind::Exact(tokenizer))
    }

    /// Whether it knows neither the tokenizer nor its family.
    pub const fn is_unknown(&self) -> bool {
        matches!(self.0, Kind::Class(Family::Unknown))
    }

    /// The tokenizer, where it has one.
    pub const fn tokenizer(&self) -> Option<&Tokenizer> {
        match &self.0 {
            Kind::Class(_) => None,
            Kind::Exact(tokenizer) => Some(tokenizer),
        }
    }

    /// Counts one text.
    pub fn count(&self, text: &str) -> Count {
        let mut tally = self.tally();
        tally.push(text);
        tally.take()
    }

    /// Begins a text that comes in pieces.
    pub fn tally(&self) -> Tally<'_> {
        Tally(match &self.0 {
            Kind::Class(family) => State::Class {
                family: *family,
                estimator: Box::new(Estimator::new(*family)),
            },
            Kind::Exact(tokenizer) => State::Exact {
                counter: Box::new(tokenizer.counter()),
                tokens: 0,
                broken: 0,
            },
        })
    }

    /// How it counts, in words.
    pub fn source(&self) -> String {
        match &self.0 {
            Kind::Class(Family::Unknown) => {
                "no known tokenizer: mean of five families, bounded by the bytes".into()
            }
            Kind::Class(family) => format!("class model of the {} family", family.name()),
            Kind::Exact(tokenizer) => format!("tokenizer {}", tokenizer.source()),
        }
    }
}

/// The count of texts that come in pieces, in constant memory.
#[derive(Debug)]
pub struct Tally<'m>(State<'m>);

#[derive(Debug)]
enum State<'m> {
    Class {
        family: Family,
        estimator: Box<Estimator>,
    },
    Exact {
        counter: Box<Counter<'m>>,
        tokens: u64,
        broken: u64,
    },
}

impl Tally<'_> {
    /// Adds a piece of text. Cut the text where [`safe_cut`] says, and the sum is the count of the
    /// whole.
    pub fn push(&mut self, piece: &str) {
        match &mut self.0 {
            State::Class { estimator, .. } => estimator.push(piece),
            State::Exact {
                counter, tokens, ..
            } => *tokens += counter.count(piece),
        }
    }

    /// Adds bytes that are no UTF-8.
    pub fn push_broken(&mut self, bytes: usize) {
        match &mut self.0 {
            State::Class { estimator, .. } => estimator.push_broken(bytes),
            State::Exact { broken, .. } => *broken += bytes as u64,
        }
    }

    /// The count of all that was added; begins anew.
    pub fn take(&mut self) -> Count {
        match &mut self.0 {
            State::Class { family, estimator } => {
                std::mem::replace(&mut **estimator, Estimator::new(*family)).finish()
            }
            State::Exact { tokens, broken, .. } => {
                let count = Count::exact(std::mem::take(tokens), Method::Tokenizer);
                count + Count::of_broken(std::mem::take(broken))
            }
        }
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
            assert_eq!(tally.take(), meter.count(&text));
            assert_eq!(tally.take().tokens, 0, "it begins anew");
        }
    }
}
