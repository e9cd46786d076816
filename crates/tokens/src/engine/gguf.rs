//! Reading the tokenizer out of a GGUF model file: only its head is read, not the weights.

use std::io::{self, Read, Seek};

use super::TokenizerError;
use super::hash::Map;
use super::source::{Added, Scheme, Source, merges_by_id};

/// A longer string or list means that the file is damaged.
const LONGEST: u64 = 64 << 20;

/// What a GGUF file says of its tokenizer.
#[derive(Debug, Default)]
struct Found {
    model: String,
    pre: String,
    tokens: Vec<Box<str>>,
    kinds: Vec<i64>,
    merges: Vec<Box<str>>,
    chat_template: Option<String>,
    bos: Option<usize>,
    eos: Option<usize>,
}

/// A tokenizer and what belongs to its chat template.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) source: Source<'static>,
    pub(super) chat_template: Option<String>,
    pub(super) bos_token: Option<String>,
    pub(super) eos_token: Option<String>,
}

/// Reads a GGUF file.
pub(super) fn read(file: &mut (impl Read + Seek)) -> Result<Model, TokenizerError> {
    let found = Reader(file)
        .metadata()
        .map_err(|e| TokenizerError::Malformed(format!("GGUF: {e}")))?;
    let unsupported = |what: String| Err(TokenizerError::Unsupported(format!("GGUF: {what}")));
    if found.model != "gpt2" {
        return unsupported(format!("tokenizer model `{}`", found.model));
    }
    let scheme = match found.pre.as_str() {
        "qwen2" | "deepseek-r1-qwen" => Scheme::SingleDigits,
        "llama-bpe" | "llama3" | "llama-v3" => Scheme::TripleDigits,
        "gpt-4o" => Scheme::O200k,
        "deepseek-v3" => Scheme::DeepSeek,
        other => return unsupported(format!("pre-tokenizer `{other}`")),
    };
    let token = |id: Option<usize>| Some(found.tokens.get(id?)?.to_string());
    let (bos_token, eos_token) = (token(found.bos), token(found.eos));
    let mut source = Source {
        scheme,
        // llama.cpp normalises nothing.
        nfc: false,
        ignore_merges: matches!(scheme, Scheme::TripleDigits | Scheme::O200k),
        vocabulary: Map::default(),
        merges: Vec::new(),
        added: Vec::new(),
    };
    for (id, token) in (0_u32..).zip(found.tokens) {
        match found.kinds.get(id as usize) {
            Some(&CONTROL | &USER_DEFINED) => source.added.push(Added {
                content: token.into(),
                lstrip: false,
                rstrip: false,
            }),
            Some(&UNUSED) => {}
            _ => {
                source.vocabulary.insert(String::from(token).into(), id);
            }
        }
    }
    let merges = found.merges.iter().map(|merge| {
        merge
            .split_once(' ')
            .ok_or_else(|| TokenizerError::Malformed(format!("GGUF: `{merge}` is no merge")))
    });
    let merges = merges.collect::<Result<Vec<_>, _>>()?;
    source.merges = merges_by_id(&source.vocabulary, merges)?;
    source.added.retain(|token| !token.content.is_empty());
    Ok(Model {
        source,
        chat_template: found.chat_template,
        bos_token,
        eos_token,
    })
}

// Kinds of tokens.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;
const UNUSED: i64 = 5;

// Types of values.
const STRING: u32 = 8;
const ARRAY: u32 = 9;

struct Reader<'a, R>(&'a mut R);

impl<R: Read + Seek> Reader<'_, R> {
    fn metadata(&mut self) -> io::Result<Found> {
        if self.bytes::<4>()? != *b"GGUF" {
            return Err(io::Error::other("no GGUF file"));
        }
        let version = self.u32()?;
        if !matches!(version, 2 | 3) {
            return Err(io::Error::other(format!("version {version} is not known")));
        }
        let _tensors = self.u64()?;
        let keys = self.u64()?;
        let mut found = Found::default();
        for _ in 0..keys {
            let key = self.string()?;
            let kind = self.u32()?;
            match (key.as_str(), kind) {
                ("tokenizer.ggml.model", STRING) => found.model = self.string()?,
                ("tokenizer.ggml.pre", STRING) => found.pre = self.string()?,
                ("tokenizer.chat_template", STRING) => found.chat_template = Some(self.string()?),
                ("tokenizer.ggml.tokens", ARRAY) => found.tokens = self.strings()?,
                ("tokenizer.ggml.merges", ARRAY) => found.merges = self.strings()?,
                ("tokenizer.ggml.token_type", ARRAY) => found.kinds = self.numbers()?,
                ("tokenizer.ggml.bos_token_id", _) => found.bos = self.id(kind)?,
                ("tokenizer.ggml.eos_token_id", _) => found.eos = self.id(kind)?,
                _ => self.skip(kind)?,
            }
        }
        Ok(found)
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn length(&mut self) -> io::Result<u64> {
        let length = self.u64()?;
        if length > LONGEST {
            return Err(io::Error::other(format!(
                "a length of {length} is not to be believed"
            )));
        }
        Ok(length)
    }

    fn string(&mut self) -> io::Result<String> {
        let length = self.length()?;
        let mut bytes = Vec::new();
        self.0.by_ref().take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn strings(&mut self) -> io::Result<Vec<Box<str>>> {
        let (kind, length) = (self.u32()?, self.length()?);
        if kind != STRING {
            return Err(io::Error::other("a list that should hold texts does not"));
        }
        (0..length).map(|_| Ok(self.string()?.into())).collect()
    }

    fn numbers(&mut self) -> io::Result<Vec<i64>> {
        let (kind, length) = (self.u32()?, self.length()?);
        (0..length).map(|_| self.number(kind)).collect()
    }

    fn number(&mut self, kind: u32) -> io::Result<i64> {
        let wide = match kind {
            4 => i64::from(self.u32()?),
            5 => i64::from(i32::from_le_bytes(self.bytes()?)),
            10 | 11 => i64::from_le_bytes(self.bytes()?),
            _ => return Err(io::Error::other("a number that should be whole is not")),
        };
        Ok(wide)
    }

    fn id(&mut self, kind: u32) -> io::Result<Option<usize>> {
        Ok(usize::try_from(self.number(kind)?).ok())
    }

    fn skip(&mut self, kind: u32) -> io::Result<()> {
        let bytes = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            STRING => self.length()?,
            ARRAY => {
                let (kind, length) = (self.u32()?, self.length()?);
                return (0..length).try_for_each(|_| self.skip(kind));
            }
            _ => {
                return Err(io::Error::other(format!(
                    "values of type {kind} are not known"
                )));
            }
        };
        let by = i64::try_from(bytes).map_err(io::Error::other)?;
        self.0.seek_relative(by)
    }
}
