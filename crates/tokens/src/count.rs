//! A number of tokens and how sure it is.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use baton_protocol::Method;

/// How many tokens something is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count {
    /// The count, or the best estimate of it.
    pub tokens: u64,
    /// Very likely no more than the true count.
    pub lower_bound: u64,
    /// No less than the true count.
    pub upper_bound: u64,
    /// How it was counted.
    pub method: Method,
    /// The relative error `tokens` may have; 0 when counted.
    pub error_band: f64,
}

impl Count {
    /// No tokens at all, exactly.
    pub const NOTHING: Self = Self::exact(0, Method::Tokenizer);

    /// An exact count.
    pub const fn exact(tokens: u64, method: Method) -> Self {
        Self {
            tokens,
            lower_bound: tokens,
            upper_bound: tokens,
            method,
            error_band: 0.0,
        }
    }

    /// Bytes that are no UTF-8: each counts as a token, and as a whole U+FFFD in the bound, because
    /// that is what a server gets for it.
    pub(crate) const fn of_broken(bytes: u64) -> Self {
        Self {
            tokens: bytes,
            lower_bound: bytes / 3,
            upper_bound: 3 * bytes,
            ..Self::NOTHING
        }
    }

    /// The count of a whole request or text. A server may run another version of Unicode or of the
    /// template than the local tokenizer, so its bound leaves room for a thousandth, at least eight
    /// tokens.
    #[must_use]
    pub fn with_version_margin(self) -> Self {
        match self.method {
            Method::Tokenizer => Self {
                upper_bound: self.upper_bound + (self.tokens / 1000).max(8),
                ..self
            },
            Method::Server | Method::Heuristic => self,
        }
    }
}

impl Add for Count {
    type Output = Self;

    /// Counts of parts add up; the sum is as good as its worst part, its error the mean of theirs.
    fn add(self, other: Self) -> Self {
        let tokens = self.tokens + other.tokens;
        Self {
            tokens,
            lower_bound: self.lower_bound + other.lower_bound,
            upper_bound: self.upper_bound + other.upper_bound,
            method: worse(self.method, other.method),
            error_band: (self.error_tokens() + other.error_tokens()) / as_float(tokens.max(1)),
        }
    }
}

impl Count {
    fn error_tokens(self) -> f64 {
        self.error_band * as_float(self.tokens)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count is far below 2^52")]
const fn as_float(tokens: u64) -> f64 {
    tokens as f64
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::exact(0, Method::Server), Add::add)
    }
}

const fn worse(a: Method, b: Method) -> Method {
    match (a, b) {
        (Method::Heuristic, _) | (_, Method::Heuristic) => Method::Heuristic,
        (Method::Tokenizer, _) | (_, Method::Tokenizer) => Method::Tokenizer,
        (Method::Server, Method::Server) => Method::Server,
    }
}
