//! Merging: how many symbols of a piece are left when no more of them can be joined.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The merge table: rank (lower is earlier) and the id of the joined symbol.
pub(crate) trait Merges {
    fn merge(&self, left: u32, right: u32) -> Option<(u32, u32)>;
}

/// Pieces up to this length are scanned; longer ones use a heap.
const SCANNED: usize = 64;

/// What merging needs besides the symbols; kept to be used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// The rank of joining each symbol with the next one, `u32::MAX` for none.
    ranks: Vec<u32>,
    /// What that gives.
    joined: Vec<u32>,
}

impl Scratch {
    pub(crate) const fn new() -> Self {
        Self {
            ranks: Vec::new(),
            joined: Vec::new(),
        }
    }
}

/// Joins symbols by rank, leftmost first, and returns how many are left.
pub(crate) fn merge_all(
    table: &impl Merges,
    symbols: &mut Vec<u32>,
    scratch: &mut Scratch,
) -> usize {
    if symbols.len() <= SCANNED {
        scan(table, symbols, scratch)
    } else {
        queue(table, symbols)
    }
}

fn scan(table: &impl Merges, symbols: &mut Vec<u32>, scratch: &mut Scratch) -> usize {
    const NONE: (u32, u32) = (u32::MAX, 0);
    let Scratch { ranks, joined } = scratch;
    ranks.clear();
    joined.clear();
    for pair in symbols.windows(2) {
        let (rank, id) = table.merge(pair[0], pair[1]).unwrap_or(NONE);
        ranks.push(rank);
        joined.push(id);
    }
    loop {
        let mut best = (u32::MAX, 0);
        for (at, &rank) in ranks.iter().enumerate() {
            if rank < best.0 {
                best = (rank, at);
            }
        }
        let (rank, at) = best;
        if rank == u32::MAX {
            return symbols.len();
        }
        symbols[at] = joined[at];
        symbols.remove(at + 1);
        ranks.remove(at);
        joined.remove(at);
        // The pair before and the pair after have a new member.
        for left in [at.wrapping_sub(1), at] {
            if left < ranks.len() {
                let merge = table.merge(symbols[left], symbols[left + 1]);
                (ranks[left], joined[left]) = merge.unwrap_or(NONE);
            }
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

fn queue(table: &impl Merges, symbols: &[u32]) -> usize {
    let end = symbols.len();
    let mut nodes: Vec<Node> = symbols
        .iter()
        .enumerate()
        .map(|(at, &id)| Node {
            id,
            before: at.wrapping_sub(1),
            after: at + 1,
        })
        .collect();
    // Rank, place of the left symbol, both ids, the id joined: the least comes first.
    let mut heap = BinaryHeap::new();
    let push = |heap: &mut BinaryHeap<_>, nodes: &[Node], left: usize| {
        let Some(&Node { id: a, after, .. }) = nodes.get(left) else {
            return;
        };
        let Some(&Node { id: b, .. }) = nodes.get(after) else {
            return;
        };
        if let Some((rank, id)) = table.merge(a, b) {
            heap.push(Reverse((rank, left, a, b, id)));
        }
    };
    for left in 0..end {
        push(&mut heap, &nodes, left);
    }
    let mut live = end;
    while let Some(Reverse((_, left, a, b, id))) = heap.pop() {
        let node = nodes[left];
        // One of the two may have been joined otherwise since.
        if node.id != a || nodes.get(node.after).is_none_or(|next| next.id != b) {
            continue;
        }
        let after = nodes[node.after].after;
        nodes[node.after].id = GONE;
        nodes[left] = Node { id, after, ..node };
        if let Some(next) = nodes.get_mut(after) {
            next.before = left;
        }
        live -= 1;
        push(&mut heap, &nodes, left);
        push(&mut heap, &nodes, node.before);
    }
    live
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::{Merges, Scratch, queue, scan};

    impl Merges for HashMap<(u32, u32), (u32, u32)> {
        fn merge(&self, left: u32, right: u32) -> Option<(u32, u32)> {
            self.get(&(left, right)).copied()
        }
    }

    /// Symbols below 4 are letters; each merge makes a new one.
    fn table(pairs: &[(u32, u32)]) -> HashMap<(u32, u32), (u32, u32)> {
        let mut table = HashMap::new();
        for (rank, (a, b)) in (0..).zip(pairs) {
            table
                .entry((a % (4 + rank), b % (4 + rank)))
                .or_insert((rank, 4 + rank));
        }
        table
    }

    #[test]
    fn the_earliest_merge_wins_and_then_the_leftmost() {
        let table = table(&[(1, 2), (0, 1)]);
        // 0 1 2: joining 1 and 2 comes before joining 0 and 1.
        assert_eq!(scan(&table, &mut vec![0, 1, 2], &mut Scratch::default()), 2);
        assert_eq!(
            scan(&table, &mut vec![0, 1, 0, 1], &mut Scratch::default()),
            2
        );
        assert_eq!(scan(&table, &mut vec![], &mut Scratch::default()), 0);
    }

    proptest! {
        #[test]
        fn scan_and_queue_agree(
            pairs in proptest::collection::vec((0u32..40, 0u32..40), 0..30),
            symbols in proptest::collection::vec(0u32..4, 0..80),
        ) {
            let table = table(&pairs);
            let scanned = scan(&table, &mut symbols.clone(), &mut Scratch::default());
            prop_assert_eq!(scanned, queue(&table, &symbols));
        }
    }
}
