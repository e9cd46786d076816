//! Names of objects.

/// The full hash of an object (40 hex digits, or 64 in a SHA-256 repository).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(String);

impl ObjectId {
    /// Wraps a full hash; anything else is none.
    pub fn new(hex: &str) -> Option<Self> {
        let right_length = matches!(hex.len(), 40 | 64);
        let all_hex = hex
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (right_length && all_hex).then(|| Self(hex.to_owned()))
    }

    /// The hash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name whose bytes these are.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |d: u8| char::from(DIGITS[usize::from(d)]);
        let digits = bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]);
        Self(digits.collect())
    }

    /// Its bytes.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let digit = |d: u8| {
            char::from(d)
                .to_digit(16)
                .and_then(|n| u8::try_from(n).ok())
        };
        let pairs = self.0.as_bytes().chunks_exact(2);
        pairs
            .map(|p| Some(digit(p[0])? << 4 | digit(p[1])?))
            .collect()
    }

    /// Whether it is the all-zero hash, git's word for "not there" or "not hashed yet".
    pub fn is_zero(&self) -> bool {
        self.0.bytes().all(|b| b == b'0')
    }

    /// None for the all-zero hash.
    pub(crate) fn some(self) -> Option<Self> {
        Some(self).filter(|id| !id.is_zero())
    }
}

impl std::fmt::Display for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ObjectId;

    #[test]
    fn only_full_lower_case_hashes_are_object_ids() {
        assert!(ObjectId::new(&"a".repeat(40)).is_some());
        assert!(ObjectId::new(&"0".repeat(64)).is_some_and(|id| id.is_zero()));
        for bad in [
            "",
            "HEAD",
            "abc",
            &"g".repeat(40),
            &"A".repeat(40),
            &"a".repeat(41),
        ] {
            assert!(ObjectId::new(bad).is_none(), "{bad}");
        }
    }
}
