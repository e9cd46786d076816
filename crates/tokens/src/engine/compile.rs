//! From a tokenizer's description to the file that is mapped.

use serde_json::Value;

use super::TokenizerError;
use super::bpe::{Scratch, merge_all};
use super::format::{Header, Section, Writer};
use super::hash::{self, Map, Set};
use super::source::{Merge, Scheme, Source, byte_alphabet, bytes_of_alphabet, token_bytes};
use super::tables::{FILTER, MergeTable, NO_MERGE, filter_bit, pair_hash, pair_key};

/// Compiles a tokenizer. `about` is kept in the file for people and for the chat template.
pub(super) fn compile(
    source: &Source<'_>,
    about: &Value,
    digest: [u8; 32],
) -> Result<Vec<u8>, TokenizerError> {
    let bytes = byte_ids(source)?;
    let merges = merge_section(&source.merges);
    let mut writer = Writer::new();
    writer.add(Section::Merges, &merges);
    writer.add(Section::Bytes, &bytes.map(u32::to_le_bytes).concat());
    let characters = if source.scheme == Scheme::Sentence {
        let characters = characters(source);
        writer.add(Section::Characters, &character_section(&characters));
        writer.add(Section::Pairs, &pair_section(source));
        characters
    } else {
        Map::default()
    };
    let added: Vec<(u64, u64)> = source
        .added
        .iter()
        .map(|token| {
            let flags = u64::from(token.lstrip) | u64::from(token.rstrip) << 1;
            (hash::of_bytes(token.content.as_bytes()), flags)
        })
        .collect();
    writer.add(Section::Added, &added_section(&added));
    writer.add(Section::AddedFilter, &added_filter(source));
    let words = words(source, &MergeTable::new(&merges), &bytes, &characters);
    let hashes = words.iter().map(|word| hash::of_bytes(word));
    writer.add(Section::Words, &hash_section(hashes, |hash| hash >> 20));
    writer.add(Section::About, about.to_string().as_bytes());
    let longest = words.iter().map(Vec::len).max().unwrap_or(0);
    let header = Header::new(
        source.scheme,
        source.nfc,
        source.ignore_merges,
        longest,
        digest,
    );
    Ok(writer.finish(&header))
}

/// The id of each byte, on which everything rests.
fn byte_ids(source: &Source<'_>) -> Result<[u32; 256], TokenizerError> {
    let alphabet = byte_alphabet();
    let mut ids = [0; 256];
    for (byte, id) in ids.iter_mut().enumerate() {
        let token = match source.scheme {
            Scheme::Sentence => format!("<0x{byte:02X}>"),
            _ => alphabet[byte].to_string(),
        };
        *id = *source.vocabulary.get(&*token).ok_or_else(|| {
            TokenizerError::Unsupported(format!("its vocabulary has no token for byte {byte}"))
        })?;
    }
    Ok(ids)
}

fn merge_section(merges: &[Merge]) -> Vec<u8> {
    let mut table = vec![NO_MERGE; slots(merges.len())];
    for (rank, (left, right, joined)) in (0_u32..).zip(merges) {
        let (key, home) = pair_key(*left, *right);
        let mut entry = NO_MERGE;
        entry[..8].copy_from_slice(&key.to_le_bytes());
        entry[8..12].copy_from_slice(&rank.to_le_bytes());
        entry[12..].copy_from_slice(&joined.to_le_bytes());
        // Of two equal merges the later one counts, as with Hugging Face.
        insert(&mut table, home, entry, |old| {
            *old == NO_MERGE || old[..8] == entry[..8]
        });
    }
    table.concat()
}

/// How many slots a table of this many entries gets: at most two thirds of them are taken.
fn slots(entries: usize) -> usize {
    (entries + entries / 2 + 1).next_power_of_two()
}

fn insert<const N: usize>(
    table: &mut [[u8; N]],
    home: u64,
    entry: [u8; N],
    free: impl Fn(&[u8; N]) -> bool,
) {
    let mask = table.len() - 1;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "masked to the length of the table"
    )]
    let mut place = home as usize & mask;
    while !free(&table[place]) {
        place = (place + 1) & mask;
    }
    table[place] = entry;
}

/// A set of hashes, each at home where `home` says. Sorted first, so that the same source always
/// gives the same file.
fn hash_section(hashes: impl Iterator<Item = u64>, home: impl Fn(u64) -> u64) -> Vec<u8> {
    let mut hashes: Vec<u64> = hashes.collect();
    hashes.sort_unstable();
    let mut table = vec![[0; 8]; slots(hashes.len())];
    for hash in hashes {
        let entry = hash.to_le_bytes();
        insert(&mut table, home(hash), entry, |old| {
            *old == [0; 8] || *old == entry
        });
    }
    table.concat()
}

fn characters(source: &Source<'_>) -> Map<char, u32> {
    let tokens = source.vocabulary.iter();
    let singles = tokens.filter_map(|(token, id)| {
        let mut characters = token.chars();
        let first = characters.next()?;
        characters.next().is_none().then_some((first, *id))
    });
    singles.collect()
}

fn character_section(characters: &Map<char, u32>) -> Vec<u8> {
    let mut table = vec![[0; 8]; slots(characters.len())];
    let mut sorted: Vec<(&char, &u32)> = characters.iter().collect();
    sorted.sort_unstable();
    for (c, id) in sorted {
        let key = u32::from(*c) + 1;
        let mut entry = [0; 8];
        entry[..4].copy_from_slice(&key.to_le_bytes());
        entry[4..].copy_from_slice(&id.to_le_bytes());
        insert(&mut table, hash::of_number(u64::from(key)), entry, |old| {
            *old == [0; 8]
        });
    }
    table.concat()
}

fn pair_section(source: &Source<'_>) -> Vec<u8> {
    let mut pairs = Set::default();
    for token in source.vocabulary.keys() {
        let following = token.chars().skip(1);
        pairs.extend(token.chars().zip(following).map(|(a, b)| pair_hash(a, b)));
    }
    hash_section(pairs.into_iter(), hash::of_number)
}

fn added_section(added: &[(u64, u64)]) -> Vec<u8> {
    let mut table = vec![[0; 16]; slots(added.len())];
    for (key, flags) in added {
        let mut entry = [0; 16];
        entry[..8].copy_from_slice(&key.to_le_bytes());
        entry[8..].copy_from_slice(&flags.to_le_bytes());
        insert(&mut table, hash::of_number(*key), entry, |old| {
            old[..8] == [0; 8] || old[..8] == entry[..8]
        });
    }
    table.concat()
}

/// A bit for the first two bytes of each added token, then the lengths, longest first.
fn added_filter(source: &Source<'_>) -> Vec<u8> {
    let mut section = vec![0_u8; FILTER];
    for token in &source.added {
        let set = |bit: usize| (bit / 8, 1 << (bit % 8));
        let seconds = match *token.content.as_bytes() {
            [first, second, ..] => vec![set(filter_bit(first, second))],
            [first] => (0..=255)
                .map(|second| set(filter_bit(first, second)))
                .collect(),
            [] => Vec::new(),
        };
        for (byte, bit) in seconds {
            section[byte] |= bit;
        }
    }
    let mut lengths: Vec<usize> = source
        .added
        .iter()
        .map(|token| token.content.len())
        .collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    lengths.dedup();
    let lengths = lengths
        .iter()
        .filter_map(|length| u32::try_from(*length).ok());
    section.extend(lengths.flat_map(u32::to_le_bytes));
    section
}

/// The pieces that are one token: those that merging joins into themselves, or every token where the
/// tokenizer ignores merges for them.
fn words(
    source: &Source<'_>,
    merges: &MergeTable<'_>,
    bytes: &[u32; 256],
    characters: &Map<char, u32>,
) -> Vec<Vec<u8>> {
    let alphabet = bytes_of_alphabet();
    let mut scratch = Scratch::default();
    let mut symbols = Vec::new();
    let mut one_token = |piece: &mut dyn Iterator<Item = u32>| {
        symbols.clear();
        symbols.extend(piece);
        merge_all(merges, &mut symbols, &mut scratch) == 1
    };
    let mut words = Vec::with_capacity(source.vocabulary.len());
    for token in source.vocabulary.keys() {
        if source.scheme == Scheme::Sentence {
            let known = token.chars().all(|c| characters.contains_key(&c));
            if known && one_token(&mut token.chars().filter_map(|c| characters.get(&c).copied())) {
                words.push(token.as_bytes().to_vec());
            }
        } else if let Some(text) = token_bytes(token, &alphabet) {
            let ids = &mut text.iter().map(|byte| bytes[usize::from(*byte)]);
            if source.ignore_merges || one_token(ids) {
                words.push(text);
            }
        }
    }
    words
}
