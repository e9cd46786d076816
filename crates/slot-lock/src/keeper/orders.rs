//! What slot-lock tells its keeper, one line through a pipe.

use std::fmt;

/// What a keeper is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orders {
    /// When the command is to be ended should slot-lock no longer be there to do it. Told before the
    /// command starts.
    Limit(Limit),
    /// Wait for the end of the command.
    Watch { pid: i32 },
    /// Wait for the end of a lease, or of its holder.
    Lease {
        /// In milliseconds since boot.
        expires_ms: u64,
        holder: Option<i32>,
    },
}

/// When a command is ended, and what of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    /// In milliseconds since boot.
    pub(crate) deadline_ms: u64,
    /// The command leads a process group of its own, which ends with it; else its descendants do.
    pub(crate) has_group: bool,
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => {
                let scope = if limit.has_group { "group" } else { "tree" };
                write!(f, "limit {} {scope}", limit.deadline_ms)
            }
            Self::Watch { pid } => write!(f, "watch {pid}"),
            Self::Lease { expires_ms, holder } => {
                write!(f, "lease {expires_ms} {}", holder.unwrap_or(0))
            }
        }
    }
}

impl Orders {
    /// Reads a line; none when it is incomplete, as when slot-lock was killed.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let orders = match words.next()? {
            "limit" => Self::Limit(Limit {
                deadline_ms: words.next()?.parse().ok()?,
                has_group: words.next()? == "group",
            }),
            "watch" => Self::Watch {
                pid: words.next()?.parse().ok()?,
            },
            "lease" => Self::Lease {
                expires_ms: words.next()?.parse().ok()?,
                holder: words.next()?.parse().ok().filter(|pid| *pid != 0),
            },
            _ => return None,
        };
        words.next().is_none().then_some(orders)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Limit, Orders};

    #[test]
    fn orders_come_back_as_they_were_given() {
        let limit = |has_group| Limit {
            deadline_ms: 77,
            has_group,
        };
        for orders in [
            Orders::Watch { pid: 1 },
            Orders::Limit(limit(true)),
            Orders::Limit(limit(false)),
            Orders::Lease {
                expires_ms: u64::MAX,
                holder: None,
            },
            Orders::Lease {
                expires_ms: 0,
                holder: Some(4),
            },
        ] {
            assert_eq!(Orders::parse(&orders.to_string()), Some(orders));
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read_without_panic(line in ".{0,60}") {
            let _ = Orders::parse(&line);
        }
    }
}
