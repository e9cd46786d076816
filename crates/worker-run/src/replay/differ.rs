//! The first difference of two requests.

use serde_json::Value;

/// The most of a value that is shown.
const SHOWN: usize = 160;

/// Where two documents differ first, and what stands there in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The place, as a JSON path.
    pub(crate) path: String,
    /// What was recorded.
    pub(crate) recorded: String,
    /// What it is now.
    pub(crate) now: String,
}

/// Compares two bodies byte for byte; none if they are the same.
pub(crate) fn difference(recorded: &str, now: &str) -> Option<Difference> {
    if recorded == now {
        return None;
    }
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let found = match (parsed(recorded), parsed(now)) {
        (Some(old), Some(new)) => walk("$", &old, &new),
        _ => None,
    };
    Some(found.unwrap_or_else(|| Difference {
        path: "$".into(),
        recorded: shown(recorded, 0),
        now: shown(now, 0),
    }))
}

fn walk(path: &str, old: &Value, new: &Value) -> Option<Difference> {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)));
            for key in keys {
                let (a, b) = (a.get(key), b.get(key));
                let null = Value::Null;
                let here = format!("{path}.{key}");
                let found = walk(&here, a.unwrap_or(&null), b.unwrap_or(&null));
                if found.is_some() {
                    return found;
                }
                if a.is_some() != b.is_some() {
                    let told = |v: Option<&Value>| v.map_or("(not there)".into(), Value::to_string);
                    return Some(Difference {
                        path: here,
                        recorded: told(a),
                        now: told(b),
                    });
                }
            }
            None
        }
        (Value::Array(a), Value::Array(b)) => {
            for at in 0..a.len().max(b.len()) {
                let here = format!("{path}[{at}]");
                match (a.get(at), b.get(at)) {
                    (Some(a), Some(b)) => {
                        if let Some(found) = walk(&here, a, b) {
                            return Some(found);
                        }
                    }
                    (a, b) => {
                        let told = |v: Option<&Value>| {
                            v.map_or("(not there)".into(), |v| shown(&v.to_string(), 0))
                        };
                        return Some(Difference {
                            path: here,
                            recorded: told(a),
                            now: told(b),
                        });
                    }
                }
            }
            None
        }
        (Value::String(a), Value::String(b)) if a != b => {
            let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
            let from = same.saturating_sub(40);
            Some(Difference {
                path: path.into(),
                recorded: shown(a, from),
                now: shown(b, from),
            })
        }
        (a, b) if a != b => Some(Difference {
            path: path.into(),
            recorded: shown(&a.to_string(), 0),
            now: shown(&b.to_string(), 0),
        }),
        _ => None,
    }
}

/// A part of a text from about there on, in one line.
fn shown(text: &str, from: usize) -> String {
    let mut from = from.min(text.len());
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let rest = &text[from..];
    let part: String = rest.chars().take(SHOWN).collect();
    let dots = if part.len() < rest.len() { "…" } else { "" };
    let lead = if from > 0 { "…" } else { "" };
    format!("{lead}{part}{dots}").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::difference;
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named_by_path() {
        let old = json!({"model": "m", "messages": [{"role": "user", "content": "take a"}]});
        let new = json!({"model": "m", "messages": [{"role": "user", "content": "take b"}]});
        let found = difference(&old.to_string(), &new.to_string()).unwrap();
        assert_eq!(found.path, "$.messages[0].content");
        assert_eq!((&*found.recorded, &*found.now), ("take a", "take b"));
        let more = json!({"model": "m", "messages": [], "n": 1});
        let path = |a: &serde_json::Value, b: &serde_json::Value| {
            difference(&a.to_string(), &b.to_string()).unwrap().path
        };
        assert_eq!(path(&old, &more), "$.messages[0]");
        assert_eq!(path(&json!({"n": null}), &json!({})), "$.n");
        assert_eq!(difference("{\"a\":1}", "{ \"a\":1}").unwrap().path, "$");
    }

    proptest! {
        #[test]
        fn equal_is_equal_and_anything_else_is_told(a in any::<String>(), b in any::<String>()) {
            prop_assert_eq!(difference(&a, &b).is_none(), a == b);
        }
    }
}
