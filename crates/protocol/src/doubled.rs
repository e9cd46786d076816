//! Keys that stand twice in one object.

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// A JSON value, and what reading it into a [`Value`] alone would not tell.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeValue {
    /// The value; of a key that stands twice, the later one counts.
    pub value: Value,
    /// The first key that stands twice in one object, at any depth.
    pub doubled: Option<String>,
}

/// The first key that stands twice in one object of a JSON text, at any depth.
///
/// Readers differ in which of the two counts, so such a document says two things at once. A text
/// that is not JSON has none.
pub fn doubled_key(text: &str) -> Option<String> {
    serde_json::from_str::<WholeValue>(text).ok()?.doubled
}

impl<'de> Deserialize<'de> for WholeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

struct Walk;

fn plain(value: impl Into<Value>) -> WholeValue {
    WholeValue {
        value: value.into(),
        doubled: None,
    }
}

impl<'de> Visitor<'de> for Walk {
    type Value = WholeValue;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WholeValue, A::Error> {
        let (mut object, mut doubled) = (Map::new(), None);
        while let Some(key) = map.next_key::<String>()? {
            let inner = map.next_value::<WholeValue>()?;
            doubled = doubled.or(inner.doubled);
            match object.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(inner.value);
                }
                Entry::Occupied(mut place) => {
                    doubled = doubled.or_else(|| Some(place.key().clone()));
                    place.insert(inner.value);
                }
            }
        }
        Ok(WholeValue {
            value: Value::Object(object),
            doubled,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<WholeValue, A::Error> {
        let (mut list, mut doubled) = (Vec::new(), None);
        while let Some(item) = items.next_element::<WholeValue>()? {
            doubled = doubled.or(item.doubled);
            list.push(item.value);
        }
        Ok(WholeValue {
            value: Value::Array(list),
            doubled,
        })
    }

    fn visit_bool<E>(self, value: bool) -> Result<WholeValue, E> {
        Ok(plain(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<WholeValue, E> {
        Ok(plain(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<WholeValue, E> {
        Ok(plain(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<WholeValue, E> {
        Ok(plain(
            Number::from_f64(value).map_or(Value::Null, Value::Number),
        ))
    }

    fn visit_str<E>(self, value: &str) -> Result<WholeValue, E> {
        Ok(plain(value))
    }

    fn visit_string<E>(self, value: String) -> Result<WholeValue, E> {
        Ok(plain(value))
    }

    fn visit_unit<E>(self) -> Result<WholeValue, E> {
        Ok(plain(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{WholeValue, doubled_key};

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

    #[test]
    fn the_value_is_the_one_that_others_read() {
        let text =
            r#"{"b":[1,-2,3.5,1e300,18446744073709551615,null,true,"x\u00e9"],"a":{"z":1,"y":{}}}"#;
        let read: WholeValue = serde_json::from_str(text).unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!((&read.value, read.doubled), (&value, None));
        assert_eq!(read.value.to_string(), value.to_string());
    }
}
