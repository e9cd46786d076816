//! A tokenizer ready to count.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::counter::Counter;
use super::format::{Header, Section};
use super::mapping::map_own;
use super::{TokenizerError, check, compile, gguf, huggingface};

/// A compiled tokenizer, mapped from a file or kept in memory. Cheap to clone.
#[derive(Clone)]
pub struct Tokenizer(Arc<Inner>);

struct Inner {
    bytes: Bytes,
    header: Header,
    about: Value,
}

enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tokenizer").field(&self.source()).finish()
    }
}

impl Tokenizer {
    /// Maps a compiled file and verifies all of it.
    pub(super) fn map(path: &Path) -> Result<Self, TokenizerError> {
        let map = map_own(path).map_err(|e| file_error(path, &e))?;
        Self::new(Bytes::Mapped(map))
    }

    /// Uses a compiled file in memory.
    pub(super) fn from_compiled(bytes: Vec<u8>) -> Result<Self, TokenizerError> {
        Self::new(Bytes::Owned(bytes))
    }

    fn new(bytes: Bytes) -> Result<Self, TokenizerError> {
        let header = Header::verify(bytes.as_slice())?;
        let about = header.section(bytes.as_slice(), Section::About);
        let about = serde_json::from_slice(about).unwrap_or_default();
        Ok(Self(Arc::new(Inner {
            bytes,
            header,
            about,
        })))
    }

    /// The compiled file.
    pub(super) fn compiled(&self) -> &[u8] {
        self.0.bytes.as_slice()
    }

    /// A counter for one thread.
    pub fn counter(&self) -> Counter<'_> {
        Counter::new(&self.0.header, self.0.bytes.as_slice())
    }

    /// The tokens of one text.
    pub fn count(&self, text: &str) -> u64 {
        self.counter().count(text)
    }

    /// The file it was compiled from.
    pub fn source(&self) -> &str {
        self.0.about["source"].as_str().unwrap_or("unknown")
    }

    /// The SHA-256 of that file, in hexadecimal.
    pub fn digest(&self) -> String {
        hexadecimal(&self.0.header.source_digest)
    }

    /// The chat template that came with it (Jinja).
    pub fn chat_template(&self) -> Option<&str> {
        self.0.about["chat_template"].as_str()
    }

    /// A special token by its name in templates: `bos_token`, `eos_token`.
    pub fn special_token(&self, name: &str) -> Option<&str> {
        self.0.about[name].as_str()
    }
}

/// A tokenizer's file, found but not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
}

impl SourceFile {
    /// A `tokenizer.json`, a GGUF file, or a folder with the former.
    pub(super) fn find(path: &Path) -> Result<Self, TokenizerError> {
        let path = if path.is_dir() {
            path.join("tokenizer.json")
        } else {
            path.to_owned()
        };
        let path = path.canonicalize().map_err(|e| file_error(&path, &e))?;
        Ok(Self { path })
    }

    /// Compiles it, after checking the result against it.
    pub(super) fn compile(&self) -> Result<Vec<u8>, TokenizerError> {
        let error = |e: std::io::Error| file_error(&self.path, &e);
        let mut file = File::open(&self.path).map_err(error)?;
        let mut magic = [0; 4];
        let is_gguf = file.read_exact(&mut magic).is_ok() && magic == *b"GGUF";
        file.rewind().map_err(error)?;
        let (source, about, digest);
        let mut text = Vec::new();
        if is_gguf {
            let mut reader = BufReader::with_capacity(1 << 16, file);
            let model = gguf::read(&mut reader)?;
            // Gigabytes of weights say nothing about the tokenizer: the head is enough.
            let head = reader.stream_position().map_err(error)?;
            reader.rewind().map_err(error)?;
            digest = digest_of(reader.take(head)).map_err(error)?;
            about = json!({
                "source": self.path, "chat_template": model.chat_template,
                "bos_token": model.bos_token, "eos_token": model.eos_token,
            });
            source = model.source;
        } else {
            file.read_to_end(&mut text).map_err(error)?;
            digest = Sha256::digest(&text).into();
            source = huggingface::read(&text)?;
            about = self.beside();
        }
        let compiled = compile::compile(&source, &about, digest)?;
        check::check(&source, &compiled)?;
        Ok(compiled)
    }

    /// What lies beside a `tokenizer.json`: the chat template and the special tokens.
    fn beside(&self) -> Value {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let config = std::fs::read(folder.join("tokenizer_config.json")).ok();
        let config = config.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        let config = config.unwrap_or_default();
        let own_file = std::fs::read_to_string(folder.join("chat_template.jinja")).ok();
        let template = own_file.map(Value::from);
        let template = template.or_else(|| default_template(&config["chat_template"]));
        json!({
            "source": self.path, "chat_template": template,
            "bos_token": token_text(&config["bos_token"]),
            "eos_token": token_text(&config["eos_token"]),
        })
    }
}

/// A template is a text, or a list of named ones of which `default` is for chat.
fn default_template(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Array(list) => {
            let default = list.iter().find(|template| template["name"] == "default")?;
            default.get("template").cloned()
        }
        _ => None,
    }
}

/// A special token is a text, or an object with its `content`.
fn token_text(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value["content"].as_str())
}

fn digest_of(mut reader: impl Read) -> std::io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(&buffer[..read]);
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn file_error(path: &Path, error: &std::io::Error) -> TokenizerError {
    TokenizerError::File {
        path: path.display().to_string(),
        problem: error.to_string(),
    }
}
