//! The compiled file: a header, then tables that are used as they lie. Everything is little-endian.
//!
//! | at | bytes | what |
//! |---:|---:|---|
//! | 0 | 8 | `BATONTOK` |
//! | 8 | 4 + 4 | version of this format, version of Unicode |
//! | 16 | 8 | length of the file |
//! | 24 | 8 | checksum of all that follows |
//! | 32 | 32 | SHA-256 of the source file |
//! | 64 | 4 + 4 | scheme, flags |
//! | 72 | 8 | the longest word, in bytes |
//! | 80 | 8 x (8 + 8) | place and length of each section |

use super::TokenizerError;
use super::hash::checksum;
use super::source::Scheme;

const MAGIC: &[u8; 8] = b"BATONTOK";
/// To be raised by any change of the format or of a hash function.
pub(super) const VERSION: u32 = 2;
const UNICODE: u32 = 16;
/// What the checksum covers begins here.
const COVERED: usize = 32;
const HEADER: usize = 256;
/// Sections begin at multiples of this.
const ALIGNMENT: usize = 64;

/// The sections, in the order of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Hashes of the pieces that are one token.
    Words,
    /// The merge table.
    Merges,
    /// What each two bytes are joined into, [`NEVER`](super::bpe::NEVER) for nothing.
    BytePairs,
    /// The symbol of each character (`Sentence` only).
    Characters,
    /// Hashes of the pairs of characters side by side in a token (`Sentence` only).
    Pairs,
    /// Hashes and flags of the added tokens.
    Added,
    /// The lengths of the added tokens, longest first, and a filter of their first two bytes.
    AddedFilter,
    /// What the file is: JSON.
    About,
}

const SECTIONS: usize = 8;

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) scheme: Scheme,
    pub(super) nfc: bool,
    pub(super) ignore_merges: bool,
    pub(super) longest_word: usize,
    pub(super) source_digest: [u8; 32],
    sections: [(usize, usize); SECTIONS],
}

impl Header {
    /// A section's bytes.
    pub(super) fn section<'a>(&self, file: &'a [u8], section: Section) -> &'a [u8] {
        let (start, length) = self.sections[section as usize];
        &file[start..start + length]
    }
}

/// Writes a file.
pub(super) struct Writer {
    bytes: Vec<u8>,
    sections: [(usize, usize); SECTIONS],
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; HEADER],
            sections: [(HEADER, 0); SECTIONS],
        }
    }

    pub(super) fn add(&mut self, section: Section, bytes: &[u8]) {
        self.bytes
            .resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
        self.sections[section as usize] = (self.bytes.len(), bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// The file. The sections of `header` are those that were added.
    pub(super) fn finish(mut self, header: &Header) -> Vec<u8> {
        let length = self.bytes.len() as u64;
        let scheme = Scheme::ALL
            .iter()
            .position(|scheme| *scheme == header.scheme);
        let scheme = scheme
            .and_then(|at| u32::try_from(at).ok())
            .unwrap_or(u32::MAX);
        let flags = u32::from(header.nfc) | u32::from(header.ignore_merges) << 1;
        let mut head = Vec::with_capacity(HEADER);
        head.extend(MAGIC);
        head.extend(VERSION.to_le_bytes());
        head.extend(UNICODE.to_le_bytes());
        head.extend(length.to_le_bytes());
        head.extend([0; 8]);
        head.extend(header.source_digest);
        head.extend(scheme.to_le_bytes());
        head.extend(flags.to_le_bytes());
        head.extend((header.longest_word as u64).to_le_bytes());
        for (start, length) in self.sections {
            head.extend((start as u64).to_le_bytes());
            head.extend((length as u64).to_le_bytes());
        }
        self.bytes[..head.len()].copy_from_slice(&head);
        let sum = checksum(&self.bytes[COVERED..]);
        self.bytes[24..32].copy_from_slice(&sum.to_le_bytes());
        self.bytes
    }
}

impl Header {
    /// A header to be written; its sections come from the writer.
    pub(super) const fn new(
        scheme: Scheme,
        nfc: bool,
        ignore_merges: bool,
        longest_word: usize,
        source_digest: [u8; 32],
    ) -> Self {
        Self {
            scheme,
            nfc,
            ignore_merges,
            longest_word,
            source_digest,
            sections: [(HEADER, 0); SECTIONS],
        }
    }

    /// Reads and verifies a file: magic, versions, length, checksum, and that every section lies
    /// inside. Nothing of a file is used before this.
    pub(super) fn verify(file: &[u8]) -> Result<Self, TokenizerError> {
        let damaged = |what: &str| TokenizerError::Malformed(format!("cache file: {what}"));
        if file.len() < HEADER || !file.starts_with(MAGIC) {
            return Err(damaged("no cache file of ours"));
        }
        if (u32_at(file, 8), u32_at(file, 12)) != (VERSION, UNICODE) {
            return Err(damaged("written by another version"));
        }
        if u64_at(file, 16) != file.len() as u64 {
            return Err(damaged("cut off"));
        }
        if u64_at(file, 24) != checksum(&file[COVERED..]) {
            return Err(damaged("its checksum is wrong"));
        }
        let scheme = usize::try_from(u32_at(file, 64)).ok();
        let scheme = scheme.and_then(|number| Scheme::ALL.get(number));
        let flags = u32_at(file, 68);
        let mut sections = [(0, 0); SECTIONS];
        for (index, section) in sections.iter_mut().enumerate() {
            let place = |at| usize::try_from(u64_at(file, at)).unwrap_or(usize::MAX);
            let (start, length) = (place(80 + index * 16), place(88 + index * 16));
            if start.checked_add(length).is_none_or(|end| end > file.len()) {
                return Err(damaged("a section lies outside"));
            }
            *section = (start, length);
        }
        let mut source_digest = [0; 32];
        source_digest.copy_from_slice(&file[32..64]);
        Ok(Self {
            scheme: *scheme.ok_or_else(|| damaged("an unknown scheme"))?,
            nfc: flags & 1 != 0,
            ignore_merges: flags & 2 != 0,
            longest_word: usize::try_from(u64_at(file, 72)).unwrap_or(usize::MAX),
            source_digest,
            sections,
        })
    }
}

fn u32_at(file: &[u8], at: usize) -> u32 {
    file[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(file: &[u8], at: usize) -> u64 {
    file[at..]
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::{Header, Section, Writer};
    use crate::engine::source::Scheme;

    fn file() -> Vec<u8> {
        let mut writer = Writer::new();
        writer.add(Section::Words, b"words");
        writer.add(Section::About, b"{}");
        writer.finish(&Header::new(Scheme::O200k, true, false, 7, [9; 32]))
    }

    #[test]
    fn what_is_written_is_read() {
        let file = file();
        let header = Header::verify(&file).unwrap();
        assert_eq!(
            (header.scheme, header.nfc, header.ignore_merges),
            (Scheme::O200k, true, false)
        );
        assert_eq!((header.longest_word, header.source_digest), (7, [9; 32]));
        assert_eq!(header.section(&file, Section::Words), b"words");
        assert_eq!(header.section(&file, Section::Merges), b"");
    }

    #[test]
    fn no_damage_goes_unseen() {
        let file = file();
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            assert!(Header::verify(&damaged).is_err(), "byte {at}");
        }
        for length in 0..file.len() {
            assert!(Header::verify(&file[..length]).is_err(), "cut to {length}");
        }
    }
}
