//! The tables of a compiled file, looked up where they lie. All are open-addressed with linear
//! probing; their sizes are powers of two and there is always an empty place.

use super::bpe::Merges;
use super::format::{Header, Section};
use super::hash;

/// An empty place of the merge table.
pub(super) const NO_MERGE: [u8; 16] = [0xFF; 16];

/// A set of non-zero hashes.
#[derive(Debug, Clone, Copy)]
pub(super) struct HashSet<'a>(&'a [[u8; 8]]);

impl HashSet<'_> {
    /// Whether the hash is in it. `home` is where it would lie first.
    #[inline]
    fn contains(self, key: u64, home: u64) -> bool {
        let mut place = home;
        loop {
            match slot(self.0, place).map(|slot| u64::from_le_bytes(*slot)) {
                Some(found) if found == key => return true,
                Some(0) | None => return false,
                Some(_) => place = place.wrapping_add(1),
            }
        }
    }
}

/// The slot at a place, going round at the end. None for a table of no slots.
#[inline]
fn slot<const N: usize>(slots: &[[u8; N]], place: u64) -> Option<&[u8; N]> {
    let mask = slots.len().wrapping_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "masked to the length of the table"
    )]
    slots.get(place as usize & mask)
}

/// Joins pairs of symbols by looking them up.
#[derive(Debug, Clone, Copy)]
pub(super) struct MergeTable<'a>(&'a [[u8; 16]]);

impl<'a> MergeTable<'a> {
    pub(super) fn new(section: &'a [u8]) -> Self {
        Self(section.as_chunks().0)
    }
}

/// Where a pair lies first, and its key.
#[inline]
pub(super) fn pair_key(left: u32, right: u32) -> (u64, u64) {
    let key = u64::from(left) << 32 | u64::from(right);
    (key, hash::of_number(key))
}

impl Merges for MergeTable<'_> {
    #[inline]
    fn merge(&self, left: u32, right: u32) -> Option<(u32, u32)> {
        let (key, mut place) = pair_key(left, right);
        loop {
            let entry = slot(self.0, place)?;
            let found = low(entry);
            if found == key {
                let rank_and_id = high(entry);
                return Some((low_half(rank_and_id), low_half(rank_and_id >> 32)));
            }
            if found == u64::MAX {
                return None;
            }
            place = place.wrapping_add(1);
        }
    }
}

/// The first number of an entry.
#[inline]
fn low(entry: &[u8; 16]) -> u64 {
    entry
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The second number of an entry.
#[inline]
fn high(entry: &[u8; 16]) -> u64 {
    entry
        .last_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what is asked for"
)]
const fn low_half(number: u64) -> u32 {
    number as u32
}

/// How an added token treats the white space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strips {
    pub(super) left: bool,
    pub(super) right: bool,
}

/// All tables of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tables<'a> {
    pub(super) merges: MergeTable<'a>,
    words: HashSet<'a>,
    bytes: &'a [[u8; 4]],
    characters: &'a [[u8; 8]],
    pairs: HashSet<'a>,
    added: &'a [[u8; 16]],
    added_lengths: &'a [[u8; 4]],
    added_filter: &'a [u8],
}

/// The bits of the filter: one for each first two bytes an added token may have.
pub(super) const FILTER: usize = 1 << 13;

impl<'a> Tables<'a> {
    /// The tables of a verified file.
    pub(super) fn new(header: &Header, file: &'a [u8]) -> Self {
        let section = |section| header.section(file, section);
        let filter = section(Section::AddedFilter);
        let (filter, lengths) = filter.split_at(filter.len().min(FILTER));
        Self {
            merges: MergeTable::new(section(Section::Merges)),
            words: HashSet(section(Section::Words).as_chunks().0),
            bytes: section(Section::Bytes).as_chunks().0,
            characters: section(Section::Characters).as_chunks().0,
            pairs: HashSet(section(Section::Pairs).as_chunks().0),
            added: section(Section::Added).as_chunks().0,
            added_lengths: lengths.as_chunks().0,
            added_filter: filter,
        }
    }

    /// Whether a piece of this hash is one token.
    #[inline]
    pub(super) fn is_word(&self, hash: u64) -> bool {
        self.words.contains(hash, hash >> 20)
    }

    /// Whether two characters stand side by side in any token.
    #[inline]
    pub(super) fn is_pair(&self, left: char, right: char) -> bool {
        let key = pair_hash(left, right);
        self.pairs.contains(key, hash::of_number(key))
    }

    #[inline]
    pub(super) fn byte(&self, byte: u8) -> u32 {
        self.bytes
            .get(usize::from(byte))
            .map_or(0, |id| u32::from_le_bytes(*id))
    }

    /// The id of a character, none if it is written in bytes.
    #[inline]
    pub(super) fn character(&self, c: char) -> Option<u32> {
        let key = u32::from(c) + 1;
        let mut place = hash::of_number(u64::from(key));
        loop {
            let entry = u64::from_le_bytes(*slot(self.characters, place)?);
            match low_half(entry) {
                0 => return None,
                found if found == key => return Some(low_half(entry >> 32)),
                _ => place = place.wrapping_add(1),
            }
        }
    }

    /// The longest added token at the start of `rest`: its length and what it strips.
    #[inline]
    pub(super) fn added_at(&self, rest: &[u8]) -> Option<(usize, Strips)> {
        let (first, second) = (rest.first()?, rest.get(1).unwrap_or(&0));
        let bit = filter_bit(*first, *second);
        if self.added_filter.get(bit / 8)? >> (bit % 8) & 1 == 0 {
            return None;
        }
        self.added_lengths.iter().find_map(|length| {
            let length = u32::from_le_bytes(*length) as usize;
            Some((length, self.added(hash::of_bytes(rest.get(..length)?))?))
        })
    }

    fn added(&self, key: u64) -> Option<Strips> {
        let mut place = hash::of_number(key);
        loop {
            let entry = slot(self.added, place)?;
            let found = low(entry);
            if found == key {
                let flags = high(entry);
                return Some(Strips {
                    left: flags & 1 != 0,
                    right: flags & 2 != 0,
                });
            }
            if found == 0 {
                return None;
            }
            place = place.wrapping_add(1);
        }
    }
}

/// The bit of the filter for two bytes.
pub(super) fn filter_bit(first: u8, second: u8) -> usize {
    usize::from(first) | usize::from(second) << 8
}

/// The key of two characters side by side, never 0.
pub(super) fn pair_hash(left: char, right: char) -> u64 {
    1 << 63 | u64::from(left) << 32 | u64::from(right)
}
