//! The self-check of a fresh compilation: the compiled tables must count like the plain ones.

use super::TokenizerError;
use super::bpe::{Merges, NEVER, merge_all};
use super::counter::Counter;
use super::format::Header;
use super::hash::Map;
use super::source::{Scheme, Source, byte_alphabet};
use super::split;

/// Texts of many kinds: prose, code, digits, white space, scripts, marks, emoji, rare bytes.
const PROBES: &[&str] = &[
    "The quick brown fox doesn't jump over 1234567 lazy dogs; it's RESTING, isn't it?\n\n",
    "fn parse_HTTPHeader(input: &str) -> Result<(), Error> {\r\n\t\treturn Err(\"x\\n\");  // ===\n}\n",
    "{\"id\": \"9f86d081884c7d65\", \"value\": -0.5e10, \"list\": [1,22,333,4444]}   \n   \n",
    "Grüße, naïve café, Ωμέγα, Привет мир, שלום, مرحبا, नमस्ते, ภาษาไทย, 한국어, こんにちは、世界。中文字符",
    "e\u{301}\u{302} \u{1F469}\u{200D}\u{1F4BB} \u{1F1E9}\u{1F1EA} \u{00A0}\u{3000}\u{2028}\u{FFFD} ǅ ſ ½ ٣ \u{20DD}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// At least this share of the vocabulary must be reached by merging; less means that the merges and
/// the vocabulary do not belong together.
const REACHED_PERCENT: usize = 90;

/// Compares the compiled file with the source it came from.
pub(super) fn check(source: &Source<'_>, file: &[u8]) -> Result<(), TokenizerError> {
    let header = Header::verify(file)?;
    let mut counter = Counter::new(&header, file);
    let plain = Plain::new(source);
    let failed = |what: String| Err(TokenizerError::Malformed(format!("self-check: {what}")));
    for probe in PROBES {
        if source
            .added
            .iter()
            .any(|token| probe.contains(&token.content))
        {
            continue;
        }
        // The plain way knows no normal form, so it is given one that needs none.
        let probe: String = unicode_normalization::UnicodeNormalization::nfc(*probe).collect();
        let (expected, found) = (plain.count(&probe), counter.count(&probe));
        if expected != found {
            return failed(format!(
                "{found} tokens instead of {expected} for {probe:?}"
            ));
        }
    }
    let sampled = source
        .vocabulary
        .keys()
        .filter(|token| plain.is_written(token))
        .take(2_000);
    let (mut reached, mut all) = (0, 0);
    for token in sampled {
        all += 1;
        reached += usize::from(source.ignore_merges || plain.symbols_left(token) == 1);
    }
    if reached * 100 < all * REACHED_PERCENT {
        return failed(format!(
            "only {reached} of {all} tokens can be reached by merging"
        ));
    }
    Ok(())
}

/// Counting the obvious way, with the source's own maps.
struct Plain<'a> {
    source: &'a Source<'a>,
    ranks: Map<(u32, u32), u32>,
    alphabet: [char; 256],
}

impl Merges for Plain<'_> {
    fn rank(&self, left: u32, right: u32) -> u32 {
        self.ranks.get(&(left, right)).copied().unwrap_or(NEVER)
    }

    fn joined(&self, rank: u32) -> u32 {
        let merge = self.source.merges.get(rank as usize);
        merge.map_or(NEVER, |(_, _, joined)| *joined)
    }
}

impl<'a> Plain<'a> {
    fn new(source: &'a Source<'a>) -> Self {
        let merges = (0..).zip(&source.merges);
        let ranks = merges.map(|(rank, (left, right, _))| ((*left, *right), rank));
        Self {
            source,
            ranks: ranks.collect(),
            alphabet: byte_alphabet(),
        }
    }

    /// Whether a token could be written by the text of a piece.
    fn is_written(&self, token: &str) -> bool {
        !token.is_empty()
            && (self.source.scheme != Scheme::Sentence || !token.starts_with('<'))
            && !self.source.added.iter().any(|added| added.content == token)
    }

    /// How many symbols are left of a token's text after merging.
    fn symbols_left(&self, token: &str) -> usize {
        let mut symbols: Vec<u32> = Vec::new();
        for c in token.chars() {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer);
            match self.source.vocabulary.get(text as &str) {
                Some(id) => symbols.push(*id),
                None => symbols.extend(text.bytes().filter_map(|byte| {
                    self.source
                        .vocabulary
                        .get(format!("<0x{byte:02X}>").as_str())
                        .copied()
                })),
            }
        }
        merge_all(self, symbols, &mut Vec::new()).left
    }

    fn count(&self, text: &str) -> u64 {
        let mut tokens = 0;
        let mut piece = |piece: &str| {
            let written: String = piece
                .bytes()
                .map(|byte| self.alphabet[usize::from(byte)])
                .collect();
            let whole = self.source.ignore_merges && self.source.vocabulary.contains_key(&*written);
            tokens += if whole {
                1
            } else {
                self.symbols_left(&written) as u64
            };
        };
        match self.source.scheme {
            Scheme::SingleDigits => split::gpt4(text, 1, &mut piece),
            Scheme::TripleDigits => split::gpt4(text, 3, &mut piece),
            Scheme::O200k => split::o200k(text, &mut piece),
            Scheme::DeepSeek => split::deepseek(text, &mut piece),
            Scheme::Sentence => return self.symbols_left(&text.replace(' ', "\u{2581}")) as u64,
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::compile::compile;
    use super::super::source::{Scheme, Source, byte_alphabet};
    use super::{Counter, Header, Plain};

    /// A vocabulary as tiktoken's are written down: a token comes of every cut in two tokens.
    fn source(mut tokens: Vec<String>) -> Source<'static> {
        let bytes = byte_alphabet().map(|c| Cow::from(c.to_string()));
        let mut source = Source {
            scheme: Scheme::TripleDigits,
            nfc: false,
            ignore_merges: false,
            vocabulary: bytes.into_iter().zip(0..).collect(),
            merges: Vec::new(),
            added: Vec::new(),
        };
        tokens.sort_by_key(String::len);
        for token in tokens {
            let joined = u32::try_from(source.vocabulary.len()).unwrap();
            let id = |part: &str| source.vocabulary.get(part).copied();
            let cuts = (1..token.len()).map(|at| token.split_at(at));
            let cuts = cuts.filter_map(|(left, right)| Some((id(left)?, id(right)?, joined)));
            let cuts: Vec<_> = cuts.collect();
            if !cuts.is_empty() && !source.vocabulary.contains_key(token.as_str()) {
                source.merges.extend(cuts);
                source.vocabulary.insert(token.into(), joined);
            }
        }
        source
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn merges_that_never_happen_can_be_left_out(
            tokens in proptest::collection::vec("[ab]{2,5}|[abc]{2,6}", 0..60),
            texts in proptest::collection::vec("[ab]{0,30}|[abc ]{0,90}", 1..40),
        ) {
            let source = source(tokens);
            let file = compile(&source, &Value::Null, [0; 32]).unwrap();
            let header = Header::verify(&file).unwrap();
            let mut counter = Counter::new(&header, &file);
            let plain = Plain::new(&source);
            for text in texts {
                prop_assert_eq!(counter.count(&text), plain.count(&text), "{}", text);
            }
        }
    }
}
