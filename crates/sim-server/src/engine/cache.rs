//! The prefix cache: which part of a prompt need not be computed again.

/// How many sequences a shared cache remembers.
const REMEMBERED: usize = 64;

/// How far two sequences agree from their start.
pub(crate) fn common(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// A cache all requests share, in whole blocks (vLLM's kind).
#[derive(Debug, Default)]
pub(crate) struct Shared {
    sequences: Vec<Vec<u32>>,
}

impl Shared {
    /// How many leading tokens of the prompt are cached. The last token is always computed.
    pub(crate) fn hit(&self, prompt: &[u32], block: usize) -> usize {
        let most = prompt.len().saturating_sub(1);
        let longest = self
            .sequences
            .iter()
            .map(|known| common(known, prompt))
            .max()
            .unwrap_or(0);
        longest.min(most) / block.max(1) * block.max(1)
    }

    pub(crate) fn remember(&mut self, prompt: &[u32]) {
        if self.sequences.len() >= REMEMBERED {
            self.sequences.remove(0);
        }
        self.sequences.push(prompt.to_vec());
    }
}

/// The free slot whose last prompt agrees longest with this one (llama.cpp's kind), and how far.
pub(crate) fn best_slot(histories: &[(usize, &[u32])], prompt: &[u32]) -> Option<(usize, usize)> {
    let most = prompt.len().saturating_sub(1);
    let agreement = |(slot, known): &(usize, &[u32])| (*slot, common(known, prompt).min(most));
    let all: Vec<(usize, usize)> = histories.iter().map(agreement).collect();
    let best = all.iter().map(|(_, cached)| *cached).max()?;
    all.into_iter().find(|(_, cached)| *cached == best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_cache_hits_in_whole_blocks_and_never_the_last_token() {
        let mut cache = Shared::default();
        cache.remember(&[1, 2, 3, 4, 5, 6]);
        assert_eq!(cache.hit(&[1, 2, 3, 4, 5, 9], 2), 4);
        assert_eq!(cache.hit(&[1, 2, 3, 4], 2), 2);
        assert_eq!(cache.hit(&[9, 2], 2), 0);
    }

    #[test]
    fn a_prompt_goes_to_the_slot_that_knows_it() {
        let known: [(usize, &[u32]); 2] = [(0, &[1, 2]), (3, &[1, 2, 3, 4])];
        assert_eq!(best_slot(&known, &[1, 2, 3, 9]), Some((3, 3)));
        assert_eq!(best_slot(&known, &[7]), Some((0, 0)));
        assert_eq!(best_slot(&[], &[7]), None);
    }
}
