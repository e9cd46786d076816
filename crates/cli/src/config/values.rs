//! Values of the configuration that are written as text.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::parse_duration;

/// A duration written as text, for example `"90s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurationText(pub Duration);

impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_duration(&text).map(Self).map_err(D::Error::custom)
    }
}

impl Serialize for DurationText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(self.0))
    }
}

/// How long to wait for the first byte: a duration, or `"auto"` (from the prompt's size and the
/// measured prefill rate).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstByte {
    /// Worked out per request.
    Auto,
    /// Always this long.
    After(Duration),
}

impl<'de> Deserialize<'de> for FirstByte {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "auto" {
            return Ok(Self::Auto);
        }
        parse_duration(&text)
            .map(Self::After)
            .map_err(|e| D::Error::custom(format!("{e}; or `auto`")))
    }
}

impl Serialize for FirstByte {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::After(duration) => DurationText(*duration).serialize(serializer),
        }
    }
}

/// The words of a command line, the program first.
pub(super) fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Words;

    impl<'de> serde::de::Visitor<'de> for Words {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of words, as in [\"srun\", \"-N1\"]")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut seq: A,
        ) -> Result<Self::Value, A::Error> {
            let mut words: Vec<String> = Vec::new();
            while let Some(word) = seq.next_element()? {
                words.push(word);
            }
            if words.first().is_some_and(|w| w.trim().is_empty()) {
                return Err(A::Error::custom(
                    "its first word is empty; name a program, or give [] for none",
                ));
            }
            if words.iter().any(|w| w.contains('\0')) {
                return Err(A::Error::custom("a word holds a NUL byte"));
            }
            Ok(words)
        }
    }

    deserializer.deserialize_seq(Words)
}

/// The same where there may be none.
pub(super) fn words_if_any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    words(deserializer).map(Some)
}
