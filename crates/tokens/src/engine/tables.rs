//! The tables of a compiled file, looked up where they lie. All are open-addressed with linear
//! probing; their sizes are powers of two and there is always an empty place.

use super::bpe::{Merges, NEVER};
use super::format::{Header, Section};
use super::hash;

/// Symbols are numbered from the bytes on: 0 to 255, then the characters (`Sentence` only), then what
/// the merges give, earliest first, so that a merge's symbol is its rank, too. With less than this many
/// a merge fits into eight bytes: left, right, joined.
pub(super) const MOST_SYMBOLS: u32 = 1 << SYMBOL_BITS;
const SYMBOL_BITS: u32 = 20;

/// An empty place of the merge table.
pub(super) const NO_MERGE: [u8; 8] = [0xFF; 8];

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

/// Finds what pairs of symbols are joined into.
#[derive(Debug, Clone, Copy)]
pub(super) struct MergeTable<'a>(pub(super) &'a [[u8; 8]]);

/// A merge as it lies in the table, and where it lies first.
pub(super) fn merge_entry(left: u32, right: u32, joined: u32) -> ([u8; 8], u64) {
    let key = pair_key(left, right);
    let entry = key << SYMBOL_BITS | u64::from(joined);
    (entry.to_le_bytes(), hash::of_number(key))
}

/// Whether two entries of the table are of the same pair.
pub(super) const fn same_pair(a: [u8; 8], b: [u8; 8]) -> bool {
    u64::from_le_bytes(a) >> SYMBOL_BITS == u64::from_le_bytes(b) >> SYMBOL_BITS
}

#[inline]
fn pair_key(left: u32, right: u32) -> u64 {
    u64::from(left) << SYMBOL_BITS | u64::from(right)
}

impl MergeTable<'_> {
    #[inline]
    fn entry(self, place: u64) -> u64 {
        slot(self.0, place).map_or(u64::MAX, |entry| u64::from_le_bytes(*entry))
    }

    /// Goes on from a pair's first place, where this entry is.
    #[inline]
    fn find(self, key: u64, mut place: u64, mut entry: u64) -> u32 {
        while entry != u64::MAX {
            if entry >> SYMBOL_BITS == key {
                return low_half(entry) & (MOST_SYMBOLS - 1);
            }
            place = place.wrapping_add(1);
            entry = self.entry(place);
        }
        NEVER
    }
}

impl Merges for MergeTable<'_> {
    #[inline]
    fn rank(&self, left: u32, right: u32) -> u32 {
        let key = pair_key(left, right);
        let home = hash::of_number(key);
        self.find(key, home, self.entry(home))
    }

    #[inline]
    fn joined(&self, rank: u32) -> u32 {
        rank
    }

    /// Reads the first places of both before it looks at either: they are far away, and come together.
    #[inline]
    fn ranks_around(&self, before: u32, symbol: u32, after: u32) -> (u32, u32) {
        let (key_before, key_after) = (pair_key(before, symbol), pair_key(symbol, after));
        let (home_before, home_after) = (hash::of_number(key_before), hash::of_number(key_after));
        let (first_before, first_after) = (self.entry(home_before), self.entry(home_after));
        (
            self.find(key_before, home_before, first_before),
            self.find(key_after, home_after, first_after),
        )
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
    byte_pairs: &'a [[u8; 4]],
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
            merges: MergeTable(section(Section::Merges).as_chunks().0),
            words: HashSet(section(Section::Words).as_chunks().0),
            byte_pairs: section(Section::BytePairs).as_chunks().0,
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

    /// The rank of joining two bytes.
    #[inline]
    pub(super) fn byte_pair(&self, left: u8, right: u8) -> u32 {
        let at = usize::from(left) << 8 | usize::from(right);
        let rank = self.byte_pairs.get(at);
        rank.map_or(NEVER, |rank| u32::from_le_bytes(*rank))
    }

    /// The symbol of a character, none if it is written in bytes.
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

    /// Whether an added token begins with this byte.
    pub(super) fn begins_added(&self, first: usize) -> bool {
        // The bits of one first byte are 256 apart, one in each 32 bytes of the filter.
        let column = self.added_filter.iter().skip(first / 8).step_by(32);
        column.fold(0, |bits, byte| bits | byte) >> (first % 8) & 1 != 0
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
