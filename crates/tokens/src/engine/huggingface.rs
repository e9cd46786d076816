//! Reading `tokenizer.json`, and recognising what it does.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::TokenizerError;
use super::hash::Map;
use super::source::{Added, Scheme, Source, merges_by_id};

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct File<'a> {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    model: Model<'a>,
}

#[derive(Deserialize)]
struct AddedToken {
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Model<'a> {
    /// Older files do not name it.
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    dropout: Option<f64>,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    #[serde(default)]
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
    vocab: Vocabulary<'a>,
    #[serde(default)]
    merges: Vec<Merge<'a>>,
}

/// Reads the text of a `tokenizer.json`.
pub(super) fn read(text: &[u8]) -> Result<Source<'_>, TokenizerError> {
    let file: File<'_> = serde_json::from_slice(text)
        .map_err(|e| TokenizerError::Malformed(format!("no tokenizer.json: {e}")))?;
    let model = file.model;
    let unsupported = |what: String| Err(TokenizerError::Unsupported(what));
    if model.kind.as_deref().is_some_and(|kind| kind != "BPE") {
        return unsupported(format!("model type {}", model.kind.unwrap_or_default()));
    }
    if model.merges.is_empty() || model.dropout.is_some_and(|dropout| dropout > 0.0) {
        return unsupported("a model without merges, or with dropout".into());
    }
    let affix = [model.continuing_subword_prefix, model.end_of_word_suffix];
    if affix.into_iter().flatten().any(|affix| !affix.is_empty()) {
        return unsupported("word prefixes or suffixes".into());
    }
    if let Some(token) = file.added_tokens.iter().find(|token| token.single_word) {
        return unsupported(format!("single-word token {}", token.content));
    }
    let scheme = scheme(&file.pre_tokenizer)?;
    let nfc = normalizer(&file.normalizer, scheme)?;
    if model.byte_fallback != (scheme == Scheme::Sentence) {
        return unsupported(format!("byte fallback together with {scheme:?}"));
    }
    let merges = model.merges.iter().map(Merge::pair);
    Ok(Source {
        scheme,
        nfc,
        ignore_merges: model.ignore_merges,
        merges: merges_by_id(&model.vocab.0, merges)?,
        vocabulary: model.vocab.0,
        added: file
            .added_tokens
            .into_iter()
            .filter(|token| !token.content.is_empty())
            .map(|token| Added {
                content: token.content,
                lstrip: token.lstrip,
                rstrip: token.rstrip,
            })
            .collect(),
    })
}

const GPT4_SINGLE: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT4_TRIPLE: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// As tiktoken writes the same, with possessive repeats.
const GPT4_TIKTOKEN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";
const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
];

fn scheme(pre_tokenizer: &Value) -> Result<Scheme, TokenizerError> {
    if *pre_tokenizer == json!(null) || is_gemma_split(pre_tokenizer) {
        return Ok(Scheme::Sentence);
    }
    let unsupported = || {
        TokenizerError::Unsupported(format!(
            "pre-tokenizer {}",
            shortened(&pre_tokenizer.to_string())
        ))
    };
    let steps = pre_tokenizer["pretokenizers"]
        .as_array()
        .ok_or_else(unsupported)?;
    let (last, splits) = steps.split_last().ok_or_else(unsupported)?;
    // The switches that must be off: both would change the pieces.
    if last["type"] != "ByteLevel"
        || last["add_prefix_space"] != false
        || last["use_regex"] != false
    {
        return Err(unsupported());
    }
    let patterns: Option<Vec<&str>> = splits.iter().map(isolating_pattern).collect();
    match patterns.ok_or_else(unsupported)?.as_slice() {
        [one] if *one == GPT4_SINGLE => Ok(Scheme::SingleDigits),
        [one] if *one == GPT4_TRIPLE || *one == GPT4_TIKTOKEN => Ok(Scheme::TripleDigits),
        [one] if *one == O200K => Ok(Scheme::O200k),
        three if *three == DEEPSEEK => Ok(Scheme::DeepSeek),
        _ => Err(unsupported()),
    }
}

/// The pattern of a split whose matches become pieces, like what lies between them.
fn isolating_pattern(step: &Value) -> Option<&str> {
    let isolates =
        step["type"] == "Split" && step["behavior"] == "Isolated" && step["invert"] == false;
    step["pattern"]["Regex"].as_str().filter(|_| isolates)
}

/// Gemma's split at spaces never finds one: its normalizer has replaced them all.
fn is_gemma_split(step: &Value) -> bool {
    step["type"] == "Split"
        && step["pattern"]["String"] == " "
        && step["behavior"] == "MergedWithPrevious"
        && step["invert"] == false
}

/// Whether the text is brought to NFC.
fn normalizer(value: &Value, scheme: Scheme) -> Result<bool, TokenizerError> {
    let steps = match value {
        Value::Null => &[],
        _ if value["type"] == "Sequence" => value["normalizers"]
            .as_array()
            .map_or(&[][..], Vec::as_slice),
        one => std::slice::from_ref(one),
    };
    let spaces = json!({"type": "Replace", "pattern": {"String": " "}, "content": "\u{2581}"});
    match (scheme, steps) {
        (Scheme::Sentence, [only]) if *only == spaces => Ok(false),
        (Scheme::Sentence, _) => Err(steps),
        (_, []) => Ok(false),
        (_, [only]) if only["type"] == "NFC" => Ok(true),
        _ => Err(steps),
    }
    .map_err(|_| {
        let text = shortened(&value.to_string());
        TokenizerError::Unsupported(format!("normalizer {text} together with {scheme:?}"))
    })
}

fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(" ...".chars()).collect()
}

/// A text of the file, where it lies there as it is: most have no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Here;
        impl<'de> Visitor<'de> for Here {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Here)
    }
}

/// The vocabulary, without the detour over a JSON value: it is most of the file.
struct Vocabulary<'a>(Map<Cow<'a, str>, u32>);

impl<'de: 'a, 'a> Deserialize<'de> for Vocabulary<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Vocabulary<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of token ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary<'de>, A::Error> {
                let mut entries = Map::default();
                while let Some((token, id)) = map.next_entry::<Text<'de>, u32>()? {
                    entries.insert(token.0, id);
                }
                Ok(Vocabulary(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A merge: `"a b"`, or `["a", "b"]` since 2024.
enum Merge<'a> {
    Line(Cow<'a, str>, usize),
    Pair(Text<'a>, Text<'a>),
}

impl Merge<'_> {
    /// Left and right text.
    fn pair(&self) -> (&str, &str) {
        match self {
            Merge::Line(line, space) => (&line[..*space], &line[space + 1..]),
            Merge::Pair(left, right) => (&left.0, &right.0),
        }
    }

    fn line<E: serde::de::Error>(line: Cow<'_, str>) -> Result<Merge<'_>, E> {
        match line.find(' ') {
            Some(space) => Ok(Merge::Line(line, space)),
            None => Err(E::custom(format!("`{line}` is no merge"))),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Merge<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Merge<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a merge: two tokens")
            }

            fn visit_borrowed_str<E: serde::de::Error>(
                self,
                text: &'de str,
            ) -> Result<Merge<'de>, E> {
                Merge::line(Cow::Borrowed(text))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Merge<'de>, E> {
                Merge::line(Cow::Owned(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merge<'de>, A::Error> {
                let missing = || serde::de::Error::custom("a merge has two tokens");
                let left = list.next_element()?.ok_or_else(missing)?;
                let right = list.next_element()?.ok_or_else(missing)?;
                Ok(Merge::Pair(left, right))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
