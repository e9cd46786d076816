//! The secret of one acquisition.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// 128 bits nobody guesses, as hexadecimal digits.
///
/// The standard library seeds its hash keys from the kernel's random numbers; hashing fixed words
/// with two sets of them gives those bits without another dependency.
pub(crate) fn fresh() -> String {
    let word = |n: u64| RandomState::new().hash_one((n, std::process::id()));
    format!("{:016x}{:016x}", word(1), word(2))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn no_two_are_alike() {
        let tokens: BTreeSet<String> = (0..1000).map(|_| super::fresh()).collect();
        assert_eq!(tokens.len(), 1000);
        assert!(tokens.iter().all(|t| t.len() == 32));
    }
}
