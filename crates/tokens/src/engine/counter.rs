//! Counting with a compiled tokenizer.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::bpe::{Scratch, merge_all};
use super::format::Header;
use super::hash;
use super::source::Scheme;
use super::split;
use super::tables::{Strips, Tables};

/// How many pieces are remembered. Text repeats itself: most pieces that are no token as a whole come
/// again.
const REMEMBERED: usize = 1 << 14;

/// Counts texts with one tokenizer; keeps its buffers from one text to the next.
#[derive(Debug)]
pub struct Counter<'a> {
    scheme: Scheme,
    nfc: bool,
    pieces: Pieces<'a>,
    /// The text in normal form, or with its spaces written as U+2581.
    rewritten: String,
}

impl<'a> Counter<'a> {
    pub(super) fn new(header: &Header, file: &'a [u8]) -> Self {
        Self {
            scheme: header.scheme,
            nfc: header.nfc,
            pieces: Pieces {
                tables: Tables::new(header, file),
                longest_word: header.longest_word,
                symbols: Vec::new(),
                scratch: Scratch::default(),
                hashes: vec![0; REMEMBERED],
                counts: vec![0; REMEMBERED],
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
        while place < bytes.len() {
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

/// Counts pieces, remembering what was counted before.
#[derive(Debug)]
struct Pieces<'a> {
    tables: Tables<'a>,
    longest_word: usize,
    symbols: Vec<u32>,
    scratch: Scratch,
    hashes: Vec<u64>,
    counts: Vec<u32>,
}

impl Pieces<'_> {
    #[inline]
    fn by_bytes(&mut self, piece: &str) -> u64 {
        if piece.len() == 1 {
            return 1;
        }
        self.known_or(piece, |pieces| {
            let bytes = piece.bytes().map(|byte| pieces.tables.byte(byte));
            pieces.symbols.extend(bytes);
        })
    }

    #[inline]
    fn by_characters(&mut self, piece: &str) -> u64 {
        self.known_or(piece, |pieces| {
            for c in piece.chars() {
                if let Some(id) = pieces.tables.character(c) {
                    pieces.symbols.push(id);
                } else {
                    let mut buffer = [0; 4];
                    let bytes = c.encode_utf8(&mut buffer).bytes();
                    pieces
                        .symbols
                        .extend(bytes.map(|byte| pieces.tables.byte(byte)));
                }
            }
        })
    }

    #[inline]
    fn known_or(&mut self, piece: &str, symbols: impl FnOnce(&mut Self)) -> u64 {
        let hash = hash::of_bytes(piece.as_bytes());
        if piece.len() <= self.longest_word && self.tables.is_word(hash) {
            return 1;
        }
        let place = (hash >> 7) as usize & (REMEMBERED - 1);
        if self.hashes[place] == hash {
            return u64::from(self.counts[place]);
        }
        self.symbols.clear();
        symbols(self);
        let tokens = merge_all(&self.tables.merges, &mut self.symbols, &mut self.scratch);
        if let Ok(small) = u32::try_from(tokens) {
            self.hashes[place] = hash;
            self.counts[place] = small;
        }
        tokens as u64
    }
}
