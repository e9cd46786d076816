//! Exact counting: a tokenizer compiled into one file that is mapped and used as it lies.
//!
//! Loading a `tokenizer.json` takes half a second to four; counting a prompt with it, a millisecond.
//! So the vocabulary is compiled once ([`compile`]) into hash tables that need no loading, and the
//! counter touches only the pages it looks at. What is not recognised is refused: a count that is
//! silently wrong is worse than an honest bound.

pub(crate) mod bpe;
mod cache;
mod check;
mod compile;
mod counter;
mod format;
mod gguf;
pub(crate) mod hash;
mod huggingface;
mod mapping;
mod source;
mod split;
mod tables;
#[cfg(test)]
mod tests;
mod tokenizer;

pub(crate) use split::o200k as pieces_of_o200k;

pub use cache::{Cache, Entry};
pub use counter::Counter;
pub use tokenizer::Tokenizer;

/// Why a tokenizer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerError {
    /// A file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// Which file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The file is no tokenizer, or a damaged one.
    #[error("not a tokenizer we can read: {0}")]
    Malformed(String),
    /// It is a tokenizer of a kind whose counts we cannot vouch for.
    #[error("this tokenizer is not supported: {0}")]
    Unsupported(String),
}
