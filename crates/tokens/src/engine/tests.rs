//! The engine as a whole, on tokenizers small enough to be counted by hand.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::source::byte_alphabet;
use super::{Cache, Tokenizer, TokenizerError};

const QWEN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The merges of the small vocabularies, in the byte alphabet (`Ġ` is a space).
const MERGES: &[(&str, &str)] = &[
    ("h", "e"),
    ("l", "l"),
    ("he", "ll"),
    ("hell", "o"),
    ("Ġ", "w"),
    ("o", "r"),
    ("Ġw", "or"),
    ("Ã", "©"), // é
];

fn vocabulary(
    start: impl IntoIterator<Item = String>,
    merges: &[(&str, &str)],
) -> BTreeMap<String, u32> {
    let joined = merges.iter().map(|(a, b)| format!("{a}{b}"));
    start.into_iter().chain(joined).zip(0..).collect()
}

/// A `tokenizer.json` of the kind Qwen has.
fn byte_level() -> Value {
    let start = byte_alphabet().into_iter().map(String::from);
    json!({
        "added_tokens": [
            {"id": 900, "content": "<|end|>", "special": true},
            {"id": 901, "content": "<|endless|>", "special": true},
            {"id": 902, "content": "<mask>", "lstrip": true, "rstrip": true},
        ],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": QWEN}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
        ]},
        "model": {"type": "BPE", "vocab": vocabulary(start, MERGES),
            "merges": MERGES.iter().map(|(a, b)| format!("{a} {b}")).collect::<Vec<_>>()},
    })
}

/// A `tokenizer.json` of the kind Gemma has.
fn sentence() -> Value {
    let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    let letters = "helowrd▁\n".chars().map(String::from);
    let merges = [("h", "e"), ("l", "l"), ("he", "ll"), ("▁", "w"), ("▁", "▁")];
    json!({
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "},
            "behavior": "MergedWithPrevious", "invert": false},
        "model": {"type": "BPE", "byte_fallback": true,
            "vocab": vocabulary(bytes.chain(letters), &merges), "merges": merges},
    })
}

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new(tokenizer: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Self { folder };
        fixture.write(tokenizer);
        fixture
    }

    fn source(&self) -> PathBuf {
        self.folder.path().join("tokenizer.json")
    }

    fn write(&self, tokenizer: &Value) {
        fs::write(self.source(), tokenizer.to_string()).unwrap();
    }

    fn cache(&self) -> Cache {
        Cache::below(&self.folder.path().join("cache"))
    }

    fn open(&self) -> Tokenizer {
        self.cache().open(&self.source()).unwrap()
    }

    fn compiled(&self) -> PathBuf {
        self.cache().entries().unwrap().pop().unwrap().file
    }
}

fn refusal(tokenizer: &Value) -> String {
    let fixture = Fixture::new(tokenizer);
    fixture
        .cache()
        .open(&fixture.source())
        .unwrap_err()
        .to_string()
}

#[test]
fn a_byte_level_tokenizer_counts_by_its_merges() {
    let tokenizer = Fixture::new(&byte_level()).open();
    for (text, tokens) in [
        ("", 0),
        ("hello", 1),
        // ` wor` `l` `d`
        ("hello world", 4),
        ("hellohello", 2),
        ("12", 2),
        ("é", 1),
        // Two characters that NFC joins.
        ("e\u{301}", 1),
        ("<|end|>", 1),
        ("hello<|end|>hello", 3),
        // The longest added token wins.
        ("<|endless|>", 1),
        ("<|endles|>", 10),
        // White space around it is taken along.
        ("hello  <mask>  hello", 3),
    ] {
        assert_eq!(tokenizer.count(text), tokens, "{text:?}");
    }
}

#[test]
fn a_sentence_tokenizer_falls_back_to_bytes() {
    let tokenizer = Fixture::new(&sentence()).open();
    for (text, tokens) in [
        // `hell` `o` `▁w` `o` `r` `l` `d`
        ("hello world", 7),
        ("  hell", 2),
        ("é", 2),
        ("hé語", 6),
    ] {
        assert_eq!(tokenizer.count(text), tokens, "{text:?}");
    }
}

#[test]
fn long_and_short_pieces_count_alike() {
    let tokenizer = Fixture::new(&byte_level()).open();
    assert_eq!(tokenizer.count(&"hello".repeat(1_000)), 1_000);
    assert_eq!(tokenizer.count(&"x".repeat(10_000)), 10_000);
}

#[test]
fn what_is_not_recognised_is_refused() {
    let changed = |pointer: &str, value: Value| {
        let mut tokenizer = byte_level();
        *tokenizer.pointer_mut(pointer).unwrap() = value;
        refusal(&tokenizer)
    };
    assert!(
        changed(
            "/pre_tokenizer/pretokenizers/0/pattern/Regex",
            json!("\\w+")
        )
        .contains("pre-tokenizer")
    );
    assert!(
        changed(
            "/pre_tokenizer/pretokenizers/1/add_prefix_space",
            json!(true)
        )
        .contains("pre-tokenizer")
    );
    assert!(changed("/normalizer", json!({"type": "Lowercase"})).contains("normalizer"));
    assert!(changed("/model/type", json!("Unigram")).contains("Unigram"));
    assert!(
        changed(
            "/added_tokens/0",
            json!({"content": "x", "single_word": true})
        )
        .contains("single-word")
    );
    assert!(changed("/model/merges", json!(["h zzz"])).contains("no token"));
    assert!(changed("/model/vocab", json!({"a": 0})).contains("is no token"));
    assert!(refusal(&json!({"hello": 1})).contains("no tokenizer.json"));
}

#[test]
fn merges_that_do_not_belong_to_the_vocabulary_fail_the_self_check() {
    let mut tokenizer = byte_level();
    let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
    for number in 0..300 {
        vocabulary.insert(format!("unreached{number}"), json!(1_000 + number));
    }
    assert!(refusal(&tokenizer).contains("self-check"));
}

#[test]
fn the_second_start_maps_the_compiled_file() {
    let fixture = Fixture::new(&byte_level());
    let tokens = fixture.open().count("hello world");
    let compiled = fixture.compiled();
    let written = fs::metadata(&compiled).unwrap().modified().unwrap();
    assert_eq!(
        fs::metadata(&compiled).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let again = fixture.open();
    assert_eq!(again.count("hello world"), tokens);
    assert_eq!(
        again.source(),
        fixture.source().canonicalize().unwrap().to_str().unwrap()
    );
    assert_eq!(
        fs::metadata(&compiled).unwrap().modified().unwrap(),
        written
    );
}

#[test]
fn a_damaged_or_foreign_cache_is_built_anew() {
    let fixture = Fixture::new(&byte_level());
    let tokens = fixture.open().count("hello world");
    let compiled = fixture.compiled();
    let good = fs::read(&compiled).unwrap();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for damaged in [
        &b""[..],
        &good[..good.len() - 1],
        &flipped,
        b"something else",
    ] {
        fs::write(&compiled, damaged).unwrap();
        assert!(fixture.cache().entries().unwrap()[0].problem.is_some());
        assert_eq!(fixture.open().count("hello world"), tokens);
        assert!(
            fs::read(&compiled).unwrap() == good,
            "not the same file again"
        );
    }
    fs::set_permissions(&compiled, fs::Permissions::from_mode(0o666)).unwrap();
    let problem = fixture.cache().entries().unwrap()[0]
        .problem
        .clone()
        .unwrap();
    assert!(problem.contains("other users may write it"), "{problem}");
    assert_eq!(fixture.open().count("hello world"), tokens);
    assert_eq!(fixture.cache().entries().unwrap()[0].problem, None);
}

#[test]
fn a_changed_source_is_compiled_again_and_the_old_one_pruned() {
    let fixture = Fixture::new(&byte_level());
    assert_eq!(fixture.open().count("hello"), 1);
    let mut other = byte_level();
    other["model"]["merges"] = json!(["h e"]);
    other["model"]["vocab"]
        .as_object_mut()
        .unwrap()
        .retain(|token, _| token.chars().count() < 3);
    fixture.write(&other);
    assert_eq!(fixture.open().count("hello"), 4);
    assert_eq!(fixture.cache().entries().unwrap().len(), 2);
    assert_eq!(fixture.cache().prune().unwrap().len(), 1);
    assert_eq!(fixture.cache().entries().unwrap().len(), 1);
    fs::remove_file(fixture.source()).unwrap();
    fixture.cache().prune().unwrap();
    assert!(fixture.cache().entries().unwrap().is_empty());
}

#[test]
fn without_a_writable_cache_it_counts_from_memory() {
    let fixture = Fixture::new(&byte_level());
    let nowhere = Cache::below(Path::new("/proc/nowhere"));
    assert_eq!(nowhere.open(&fixture.source()).unwrap().count("hello"), 1);
    assert!(matches!(
        nowhere.build(&fixture.source()),
        Err(TokenizerError::File { .. })
    ));
    assert!(nowhere.entries().unwrap().is_empty());
}

#[test]
fn the_chat_template_beside_the_tokenizer_comes_along() {
    let fixture = Fixture::new(&byte_level());
    let config = json!({"bos_token": {"content": "<s>"}, "eos_token": null,
        "chat_template": [{"name": "rag", "template": "no"}, {"name": "default", "template": "yes"}]});
    fs::write(
        fixture.folder.path().join("tokenizer_config.json"),
        config.to_string(),
    )
    .unwrap();
    let tokenizer = fixture.cache().open(fixture.folder.path()).unwrap();
    assert_eq!(tokenizer.chat_template(), Some("yes"));
    assert_eq!(tokenizer.special_token("bos_token"), Some("<s>"));
    assert_eq!(tokenizer.special_token("eos_token"), None);
}

/// Writes a GGUF file's head.
fn gguf(model: &str, pre: &str) -> Vec<u8> {
    fn text(out: &mut Vec<u8>, text: &str) {
        out.extend((text.len() as u64).to_le_bytes());
        out.extend(text.as_bytes());
    }
    fn texts<'a>(out: &mut Vec<u8>, key: &str, list: impl ExactSizeIterator<Item = &'a str>) {
        text(out, key);
        out.extend(9_u32.to_le_bytes());
        out.extend(8_u32.to_le_bytes());
        out.extend((list.len() as u64).to_le_bytes());
        list.for_each(|one| text(out, one));
    }
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    out.extend(8_u64.to_le_bytes());
    for (key, value) in [
        ("tokenizer.ggml.model", model),
        ("tokenizer.ggml.pre", pre),
        ("tokenizer.chat_template", "{{ messages }}"),
    ] {
        text(&mut out, key);
        out.extend(8_u32.to_le_bytes());
        text(&mut out, value);
    }
    // Something to be skipped.
    text(&mut out, "general.sizes");
    out.extend(9_u32.to_le_bytes());
    out.extend(4_u32.to_le_bytes());
    out.extend(2_u64.to_le_bytes());
    out.extend([0; 8]);
    let mut tokens: Vec<String> = byte_alphabet().into_iter().map(String::from).collect();
    tokens.extend(MERGES.iter().map(|(a, b)| format!("{a}{b}")));
    tokens.push("<|end|>".into());
    texts(
        &mut out,
        "tokenizer.ggml.tokens",
        tokens.iter().map(String::as_str),
    );
    let merges: Vec<String> = MERGES.iter().map(|(a, b)| format!("{a} {b}")).collect();
    texts(
        &mut out,
        "tokenizer.ggml.merges",
        merges.iter().map(String::as_str),
    );
    text(&mut out, "tokenizer.ggml.token_type");
    out.extend(9_u32.to_le_bytes());
    out.extend(5_u32.to_le_bytes());
    out.extend((tokens.len() as u64).to_le_bytes());
    for at in 1..=tokens.len() {
        let kind = if at == tokens.len() { 3_i32 } else { 1 };
        out.extend(kind.to_le_bytes());
    }
    text(&mut out, "tokenizer.ggml.eos_token_id");
    out.extend(4_u32.to_le_bytes());
    out.extend(u32::try_from(tokens.len() - 1).unwrap().to_le_bytes());
    out.extend(b"weights that nobody reads");
    out
}

#[test]
fn a_gguf_file_counts_like_its_tokenizer_json() {
    let fixture = Fixture::new(&byte_level());
    let path = fixture.folder.path().join("model.gguf");
    fs::write(&path, gguf("gpt2", "qwen2")).unwrap();
    let tokenizer = fixture.cache().open(&path).unwrap();
    for text in ["hello world", "hello<|end|>", "é 12"] {
        assert_eq!(tokenizer.count(text), fixture.open().count(text), "{text}");
    }
    assert_eq!(tokenizer.chat_template(), Some("{{ messages }}"));
    assert_eq!(tokenizer.special_token("eos_token"), Some("<|end|>"));
    for (model, pre, word) in [
        ("llama", "default", "`llama`"),
        ("gpt2", "tekken", "`tekken`"),
    ] {
        fs::write(&path, gguf(model, pre)).unwrap();
        let refused = fixture.cache().open(&path).unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
}

#[test]
fn a_damaged_gguf_file_is_refused() {
    let fixture = Fixture::new(&byte_level());
    let path = fixture.folder.path().join("model.gguf");
    let good = gguf("gpt2", "qwen2");
    let head = good.len() - b"weights that nobody reads".len();
    for length in (4..head).step_by(97) {
        fs::write(&path, &good[..length]).unwrap();
        assert!(fixture.cache().open(&path).is_err(), "cut to {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_text_takes_more_tokens_than_bytes(text in "\\PC{0,100}|[a-z <>|é\u{301}]{0,100}") {
        let fixture = Fixture::new(&byte_level());
        let counted = fixture.open().count(&text);
        let normal: String = unicode_normalization::UnicodeNormalization::nfc(text.as_str()).collect();
        prop_assert!(counted <= normal.len() as u64);
    }

    #[test]
    fn any_gguf_bytes_are_refused_or_read(noise in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(noise);
        let _ = super::gguf::read(&mut std::io::Cursor::new(bytes));
    }
}
