//! Names of objects.

/// The longest one has so many digits.
const DIGITS: usize = 64;

/// The full hash of an object (40 hex digits, or 64 in a SHA-256 repository).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// Its digits, and zeros behind them: in place, for there are several of every changed file.
    digits: [u8; DIGITS],
    length: usize,
}

impl ObjectId {
    /// Wraps a full hash; anything else is none.
    pub fn new(hex: &str) -> Option<Self> {
        let right_length = matches!(hex.len(), 40 | 64);
        let all_hex = hex
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (right_length && all_hex).then(|| {
            let mut digits = [0; DIGITS];
            digits[..hex.len()].copy_from_slice(hex.as_bytes());
            Self {
                digits,
                length: hex.len(),
            }
        })
    }

    /// The hash.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.digits[..self.length]).unwrap_or_default()
    }

    /// The name whose bytes these are: 20 or 32.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        Self {
            digits,
            length: DIGITS.min(2 * bytes.len()),
        }
    }

    /// Its bytes.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let digit = |d: u8| {
            char::from(d)
                .to_digit(16)
                .and_then(|n| u8::try_from(n).ok())
        };
        let pairs = self.digits[..self.length].chunks_exact(2);
        pairs
            .map(|p| Some(digit(p[0])? << 4 | digit(p[1])?))
            .collect()
    }

    /// Whether it is the all-zero hash, git's word for "not there" or "not hashed yet".
    pub fn is_zero(&self) -> bool {
        self.digits[..self.length].iter().all(|b| *b == b'0')
    }

    /// None for the all-zero hash.
    pub(crate) fn some(self) -> Option<Self> {
        Some(self).filter(|id| !id.is_zero())
    }
}

impl std::fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ObjectId({})", self.as_str())
    }
}

impl std::fmt::Display for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
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
