//! The JSON of etcd's gateway: keys and values in base64, numbers as text, false and 0 left out.

use serde_json::{Value, json};

/// One key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) lease: String,
    pub(super) created: i64,
    pub(super) modified: i64,
}

/// A number of an answer: text, a number, or left out.
pub(super) fn number(value: &Value) -> i64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or(value.as_i64()).unwrap_or(0)
}

/// The store's revision an answer was given at.
pub(super) fn revision(answer: &Value) -> i64 {
    number(&answer["header"]["revision"])
}

/// The entries of one `response_range`, or of an answer to `/v3/kv/range`.
pub(super) fn entries(range: &Value) -> Vec<Entry> {
    let entry = |kv: &Value| {
        let text = |name: &str| String::from_utf8(decode(kv[name].as_str()?)?).ok();
        Some(Entry {
            key: text("key")?,
            value: text("value").unwrap_or_default(),
            lease: kv["lease"].as_str().map_or_else(String::new, str::to_owned),
            created: number(&kv["create_revision"]),
            modified: number(&kv["mod_revision"]),
        })
    };
    let kvs = range["kvs"].as_array();
    kvs.into_iter().flatten().filter_map(entry).collect()
}

/// The ranges of a transaction, in the order they were asked in.
pub(super) fn ranges(answer: &Value) -> Vec<Vec<Entry>> {
    let responses = answer["responses"].as_array();
    let range = |response: &Value| response.get("response_range").map(entries);
    responses.into_iter().flatten().filter_map(range).collect()
}

/// Whether a transaction's condition held.
pub(super) fn succeeded(answer: &Value) -> bool {
    answer["succeeded"] == true
}

/// Everything that starts with this text.
pub(super) fn below(prefix: &str) -> Value {
    json!({"key": encode(prefix.as_bytes()), "range_end": encode(&end_of(prefix))})
}

/// The first key after all those that start with `prefix`.
fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    // UTF-8 has no byte 255, so there is always a next one.
    if let Some(last) = end.last_mut() {
        *last = last.wrapping_add(1);
    }
    end
}

/// An operation that writes a key under a lease; an empty lease: for ever.
pub(super) fn put(key: &str, value: &str, lease: &str) -> Value {
    let lease = if lease.is_empty() { "0" } else { lease };
    json!({"request_put": {"key": encode(key.as_bytes()), "value": encode(value.as_bytes()), "lease": lease}})
}

/// An operation that removes a key.
pub(super) fn delete(key: &str) -> Value {
    json!({"request_delete_range": {"key": encode(key.as_bytes())}})
}

/// A condition: this key does not exist.
pub(super) fn is_absent(key: &str) -> Value {
    json!({"target": "CREATE", "key": encode(key.as_bytes()), "result": "EQUAL", "create_revision": "0"})
}

/// A condition: this key exists.
pub(super) fn is_present(key: &str) -> Value {
    json!({"target": "CREATE", "key": encode(key.as_bytes()), "result": "GREATER", "create_revision": "0"})
}

/// A condition: this key is as it was when its revision was this.
pub(super) fn is_unchanged(key: &str, modified: i64) -> Value {
    json!({"target": "MOD", "key": encode(key.as_bytes()), "result": "EQUAL", "mod_revision": modified.to_string()})
}

/// A condition: nothing starts with this text. (A range condition holds when it holds for each key.)
pub(super) fn is_empty(prefix: &str) -> Value {
    let mut condition = below(prefix);
    condition["target"] = "CREATE".into();
    condition["result"] = "EQUAL".into();
    condition["create_revision"] = "0".into();
    condition
}

/// A condition: nothing that starts with this text was written after this revision.
pub(super) fn is_older(prefix: &str, revision: i64) -> Value {
    let mut condition = below(prefix);
    condition["target"] = "MOD".into();
    condition["result"] = "LESS".into();
    condition["mod_revision"] = (revision + 1).to_string().into();
    condition
}

/// A condition: everything that starts with this text was created after this revision.
pub(super) fn is_newer(prefix: &str, revision: i64) -> Value {
    let mut condition = below(prefix);
    condition["target"] = "CREATE".into();
    condition["result"] = "GREATER".into();
    condition["create_revision"] = revision.to_string().into();
    condition
}

/// A condition: nothing that starts with this text stands at `first` or after it.
pub(super) fn is_none_from(first: &str, prefix: &str) -> Value {
    let mut condition = is_empty(prefix);
    condition["key"] = encode(first.as_bytes()).into();
    condition
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Standard base64 with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place <= chunk.len() {
                let digit = bits >> (18 - 6 * place) & 63;
                let digit = usize::try_from(digit).unwrap_or(0);
                text.push(char::from(DIGITS[digit]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Reads base64; none for what is none.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let mut bits = 0u32;
        for place in 0..4 {
            let value = match chunk.get(place) {
                Some(digit) => DIGITS.iter().position(|d| d == digit)?,
                None => 0,
            };
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend([first, second, third].iter().take(chunk.len() * 6 / 8));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{decode, encode, end_of, entries, number, succeeded};

    #[test]
    fn what_is_left_out_is_zero_or_false() {
        assert_eq!(number(&json!(null)), 0);
        assert_eq!(number(&json!("41")), 41);
        assert_eq!(number(&json!(41)), 41);
        assert!(!succeeded(&json!({"header": {}})));
        assert!(entries(&json!({"header": {}, "count": "0"})).is_empty());
    }

    #[test]
    fn a_recorded_range_is_read_in_both_dialects() {
        // The answers of 3.4 have no blanks, those of 3.5 have.
        let three_four = r#"{"kvs":[{"key":"c2xvdC1sb2NrL3F3ZW4zOC9xLzQx","create_revision":"20774","mod_revision":"20774","version":"1","lease":"4111120343664340773"}],"count":"1"}"#;
        let three_five = three_four.replace(',', ", ");
        for text in [three_four, &three_five] {
            let read = entries(&serde_json::from_str(text).unwrap());
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].key, "slot-lock/qwen38/q/41");
            assert_eq!((read[0].created, read[0].value.as_str()), (20774, ""));
            assert_eq!(read[0].lease, "4111120343664340773");
        }
    }

    #[test]
    fn the_end_of_a_prefix_is_the_next_text() {
        assert_eq!(end_of("a/q/"), b"a/q0");
    }

    proptest! {
        #[test]
        fn base64_comes_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn any_text_is_decoded_without_panic(text in ".{0,40}") {
            let _ = decode(&text);
        }
    }
}
