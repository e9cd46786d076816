//! A small vocabulary of its own: how a text falls apart under 32,000 common merges.
//!
//! Large vocabularies agree on most of what is frequent. What a text costs under the merges they
//! share says more about what it costs under each of them than any count of letters does.

use super::features::Feature;
use crate::engine::bpe::{Merges, NEVER, Part, merge_all};
use crate::engine::{hash, pieces_of_o200k};

/// The first merges of o200k (published by OpenAI under the MIT licence), best first: pairs of 16-bit
/// numbers, written by benches/tokens/merges.py.
const MERGES: &[u8] = include_bytes!("../../data/merges.bin");

/// The first number that a merge gives; below are the bytes.
const FIRST: u64 = 256;

/// The slots of the table, about half of them taken.
const SLOTS: usize = 1 << 16;

/// How many pieces are remembered.
const REMEMBERED: usize = 1 << 12;

/// Merges by what they join: `left << 32 | right << 16 | joined`, 0 for an empty place.
struct Table([u64; SLOTS]);

/// Filled by the compiler: a tool that counts a few texts would spend most of its time on it.
static TABLE: Table = Table(filled());

#[expect(
    clippy::large_stack_arrays,
    reason = "the compiler runs this, and nothing else does"
)]
const fn filled() -> [u64; SLOTS] {
    let mut slots = [0; SLOTS];
    let mut index = 0;
    while let Some(pair) = chunk(index) {
        let [a, b, c, d] = pair;
        let key = (u16::from_le_bytes([a, b]) as u64) << 16 | u16::from_le_bytes([c, d]) as u64;
        let mut place = home(key);
        while slots[place] != 0 {
            place = (place + 1) % SLOTS;
        }
        slots[place] = key << 16 | (FIRST + index as u64);
        index += 1;
    }
    slots
}

/// The merge at a place of the list.
const fn chunk(index: usize) -> Option<[u8; 4]> {
    let chunks = MERGES.as_chunks::<4>().0;
    if index < chunks.len() {
        Some(chunks[index])
    } else {
        None
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the remainder is a place of the table"
)]
const fn home(key: u64) -> usize {
    hash::of_number(key) as usize % SLOTS
}

impl Merges for Table {
    /// What a merge gives says how early it is: they are numbered alike.
    fn rank(&self, left: u32, right: u32) -> u32 {
        let key = u64::from(left) << 16 | u64::from(right);
        let mut place = home(key);
        loop {
            match self.0[place] {
                0 => return NEVER,
                found if found >> 16 == key => {
                    return u16::try_from(found & 0xFFFF).map_or(NEVER, u32::from);
                }
                _ => place = (place + 1) % SLOTS,
            }
        }
    }

    fn joined(&self, rank: u32) -> u32 {
        rank
    }
}

/// Counts the symbols that texts fall into.
#[derive(Debug, Clone)]
pub(super) struct Merging {
    parts: Vec<Part>,
    /// Pieces counted before: their hashes and symbols. Made when first needed.
    remembered: Vec<(u64, u32)>,
}

impl Merging {
    pub(super) const fn new() -> Self {
        Self {
            parts: Vec::new(),
            remembered: Vec::new(),
        }
    }

    /// Hands out the symbols of each piece, with the feature they count for.
    pub(super) fn push(&mut self, text: &str, mut add: impl FnMut(Feature, u32)) {
        let table = &TABLE;
        self.remembered.resize(REMEMBERED, (0, 0));
        pieces_of_o200k(text, |piece| {
            add(kind(piece), self.symbols_of(piece, table));
        });
    }

    fn symbols_of(&mut self, piece: &str, table: &Table) -> u32 {
        if piece.len() == 1 {
            return 1;
        }
        let hash = hash::of_bytes(piece.as_bytes());
        let place = (hash >> 7) as usize % REMEMBERED;
        if self.remembered[place].0 == hash {
            return self.remembered[place].1;
        }
        let merged = merge_all(table, piece.bytes().map(u32::from), &mut self.parts);
        let left = u32::try_from(merged.left).unwrap_or(u32::MAX);
        self.remembered[place] = (hash, left);
        left
    }
}

/// What a piece mostly is, by its end: a mark or a space before a word belongs to the word.
fn kind(piece: &str) -> Feature {
    match piece.bytes().next_back() {
        Some(b'a'..=b'z' | b'A'..=b'Z') => Feature::MergedLetters,
        Some(b'0'..=b'9') => Feature::MergedDigits,
        Some(0x80..) => Feature::MergedOthers,
        _ if piece.trim_ascii().is_empty() => Feature::MergedSpaces,
        _ => Feature::MergedPunctuation,
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, MERGES, Merging};

    fn symbols(text: &str) -> u32 {
        let mut sum = 0;
        Merging::new().push(text, |_, symbols| sum += symbols);
        sum
    }

    #[test]
    fn each_merge_joins_what_there_is_before_it() {
        let (merges, rest) = MERGES.as_chunks::<2>();
        assert!(rest.is_empty());
        for (index, number) in (0..).zip(merges) {
            assert!(u64::from(u16::from_le_bytes(*number)) < FIRST + index / 2);
        }
    }

    #[test]
    fn common_words_are_one_symbol_and_rare_ones_several() {
        assert_eq!(symbols("the quick return function"), 4);
        assert!(symbols("xqzjvkw") > 3);
        assert_eq!(symbols(""), 0);
    }

    #[test]
    fn a_text_remembered_counts_as_before() {
        let text = "let unwrapped = zyxwv_unwrapped;\n";
        assert_eq!(symbols(&text.repeat(50)), symbols(text) * 50);
    }
}
