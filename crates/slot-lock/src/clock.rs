//! The clock that counts through suspend and that nobody sets.

use rustix::time::{ClockId, clock_gettime};

/// Milliseconds since boot, suspend included.
pub(crate) fn boot_ms() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let millis = u64::try_from(now.tv_nsec / 1_000_000).unwrap_or(0);
    seconds * 1000 + millis
}
