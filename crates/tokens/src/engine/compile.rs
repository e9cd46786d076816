//! From a tokenizer's description to the file that is mapped.

use serde_json::Value;

use super::TokenizerError;
use super::bpe::{Merges, NEVER, merge_all};
use super::format::{Header, Section, Writer};
use super::hash::{self, Map, Set};
use super::source::{Scheme, Source, byte_alphabet, bytes_of_alphabet, token_bytes};
use super::tables::{
    FILTER, MOST_SYMBOLS, MergeTable, NO_MERGE, filter_bit, merge_entry, pair_hash, same_pair,
};

/// Compiles a tokenizer. `about` is kept in the file for people and for the chat template.
pub(super) fn compile(
    source: &Source<'_>,
    about: &Value,
    digest: [u8; 32],
) -> Result<Vec<u8>, TokenizerError> {
    let bytes = byte_ids(source)?;
    let characters = match source.scheme {
        Scheme::Sentence => characters(source),
        _ => Map::default(),
    };
    let ranks = Ranks::new(source)?;
    let Reached { words, merges } = reached(source, &ranks, &bytes, &characters);
    let symbols = Symbols::new(source, &merges, &bytes, &characters);
    let mut writer = Writer::new();
    writer.add(Section::Merges, &merge_section(source, &merges, &symbols));
    if source.scheme == Scheme::Sentence {
        writer.add(
            Section::Characters,
            &character_section(&characters, &symbols),
        );
        writer.add(Section::Pairs, &pair_section(source));
    } else {
        writer.add(Section::BytePairs, &byte_pairs(&bytes, &ranks, &symbols));
    }
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

/// All merges of the source, by the ids they join: a table like the compiled one, with ranks in the
/// place of symbols.
struct Ranks<'a> {
    source: &'a Source<'a>,
    table: Vec<[u8; 8]>,
}

impl<'a> Ranks<'a> {
    fn new(source: &'a Source<'a>) -> Result<Self, TokenizerError> {
        let ids = source.vocabulary.values().copied().max().unwrap_or(0);
        let most = (ids as usize + 1).max(source.merges.len());
        if most >= MOST_SYMBOLS as usize {
            return Err(TokenizerError::Unsupported(format!(
                "it has {most} tokens or merges; at most {MOST_SYMBOLS} are"
            )));
        }
        let mut table = vec![NO_MERGE; slots(source.merges.len())];
        for (rank, (left, right, _)) in (0..).zip(&source.merges) {
            let (entry, home) = merge_entry(*left, *right, rank);
            // Of two equal merges the later one counts, as with Hugging Face.
            insert(&mut table, home, entry, |old| {
                *old == NO_MERGE || same_pair(*old, entry)
            });
        }
        Ok(Self { source, table })
    }
}

impl Merges for Ranks<'_> {
    fn rank(&self, left: u32, right: u32) -> u32 {
        MergeTable(&self.table).rank(left, right)
    }

    fn joined(&self, rank: u32) -> u32 {
        let merge = self.source.merges.get(rank as usize);
        merge.map_or(NEVER, |(_, _, joined)| *joined)
    }
}

/// The numbers of symbols in the tables, by their ids in the source.
struct Symbols(Vec<u32>);

impl Symbols {
    fn new(
        source: &Source<'_>,
        merges: &[usize],
        bytes: &[u32; 256],
        characters: &Map<char, u32>,
    ) -> Self {
        let mut characters: Vec<u32> = characters.values().copied().collect();
        characters.sort_unstable();
        let joined = merges.iter().map(|rank| source.merges[*rank].2);
        let ids: Vec<u32> = bytes
            .iter()
            .copied()
            .chain(characters)
            .chain(joined)
            .collect();
        let most = ids.iter().max().map_or(0, |id| *id as usize);
        let mut symbols = vec![NEVER; most + 1];
        for (symbol, id) in (0..).zip(ids) {
            symbols[id as usize] = symbol;
        }
        Self(symbols)
    }

    fn of(&self, id: u32) -> u32 {
        self.0.get(id as usize).copied().unwrap_or(NEVER)
    }
}

fn merge_section(source: &Source<'_>, merges: &[usize], symbols: &Symbols) -> Vec<u8> {
    let mut table = vec![NO_MERGE; slots(merges.len())];
    for rank in merges {
        let (left, right, joined) = source.merges[*rank];
        let [left, right, joined] = [left, right, joined].map(|id| symbols.of(id));
        let (entry, home) = merge_entry(left, right, joined);
        insert(&mut table, home, entry, |old| *old == NO_MERGE);
    }
    table.concat()
}

/// What each two bytes give: where merging begins, these are the pairs looked up.
fn byte_pairs(bytes: &[u32; 256], ranks: &Ranks<'_>, symbols: &Symbols) -> Vec<u8> {
    let pairs = bytes.iter().flat_map(|left| {
        bytes.iter().flat_map(|right| {
            let joined = ranks.joined(ranks.rank(*left, *right));
            symbols.of(joined).to_le_bytes()
        })
    });
    pairs.collect()
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

fn character_section(characters: &Map<char, u32>, symbols: &Symbols) -> Vec<u8> {
    let mut table = vec![[0; 8]; slots(characters.len())];
    let mut sorted: Vec<(&char, &u32)> = characters.iter().collect();
    sorted.sort_unstable();
    for (c, id) in sorted {
        let key = u32::from(*c) + 1;
        let mut entry = [0; 8];
        entry[..4].copy_from_slice(&key.to_le_bytes());
        entry[4..].copy_from_slice(&symbols.of(*id).to_le_bytes());
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

/// What can come of texts.
struct Reached {
    /// The pieces that are one token: those that merging joins into themselves, or every token where
    /// the tokenizer ignores merges for them.
    words: Vec<Vec<u8>>,
    /// The ranks of the merges that can ever happen, in order.
    ///
    /// Vocabularies made from tiktoken's list each way to cut a token in two. But what happens inside a
    /// token while a text is merged is what happens to the token alone, as long as nothing is joined
    /// across its borders; so its two last parts are always the same ones. Of each token only the merge
    /// counts that comes last when it is merged alone.
    merges: Vec<usize>,
}

fn reached(
    source: &Source<'_>,
    ranks: &Ranks<'_>,
    bytes: &[u32; 256],
    characters: &Map<char, u32>,
) -> Reached {
    let alphabet = bytes_of_alphabet();
    let mut parts = Vec::new();
    let mut last = Vec::new();
    let mut is_one = |symbols: &mut dyn Iterator<Item = u32>| {
        let merged = merge_all(ranks, symbols, &mut parts);
        if merged.left == 1 && merged.last != NEVER {
            last.push(merged.last as usize);
        }
        merged.left == 1
    };
    let mut words = Vec::with_capacity(source.vocabulary.len());
    for token in source.vocabulary.keys() {
        if source.scheme == Scheme::Sentence {
            let known = token.chars().all(|c| characters.contains_key(&c));
            if known && is_one(&mut token.chars().filter_map(|c| characters.get(&c).copied())) {
                words.push(token.as_bytes().to_vec());
            }
        } else if let Some(text) = token_bytes(token, &alphabet) {
            let ids = &mut text.iter().map(|byte| bytes[usize::from(*byte)]);
            if is_one(ids) || source.ignore_merges {
                words.push(text);
            }
        }
    }
    last.sort_unstable();
    Reached {
        words,
        merges: last,
    }
}
