//! The hash functions of the tables. Part of the file format: a change needs a new version.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const FINAL: u64 = 0xD6E8_FEB8_6659_FD93;
const START: u64 = 0x243F_6A88_85A3_08D3;

/// A hash of a text, never 0 (an empty place of a table).
#[inline]
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    let mut hash = (bytes.len() as u64).wrapping_mul(FACTOR) ^ START;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
        hash ^= hash >> 29;
    }
    hash = (hash ^ few_bytes(rest)).wrapping_mul(FACTOR);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(FINAL);
    (hash ^ (hash >> 32)).max(1)
}

/// Up to seven bytes as a number, the first the lowest. Read by parts that may overlap, which costs
/// less than one by one.
#[inline]
fn few_bytes(bytes: &[u8]) -> u64 {
    let last = bytes.len().wrapping_sub(1);
    if let (Some(first), Some(end)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, end] = [first, end].map(|four| u64::from(u32::from_le_bytes(*four)));
        return first | end << ((last - 3) * 8);
    }
    let byte = |at: usize| bytes.get(at).map_or(0, |byte| u64::from(*byte) << (at * 8));
    byte(0) | byte(1) | byte(2)
}

/// A hash of a number.
#[inline]
pub(crate) const fn of_number(number: u64) -> u64 {
    let hash = number.wrapping_mul(FACTOR);
    (hash ^ (hash >> 31)).wrapping_mul(FINAL) >> 8
}

/// A map of a tokenizer's texts or ids. A vocabulary is looked up millions of times while it is
/// compiled, and nobody gains by making it collide.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fast>>;

/// A set of the same.
pub(super) type Set<K> = HashSet<K, BuildHasherDefault<Fast>>;

/// The hash functions of this module for the maps of the standard library.
#[derive(Debug, Default)]
pub(super) struct Fast(u64);

impl Hasher for Fast {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(5) ^ of_bytes(bytes);
    }

    #[inline]
    fn write_u8(&mut self, _end_of_text: u8) {}

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let hash = (self.0.rotate_left(32) ^ number).wrapping_mul(FACTOR);
        self.0 = (hash ^ hash >> 32).wrapping_mul(FINAL);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The maps use the highest bits and the lowest.
        self.0 ^ self.0 >> 32
    }
}

/// A checksum of a whole file, fast enough to be made at every start: four lanes of eight bytes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut lanes = [START, !START, FACTOR, FINAL];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = (lane.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
        }
    }
    lanes.iter().fold(of_bytes(rest), |sum, lane| {
        of_number(sum ^ lane.rotate_left(17))
    })
}

#[cfg(test)]
mod tests {
    use super::{checksum, few_bytes, of_bytes};

    #[test]
    fn every_byte_counts() {
        let text: Vec<u8> = (0..=255).cycle().take(1_000).collect();
        let (hash, sum) = (of_bytes(&text), checksum(&text));
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            assert_ne!(of_bytes(&other), hash);
            assert_ne!(checksum(&other), sum);
        }
        assert_ne!(of_bytes(b"a"), of_bytes(b"a\0"));
        assert_ne!(of_bytes(b""), 0);
    }

    #[test]
    fn few_bytes_are_read_like_eight_with_zeros_behind() {
        for length in 0..8 {
            let text = &b"\x81\x12\xF3\x04\x95\x06\x77"[..length];
            let mut eight = [0; 8];
            eight[..length].copy_from_slice(text);
            assert_eq!(few_bytes(text), u64::from_le_bytes(eight), "{length}");
        }
    }
}
