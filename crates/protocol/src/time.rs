//! Points in time as documents write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time; RFC 3339 in UTC with milliseconds, for example `2026-11-30T10:15:00.250Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Timestamp(#[cfg_attr(test, schemars(with = "String"))] SystemTime);

impl Timestamp {
    /// The given time, cut to whole milliseconds so that reading gives back what was written.
    pub fn new(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Self(UNIX_EPOCH + Duration::from_millis(millis))
    }

    /// Now. Only the shells of the tools call this; pure code takes a time as an argument.
    pub fn now() -> Self {
        Self::new(SystemTime::now())
    }

    /// The time as the standard library has it.
    pub fn system_time(self) -> SystemTime {
        self.0
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        humantime::format_rfc3339_millis(self.0).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = humantime::parse_rfc3339_weak(&text)
            .map_err(|e| D::Error::custom(format!("`{text}` is not an RFC 3339 time: {e}")))?;
        Ok(Self::new(time))
    }
}
