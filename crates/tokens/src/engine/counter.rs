//! Counting with a compiled tokenizer.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::bpe::{NEVER, Part, merge_all, merge_parts};
use super::format::Header;
use super::hash;
use super::source::Scheme;
use super::split;
use super::tables::{Strips, Tables};

/// Counts texts with one tokenizer; keeps its buffers from one text to the next.
#[derive(Debug)]
pub struct Counter<'a> {
    scheme: Scheme,
    nfc: bool,
    pieces: Pieces<'a>,
    added: AddedStarts,
    /// The text in normal form, or with its spaces written as U+2581.
    rewritten: String,
}

impl<'a> Counter<'a> {
    pub(super) fn new(header: &Header, file: &'a [u8]) -> Self {
        let tables = Tables::new(header, file);
        Self {
            scheme: header.scheme,
            nfc: header.nfc,
            added: AddedStarts::new(&tables),
            pieces: Pieces {
                tables,
                longest_word: header.longest_word,
                parts: Vec::new(),
                memory: Memory::new(),
            },
            rewritten: String::new(),
        }
    }

    /// The tokens of a text. Tokens written out in it (`<|im_end|>`) count as one, as servers have it.
    pub fn count(&mut self, text: &str) -> u64 {
        let bytes = text.as_bytes();
        let mut tokens = 0;
        let mut rest = 0;
        let mut place = 0;
        while let Some(next) = self.added.find(&bytes[place..]) {
            place += next;
            let Some((length, strips)) = self.pieces.tables.added_at(&bytes[place..]) else {
                place += 1;
                continue;
            };
            tokens += 1 + self.between(before(&text[rest..place], strips));
            place += length;
            if strips.right {
                place += text[place..].len() - text[place..].trim_start().len();
            }
            rest = place;
        }
        tokens + self.between(&text[rest..])
    }

    /// The tokens of a text without added tokens.
    fn between(&mut self, text: &str) -> u64 {
        if self.scheme == Scheme::Sentence {
            return self.sentence(text);
        }
        if self.nfc && !text.is_ascii() && is_nfc_quick(text.chars()) != IsNormalized::Yes {
            let mut normal = std::mem::take(&mut self.rewritten);
            normal.clear();
            normal.extend(text.nfc());
            let tokens = self.by_bytes(&normal);
            self.rewritten = normal;
            return tokens;
        }
        self.by_bytes(text)
    }

    fn by_bytes(&mut self, text: &str) -> u64 {
        let pieces = &mut self.pieces;
        let mut tokens = 0;
        let count = |piece: &str| tokens += pieces.by_bytes(piece);
        match self.scheme {
            Scheme::SingleDigits => split::gpt4(text, 1, count),
            Scheme::TripleDigits => split::gpt4(text, 3, count),
            Scheme::O200k => split::o200k(text, count),
            Scheme::DeepSeek => split::deepseek(text, count),
            Scheme::Sentence => {}
        }
        tokens
    }

    /// The tokens of a text that is merged whole. It is cut where no token holds the two characters
    /// side by side: no merge reaches over that.
    fn sentence(&mut self, text: &str) -> u64 {
        let mut tokens = 0;
        let mut piece = std::mem::take(&mut self.rewritten);
        piece.clear();
        let mut last = None;
        for c in text.chars() {
            let c = if c == ' ' { '\u{2581}' } else { c };
            if last.is_some_and(|last| !self.pieces.tables.is_pair(last, c)) {
                tokens += self.pieces.by_characters(&piece);
                piece.clear();
            }
            piece.push(c);
            last = Some(c);
        }
        if !piece.is_empty() {
            tokens += self.pieces.by_characters(&piece);
        }
        self.rewritten = piece;
        tokens
    }
}

fn before(text: &str, strips: Strips) -> &str {
    if strips.left { text.trim_end() } else { text }
}

/// The bytes that added tokens begin with. Mostly it is `<` alone, which is found fast.
#[derive(Debug)]
struct AddedStarts {
    is_start: [bool; 256],
    few: Vec<u8>,
}

impl AddedStarts {
    fn new(tables: &Tables<'_>) -> Self {
        let is_start = std::array::from_fn(|byte| tables.begins_added(byte));
        let starts = (0..=255).filter(|byte| is_start[usize::from(*byte)]);
        Self {
            is_start,
            few: starts.collect(),
        }
    }

    /// Where an added token may begin next.
    #[inline]
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        match *self.few {
            [] => None,
            [a] => memchr::memchr(a, bytes),
            [a, b] => memchr::memchr2(a, b, bytes),
            [a, b, c] => memchr::memchr3(a, b, c, bytes),
            _ => bytes
                .iter()
                .position(|byte| self.is_start[usize::from(*byte)]),
        }
    }
}

/// Counts pieces, remembering what was counted before.
#[derive(Debug)]
struct Pieces<'a> {
    tables: Tables<'a>,
    longest_word: usize,
    parts: Vec<Part>,
    memory: Memory,
}

impl Pieces<'_> {
    #[inline]
    fn by_bytes(&mut self, piece: &str) -> u64 {
        if piece.len() == 1 {
            return 1;
        }
        self.known_or(piece, Self::merge_bytes)
    }

    #[inline]
    fn by_characters(&mut self, piece: &str) -> u64 {
        self.known_or(piece, Self::merge_characters)
    }

    #[inline]
    fn known_or(&mut self, piece: &str, merge: impl FnOnce(&mut Self, &str) -> usize) -> u64 {
        let hash = hash::of_bytes(piece.as_bytes());
        if let Some(tokens) = self.memory.recall(hash) {
            return tokens;
        }
        let is_word = piece.len() <= self.longest_word && self.tables.is_word(hash);
        let tokens = if is_word {
            1
        } else {
            merge(self, piece) as u64
        };
        self.memory.keep(hash, tokens);
        tokens
    }

    fn merge_bytes(&mut self, piece: &str) -> usize {
        let bytes = piece.as_bytes();
        let pairs = bytes
            .windows(2)
            .map(|pair| self.tables.byte_pair(pair[0], pair[1]));
        let ranks = pairs.chain([NEVER]);
        let parts = bytes.iter().zip(ranks).map(|(byte, rank)| Part {
            symbol: u32::from(*byte),
            rank,
        });
        self.parts.clear();
        self.parts.extend(parts);
        merge_parts(&self.tables.merges, &mut self.parts).left
    }

    fn merge_characters(&mut self, piece: &str) -> usize {
        let tables = self.tables;
        let symbols = piece.chars().flat_map(|c| {
            let symbol = tables.character(c);
            // A character without one is written as its bytes.
            let mut buffer = [0; 4];
            let length = c.encode_utf8(&mut buffer).len();
            let bytes = if symbol.is_none() { length } else { 0 };
            let bytes = buffer.into_iter().take(bytes).map(u32::from);
            symbol.into_iter().chain(bytes)
        });
        merge_all(&tables.merges, symbols, &mut self.parts).left
    }
}

/// What pieces were counted lately. Text repeats itself, and what was just looked at is near, while
/// the tables of the vocabulary are megabytes away.
///
/// A slot is a piece's hash with its lowest bits, which say where it lies, replaced by its count.
#[derive(Debug)]
struct Memory(Vec<u64>);

impl Memory {
    const SLOTS: usize = 1 << 15;
    const COUNT: u64 = 0xFFFF;

    fn new() -> Self {
        Self(vec![0; Self::SLOTS])
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lowest bits are a place"
    )]
    const fn place(hash: u64) -> usize {
        hash as usize % Self::SLOTS
    }

    #[inline]
    fn recall(&self, hash: u64) -> Option<u64> {
        let found = self.0[Self::place(hash)];
        // An empty slot has a count of zero, which no piece has.
        (found & !Self::COUNT == hash & !Self::COUNT && found & Self::COUNT != 0)
            .then_some(found & Self::COUNT)
    }

    #[inline]
    fn keep(&mut self, hash: u64, tokens: u64) {
        if tokens <= Self::COUNT {
            self.0[Self::place(hash)] = hash & !Self::COUNT | tokens;
        }
    }
}
