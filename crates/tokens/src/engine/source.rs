//! A tokenizer as its file describes it, before compiling.

use std::borrow::Cow;

use super::TokenizerError;
use super::hash::Map;

/// How a text is cut before merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// GPT-4's pattern, digits one by one (Qwen 2 and 3).
    SingleDigits,
    /// GPT-4's pattern, digits in groups of up to three (GPT-4, Llama 3).
    TripleDigits,
    /// GPT-4o's pattern (gpt-oss).
    O200k,
    /// The three patterns of `DeepSeek` V3.
    DeepSeek,
    /// `SentencePiece`: not cut at all, spaces written as U+2581 (Gemma).
    Sentence,
}

impl Scheme {
    /// All, in the order of their numbers in the file.
    pub(super) const ALL: [Self; 5] = [
        Self::SingleDigits,
        Self::TripleDigits,
        Self::O200k,
        Self::DeepSeek,
        Self::Sentence,
    ];
}

/// A token that is looked for in the text before anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Added {
    /// Its text.
    pub(super) content: String,
    /// Whether it takes the white space before it along.
    pub(super) lstrip: bool,
    /// Whether it takes the white space after it along.
    pub(super) rstrip: bool,
}

/// A merge by ids: left, right, and what they give.
pub(super) type Merge = (u32, u32, u32);

/// A tokenizer, ready to be compiled.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) scheme: Scheme,
    /// Whether the text is brought to NFC first.
    pub(super) nfc: bool,
    /// Whether a piece that is a token as a whole is taken without merging.
    pub(super) ignore_merges: bool,
    /// The text of each token (for byte-level schemes in the byte alphabet), by id.
    pub(super) vocabulary: Map<Cow<'a, str>, u32>,
    /// The merges, best first.
    pub(super) merges: Vec<Merge>,
    pub(super) added: Vec<Added>,
}

/// The merges by ids, from left and right text.
pub(super) fn merges_by_id<'a>(
    vocabulary: &Map<Cow<'_, str>, u32>,
    merges: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Merge>, TokenizerError> {
    let id = |token: &str| {
        vocabulary.get(token).copied().ok_or_else(|| {
            TokenizerError::Malformed(format!("a merge names `{token}`, which is no token"))
        })
    };
    let mut joined = String::new();
    let merges = merges.into_iter().map(|(left, right)| {
        joined.clear();
        joined.push_str(left);
        joined.push_str(right);
        Ok((id(left)?, id(right)?, id(&joined)?))
    });
    merges.collect()
}

/// The character that stands for a byte in byte-level vocabularies, as GPT-2 introduced it: printable
/// Latin-1 characters stand for themselves, the others are moved to U+0100 and up.
pub(super) fn byte_alphabet() -> [char; 256] {
    let mut moved = 0;
    std::array::from_fn(|byte| {
        let byte = u8::try_from(byte).unwrap_or_default();
        if matches!(byte, 33..=126 | 161..=172 | 174..) {
            char::from(byte)
        } else {
            moved += 1;
            char::from_u32(0xFF + moved).unwrap_or_default()
        }
    })
}

/// The bytes a token of a byte-level vocabulary stands for; none if it is written otherwise.
pub(super) fn token_bytes(token: &str, bytes: &Map<char, u8>) -> Option<Vec<u8>> {
    token.chars().map(|c| bytes.get(&c).copied()).collect()
}

/// The byte alphabet the other way round.
pub(super) fn bytes_of_alphabet() -> Map<char, u8> {
    byte_alphabet().into_iter().zip(0..=255).collect()
}

#[cfg(test)]
mod tests {
    use super::{byte_alphabet, bytes_of_alphabet, token_bytes};

    #[test]
    fn the_alphabet_is_that_of_gpt2() {
        let alphabet = byte_alphabet();
        assert_eq!(alphabet[usize::from(b'A')], 'A');
        assert_eq!(alphabet[usize::from(b' ')], 'Ġ');
        assert_eq!(alphabet[usize::from(b'\n')], 'Ċ');
        assert_eq!(alphabet[255], 'ÿ');
        let bytes = bytes_of_alphabet();
        assert_eq!(bytes.len(), 256);
        assert_eq!(token_bytes("Ġhi", &bytes), Some(b" hi".to_vec()));
        assert_eq!(token_bytes("▁hi", &bytes), None);
    }
}
