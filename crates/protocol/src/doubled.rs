//! Keys that stand twice in one object.

use std::collections::HashSet;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The first key that stands twice in one object of a JSON text, at any depth.
///
/// Readers differ in which of the two counts, so such a document says two things at once. A text
/// that is not JSON has none.
pub fn doubled_key(text: &str) -> Option<String> {
    let error = serde_json::from_str::<EachKeyOnce>(text).err()?.to_string();
    let (key, _) = error.strip_prefix(MARK)?.rsplit_once(END)?;
    Some(key.to_owned())
}

const MARK: &str = "doubled key: ";
const END: &str = " (twice)";

/// Any JSON in which no object has a key twice.
struct EachKeyOnce;

impl<'de> Deserialize<'de> for EachKeyOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

struct Walk;

impl<'de> Visitor<'de> for Walk {
    type Value = EachKeyOnce;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EachKeyOnce, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<EachKeyOnce>()?;
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("{MARK}{key}{END}")));
            }
            seen.insert(key);
        }
        Ok(EachKeyOnce)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<EachKeyOnce, A::Error> {
        while items.next_element::<EachKeyOnce>()?.is_some() {}
        Ok(EachKeyOnce)
    }

    fn visit_bool<E>(self, _: bool) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_i64<E>(self, _: i64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_u64<E>(self, _: u64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_f64<E>(self, _: f64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_str<E>(self, _: &str) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_unit<E>(self) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }
}

#[cfg(test)]
mod tests {
    use super::doubled_key;

    #[test]
    fn at_any_depth_and_only_then() {
        let found = |text| doubled_key(text);
        assert_eq!(found(r#"{"a":1,"a":2}"#).as_deref(), Some("a"));
        assert_eq!(
            found(r#"[{"b":{"c d":1,"x":[],"c d":2}}]"#).as_deref(),
            Some("c d")
        );
        assert_eq!(found(r#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#), None);
        assert_eq!(found("{"), None);
    }
}
