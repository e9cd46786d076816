//! The folder of compiled tokenizers.
//!
//! `DIGEST.tokenizer` is a compiled file, named after the SHA-256 of its source; `PATH-HASH.link`
//! says which digest a source file had when it had this size, time and inode, so that a warm start
//! need not read megabytes of JSON; `NAME-HASH.model` says which source file a server's model has its
//! tokenizer from. All are written under another name and renamed.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::tokenizer::{SourceFile, Tokenizer, file_error};
use super::{TokenizerError, hash};

/// The folder of compiled tokenizers.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// One compiled tokenizer of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The compiled file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The file it was compiled from.
    pub source: String,
    /// What is wrong with it, if anything.
    pub problem: Option<String>,
}

/// What a source file was when it was compiled.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Link {
    path: PathBuf,
    bytes: u64,
    modified_ns: i128,
    inode: u64,
    digest: String,
}

/// Where a model, by the name its server gives it, has its tokenizer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Named {
    model: String,
    source: PathBuf,
}

impl Cache {
    /// The cache below this folder (the tool's cache folder).
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.join("tokenizers"),
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The tokenizer of a `tokenizer.json`, a GGUF file or a model folder: mapped when it was
    /// compiled before and is intact, compiled otherwise. Where the folder cannot be written it is
    /// used from memory.
    pub fn open(&self, source: &Path) -> Result<Tokenizer, TokenizerError> {
        let source = SourceFile::find(source)?;
        if let Some(tokenizer) = self.compiled(&source) {
            return Ok(tokenizer);
        }
        let tokenizer = Tokenizer::from_compiled(source.compile()?)?;
        // A full disk or a read-only home costs time, not the answer.
        let _ = self.keep(&source, &tokenizer);
        Ok(tokenizer)
    }

    /// Compiles a tokenizer anew and keeps it.
    pub fn build(&self, source: &Path) -> Result<Entry, TokenizerError> {
        let source = SourceFile::find(source)?;
        let tokenizer = Tokenizer::from_compiled(source.compile()?)?;
        let file = self
            .keep(&source, &tokenizer)
            .map_err(|e| file_error(&self.folder, &e))?;
        Ok(entry(&file))
    }

    /// Keeps in mind that a model of this name has its tokenizer there.
    pub fn remember(&self, model: &str, source: &Path) -> Result<(), TokenizerError> {
        let named = Named {
            model: model.to_owned(),
            source: SourceFile::find(source)?.path,
        };
        let text = serde_json::to_vec(&named).map_err(std::io::Error::from);
        text.and_then(|text| self.write(&self.named(model), &text))
            .map_err(|e| file_error(&self.folder, &e))
    }

    /// Where a model of this name has its tokenizer, if that is known and still there.
    pub fn source_of(&self, model: &str) -> Option<PathBuf> {
        let named = read_named(&self.named(model))?;
        (named.model == model && named.source.exists()).then_some(named.source)
    }

    /// All compiled files, each verified.
    pub fn entries(&self) -> Result<Vec<Entry>, TokenizerError> {
        let mut files = self.files("tokenizer")?;
        files.sort();
        Ok(files.iter().map(|file| entry(file)).collect())
    }

    /// Removes compiled files that are damaged, of another version, or whose source is gone or
    /// changed, and the links to them. Returns what was removed.
    pub fn prune(&self) -> Result<Vec<Entry>, TokenizerError> {
        let mut wanted = Vec::new();
        for file in self.files("link")? {
            let link = read_link(&file);
            match link.filter(|link| describe(&link.path, &link.digest).as_ref() == Some(link)) {
                Some(link) => wanted.push(link.digest),
                None => fs::remove_file(&file).map_err(|e| file_error(&file, &e))?,
            }
        }
        for file in self.files("model")? {
            if !read_named(&file).is_some_and(|named| named.source.exists()) {
                fs::remove_file(&file).map_err(|e| file_error(&file, &e))?;
            }
        }
        let mut removed = self.entries()?;
        removed.retain(|entry| {
            let name = entry.file.file_stem().and_then(|name| name.to_str());
            entry.problem.is_some() || !wanted.iter().any(|digest| Some(digest.as_str()) == name)
        });
        for entry in &removed {
            fs::remove_file(&entry.file).map_err(|e| file_error(&entry.file, &e))?;
        }
        Ok(removed)
    }

    fn files(&self, extension: &str) -> Result<Vec<PathBuf>, TokenizerError> {
        let listed = match fs::read_dir(&self.folder) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|e| file_error(&self.folder, &e))?,
        };
        let paths = listed.filter_map(Result::ok).map(|file| file.path());
        Ok(paths
            .filter(|path| path.extension().is_some_and(|e| e == extension))
            .collect())
    }

    /// The compiled tokenizer of an unchanged source; none if there is none, or a damaged one.
    fn compiled(&self, source: &SourceFile) -> Option<Tokenizer> {
        let link = read_link(&self.link(&source.path))?;
        if describe(&source.path, &link.digest)? != link {
            return None;
        }
        let tokenizer = Tokenizer::map(&self.file(&link.digest)).ok()?;
        (tokenizer.digest() == link.digest).then_some(tokenizer)
    }

    fn keep(&self, source: &SourceFile, tokenizer: &Tokenizer) -> std::io::Result<PathBuf> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let digest = tokenizer.digest();
        let file = self.file(&digest);
        self.write(&file, tokenizer.compiled())?;
        let link = describe(&source.path, &digest).ok_or(std::io::ErrorKind::NotFound)?;
        self.write(&self.link(&source.path), &serde_json::to_vec(&link)?)?;
        Ok(file)
    }

    /// Writes a file as a whole or not at all.
    fn write(&self, file: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let mut temporary = tempfile::NamedTempFile::new_in(&self.folder)?;
        temporary.write_all(bytes)?;
        temporary.as_file().sync_data()?;
        temporary.persist(file)?;
        Ok(())
    }

    fn file(&self, digest: &str) -> PathBuf {
        self.folder.join(digest).with_extension("tokenizer")
    }

    fn named(&self, model: &str) -> PathBuf {
        let name = hash::of_bytes(model.as_bytes());
        self.folder.join(format!("{name:016x}.model"))
    }

    fn link(&self, source: &Path) -> PathBuf {
        let name = hash::of_bytes(source.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{name:016x}.link"))
    }
}

fn read_named(file: &Path) -> Option<Named> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn read_link(file: &Path) -> Option<Link> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// The source file as it is now.
fn describe(path: &Path, digest: &str) -> Option<Link> {
    let facts = fs::metadata(path).ok()?;
    Some(Link {
        path: path.to_owned(),
        bytes: facts.size(),
        modified_ns: i128::from(facts.mtime()) * 1_000_000_000 + i128::from(facts.mtime_nsec()),
        inode: facts.ino(),
        digest: digest.to_owned(),
    })
}

fn entry(file: &Path) -> Entry {
    let bytes = fs::metadata(file).map_or(0, |facts| facts.len());
    match Tokenizer::map(file) {
        Ok(tokenizer) => Entry {
            file: file.to_owned(),
            bytes,
            source: tokenizer.source().to_owned(),
            problem: None,
        },
        Err(e) => Entry {
            file: file.to_owned(),
            bytes,
            source: "unknown".into(),
            problem: Some(e.to_string()),
        },
    }
}
