//! Merging: how many symbols of a piece are left when no more of them can be joined.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The rank of a pair that is never joined.
pub(crate) const NEVER: u32 = u32::MAX;

/// The merge table. Lower ranks are joined earlier; no two pairs share one.
pub(crate) trait Merges {
    /// The rank of joining two symbols, [`NEVER`] for those that stay apart.
    fn rank(&self, left: u32, right: u32) -> u32;

    /// The symbol that the merge of this rank gives.
    fn joined(&self, rank: u32) -> u32;

    /// The ranks of joining a symbol with the one before it and with the one after it.
    #[inline]
    fn ranks_around(&self, before: u32, symbol: u32, after: u32) -> (u32, u32) {
        (self.rank(before, symbol), self.rank(symbol, after))
    }
}

/// A symbol of a piece, and the rank of joining it with the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) symbol: u32,
    pub(crate) rank: u32,
}

/// Pieces up to this length are scanned; longer ones use a heap.
const SCANNED: usize = 64;

/// What merging came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Merged {
    /// How many symbols are left.
    pub(crate) left: usize,
    /// The rank of the last merge, [`NEVER`] if there was none.
    pub(crate) last: u32,
}

/// Joins symbols by rank, leftmost first. `parts` is for reuse.
pub(crate) fn merge_all(
    table: &impl Merges,
    symbols: impl IntoIterator<Item = u32>,
    parts: &mut Vec<Part>,
) -> Merged {
    parts.clear();
    for symbol in symbols {
        if let Some(last) = parts.last_mut() {
            last.rank = table.rank(last.symbol, symbol);
        }
        parts.push(Part {
            symbol,
            rank: NEVER,
        });
    }
    merge_parts(table, parts)
}

/// The same for parts whose ranks are known. The last one's is [`NEVER`].
pub(crate) fn merge_parts(table: &impl Merges, parts: &mut Vec<Part>) -> Merged {
    if parts.len() <= SCANNED {
        scan(table, parts)
    } else {
        queue(table, parts)
    }
}

fn scan(table: &impl Merges, parts: &mut Vec<Part>) -> Merged {
    let mut last = NEVER;
    loop {
        let mut best = (NEVER, 0);
        for (at, part) in parts.iter().enumerate() {
            if part.rank < best.0 {
                best = (part.rank, at);
            }
        }
        let (rank, at) = best;
        if rank == NEVER {
            let left = parts.len();
            return Merged { left, last };
        }
        last = rank;
        parts.remove(at + 1);
        // The pair before and the pair after have a new member.
        let symbol = table.joined(rank);
        let before = at.checked_sub(1).map(|before| parts[before].symbol);
        let after = parts.get(at + 1).map(|after| after.symbol);
        let (before_rank, rank) = match (before, after) {
            (Some(before), Some(after)) => table.ranks_around(before, symbol, after),
            (Some(before), None) => (table.rank(before, symbol), NEVER),
            (None, Some(after)) => (NEVER, table.rank(symbol, after)),
            (None, None) => (NEVER, NEVER),
        };
        parts[at] = Part { symbol, rank };
        if at > 0 {
            parts[at - 1].rank = before_rank;
        }
    }
}

/// One symbol of a long piece, in a list.
#[derive(Clone, Copy)]
struct Node {
    id: u32,
    before: usize,
    after: usize,
}

/// The id of a symbol that was joined to the one before it.
const GONE: u32 = u32::MAX;

fn queue(table: &impl Merges, parts: &[Part]) -> Merged {
    let mut nodes: Vec<Node> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| Node {
            id: part.symbol,
            before: at.wrapping_sub(1),
            after: at + 1,
        })
        .collect();
    // Rank, place of the left symbol, both symbols: the least comes first.
    let push = |heap: &mut BinaryHeap<_>, nodes: &[Node], left: usize| {
        let Some(&Node { id: a, after, .. }) = nodes.get(left) else {
            return;
        };
        let Some(&Node { id: b, .. }) = nodes.get(after) else {
            return;
        };
        let rank = table.rank(a, b);
        if rank != NEVER {
            heap.push(Reverse((rank, left, a, b)));
        }
    };
    let known = parts.iter().zip(parts.iter().skip(1)).enumerate();
    let known = known.filter(|(_, (part, _))| part.rank != NEVER);
    let mut heap: BinaryHeap<_> = known
        .map(|(left, (a, b))| Reverse((a.rank, left, a.symbol, b.symbol)))
        .collect();
    let (mut left_over, mut last) = (parts.len(), NEVER);
    while let Some(Reverse((rank, left, a, b))) = heap.pop() {
        let node = nodes[left];
        // One of the two may have been joined otherwise since.
        if node.id != a || nodes.get(node.after).is_none_or(|next| next.id != b) {
            continue;
        }
        let id = table.joined(rank);
        let after = nodes[node.after].after;
        nodes[node.after].id = GONE;
        nodes[left] = Node { id, after, ..node };
        if let Some(next) = nodes.get_mut(after) {
            next.before = left;
        }
        (left_over, last) = (left_over - 1, rank);
        push(&mut heap, &nodes, left);
        push(&mut heap, &nodes, node.before);
    }
    Merged {
        left: left_over,
        last,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::{Merges, NEVER, Part, merge_all, queue, scan};

    /// Symbols below 4 are letters; each merge makes a new one.
    struct Table(HashMap<(u32, u32), u32>);

    impl Merges for Table {
        fn rank(&self, left: u32, right: u32) -> u32 {
            self.0.get(&(left, right)).copied().unwrap_or(NEVER)
        }

        fn joined(&self, rank: u32) -> u32 {
            4 + rank
        }
    }

    fn table(pairs: &[(u32, u32)]) -> Table {
        let mut table = HashMap::new();
        for (rank, (a, b)) in (0..).zip(pairs) {
            table
                .entry((a % (4 + rank), b % (4 + rank)))
                .or_insert(rank);
        }
        Table(table)
    }

    fn parts(table: &Table, symbols: &[u32]) -> Vec<Part> {
        let after = symbols.iter().skip(1).map(Some).chain([None]);
        let part = |(&symbol, after): (&u32, Option<&u32>)| Part {
            symbol,
            rank: after.map_or(NEVER, |after| table.rank(symbol, *after)),
        };
        symbols.iter().zip(after).map(part).collect()
    }

    #[test]
    fn the_earliest_merge_wins_and_then_the_leftmost() {
        let table = table(&[(1, 2), (0, 1)]);
        let left =
            |symbols: &[u32]| merge_all(&table, symbols.iter().copied(), &mut Vec::new()).left;
        // 0 1 2: joining 1 and 2 comes before joining 0 and 1.
        assert_eq!(left(&[0, 1, 2]), 2);
        assert_eq!(left(&[0, 1, 0, 1]), 2);
        assert_eq!(left(&[]), 0);
    }

    proptest! {
        #[test]
        fn scan_and_queue_agree(
            pairs in proptest::collection::vec((0u32..40, 0u32..40), 0..30),
            symbols in proptest::collection::vec(0u32..4, 1..80),
        ) {
            let table = table(&pairs);
            let mut parts = parts(&table, &symbols);
            let queued = queue(&table, &parts);
            prop_assert_eq!(scan(&table, &mut parts), queued);
        }
    }
}
